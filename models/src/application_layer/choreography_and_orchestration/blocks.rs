//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{CHOREOGRAPHY, Outcome, Parameters, Style};
use crate::figures::{Block, Fact, Figure, Mark, Report, segment};

/// A number taken from a run.
type Count = fn(&Outcome) -> u64;

/// The three runs, by name.
type Runs<'a> = [(&'static str, Outcome<'a>); 3];

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
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
            block.fixed(format!("cost.{name}.messages_a_second"), self.messages_a_second(run), 4);
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
        let share = self.share_of_peak_write(self.messages_a_second(orchestration));
        block.push(Figure::fixed("cost.orchestration.share_of_peak_write", share, 2).marked(Mark::Percent));
        for (name, style) in [("choreography", CHOREOGRAPHY), ("orchestration", Style::Orchestration)] {
            let [(_, definition_units), ..] = self.structure(style);
            block.plain(format!("cost.{name}.definition_units"), definition_units);
        }
        block
    }
}
