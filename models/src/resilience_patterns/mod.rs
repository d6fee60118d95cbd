//! The lessons of *Resilience and Reliability* that have a model, one file each.

pub mod circuit_breaker;
pub mod deployment_stamps_and_geo_replicas;
pub mod disaster_recovery_drill;
pub mod failover_design;
pub mod health_endpoint_monitoring;
pub mod recovery_objectives;
pub mod redundancy_zones;
