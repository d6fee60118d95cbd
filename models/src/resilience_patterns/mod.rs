//! The lessons of *Resilience and Reliability* that have a model, one file each.

pub mod circuit_breaker;
pub mod compensating_transactions;
pub mod failure_modes;
