//! The lessons of *Resilience and Reliability* that have a model, one file each.

pub mod backpressure;
pub mod bulkhead_pattern;
pub mod circuit_breaker;
pub mod graceful_degradation;
pub mod retries_and_storm_risk;
pub mod throttling_and_load_shedding;
pub mod timeout_budgets;
