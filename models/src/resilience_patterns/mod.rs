//! The lessons of *Resilience and Reliability* that have a model, one file each.

pub mod circuit_breaker;
pub mod claim_check_pattern;
pub mod external_configuration_store;
pub mod idempotent_operations;
pub mod strangler_fig_pattern;
pub mod valet_key_pattern;
