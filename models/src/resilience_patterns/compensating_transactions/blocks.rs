//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Measurement, Ordering, Parameters, Rollback, Step};
use crate::calendar::DAYS_A_YEAR;
use crate::figures::{Block, Fact, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
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

/// A measured figure as a later program types it in again.
fn as_printed(figure: &Figure) -> f64 {
    figure.digits().parse().unwrap_or(f64::NAN)
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
