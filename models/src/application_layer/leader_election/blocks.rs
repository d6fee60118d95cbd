//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{BatchStart, Parameters, Run, Scenario};
use crate::figures::{Block, Report, segment};

/// A number taken from a run.
type Count = fn(&Run) -> u64;

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let runs = [
            ("plain", self.run(self.plain())),
            ("fencing", self.run(self.fencing())),
            ("fencing_trigger", self.run(self.fencing_trigger())),
        ];
        let outages = [("long", self.outage), ("short", self.short_outage)];
        let scan: Vec<_> = self
            .leases
            .iter()
            .map(|lease| {
                let run = |outage| self.run(Scenario { lease: *lease, outage, ..self.plain() });
                (lease, outages.map(|(name, outage)| (format!("scan.lease_{lease}.{name}"), run(outage))))
            })
            .collect();
        let long_lease = self.run(Scenario { lease: self.long_lease, ..self.plain() });

        let mut measure = Block::new("measure");
        measure.plain("parameters.nodes", self.nodes);
        measure.plain("parameters.rounds", self.rounds);
        measure.plain("parameters.lease", self.lease);
        measure.plain("parameters.renewal", self.renewal);
        measure.plain("parameters.outage_start", self.outage_start);
        measure.plain("outage_end", self.outage_start + self.outage - 1);
        for (i, round) in self.triggers.iter().enumerate() {
            measure.plain(format!("parameters.triggers.{i}"), *round);
        }
        let measures: [(&str, Count); 8] = [
            ("started", |run| run.batches_started() as u64),
            ("missed", |run| run.missed() as u64),
            ("delayed_rounds", Run::delayed_rounds),
            ("double_starts", Run::double_starts),
            ("rejected", |run| run.rejected.len() as u64),
            ("two_leader_rounds", |run| run.two_leader.len() as u64),
            ("leaderless_rounds", |run| run.leaderless.len() as u64),
            ("handover_rounds", Run::handover_rounds),
        ];
        for (name, count) in measures {
            for (run_name, run) in &runs {
                measure.plain(format!("runs.{run_name}.{name}"), count(run));
            }
        }
        measure.plain("parameters.outage", self.outage);
        measure.plain("parameters.short_outage", self.short_outage);
        for _ in outages {
            measure.plain("parameters.conflicting_leaders", self.conflicting_leaders);
        }
        for (i, (lease, row)) in scan.iter().enumerate() {
            measure.plain(format!("parameters.leases.{i}"), **lease);
            for (name, run) in row {
                measure.plain(format!("{name}.handover_rounds"), run.handover_rounds());
                measure.plain(format!("{name}.leaderless_rounds"), run.leaderless.len());
                measure.plain(format!("{name}.missed"), run.missed());
                measure.plain(format!("{name}.two_leader_rounds"), run.two_leader.len());
                measure.plain(format!("{name}.double_starts"), run.double_starts());
            }
        }

        let [(_, plain), _, (_, protected)] = &runs;
        let mut report = Report::new([measure, self.cost(plain, protected, &long_lease)]);
        report.fact("triggers.count", self.triggers.len());
        report.fact("triggers.interval", even_interval(&self.triggers));
        report.fact("old_leader.reachable_again", self.outage_start + self.outage);
        for (name, run) in &runs {
            run.facts(&mut report, &format!("runs.{name}"));
        }
        for (name, run) in scan.iter().flat_map(|(_, row)| row) {
            run.facts(&mut report, name);
        }
        long_lease.facts(&mut report, "long_lease");
        // Which of the two protections does what only shows beside each of them alone.
        let trigger = self.run(self.trigger());
        report.fact("trigger_only.delayed_rounds", trigger.delayed_rounds());
        trigger.facts(&mut report, "trigger_only");
        report
    }

    /// A year's batches: triggers fall into a run's windows in proportion to their rounds.
    fn cost(&self, plain: &Run, protected: &Run, long_lease: &Run) -> Block {
        let share = |rounds: &[u64]| rounds.len() as f64 / self.rounds as f64;
        let (leaderless, two_leader) = (share(&plain.leaderless), share(&plain.two_leader));
        let mut block = Block::new("cost");
        block.plain("window.leaderless_rounds", plain.leaderless.len());
        block.plain("parameters.rounds", self.rounds);
        block.fixed("window.leaderless_share", leaderless, 4);
        block.plain("window.two_leader_rounds", plain.two_leader.len());
        block.plain("parameters.rounds", self.rounds);
        block.fixed("window.two_leader_share", two_leader, 4);
        block.plain("parameters.invoice_lines", self.invoice_lines);
        for (i, handovers) in self.handovers_a_year.iter().enumerate() {
            let row = format!("cost.kk4_{}", segment(handovers));
            let (missed, double) = (handovers * leaderless, handovers * two_leader);
            block.plain(format!("parameters.handovers_a_year.{i}"), *handovers);
            block.fixed(format!("{row}.missed_batches"), missed, 2);
            block.fixed(format!("{row}.missed_lines"), missed * self.invoice_lines, 0);
            block.fixed(format!("{row}.double_batches"), double, 2);
            block.fixed(format!("{row}.double_lines"), double * self.invoice_lines, 0);
        }
        block.plain("protected.missed", protected.missed());
        block.plain("protected.double_starts", protected.double_starts());
        block.plain("protected.delayed_rounds", protected.delayed_rounds());
        block.plain("parameters.long_lease", self.long_lease);
        block.plain("long_lease.handover_rounds", long_lease.handover_rounds());
        block.plain("long_lease.leaderless_rounds", long_lease.leaderless.len());
        block.plain("long_lease.two_leader_rounds", long_lease.two_leader.len());
        block
    }
}

