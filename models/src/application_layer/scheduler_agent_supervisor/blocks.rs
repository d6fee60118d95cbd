//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Parameters, Run};
use crate::figures::{Block, Fact, Figure, Mark, Report, segment};

/// A number taken from a run.
type Count = fn(&Run) -> u64;

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let runs = [("unsupervised", self.run(None)), ("supervised", self.run(Some(self.scan)))];
        let [_, (_, supervised)] = &runs;
        let mut report = Report::new([self.measure(&runs), self.cost(supervised)]);
        for (name, run) in &runs {
            let names = run.half_finished().into_iter().map(|job| Fact::from(format!("S{job}").as_str()));
            report.fact(format!("runs.{name}.half_finished_jobs"), Fact::List(names.collect()));
            report.fact(format!("runs.{name}.starts"), run.starts);
            report.fact(format!("runs.{name}.driven_again"), run.driven_again());
        }
        report
    }

    fn measure(&self, runs: &[(&'static str, Run); 2]) -> Block {
        let mut block = Block::new("measure");
        block.plain("parameters.jobs", self.jobs);
        block.plain("steps_a_job", self.steps.len());
        block.plain("stalled_steps", self.stalled.len());
        block.plain("persistent_steps", self.persistent.len());
        let measures: [(&str, Count); 8] = [
            ("completed", |run| run.completed()),
            ("steps", |run| run.steps),
            ("redriven", |run| run.redriven),
            ("wasted", |run| run.wasted),
            ("compensated_jobs", |run| run.compensated_jobs()),
            ("compensated_steps", |run| run.compensated_steps),
            ("half_finished", |run| run.half_finished().len() as u64),
            ("last_round", |run| run.last_round),
        ];
        for (measure, of) in measures {
            for (name, run) in runs {
                block.plain(format!("runs.{name}.{measure}"), of(run));
            }
        }
        for (i, &scan) in self.scans.iter().enumerate() {
            let run = self.run(Some(scan));
            let row = format!("sweep.scan_{scan}");
            block.plain(format!("parameters.scans.{i}"), scan);
            block.plain(format!("{row}.completed"), run.completed());
            block.fixed(format!("{row}.mean_recovery"), run.mean_recovery(), 2);
            block.plain(format!("{row}.worst_recovery"), run.worst_recovery());
            block.plain(format!("{row}.last_round"), run.last_round);
            block.plain(format!("{row}.records_read"), run.records_read);
        }
        block
    }

    /// The shares of KK2 and KK3 at a day's number of workflows.
    fn cost(&self, supervised: &Run) -> Block {
        let steps_a_day = self.workflows_a_day * self.steps.len() as f64;
        let mut block = Block::new("cost");
        block.plain("parameters.workflows_a_day", self.workflows_a_day);
        block.plain("cost.steps_a_day", steps_a_day);
        block.fixed("cost.wasted_ratio", supervised.wasted as f64 / supervised.redriven as f64, 3);
        for (i, share) in self.stall_shares.iter().enumerate() {
            let row = format!("cost.kk3_{}", segment(share));
            let stalled = steps_a_day * share;
            let persistent = self.workflows_a_day * self.persistent_share;
            let half_finished = stalled + persistent;
            let of_workflows = 100.0 * half_finished / self.workflows_a_day;
            block.fixed(format!("parameters.stall_shares.{i}"), *share, 3);
            block.fixed(format!("{row}.stalled"), stalled, 0);
            block.fixed(format!("{row}.redriven"), stalled + persistent * self.attempts as f64, 0);
            block.fixed(format!("{row}.wasted"), stalled, 0);
            block.fixed(format!("{row}.half_finished"), half_finished, 0);
            block.push(Figure::fixed(format!("{row}.half_finished_share"), of_workflows, 2).marked(Mark::Percent));
        }
        for (i, &scan) in self.cost_scans.iter().enumerate() {
            let run = self.run(Some(scan));
            let row = format!("cost.scan_{scan}");
            block.plain(format!("parameters.cost_scans.{i}"), scan);
            block.fixed(format!("{row}.mean_recovery"), run.mean_recovery(), 2);
            block.plain(format!("{row}.worst_recovery"), run.worst_recovery());
            block.plain(format!("{row}.last_round"), run.last_round);
            block.plain(format!("{row}.records_read"), run.records_read);
        }
        block
    }
}
