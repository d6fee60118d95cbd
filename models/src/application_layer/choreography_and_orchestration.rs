//! Choreography and Orchestration: what does a workflow of several services cost in messages, and who undoes its steps?
//!
//! A workflow's steps run in services of their own, each with its own transaction boundary. Some workflows fail at a
//! step; what they had completed is compensated in reverse order. Events drive the steps in one style, a single
//! orchestrator in the other. Left out: failures that nobody reports, compensations that fail, and time.

mod blocks;
mod invariants;

use crate::figures::{Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use std::slice::from_ref;

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    steps: Vec<Step>,
    jobs: Vec<String>,
    failures: Vec<Failure>,
    /// The service that, in one of the runs, does not listen to cancellations.
    missing_subscriber: String,
    /// Workflows a day: one for each invoice line (K01).
    workflows_a_day: f64,
    /// The end-of-day window (V10).
    window_hours: f64,
    /// KK2 and its sensitivity.
    failure_shares: Vec<f64>,
    /// In events a second (K01).
    peak_write: f64,
}

/// One step of the workflow, in a service of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    service: String,
    /// Another step can undo it; otherwise it stays done.
    compensable: bool,
}

/// A job that fails, always at the same step.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    job: String,
    step: String,
}

#[derive(Debug, Clone, Copy)]
enum Style<'a> {
    /// Each step listens to the event of the one before it, and to cancellations, unless the subscription is missing.
    Choreography {
        missing_subscribers: &'a [String],
    },
    Orchestration,
}

/// What becomes of a committed step of a job that fails later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Undone,
    /// It should have been undone, and its service never heard of it.
    LeftOpen,
    Irreversible,
}

impl Style<'_> {
    /// In choreography an event starts the workflow; the orchestrator starts it by its first command.
    fn messages_at_start(self) -> u64 {
        match self {
            Self::Choreography { .. } => 1,
            Self::Orchestration => 0,
        }
    }

    /// An event says that a step is done, undone or failed; the orchestrator sends a command and gets a reply.
    fn messages_a_step(self) -> u64 {
        match self {
            Self::Choreography { .. } => 1,
            Self::Orchestration => 2,
        }
    }

    /// The step's service learns that it has to compensate.
    fn reaches(self, step: &Step) -> bool {
        match self {
            Self::Choreography { missing_subscribers } => !missing_subscribers.contains(&step.service),
            Self::Orchestration => true,
        }
    }
}

/// What a run of all jobs leaves behind.
#[derive(Default)]
struct Outcome<'a> {
    completed: u64,
    steps: u64,
    messages: u64,
    compensated: u64,
    uncompensated: u64,
    stops: Vec<Stop<'a>>,
    /// For each step, how many jobs' writes stand.
    writes: Vec<u64>,
}

/// A job that failed.
struct Stop<'a> {
    job: &'a str,
    committed: usize,
    /// Committed steps that should have been compensated and were not.
    left_open: u64,
}

impl Outcome<'_> {
    fn half_finished(&self) -> u64 {
        self.stops.iter().filter(|stop| stop.left_open > 0).count() as u64
    }
}

