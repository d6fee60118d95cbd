//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Counts, Failback, Parameters};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let automatic = self.run(self.threshold, Failback::Automatic);
        let permanent = self.run(self.threshold, Failback::Permanent);
        let mut report =
            Report::new([self.measure(&automatic, &permanent), self.budget(automatic.writes.silently_lost)]);
        report.fact("promotion_rounds", self.promotion_rounds);
        report.fact("window_seconds", self.window_seconds(self.threshold));
        report.fact("longest_pause_rounds", self.replica_a.paused.longest());
        report.fact("failback.permanent.silently_lost", permanent.writes.silently_lost);
        report
    }

    fn measure(&self, automatic: &Counts, permanent: &Counts) -> Block {
        let mut block = Block::new("measure");
        let without = self.without_failover();
        block.plain("parameters.rounds", self.rounds);
        block.plain("replica_a.paused_rounds", self.replica_a.paused.rounds());
        block.plain("replica_a.stopped_rounds", self.replica_a.stopped.rounds());
        block.plain("replica_a.half_failed_rounds", self.replica_a.half_failed.rounds());
        block.plain("no_failover.accepted", without.stored);
        block.plain("no_failover.dropped", without.dropped);
        block.plain("no_failover.silently_lost", without.silently_lost);

        for (i, &threshold) in self.thresholds.iter().enumerate() {
            let counts = self.run(threshold, Failback::Automatic);
            let row = format!("detection.threshold_{threshold}");
            block.plain(format!("parameters.thresholds.{i}"), threshold);
            block.plain(format!("{row}.failovers"), counts.failovers);
            block.plain(format!("{row}.false_failovers"), counts.false_failovers);
            block.plain(format!("{row}.failbacks"), counts.failbacks);
            block.plain(format!("{row}.transition_rounds"), counts.transition_rounds);
            block.plain(format!("{row}.dropped"), counts.writes.dropped);
            block.plain(format!("{row}.silently_lost"), counts.writes.silently_lost);
        }
        for (policy, counts) in [("automatic", automatic), ("permanent", permanent)] {
            let row = format!("failback.{policy}");
            block.plain(format!("{row}.threshold"), self.threshold);
            block.plain(format!("{row}.failovers"), counts.failovers);
            block.plain(format!("{row}.failbacks"), counts.failbacks);
            block.plain(format!("{row}.transition_rounds"), counts.transition_rounds);
            block.plain(format!("{row}.dropped"), counts.writes.dropped);
            block.plain(format!("{row}.active_changes"), counts.failovers + counts.failbacks);
        }
        block
    }

    fn budget(&self, silent_rounds: u64) -> Block {
        let mut block = Block::new("budget");
        for &threshold in &self.thresholds {
            let row = format!("budget.threshold_{threshold}");
            let stops = self.stops_a_month * self.window_seconds(threshold);
            let false_failovers = self.false_failover_seconds(threshold);
            let total = stops + false_failovers;
            block.plain(format!("{row}.threshold"), threshold);
            block.plain(format!("{row}.window_seconds"), self.window_seconds(threshold));
            block.fixed(format!("{row}.stops_seconds"), stops, 1);
            block.fixed(format!("{row}.false_failovers_seconds"), false_failovers, 1);
            block.fixed(format!("{row}.total_minutes"), total / 60.0, 2);
            let share = Figure::fixed(format!("{row}.failure_share"), self.failure_share_percent(total), 2);
            block.push(share.marked(Mark::PercentBefore));
        }

        let recovery_seconds = self.recovery_minutes * 60.0;
        let unprotected = self.stops_a_month * recovery_seconds;
        let rounds = self.threshold + self.promotion_rounds;
        let protected = self.stops_a_month * rounds as f64 * self.round_seconds;
        let window = self.window_seconds(self.threshold);
        block.plain("parameters.stops_a_month", self.stops_a_month);
        block.plain("stops.recovery_seconds", recovery_seconds);
        block.fixed("stops.no_failover_minutes", unprotected / 60.0, 1);
        let share = Figure::fixed("stops.no_failover_failure_share", self.failure_share_percent(unprotected), 1);
        block.push(share.marked(Mark::PercentBefore));
        block.plain("parameters.threshold", self.threshold);
        block.plain("stops.failover_seconds", protected);
        block.push(Figure::fixed("stops.times_shorter", unprotected / protected, 1).marked(Mark::Times));
        block.fixed("window.dropped_writes", window * self.peak_write, 2);
        block.fixed("window.dropped_edge_requests", window * self.peak_edge, 2);

        let half_failed_seconds = silent_rounds as f64 * self.round_seconds;
        let lost_writes = half_failed_seconds * self.peak_write;
        block.plain("half_failed.rounds", silent_rounds);
        block.plain("parameters.round_seconds", self.round_seconds);
        block.plain("half_failed.seconds", half_failed_seconds);
        block.fixed("half_failed.lost_writes", lost_writes, 2);

        for (i, &replicas) in self.active_active_replicas.iter().enumerate() {
            let row = format!("active_active.replicas_{replicas}");
            block.plain(format!("parameters.active_active_replicas.{i}"), replicas);
            block.fixed(format!("{row}.dropped_writes"), window * self.peak_write / replicas as f64, 2);
            block.fixed(format!("{row}.lost_writes"), lost_writes / replicas as f64, 2);
        }
        block
    }
}