impl Run {
    pub(super) fn triggers_where(&self, condition: impl Fn(BatchStart) -> bool) -> Vec<u64> {
        self.triggers.iter().filter(|trigger| condition(trigger.start)).map(|trigger| trigger.round).collect()
    }

    pub(super) fn batches_started(&self) -> usize {
        self.triggers_where(|start| matches!(start, BatchStart::OnTime { .. } | BatchStart::Late { .. })).len()
    }

    pub(super) fn missed(&self) -> usize {
        self.triggers_where(|start| start == BatchStart::Missed).len()
    }

    /// Starts beyond the first of each batch.
    pub(super) fn double_starts(&self) -> u64 {
        self.triggers.iter().map(|t| if let BatchStart::OnTime { starts } = t.start { starts - 1 } else { 0 }).sum()
    }

    pub(super) fn delayed_rounds(&self) -> u64 {
        self.triggers.iter().map(|t| if let BatchStart::Late { round } = t.start { round - t.round } else { 0 }).sum()
    }

    pub(super) fn handover_rounds(&self) -> u64 {
        self.handovers.iter().map(|handover| handover.rounds).sum()
    }

    /// In which rounds it happened, where the blocks only say how often.
    fn facts(&self, report: &mut Report, run: &str) {
        let handovers: Vec<u64> = self.handovers.iter().map(|handover| handover.round).collect();
        report.fact(format!("{run}.handovers"), handovers.len());
        report.fact(format!("{run}.handover_at"), handovers);
        let tokens: Vec<u64> = self.handovers.iter().map(|handover| handover.fencing_token).collect();
        report.fact(format!("{run}.fencing_tokens"), tokens);
        report.fact(format!("{run}.two_leader_in"), self.two_leader.clone());
        report.fact(format!("{run}.two_believers_in"), self.two_believers.clone());
        report.fact(format!("{run}.leaderless_in"), self.leaderless.clone());
        report.fact(format!("{run}.old_leader_drops_belief"), self.belief_dropped);
        let mut triggers = |name: &str, condition: fn(BatchStart) -> bool| {
            report.fact(format!("{run}.triggers_{name}"), self.triggers_where(condition));
        };
        triggers("started_once", |start| start == BatchStart::OnTime { starts: 1 });
        triggers("started_twice", |start| matches!(start, BatchStart::OnTime { starts: 2.. }));
        triggers("delayed", |start| matches!(start, BatchStart::Late { .. }));
        triggers("missed", |start| start == BatchStart::Missed);
        triggers("waiting", |start| start == BatchStart::Waiting);
    }
}

/// The distance between neighbours, if it is the same everywhere.
fn even_interval(rounds: &[u64]) -> Option<i64> {
    let mut intervals = rounds.windows(2).map(|pair| pair[1] as i64 - pair[0] as i64);
    let first = intervals.next()?;
    intervals.all(|interval| interval == first).then_some(first)
}