impl Parameters {
    fn run(&self, style: Style) -> Outcome<'_> {
        let mut outcome = Outcome { writes: vec![0; self.steps.len()], ..Outcome::default() };
        for job in &self.jobs {
            let fails_at = self.failures.iter().find(|failure| failure.job == *job).map(|failure| &failure.step);
            let failing = self.steps.iter().position(|step| Some(&step.name) == fails_at);
            let committed = failing.unwrap_or(self.steps.len());
            outcome.messages += style.messages_at_start() + style.messages_a_step() * committed as u64;
            outcome.steps += committed as u64;
            for writes in &mut outcome.writes[..committed] {
                *writes += 1;
            }
            if failing.is_none() {
                outcome.completed += 1;
                continue;
            }
            // The failed step tells of it like a completed one.
            outcome.messages += style.messages_a_step();
            let left_open = self.compensate(style, committed, &mut outcome);
            outcome.stops.push(Stop { job, committed, left_open });
        }
        outcome
    }

    /// Undoes the first steps; how many stay that should not.
    fn compensate(&self, style: Style, committed: usize, outcome: &mut Outcome) -> u64 {
        let mut left_open = 0;
        for (step, fate) in self.undo_each(style, committed) {
            match fate {
                Fate::Undone => {
                    outcome.messages += style.messages_a_step();
                    outcome.compensated += 1;
                    outcome.writes[step] -= 1;
                }
                Fate::LeftOpen => left_open += 1,
                Fate::Irreversible => {}
            }
        }
        outcome.uncompensated += left_open;
        left_open
    }

    /// The first steps with their fates, last one first.
    fn undo_each(&self, style: Style, committed: usize) -> impl Iterator<Item = (usize, Fate)> {
        self.steps.iter().enumerate().take(committed).rev().map(move |(i, step)| match step.compensable {
            true if style.reaches(step) => (i, Fate::Undone),
            true => (i, Fate::LeftOpen),
            false => (i, Fate::Irreversible),
        })
    }

    /// What follows from the style alone, whatever runs; a unit is a service or the orchestrator.
    fn structure(&self, style: Style) -> [(&'static str, usize); 7] {
        let services = self.steps.len();
        let compensating = self.steps.iter().filter(|step| step.compensable).count();
        let orchestrators = match style {
            Style::Choreography { .. } => 0,
            Style::Orchestration => 1,
        };
        let orchestrator_or = |services| if orchestrators > 0 { orchestrators } else { services };
        // Every service commits on its own.
        let boundaries = services;
        [
            ("definition_units", orchestrator_or(services)),
            ("state_units", orchestrators),
            ("status_units", orchestrator_or(services)),
            ("compensation_units", orchestrator_or(compensating)),
            // The new service, and whoever calls it.
            ("units_changed_by_a_step", 1 + orchestrators),
            ("transaction_boundaries", boundaries),
            ("atomically_reversible_steps", services - boundaries),
        ]
    }

    fn styles(&self) -> [(&'static str, Style<'_>); 3] {
        [
            ("choreography", CHOREOGRAPHY),
            ("missing_subscriber", Style::Choreography { missing_subscribers: from_ref(&self.missing_subscriber) }),
            ("orchestration", Style::Orchestration),
        ]
    }

    fn window_seconds(&self) -> f64 {
        self.window_hours * 3600.0
    }

    /// At a day's number of workflows, in its window.
    fn messages_a_second(&self, run: &Outcome) -> f64 {
        self.workflows_a_day * self.a_job(run.messages) / self.window_seconds()
    }

    fn share_of_peak_write(&self, messages_a_second: f64) -> f64 {
        100.0 * messages_a_second / self.peak_write
    }

    fn a_job(&self, messages: u64) -> f64 {
        messages as f64 / self.jobs.len() as f64
    }
}

const CHOREOGRAPHY: Style<'static> = Style::Choreography { missing_subscribers: &[] };

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.list("steps", &self.steps, 1..=100, |d, i, step| {
            d.group(i, |d| {
                d.text("name", &step.name);
                d.text("service", &step.service);
                d.flag("compensable", step.compensable);
            });
        });
        d.distinct("steps", self.steps.iter().map(|step| segment(&step.name)));
        let services = self.steps.iter().enumerate();
        let own = services.clone().all(|(i, step)| services.clone().all(|(j, s)| i == j || s.service != step.service));
        d.require("steps", own, "each step in a service of its own");
        d.list("jobs", &self.jobs, 1..=100_000, |d, i, job| d.text(i, job));
        d.distinct("jobs", self.jobs.iter().map(segment));
        d.list("failures", &self.failures, 0..=100_000, |d, i, failure| {
            d.group(i, |d| {
                d.text("job", &failure.job);
                d.require("job", self.jobs.contains(&failure.job), "one of `jobs`");
                d.text("step", &failure.step);
                d.require("step", self.steps.iter().any(|step| step.name == failure.step), "one of `steps`");
            });
        });
        d.distinct("failures", self.failures.iter().map(|failure| &failure.job));
        d.text("missing_subscriber", &self.missing_subscriber);
        d.real("workflows_a_day", self.workflows_a_day, 0.0..=1e9);
        d.real("window_hours", self.window_hours, 0.001..=24.0);
        d.list("failure_shares", &self.failure_shares, 0..=100, |d, i, share| d.real(i, *share, 0.0..=1.0));
        d.distinct("failure_shares", &self.failure_shares);
        d.real("peak_write", self.peak_write, 0.0..=1e6);
        let steps_a_job = 2 * self.steps.len() + self.failures.len();
        d.steps("jobs", 3.0 * self.jobs.len() as f64 * steps_a_job as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
