//! The lessons of *The Application Layer and Service Interaction* that have a model, one file each.

pub mod async_request_reply;
pub mod choreography_and_orchestration;
pub mod communication_styles;
pub mod competing_consumers;
pub mod inter_service_contracts;
pub mod leader_election;
pub mod message_queues;
pub mod priority_queue;
pub mod queue_based_load_leveling;
pub mod scheduler_agent_supervisor;
pub mod sequential_convoy;
pub mod service_discovery;
pub mod stateless_services;
pub mod task_queues_and_background_jobs;
pub mod timeout_and_retry_budget;
