//! Disaster Recovery Drill: what does a drill find that the recovery plan does not say, and what does drilling cost?
//!
//! A plan lists steps with durations, the drill measures them; while the recovery lasts, workflows stand still, and
//! those that were under way when it began are either run again or given up. Left out: what goes wrong inside a step,
//! steps that overlap, and workflows that remember how far they came.

mod blocks;
mod invariants;

use crate::figures::{Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    steps: Vec<RecoveryStep>,
    round_seconds: f64,
    /// Recovery time objectives, in seconds.
    objectives: Vec<f64>,
    /// Requests per second.
    peak_edge: f64,
    frequencies: Vec<Frequency>,
    planned_share_minutes: f64,
    outage_budget_minutes: f64,
    workflow: Workflow,
    rounds: u64,
    workflows_a_round: u64,
    /// The last round in which workflows start.
    start_until: u64,
    failover_round: u64,
}

/// A step of the recovery plan, in rounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecoveryStep {
    name: String,
    planned: u64,
    measured: u64,
}

/// So many drills in so many months.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Frequency {
    name: String,
    drills: u64,
    months: u64,
}

impl Frequency {
    fn drills_a_month(&self) -> f64 {
        self.drills as f64 / self.months as f64
    }
}

/// The steps of the billing flow, in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
struct Workflow(Vec<WorkflowStep>);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkflowStep {
    name: String,
    /// Leaves something behind that running it again doubles.
    side_effect: bool,
}

impl Workflow {
    fn steps(&self) -> usize {
        self.0.len()
    }

    /// Side effects of the first steps.
    fn side_effects(&self, done: usize) -> u64 {
        self.0.iter().take(done).map(|step| u64::from(step.side_effect)).sum()
    }
}

/// What becomes of a workflow that the failover interrupts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Delivery {
    /// It runs again from its first step.
    AtLeastOnce,
    /// It is given up.
    AtMostOnce,
}

impl Delivery {
    const ALL: [Self; 2] = [Self::AtLeastOnce, Self::AtMostOnce];

    fn name(self) -> &'static str {
        match self {
            Self::AtLeastOnce => "at_least_once",
            Self::AtMostOnce => "at_most_once",
        }
    }
}

/// The workflows that start in one round; nothing ever tells them apart.
#[derive(Clone, Copy)]
struct Cohort {
    steps_done: usize,
    given_up: bool,
}

impl Cohort {
    fn runs(&self, workflow: &Workflow) -> bool {
        !self.given_up && self.steps_done < workflow.steps()
    }
}

/// Workflows, but for the side effects.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    total: u64,
    completed: u64,
    restarted: u64,
    discarded: u64,
    duplicated_side_effects: u64,
    /// Discarded after a side effect.
    orphaned: u64,
    /// Still to be completed when the run ends.
    unfinished: u64,
}

impl Parameters {
    fn planned_rounds(&self) -> u64 {
        self.steps.iter().map(|step| step.planned).sum()
    }

    fn measured_rounds(&self) -> u64 {
        self.steps.iter().map(|step| step.measured).sum()
    }

    fn seconds(&self, rounds: u64) -> f64 {
        rounds as f64 * self.round_seconds
    }

    /// The billing flow across a recovery of so many rounds.
    fn run(&self, delivery: Delivery, window: u64) -> Counts {
        let size = self.workflows_a_round;
        let recovery = self.failover_round..self.failover_round + window;
        let mut cohorts: Vec<Cohort> = Vec::new();
        let mut counts = Counts::default();
        for now in 1..=self.rounds {
            if now == self.failover_round {
                let under_way = |cohort: &&mut Cohort| (1..self.workflow.steps()).contains(&cohort.steps_done);
                for cohort in cohorts.iter_mut().filter(under_way) {
                    let side_effects = self.workflow.side_effects(cohort.steps_done);
                    match delivery {
                        Delivery::AtLeastOnce => {
                            counts.restarted += size;
                            counts.duplicated_side_effects += size * side_effects;
                            cohort.steps_done = 0;
                        }
                        Delivery::AtMostOnce => {
                            counts.discarded += size;
                            counts.orphaned += if side_effects > 0 { size } else { 0 };
                            cohort.given_up = true;
                        }
                    }
                }
            }
            if recovery.contains(&now) {
                continue;
            }
            for cohort in cohorts.iter_mut().filter(|cohort| cohort.runs(&self.workflow)) {
                cohort.steps_done += 1;
                counts.completed += if cohort.steps_done == self.workflow.steps() { size } else { 0 };
            }
            if now <= self.start_until {
                cohorts.push(Cohort { steps_done: 0, given_up: false });
                counts.total += size;
            }
        }
        let unfinished = cohorts.iter().filter(|cohort| cohort.runs(&self.workflow)).count() as u64;
        Counts { unfinished: unfinished * size, ..counts }
    }

