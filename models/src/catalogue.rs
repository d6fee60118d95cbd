//! The lessons of both courses, in course order, and the model of each that has one.

use crate::application_layer as al;
use crate::figures::Report;
use crate::invariants::Held;
use crate::parameters::{self, Declaration, Declared, Lesson, Problem};
use crate::resilience_patterns as rp;
use serde_json::Value;

/// One of the two courses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// *Resilience and Reliability*, 20 lessons.
    ResiliencePatterns,
    /// *The Application Layer and Service Interaction*, 15 lessons.
    ApplicationLayer,
}

impl Course {
    /// Both, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::ResiliencePatterns, Self::ApplicationLayer];

    /// The last part of the course's Source address.
    pub fn slug(self) -> &'static str {
        match self {
            Self::ResiliencePatterns => "resilience-patterns",
            Self::ApplicationLayer => "application-layer",
        }
    }

    /// The course's title.
    pub fn title(self) -> &'static str {
        match self {
            Self::ResiliencePatterns => "Resilience and Reliability",
            Self::ApplicationLayer => "The Application Layer and Service Interaction",
        }
    }
}

/// A lesson that a course has, modelled or not.
#[derive(Debug)]
pub struct Entry {
    /// The course it belongs to.
    pub course: Course,
    /// Its place in the course, from 1.
    pub number: usize,
    /// The last part of its Source address.
    pub slug: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its model, where there is one.
    pub model: Option<Model>,
}

/// A lesson's model behind one type: reads parameters from plain data and runs them.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    prepare: fn(&Value) -> Result<Prepared, Problem>,
    invariants: fn() -> Vec<&'static str>,
}

impl Model {
    const fn of<L: Lesson>() -> Self {
        Self { prepare: prepare::<L>, invariants: invariants::<L> }
    }

    /// The names of the invariants that the model has code for.
    pub fn invariants(&self) -> Vec<&'static str> {
        (self.invariants)()
    }

    /// Reads parameters. Values outside their ranges are read all the same: see [`Prepared::problems`].
    ///
    /// # Errors
    /// A parameter that is missing, unknown or of the wrong type, with its path.
    pub fn prepare(&self, parameters: &Value) -> Result<Prepared, Problem> {
        (self.prepare)(parameters)
    }
}

/// Parameters that were read, ready to run.
pub struct Prepared {
    declaration: Declaration,
    lesson: Box<dyn AnyLesson>,
}

/// A lesson without its type.
trait AnyLesson: Send + Sync {
    fn run(&self) -> Report;
    fn held(&self, id: &str) -> Option<Held>;
}

impl<L: Lesson> AnyLesson for L {
    fn run(&self) -> Report {
        self.report()
    }

    fn held(&self, id: &str) -> Option<Held> {
        let invariant = L::invariants().into_iter().find(|invariant| invariant.id == id)?;
        Some((invariant.check)(self))
    }
}

impl Prepared {
    /// Every parameter with its range.
    pub fn parameters(&self) -> &[Declared] {
        self.declaration.parameters()
    }

    /// What is wrong with the values; empty if the lesson can run.
    pub fn problems(&self) -> &[Problem] {
        self.declaration.problems()
    }

    /// Runs the lesson.
    ///
    /// # Errors
    /// The first problem, if there is one.
    pub fn report(&self) -> Result<Report, Problem> {
        match self.problems().first() {
            Some(problem) => Err(problem.clone()),
            None => Ok(self.lesson.run()),
        }
    }

    /// Checks one invariant at these parameters; `None` where the model has none of that name.
    ///
    /// # Errors
    /// The first problem, if there is one.
    pub fn held(&self, id: &str) -> Result<Option<Held>, Problem> {
        match self.problems().first() {
            Some(problem) => Err(problem.clone()),
            None => Ok(self.lesson.held(id)),
        }
    }

    /// About how many steps a run takes.
    pub fn run_steps(&self) -> f64 {
        self.declaration.run_steps()
    }
}

fn prepare<L: Lesson>(data: &Value) -> Result<Prepared, Problem> {
    let lesson: L = parameters::read(data)?;
    let declaration = Declaration::of(&lesson);
    Ok(Prepared { declaration, lesson: Box::new(lesson) })
}

fn invariants<L: Lesson>() -> Vec<&'static str> {
    L::invariants().iter().map(|invariant| invariant.id).collect()
}

/// The entry of a lesson.
pub fn find(slug: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.slug == slug)
}

const fn entry(course: Course, number: usize, slug: &'static str, title: &'static str) -> Entry {
    Entry { course, number, slug, title, model: None }
}

const fn modelled(entry: Entry, model: Model) -> Entry {
    Entry { model: Some(model), ..entry }
}

use Course::{ApplicationLayer as A, ResiliencePatterns as R};

