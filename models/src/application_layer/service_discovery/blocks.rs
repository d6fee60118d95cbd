//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Outcome, Parameters};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let rows = self.placements().map(|(name, placement)| (name, placement, self.run(placement)));
        let [_, (.., registry), (.., cached), (.., graceful)] = &rows;

        let mut measure = Block::new("measure");
        measure.plain("parameters.heartbeat_ms", self.heartbeat_ms);
        measure.plain("parameters.ttl_ms", self.ttl_ms);
        measure.plain("parameters.failure_ms", self.failure_ms);
        measure.plain("parameters.new_ms", self.new_ms);
        measure.plain("parameters.start_ms", self.start_ms);
        measure.plain("parameters.end_ms", self.end_ms);
        measure.plain("parameters.step_ms", self.step_ms);
        measure.plain("requests", self.requests());
        for (name, placement, outcome) in &rows {
            if *name == "cached" {
                measure.plain("parameters.cache_ms", self.cache_ms);
            }
            measure.plain(format!("placements.{name}.window_ms"), outcome.window_ms);
            measure.plain(format!("placements.{name}.to_dead"), self.to_dead(outcome));
            measure.plain(format!("placements.{name}.to_new"), outcome.to[self.replicas]);
            measure.plain(format!("placements.{name}.configuration_points"), self.configuration_points(*placement));
        }

        let seconds = |outcome: &Outcome| outcome.window_ms.map(|ms| ms as f64 / 1000.0);
        let (health_s, registry_s) = (self.health_window_s, seconds(registry));
        let mut budget = Block::new("budget");
        budget.plain("parameters.peak_edge", self.peak_edge);
        budget.plain("parameters.replicas", self.replicas);
        budget.fixed("replica_rate", self.replica_rate(), 2);
        budget.plain("parameters.health_window_s", health_s);
        self.publish_cost(&mut budget, "health_check", Some(health_s));
        for (name, window_s) in [("registry", registry_s), ("cached", seconds(cached)), ("graceful", seconds(graceful))]
        {
            if name == "cached" {
                budget.plain("parameters.cache_ms", self.cache_ms);
            }
            budget.plain(format!("windows.{name}.seconds"), window_s);
            self.publish_cost(&mut budget, name, window_s);
        }
        let manual_s = self.recovery_minutes * 60.0;
        budget.plain("windows.manual.seconds", manual_s);
        self.publish_cost(&mut budget, "manual", Some(manual_s));

        let combined_s = registry_s.map(|registry_s| health_s.min(registry_s));
        let to_dead = |window_s: Option<f64>| window_s.map(|window_s| self.replica_rate() * window_s);
        budget.plain("parameters.health_window_s", health_s);
        budget.plain("combined.registry_s", registry_s);
        budget.plain("combined.window_s", combined_s);
        budget.fixed("combined.per_failure", to_dead(combined_s), 2);
        let ratio = registry_s.map(|registry_s| registry_s / health_s);
        budget.push(Figure::fixed("combined.registry_to_health", ratio, 1).marked(Mark::Times));

        // A registration that runs out earlier closes the window by as much earlier.
        let shortened_s = (self.ttl_ms as f64 - self.lower_ttl_ms as f64) / 1000.0;
        let lower_s = registry_s.map(|registry_s| registry_s - shortened_s);
        budget.plain("parameters.ttl_ms", self.ttl_ms);
        budget.plain("parameters.lower_ttl_ms", self.lower_ttl_ms);
        budget.fixed("lower_ttl.window_s", lower_s, 2);
        budget.fixed("lower_ttl.per_failure", to_dead(lower_s), 2);
        budget.fixed("heartbeats.usual", self.heartbeat_rate(self.ttl_ms), 2);
        budget.fixed("heartbeats.lower_ttl", self.heartbeat_rate(self.lower_ttl_ms), 2);
        budget.plain("parameters.health_load", self.health_load);

        let mut report = Report::new([measure, budget]);
        report.fact("requests_a_month", self.requests_a_month());
        report
    }

    /// What a window of that many seconds costs, a failure and a month.
    fn publish_cost(&self, block: &mut Block, row: &str, window_s: Option<f64>) {
        let per_failure = window_s.map(|window_s| self.replica_rate() * window_s);
        let monthly = per_failure.map(|requests| requests * self.failures_a_month);
        let availability = monthly.map(|monthly| 100.0 * (1.0 - monthly / self.requests_a_month()));
        block.fixed(format!("windows.{row}.per_failure"), per_failure, 2);
        block.fixed(format!("windows.{row}.monthly"), monthly, 0);
        block.push(Figure::fixed(format!("windows.{row}.availability"), availability, 5).marked(Mark::Percent));
    }
}
