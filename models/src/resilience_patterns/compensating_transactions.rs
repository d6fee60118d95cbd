//! Compensating Transactions: where does a step go that cannot be rolled back, and what if the rollback itself fails?
//!
//! A workflow fails at some step; what it completed is compensated in reverse order. Every ordering that keeps the
//! steps' dependencies is tried, and the one that leaves the fewest effects standing is chosen. Then the compensating
//! calls fail too, and are tried several times. Left out: any other workflow that sees the half-finished state, and
//! failures that come more often at one step than at another.

mod invariants;

use crate::figures::{Block, Fact, Figure, Mark, Report};
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

impl Measurement {
    fn stuck_share(&self) -> Figure {
        self.figure("stuck_share", self.stuck_jobs, 5)
    }

    fn calls_a_job(&self) -> Figure {
        self.figure("calls_a_job", self.compensating_calls, 3)
    }

    fn rollback_rounds(&self) -> Figure {
        self.figure("rollback_rounds", self.rounds, 3)
    }

    fn figure(&self, name: &str, count: u64, decimals: u8) -> Figure {
        Figure::fixed(format!("measured.{}.{name}", self.row()), count as f64 / self.runs as f64, decimals)
    }

    fn row(&self) -> String {
        format!("attempts_{}", self.attempts)
    }
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
        let candidates: Vec<Candidate> = self
            .orderings()
            .into_iter()
            .map(|ordering| Candidate { failures: self.failures_at_each_step(&ordering), ordering })
            .collect();
        let Some(chosen) = candidates.iter().min_by_key(|candidate| candidate.uncompensated()) else {
            return Report::default();
        };
        let measured: Vec<Measurement> =
            self.attempts.iter().map(|&attempts| self.measure(&chosen.ordering, attempts)).collect();

        let mut report =
            Report::new([self.measure_block(&candidates, chosen, &measured), self.cost_block(&candidates, &measured)]);
        let names = |steps: &[&Step]| steps.iter().map(|step| Fact::from(step.name.as_str())).collect();
        let irreversible: Vec<&Step> = self.steps.iter().filter(|step| step.compensation.is_none()).collect();
        report.fact("chosen.steps", Fact::List(names(&chosen.ordering)));
        report.fact("irreversible_steps", Fact::List(names(&irreversible)));
        let orderings = candidates.iter().map(|candidate| Fact::List(names(&candidate.ordering)));
        report.fact("orderings.steps", Fact::List(orderings.collect()));
        report
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

/// An ordering that keeps the dependencies, with the rollback of a failure at each of its steps.
struct Candidate<'a> {
    ordering: Ordering<'a>,
    failures: Vec<Rollback>,
}

impl Candidate<'_> {
    fn uncompensated(&self) -> u64 {
        self.failures.iter().map(|rollback| rollback.uncompensated).sum()
    }

    fn rounds(&self) -> u64 {
        self.failures.iter().map(|rollback| rollback.rounds).sum()
    }
}

impl Parameters {
    fn measure_block(&self, candidates: &[Candidate], chosen: &Candidate, measured: &[Measurement]) -> Block {
        let mut block = Block::new("measure");
        block.plain("orderings.all", (1..=self.steps.len()).product::<usize>());
        block.plain("orderings.valid", candidates.len());
        for (number, candidate) in (1..).zip(candidates) {
            block.plain(format!("ordering_{number}.uncompensated"), candidate.uncompensated());
            block.plain(format!("ordering_{number}.rounds"), candidate.rounds());
        }
        for (completed, rollback) in chosen.failures.iter().enumerate() {
            let row = format!("chosen.step_{}", completed + 1);
            block.plain(format!("{row}.number"), completed + 1);
            block.plain(format!("{row}.completed"), completed);
            block.plain(format!("{row}.compensated"), rollback.compensating_calls);
            block.plain(format!("{row}.uncompensated"), rollback.uncompensated);
            block.plain(format!("{row}.rounds"), rollback.rounds);
        }
        block.plain("parameters.runs", self.runs);
        block.plain("parameters.compensation_failure", self.compensation_failure);
        for measurement in measured {
            let row = format!("measured.{}", measurement.row());
            block.plain(format!("{row}.attempts"), measurement.attempts);
            block.plain(format!("{row}.stuck_jobs"), measurement.stuck_jobs);
            block.push(measurement.stuck_share());
            block.push(measurement.calls_a_job());
            block.push(measurement.rollback_rounds());
        }
        block
    }

    /// The day's costs, computed from the measurements as the first program prints them.
    fn cost_block(&self, candidates: &[Candidate], measured: &[Measurement]) -> Block {
        let failed = self.failed_workflows();
        let mut block = Block::new("cost");
        block.plain("parameters.invoice_lines", self.invoice_lines);
        block.plain("parameters.workflow_failure", self.workflow_failure);
        block.plain("failed_a_day", failed);
        for (number, candidate) in (1..).zip(candidates) {
            let share = candidate.uncompensated() as f64 / self.steps.len() as f64;
            block.fixed(format!("cost.ordering_{number}.uncompensated_a_day"), failed * share, 1);
            block.fixed(format!("cost.ordering_{number}.uncompensated_a_year"), failed * share * DAYS_A_YEAR, 0);
        }

        for measurement in measured {
            let row = format!("cost.{}", measurement.row());
            let stuck = failed * as_printed(&measurement.stuck_share());
            let rollback = as_printed(&measurement.rollback_rounds()) * self.rollback_round_seconds;
            block.plain(format!("{row}.attempts"), measurement.attempts);
            block.fixed(format!("{row}.stuck_a_day"), stuck, 3);
            block.fixed(format!("{row}.stuck_a_year"), stuck * DAYS_A_YEAR, 0);
            block.fixed(format!("{row}.rollback_seconds"), rollback, 3);
            block.fixed(format!("{row}.intermediate_seconds_a_day"), failed * rollback, 1);
            block.fixed(format!("{row}.stuck_hours_a_day"), stuck * self.stuck_hours, 3);
        }

        let Some(first) = measured.first() else { return block };
        let stuck_seconds = failed * as_printed(&first.stuck_share()) * self.stuck_hours * 3600.0;
        let rollback_seconds = |round: f64| failed * as_printed(&first.rollback_rounds()) * round;
        let times =
            |name: &str, round| Figure::fixed(name, stuck_seconds / rollback_seconds(round), 0).marked(Mark::Times);
        let tried = self.rollback_round_seconds_tried;
        block.push(times("stuck_by_rollback", self.rollback_round_seconds));
        block.plain("parameters.rollback_round_seconds_tried", tried);
        block.plain("parameters.rollback_round_seconds", self.rollback_round_seconds);
        block.fixed("sensitivity.intermediate_seconds_a_day", rollback_seconds(tried), 1);
        block.push(times("sensitivity.stuck_by_rollback", tried));

        let compensable = self.steps.iter().filter(|step| step.compensation.is_some()).count();
        let calls = as_printed(&first.calls_a_job());
        block.plain("compensable_steps", compensable);
        block.plain("steps", self.steps.len());
        block.grouped("compensation_paths_a_day", self.invoice_lines * compensable as u64);
        block.fixed("compensating_calls_a_day", failed * calls, 0);
        block.fixed("compensating_calls_a_workflow", calls * self.workflow_failure, 4);
        block
    }
}

const DAYS_A_YEAR: f64 = 365.0;

/// A measured figure as a later program types it in again.
fn as_printed(figure: &Figure) -> f64 {
    figure.digits().parse().unwrap_or(f64::NAN)
}