    fn meets(&self, rounds: u64, objective_s: f64) -> bool {
        self.seconds(rounds) <= objective_s
    }

    fn minutes_a_month(&self, frequency: &Frequency) -> f64 {
        frequency.drills_a_month() * self.measured_rounds() as f64 * self.round_seconds / 60.0
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.list("steps", &self.steps, 0..=50, |d, i, step| {
            d.group(i, |d| {
                d.text("name", &step.name);
                d.integer("planned", step.planned, 0..=10_000);
                d.integer("measured", step.measured, 0..=10_000);
            });
        });
        d.distinct("steps", self.steps.iter().map(|step| segment(&step.name)).collect::<Vec<_>>());
        d.real("round_seconds", self.round_seconds, 0.001..=3_600.0);
        d.list("objectives", &self.objectives, 0..=20, |d, i, seconds| d.real(i, *seconds, 0.0..=1e6));
        d.distinct("objectives", &self.objectives);
        d.real("peak_edge", self.peak_edge, 0.0..=1e9);
        d.list("frequencies", &self.frequencies, 0..=20, |d, i, frequency| {
            d.group(i, |d| {
                d.text("name", &frequency.name);
                d.integer("drills", frequency.drills, 0..=1_000);
                d.integer("months", frequency.months, 1..=1_000);
            });
        });
        d.distinct("frequencies", self.frequencies.iter().map(|f| segment(&f.name)).collect::<Vec<_>>());
        d.real("planned_share_minutes", self.planned_share_minutes, 0.001..=50_000.0);
        d.real("outage_budget_minutes", self.outage_budget_minutes, 0.001..=50_000.0);
        d.list("workflow", &self.workflow.0, 0..=100, |d, i, step| {
            d.group(i, |d| {
                d.text("name", &step.name);
                d.flag("side_effect", step.side_effect);
            });
        });
        d.integer("rounds", self.rounds, 0..=100_000);
        d.integer("workflows_a_round", self.workflows_a_round, 0..=100_000);
        d.integer("start_until", self.start_until, 0..=100_000);
        d.integer("failover_round", self.failover_round, 0..=100_000);
        let runs = (2 * Delivery::ALL.len()) as f64;
        d.steps("rounds", runs * self.rounds as f64 * self.rounds.min(self.start_until) as f64);
    }

    fn report(&self) -> Report {
        let mut report = Report::new([self.plan(), self.work()]);
        for &seconds in &self.objectives {
            let row = format!("objective.seconds_{}", segment(seconds));
            report.fact(format!("{row}.holds_by_plan"), self.meets(self.planned_rounds(), seconds));
            report.fact(format!("{row}.holds_by_drill"), self.meets(self.measured_rounds(), seconds));
        }
        let unplanned: Vec<&str> =
            self.steps.iter().filter(|step| step.planned == 0).map(|step| step.name.as_str()).collect();
        report.fact("unplanned_steps", unplanned);
        for delivery in Delivery::ALL {
            let counts = self.run(delivery, self.planned_rounds());
            let row = format!("in_planned_window.{}", delivery.name());
            report.fact(format!("{row}.restarted"), counts.restarted);
            report.fact(format!("{row}.discarded"), counts.discarded);
            report.fact(format!("{row}.duplicated_side_effects"), counts.duplicated_side_effects);
            report.fact(format!("{row}.orphaned"), counts.orphaned);
        }
        report
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
