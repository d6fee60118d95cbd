//! Compares.

pub mod document;
