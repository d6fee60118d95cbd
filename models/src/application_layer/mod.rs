//! The lessons of *The Application Layer and Service Interaction* that have a model, one file each.

pub mod communication_styles;
pub mod inter_service_contracts;
pub mod leader_election;
pub mod message_queues;
pub mod service_discovery;
pub mod stateless_services;
pub mod task_queues_and_background_jobs;
pub mod timeout_and_retry_budget;
