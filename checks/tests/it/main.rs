//! All integration tests, in one binary: it links once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests state what must be there; a panic says that it is not")]

mod changed_digits;
mod command;
mod document_check;
mod exploration;
mod invariants;
mod published_tables;
mod saga;
mod spec_loading;
mod state_spaces;
mod support;
