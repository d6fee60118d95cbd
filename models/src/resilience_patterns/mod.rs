//! The lessons of *Resilience and Reliability* that have a model, one file each.

pub mod backpressure;
pub mod bulkhead_pattern;
pub mod circuit_breaker;
pub mod claim_check_pattern;
pub mod compensating_transactions;
pub mod deployment_stamps_and_geo_replicas;
pub mod disaster_recovery_drill;
pub mod external_configuration_store;
pub mod failover_design;
pub mod failure_modes;
pub mod graceful_degradation;
pub mod health_endpoint_monitoring;
pub mod idempotent_operations;
pub mod recovery_objectives;
pub mod redundancy_zones;
pub mod retries_and_storm_risk;
pub mod strangler_fig_pattern;
pub mod throttling_and_load_shedding;
pub mod timeout_budgets;
pub mod valet_key_pattern;
