//! Compensating Transactions: where does a step go that cannot be rolled back, and what if the rollback itself fails?
//!
//! A workflow fails at some step; what it completed is compensated in reverse order. Every ordering that keeps the
//! steps' dependencies is tried, and the one that leaves the fewest effects standing is chosen. Then the compensating
//! calls fail too, and are tried several times. Left out: any other workflow that sees the half-finished state, and
//! failures that come more often at one step than at another.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{Congruential, Uniform};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the lesson's two programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    steps: Vec<Step>,
    /// Failed workflows in the measurement; the failing step goes round, so that each fails equally often.
    runs: u64,
    compensation_failure: f64,
    /// How often a compensating call is tried at most; each number is measured, and the costs that have no row of
    /// their own are those of the first.
    attempts: Vec<u64>,
    invoice_lines: u64,
    workflow_failure: f64,
    rollback_round_seconds: f64,
    rollback_round_seconds_tried: f64,
    stuck_hours: f64,
}

/// One step of the workflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    /// The call that balances it; without one the step cannot be rolled back.
    compensation: Option<String>,
    /// The steps that must come before.
    requires: Vec<String>,
}

/// Steps in the order in which they run.
type Ordering<'a> = Vec<&'a Step>;

/// What rolling back one or several failed workflows took, and left behind.
#[derive(Debug, Default, Clone, Copy)]
struct Rollback {
    /// Completed steps that cannot be rolled back.
    uncompensated: u64,
    compensating_calls: u64,
    /// Steps whose compensation failed at every attempt.
    stuck: u64,
    rounds: u64,
}

/// How compensating calls fare.
struct Compensator<'a> {
    failure: f64,
    attempts: u64,
    random: &'a mut Congruential,
}

/// What became of the effect of a completed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Undone,
    /// Its compensation failed at every attempt.
    Stuck,
    /// It has no compensation.
    Irreversible,
}

impl Compensator<'_> {
    /// Rolls back a workflow that completed these steps. Each takes a round, and each further attempt one more.
    fn roll_back(&mut self, completed: &[&Step]) -> Rollback {
        let mut rollback = Rollback::default();
        for (_, fate, calls) in self.undo_each(completed) {
            rollback.rounds += calls.max(1);
            rollback.compensating_calls += calls;
            rollback.uncompensated += u64::from(fate == Fate::Irreversible);
            rollback.stuck += u64::from(fate == Fate::Stuck);
        }
        rollback
    }

    /// The last step first: what becomes of it, and after how many calls.
    fn undo_each<'s>(&mut self, completed: &[&'s Step]) -> impl Iterator<Item = (&'s Step, Fate, u64)> {
        completed.iter().rev().map(|step| {
            let (fate, calls) = self.undo(step);
            (*step, fate, calls)
        })
    }

    fn undo(&mut self, step: &Step) -> (Fate, u64) {
        if step.compensation.is_none() {
            return (Fate::Irreversible, 0);
        }
        let failed = |_: &u64| self.random.chance(self.failure);
        let failures = (0..self.attempts).take_while(failed).count() as u64;
        let fate = if failures == self.attempts { Fate::Stuck } else { Fate::Undone };
        (fate, self.attempts.min(failures + 1))
    }
}

/// The measured runs at one number of attempts.
struct Measurement {
    attempts: u64,
    runs: u64,
    stuck_jobs: u64,
    compensating_calls: u64,
    rounds: u64,
}

impl Parameters {
    /// Every ordering in which each step finds what it requires, in the order of the list of steps.
    fn orderings(&self) -> Vec<Ordering<'_>> {
        let mut complete = Vec::new();
        self.extend_ordering(&mut Vec::new(), &mut complete);
        complete
    }

    fn extend_ordering<'a>(&'a self, begun: &mut Ordering<'a>, complete: &mut Vec<Ordering<'a>>) {
        if begun.len() == self.steps.len() {
            complete.push(begun.clone());
            return;
        }
        for step in &self.steps {
            let is_done = |name: &String| begun.iter().any(|done| done.name == *name);
            if !is_done(&step.name) && step.requires.iter().all(is_done) {
                begun.push(step);
                self.extend_ordering(begun, complete);
                begun.pop();
            }
        }
    }

    /// The rollback of a failure at each step in turn, all compensating calls succeeding.
    fn failures_at_each_step(&self, ordering: &Ordering) -> Vec<Rollback> {
        let mut random = Congruential::new(self.seed);
        let mut compensator = Compensator { failure: 0.0, attempts: 1, random: &mut random };
        (0..ordering.len()).map(|completed| compensator.roll_back(&ordering[..completed])).collect()
    }

    fn measure(&self, ordering: &Ordering, attempts: u64) -> Measurement {
        let mut random = Congruential::new(self.seed);
        let mut compensator = Compensator { failure: self.compensation_failure, attempts, random: &mut random };
        let mut measured = Measurement { attempts, runs: self.runs, stuck_jobs: 0, compensating_calls: 0, rounds: 0 };
        for run in 0..self.runs as usize {
            let rollback = compensator.roll_back(&ordering[..run % ordering.len()]);
            measured.stuck_jobs += u64::from(rollback.stuck > 0);
            measured.compensating_calls += rollback.compensating_calls;
            measured.rounds += rollback.rounds;
        }
        measured
    }

    fn failed_workflows(&self) -> f64 {
        self.invoice_lines as f64 * self.workflow_failure
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        // Seven steps have up to 5040 orderings, and each is a row of the table.
        d.list("steps", &self.steps, 1..=7, |d, i, step| {
            d.group(i, |d| {
                d.text("name", &step.name);
                if let Some(compensation) = &step.compensation {
                    d.text("compensation", compensation);
                }
                d.list("requires", &step.requires, 0..=7, |d, i, name| d.text(i, name));
            });
        });
        let names: BTreeSet<&str> = self.steps.iter().map(|step| step.name.as_str()).collect();
        d.require("steps", names.len() == self.steps.len(), "steps of different names");
        let known = self.steps.iter().flat_map(|step| &step.requires).all(|name| names.contains(name.as_str()));
        d.require("steps", known, "every step to require steps of the list only");
        // Without an ordering there is nothing to choose: the program breaks down there. More steps than allowed are
        // refused above; their orderings are not worth counting.
        let possible = self.steps.len() > 7 || !self.orderings().is_empty();
        d.require("steps", possible, "steps that do not require each other in a circle");
        d.integer("runs", self.runs, 1..=10_000_000);
        d.real("compensation_failure", self.compensation_failure, 0.0..=1.0);
        d.list("attempts", &self.attempts, 1..=20, |d, i, attempts| d.integer(i, *attempts, 0..=1_000));
        let distinct: BTreeSet<u64> = self.attempts.iter().copied().collect();
        d.require("attempts", distinct.len() == self.attempts.len(), "each number of attempts once");
        d.integer("invoice_lines", self.invoice_lines, 0..=1_000_000_000);
        d.real("workflow_failure", self.workflow_failure, 0.0..=1.0);
        d.real("rollback_round_seconds", self.rollback_round_seconds, 0.0..=86_400.0);
        d.real("rollback_round_seconds_tried", self.rollback_round_seconds_tried, 0.0..=86_400.0);
        d.real("stuck_hours", self.stuck_hours, 0.0..=10_000.0);

        let attempts: f64 = self.attempts.iter().map(|attempts| 1.0 + *attempts as f64).sum();
        d.steps("runs", self.runs as f64 * self.steps.len() as f64 * attempts);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
