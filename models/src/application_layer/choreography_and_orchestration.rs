//! Choreography and Orchestration: what does a workflow of several services cost in messages, and who undoes its steps?
//!
//! A workflow's steps run in services of their own, each with its own transaction boundary. Some workflows fail at a
//! step; what they had completed is compensated in reverse order. Events drive the steps in one style, a single
//! orchestrator in the other. Left out: failures that nobody reports, compensations that fail, and time.

use crate::figures::{Block, Fact, Figure, Mark, Report, segment};
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

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
        missing_subscriber: Option<&'a str>,
    },
    Orchestration,
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
            Self::Choreography { missing_subscriber } => missing_subscriber != Some(step.service.as_str()),
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

    /// Undoes the first steps, last one first; how many stay that should not.
    fn compensate(&self, style: Style, committed: usize, outcome: &mut Outcome) -> u64 {
        let mut left_open = 0;
        for (step, writes) in self.steps.iter().zip(&mut outcome.writes).take(committed).rev() {
            if !step.compensable {
                continue;
            }
            if style.reaches(step) {
                outcome.messages += style.messages_a_step();
                outcome.compensated += 1;
                *writes -= 1;
            } else {
                outcome.uncompensated += 1;
                left_open += 1;
            }
        }
        left_open
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
            ("missing_subscriber", Style::Choreography { missing_subscriber: Some(&self.missing_subscriber) }),
            ("orchestration", Style::Orchestration),
        ]
    }

    fn window_seconds(&self) -> f64 {
        self.window_hours * 3600.0
    }
}

const CHOREOGRAPHY: Style<'static> = Style::Choreography { missing_subscriber: None };

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
        let runs = self.styles().map(|(name, style)| (name, self.run(style)));
        let mut report = Report::new([self.measure(&runs), self.cost(&runs)]);
        for (name, run) in &runs {
            let left_open: Vec<u64> = run.stops.iter().map(|stop| stop.left_open).collect();
            report.fact(format!("runs.{name}.left_open"), left_open);
        }
        let [(_, choreography), _, (_, orchestration)] = &runs;
        let excess = (orchestration.messages as f64 - choreography.messages as f64) / self.jobs.len() as f64;
        report.fact("cost.excess_messages_a_second", excess * self.workflows_a_day / self.window_seconds());
        let irreversible = self.steps.iter().filter(|step| !step.compensable);
        report.fact("irreversible_steps", Fact::List(irreversible.map(|step| step.name.as_str().into()).collect()));
        report
    }
}

/// A number taken from a run.
type Count = fn(&Outcome) -> u64;

/// The three runs, by name.
type Runs<'a> = [(&'static str, Outcome<'a>); 3];

impl Parameters {
    fn measure(&self, runs: &Runs) -> Block {
        let [(_, choreography), _, (_, orchestration)] = runs;
        let mut block = Block::new("measure");
        block.plain("jobs", self.jobs.len());
        block.plain("steps", self.steps.len());
        block.plain("failing_jobs", self.failures.len());
        let measures: [(&str, Count); 6] = [
            ("completed", |run| run.completed),
            ("steps", |run| run.steps),
            ("messages", |run| run.messages),
            ("compensated", |run| run.compensated),
            ("uncompensated", |run| run.uncompensated),
            ("half_finished", |run| run.half_finished()),
        ];
        for (measure, of) in measures {
            for (name, run) in runs {
                block.plain(format!("runs.{name}.{measure}"), of(run));
            }
        }
        for stop in &orchestration.stops {
            let row = format!("stops.{}", segment(stop.job));
            block.plain(format!("{row}.committed"), stop.committed);
            block.plain(format!("{row}.left_open"), stop.left_open);
        }
        for (name, run) in runs {
            for (step, writes) in self.steps.iter().zip(&run.writes) {
                block.plain(format!("runs.{name}.writes.{}", segment(&step.name)), *writes);
            }
        }
        let structures = self.structure(CHOREOGRAPHY).into_iter().zip(self.structure(Style::Orchestration));
        for ((measure, choreography), (_, orchestration)) in structures {
            block.plain(format!("structure.choreography.{measure}"), choreography);
            block.plain(format!("structure.orchestration.{measure}"), orchestration);
        }
        block.fixed("message_ratio", orchestration.messages as f64 / choreography.messages as f64, 3);
        block.fixed("messages_a_job.choreography", self.a_job(choreography.messages), 2);
        block.fixed("messages_a_job.orchestration", self.a_job(orchestration.messages), 2);
        block
    }

    /// The runs' ratios at a day's number of workflows.
    fn cost(&self, runs: &Runs) -> Block {
        let [(_, choreography), (_, missing), (_, orchestration)] = runs;
        let a_second = |number: f64| self.workflows_a_day * number / self.window_seconds();
        let a_failure = |count: u64| count as f64 / self.failures.len() as f64;
        let compensated = a_failure(choreography.compensated);
        let uncompensated = a_failure(missing.uncompensated);
        let mut block = Block::new("cost");
        block.plain("parameters.workflows_a_day", self.workflows_a_day);
        block.plain("window_seconds", self.window_seconds());
        block.fixed("cost.jobs_a_second", self.workflows_a_day / self.window_seconds(), 4);
        block.fixed("cost.steps_a_second", a_second(self.steps.len() as f64), 4);
        for (name, run) in [("choreography", choreography), ("orchestration", orchestration)] {
            let messages = self.a_job(run.messages);
            block.fixed(format!("cost.{name}.messages_a_job"), messages, 2);
            block.fixed(format!("cost.{name}.messages_a_second"), a_second(messages), 4);
        }
        for (i, share) in self.failure_shares.iter().enumerate() {
            let row = format!("cost.kk2_{}", segment(share));
            let failed = self.workflows_a_day * share;
            block.fixed(format!("parameters.failure_shares.{i}"), *share, 2);
            block.fixed(format!("{row}.failed"), failed, 0);
            block.fixed(format!("{row}.compensated"), failed * compensated, 0);
            block.fixed(format!("{row}.uncompensated"), failed * uncompensated, 0);
            block.fixed(format!("{row}.half_finished"), failed, 0);
        }
        block.fixed("cost.compensated_a_failure", compensated, 2);
        block.fixed("cost.uncompensated_a_failure", uncompensated, 2);
        block.plain("parameters.peak_write", self.peak_write);
        let share = 100.0 * a_second(self.a_job(orchestration.messages)) / self.peak_write;
        block.push(Figure::fixed("cost.orchestration.share_of_peak_write", share, 2).marked(Mark::Percent));
        for (name, style) in [("choreography", CHOREOGRAPHY), ("orchestration", Style::Orchestration)] {
            let [(_, definition_units), ..] = self.structure(style);
            block.plain(format!("cost.{name}.definition_units"), definition_units);
        }
        block
    }

    fn a_job(&self, messages: u64) -> f64 {
        messages as f64 / self.jobs.len() as f64
    }
}
