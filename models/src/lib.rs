//! What the two courses compute, as pure functions.
//!
//! A lesson is one file under [`resilience_patterns`] or [`application_layer`]: its parameters, its mechanism and
//! the figures it publishes. Where that would be more than 300 lines, the file keeps all but the publishing, which
//! stands beside it in `<lesson>/blocks.rs`; its tests and invariants stand there as well. Under [`state_spaces`] stand
//! mechanisms whose every order of events can be explored. Nothing here reads a file, a clock or the environment, starts
//! a thread or prints; no published number stands here either. The values come from `spec/`, the comparisons from the
//! `checks` crate.

pub mod application_layer;
pub mod arrivals;
pub mod backlog;
pub mod calendar;
pub mod catalogue;
pub mod figures;
pub mod invariants;
pub mod json;
pub mod numbers;
pub mod parameters;
pub mod random;
pub mod resilience_patterns;
pub mod schedule;
pub mod slots;
pub mod state_spaces;
