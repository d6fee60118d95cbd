//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Outcome, Parameters, Policy};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut block = Block::new("run");
        block.plain("parameters.read_threshold", self.read_threshold);
        block.plain("parameters.gateway_share", self.gateway_share);
        block.plain("arm_share", self.arm_share());
        block.plain("parameters.typical.delivery", self.typical.delivery);
        block.plain("parameters.typical.tariff", self.typical.tariff);
        block.plain("parameters.typical.size", self.typical.size);
        for policy in Policy::ALL {
            let (tariff, size) = policy.shares(self.arm_share(), &self.typical);
            block.fixed(format!("shares.{}.tariff", policy.name()), tariff, 1);
            block.fixed(format!("shares.{}.size", policy.name()), size, 1);
        }

        let usual = Policy::ALL.map(|policy| self.run(&self.failure_free, policy));
        let slow = Policy::ALL.map(|policy| self.run(&self.tariff_slowdown, policy));
        self.publish_regime(&mut block, "failure_free", &usual);
        self.publish_regime(&mut block, "tariff_slowdown", &slow);

        block.plain("parameters.peak_read", self.peak_read);
        for (policy, outcome) in Policy::ALL.iter().zip(&slow) {
            let caller = self.slots(outcome.average);
            let abandoned = self.slots(outcome.abandoned / self.requests as f64);
            let row = format!("busy_slots.{}", policy.name());
            block.fixed(format!("{row}.caller"), caller, 1);
            block.fixed(format!("{row}.abandoned"), abandoned, 1);
            block.fixed(format!("{row}.without_cancel"), caller + abandoned, 1);
            block.fixed(format!("{row}.with_cancel"), caller, 1);
        }
        self.publish_cost(&mut block, &usual);

        block.plain("parameters.failure_share", self.failure_share);
        for (name, minutes, times) in [
            ("assumed", self.slowdown_minutes, self.slowdowns_a_month),
            ("more_often", self.slowdown_minutes, self.slowdowns_a_month_more),
            ("longer", self.slowdown_minutes_longer, self.slowdowns_a_month),
        ] {
            block.plain(format!("sensitivity.{name}.minutes"), minutes);
            block.plain(format!("sensitivity.{name}.times_a_month"), times);
            block.plain(format!("sensitivity.{name}.minutes_a_month"), minutes * times);
            let share = minutes * times / self.failure_share * 100.0;
            block.push(Figure::fixed(format!("sensitivity.{name}.of_failure_share"), share, 1).marked(Mark::Percent));
        }

        let mut report = Report::new([block]);
        // One long read in so many.
        report.fact("reads_between_tails", self.failure_free.size.body.len() * self.body_repeats + 1);
        for (policy, outcome) in Policy::ALL.iter().zip(&slow) {
            let in_time = self.requests as u64 - outcome.tariff_failed;
            report.fact(format!("tariff_slowdown.{}.tariff_in_time", policy.name()), in_time);
        }
        report
    }

    fn publish_regime(&self, block: &mut Block, regime: &str, outcomes: &[Outcome]) {
        block.plain(format!("{regime}.requests"), self.requests);
        for (policy, outcome) in Policy::ALL.iter().zip(outcomes) {
            let row = format!("{regime}.{}", policy.name());
            block.plain(format!("{row}.answered"), outcome.answered);
            block.plain(format!("{row}.dropped"), outcome.dropped);
            block.plain(format!("{row}.tariff_failed"), outcome.tariff_failed);
            block.plain(format!("{row}.size_failed"), outcome.size_failed);
            block.plain(format!("{row}.median"), outcome.median);
            block.plain(format!("{row}.worst"), outcome.worst);
            block.fixed(format!("{row}.average"), outcome.average, 1);
            block.fixed(format!("{row}.held_slots"), self.slots(outcome.average), 1);
            block.plain(format!("{row}.abandoned"), outcome.abandoned);
        }
    }

    /// What passing the deadline on and splitting it cost on the day without a failure.
    fn publish_cost(&self, block: &mut Block, [greedy, equal, weighted]: &[Outcome; 3]) {
        let request_bytes = (self.sub_calls * self.deadline_bytes) as f64;
        let bytes_per_second = self.peak_edge * self.sub_calls as f64 * self.deadline_bytes as f64;
        block.plain("parameters.deadline_bytes", self.deadline_bytes);
        block.plain("parameters.sub_calls", self.sub_calls);
        block.plain("cost.request_bytes", request_bytes);
        let share = request_bytes / self.response_bytes * 100.0;
        block.push(Figure::fixed("cost.of_response", share, 1).marked(Mark::Percent));
        block.plain("parameters.response_bytes", self.response_bytes);
        block.plain("parameters.peak_edge", self.peak_edge);
        block.fixed("cost.bytes_per_second", bytes_per_second, 2);
        block.fixed("cost.kib_per_second", bytes_per_second / 1024.0, 2);
        for (name, outcome) in [("equal", equal), ("weighted", weighted)] {
            let more = outcome.dropped as i64 - greedy.dropped as i64;
            let requests = self.requests as f64;
            block.plain(format!("cost.{name}.more_dropped"), more);
            block.plain(format!("cost.{name}.requests"), self.requests);
            let share = more as f64 / requests * 100.0;
            block.push(Figure::fixed(format!("cost.{name}.more_dropped_share"), share, 2).marked(Mark::Percent));
            block.fixed(format!("cost.{name}.more_dropped_per_second"), self.peak_read * more as f64 / requests, 2);
        }
    }
}
