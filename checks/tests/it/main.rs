//! All integration tests, in one binary: it links once.

mod changed_digits;
mod command;
mod document_check;
mod exploration;
mod published_tables;
mod spec_loading;
mod state_spaces;
mod support;
