//! What is compared: the spec's claims and the courses' texts with the models' figures.

pub mod check;
pub mod claims;
pub mod cli;
pub mod document;
pub mod explore;
pub mod frozen;
pub mod invariants;
pub mod nearest;
pub mod seeds;
pub mod spec;
pub mod suite;
pub mod verified;