/// Every lesson of both courses, in course order.
pub static ENTRIES: &[Entry] = &[
    modelled(entry(R, 1, "failure-modes", "Failure Modes"), Model::of::<rp::failure_modes::Parameters>()),
    modelled(entry(R, 2, "circuit-breaker", "Circuit Breaker"), Model::of::<rp::circuit_breaker::Parameters>()),
    modelled(entry(R, 3, "bulkhead-pattern", "Bulkhead Pattern"), Model::of::<rp::bulkhead_pattern::Parameters>()),
    modelled(
        entry(R, 4, "retries-and-storm-risk", "Retries and Storm Risk"),
        Model::of::<rp::retries_and_storm_risk::Parameters>(),
    ),
    modelled(entry(R, 5, "timeout-budgets", "Timeout Budgets"), Model::of::<rp::timeout_budgets::Parameters>()),
    modelled(entry(R, 6, "backpressure", "Backpressure"), Model::of::<rp::backpressure::Parameters>()),
    modelled(
        entry(R, 7, "throttling-and-load-shedding", "Throttling and Load Shedding"),
        Model::of::<rp::throttling_and_load_shedding::Parameters>(),
    ),
    modelled(
        entry(R, 8, "graceful-degradation", "Graceful Degradation"),
        Model::of::<rp::graceful_degradation::Parameters>(),
    ),
    modelled(entry(R, 9, "failover-design", "Failover Design"), Model::of::<rp::failover_design::Parameters>()),
    modelled(
        entry(R, 10, "health-endpoint-monitoring", "Health Endpoint Monitoring"),
        Model::of::<rp::health_endpoint_monitoring::Parameters>(),
    ),
    modelled(
        entry(R, 11, "recovery-objectives", "Recovery Objectives"),
        Model::of::<rp::recovery_objectives::Parameters>(),
    ),
    modelled(entry(R, 12, "redundancy-zones", "Redundancy Zones"), Model::of::<rp::redundancy_zones::Parameters>()),
    modelled(
        entry(R, 13, "deployment-stamps-and-geo-replicas", "Deployment Stamps and Geo-Replicas"),
        Model::of::<rp::deployment_stamps_and_geo_replicas::Parameters>(),
    ),
    modelled(
        entry(R, 14, "disaster-recovery-drill", "Disaster Recovery Drill"),
        Model::of::<rp::disaster_recovery_drill::Parameters>(),
    ),
    modelled(
        entry(R, 15, "idempotent-operations", "Idempotent Operations"),
        Model::of::<rp::idempotent_operations::Parameters>(),
    ),
    modelled(
        entry(R, 16, "compensating-transactions", "Compensating Transactions"),
        Model::of::<rp::compensating_transactions::Parameters>(),
    ),
    modelled(
        entry(R, 17, "claim-check-pattern", "Claim Check Pattern"),
        Model::of::<rp::claim_check_pattern::Parameters>(),
    ),
    modelled(entry(R, 18, "valet-key-pattern", "Valet Key Pattern"), Model::of::<rp::valet_key_pattern::Parameters>()),
    modelled(
        entry(R, 19, "external-configuration-store", "External Configuration Store"),
        Model::of::<rp::external_configuration_store::Parameters>(),
    ),
    modelled(
        entry(R, 20, "strangler-fig-pattern", "Strangler Fig Pattern"),
        Model::of::<rp::strangler_fig_pattern::Parameters>(),
    ),
    modelled(
        entry(A, 1, "stateless-services", "Stateless Services"),
        Model::of::<al::stateless_services::Parameters>(),
    ),
    modelled(entry(A, 2, "service-discovery", "Service Discovery"), Model::of::<al::service_discovery::Parameters>()),
    modelled(
        entry(A, 3, "communication-styles", "Communication Styles"),
        Model::of::<al::communication_styles::Parameters>(),
    ),
    modelled(
        entry(A, 4, "inter-service-contracts", "Inter-Service Contracts"),
        Model::of::<al::inter_service_contracts::Parameters>(),
    ),
    modelled(
        entry(A, 5, "timeout-and-retry-budget", "Timeout and Retry Budget"),
        Model::of::<al::timeout_and_retry_budget::Parameters>(),
    ),
    modelled(entry(A, 6, "message-queues", "Message Queues"), Model::of::<al::message_queues::Parameters>()),
    modelled(
        entry(A, 7, "task-queues-and-background-jobs", "Task Queues and Background Jobs"),
        Model::of::<al::task_queues_and_background_jobs::Parameters>(),
    ),
    modelled(
        entry(A, 8, "competing-consumers", "Competing Consumers"),
        Model::of::<al::competing_consumers::Parameters>(),
    ),
    modelled(
        entry(A, 9, "queue-based-load-leveling", "Queue-Based Load Leveling"),
        Model::of::<al::queue_based_load_leveling::Parameters>(),
    ),
    modelled(entry(A, 10, "priority-queue", "Priority Queue"), Model::of::<al::priority_queue::Parameters>()),
    modelled(entry(A, 11, "sequential-convoy", "Sequential Convoy"), Model::of::<al::sequential_convoy::Parameters>()),
    modelled(
        entry(A, 12, "choreography-and-orchestration", "Choreography and Orchestration"),
        Model::of::<al::choreography_and_orchestration::Parameters>(),
    ),
    modelled(
        entry(A, 13, "scheduler-agent-supervisor", "Scheduler–Agent–Supervisor"),
        Model::of::<al::scheduler_agent_supervisor::Parameters>(),
    ),
    modelled(entry(A, 14, "leader-election", "Leader Election"), Model::of::<al::leader_election::Parameters>()),
    modelled(
        entry(A, 15, "async-request-reply", "Asynchronous Request–Reply"),
        Model::of::<al::async_request_reply::Parameters>(),
    ),
];
