//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Day, Flow, FlowOfRequests, Gate, Parameters, Tally};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut block = Block::new("run");
        self.publish_setup(&mut block);
        self.publish_day(&mut block, "failure_free", self.failure_free());
        block.plain("batch_overrun.usual_rate", self.flows.batch.rate);
        block.plain("parameters.batch_rate_overrun", self.batch_rate_overrun);
        self.publish_day(&mut block, "batch_overrun", self.with_batch_rate(self.batch_rate_overrun));
        block.plain("node_loss.usual_capacity", self.capacity);
        block.plain("parameters.capacity_left", self.capacity_left);
        self.publish_day(&mut block, "node_loss", self.with_capacity(self.capacity_left));
        self.publish_kept(&mut block);
        self.publish_cost(&mut block);
        self.publish_sensitivity(&mut block);

        let mut report = Report::new([block]);
        let steady = self.run(Gate::THROTTLING, Day { oscillates: false, ..self.failure_free() });
        for flow in Flow::ALL {
            report.fact(format!("without_oscillation.throttled.{}", flow.name()), steady.of(flow).throttled);
        }
        let highest = self.oscillation.iter().copied().fold(0.0, f64::max);
        report.fact("highest_tracking_rate", self.flows.tracking.rate * highest);
        report.fact("queue_limit", self.queue_rounds * self.capacity);
        report.fact("failure_free.shedding.fullest", self.run(Gate::SHEDDING, self.failure_free()).fullest);
        report
    }

    fn publish_setup(&self, block: &mut Block) {
        let demand = self.flows.usual_demand();
        block.plain("parameters.capacity", self.capacity);
        block.fixed("usual_demand", demand, 2);
        let utilization = demand / self.capacity as f64 * 100.0;
        block.push(Figure::fixed("usual_utilization", utilization, 1).marked(Mark::Percent));
        for flow in Flow::ALL {
            let FlowOfRequests { units, rate, tier } = self.flows.of(flow);
            let path = format!("parameters.flows.{}", flow.name());
            block.plain(format!("{path}.tier"), *tier);
            block.plain(format!("{path}.units"), *units);
            block.plain(format!("{path}.rate"), *rate);
        }
        block.plain("parameters.ceiling_ratio", self.ceiling_ratio);
        for flow in Flow::ALL {
            block.fixed(format!("ceilings.{}", flow.name()), self.ceiling(flow), 2);
        }
    }

    fn publish_day(&self, block: &mut Block, name: &str, day: Day) {
        for gate in Gate::ALL {
            let outcome = self.run(gate, day);
            let row = format!("{name}.{}", gate.name);
            for flow in Flow::ALL {
                block.plain(format!("{row}.accepted.{}", flow.name()), outcome.of(flow).accepted);
            }
            for flow in Flow::ALL {
                block.plain(format!("{row}.throttled.{}", flow.name()), outcome.of(flow).throttled);
            }
            for flow in Flow::ALL {
                block.plain(format!("{row}.shed.{}", flow.name()), outcome.of(flow).shed);
            }
            block.plain(format!("{row}.oldest_age"), outcome.oldest_age);
            block.plain(format!("{row}.backlog"), outcome.backlog);
            block.plain(format!("{row}.pending_age"), outcome.pending_age);
        }
    }

    /// How much of the peak shedding keeps when a node is lost.
    fn publish_kept(&self, block: &mut Block) {
        let outcome = self.run(Gate::SHEDDING, self.with_capacity(self.capacity_left));
        let rounds = self.rounds as f64;
        let kept = (outcome.of(Flow::Event).accepted + outcome.of(Flow::Tracking).accepted) as f64 / rounds;
        let shed: u64 = outcome.tallies.iter().map(|tally| tally.shed).sum();
        let batch = &self.flows.batch;
        let minutes = self.loss_minutes * self.losses_a_month;
        block.fixed("kept.per_round", kept, 2);
        block.plain("parameters.peak_edge", self.peak_edge);
        block.fixed("kept.of_peak", kept / self.peak_edge, 4);
        block.fixed("kept.batch_load", batch.rate * batch.units as f64, 2);
        block.fixed("kept.gap", self.flows.usual_demand() - self.capacity_left as f64, 2);
        block.plain("parameters.loss_minutes", self.loss_minutes);
        block.plain("parameters.losses_a_month", self.losses_a_month);
        block.plain("kept.minutes_a_month", minutes);
        let share = minutes / self.failure_share * 100.0;
        block.push(Figure::fixed("kept.of_failure_share", share, 1).marked(Mark::Percent));
        block.plain("parameters.failure_share", self.failure_share);
        block.fixed("kept.shed_per_round", shed as f64 / rounds, 2);
    }

    /// What either check costs on the day without a failure.
    fn publish_cost(&self, block: &mut Block) {
        let throttling = self.run(Gate::THROTTLING, self.failure_free());
        let steady = self.run(Gate::THROTTLING, Day { oscillates: false, ..self.failure_free() });
        let shedding = self.run(Gate::SHEDDING, self.failure_free());
        let neither = self.run(Gate::NEITHER, self.failure_free());
        let Tally { arrived, throttled, .. } = *throttling.of(Flow::Tracking);
        block.plain("cost.throttled", throttled);
        let share = throttled as f64 / arrived as f64 * 100.0;
        block.push(Figure::fixed("cost.throttled_share", share, 2).marked(Mark::Percent));
        block.fixed("cost.throttled_per_second", self.flows.tracking.rate * throttled as f64 / arrived as f64, 2);
        block.plain("cost.throttled_without_oscillation", steady.of(Flow::Tracking).throttled);
        block.plain("cost.shed", shedding.tallies.iter().map(|tally| tally.shed).sum::<u64>());
        block.plain("cost.oldest_age.shedding", shedding.oldest_age);
        block.plain("cost.oldest_age.neither", neither.oldest_age);
        block.plain("cost.checks", Gate::BOTH.checks());
    }

    fn publish_sensitivity(&self, block: &mut Block) {
        for (i, &rate) in self.batch_rates_swept.iter().enumerate() {
            block.fixed(format!("parameters.batch_rates_swept.{i}"), rate, 1);
            self.publish_both(block, &format!("sensitivity.batch_rate_{i}"), self.with_batch_rate(rate));
        }
        for (i, &capacity) in self.capacities_swept.iter().enumerate() {
            let loss = (1.0 - capacity as f64 / self.capacity as f64) * 100.0;
            block.plain(format!("parameters.capacities_swept.{i}"), capacity);
            block.push(Figure::fixed(format!("sensitivity.capacity_{i}.loss"), loss, 0).marked(Mark::Percent));
            self.publish_both(block, &format!("sensitivity.capacity_{i}"), self.with_capacity(capacity));
        }
    }

    fn publish_both(&self, block: &mut Block, row: &str, day: Day) {
        let outcome = self.run(Gate::BOTH, day);
        for flow in Flow::ALL {
            block.plain(format!("{row}.accepted.{}", flow.name()), outcome.of(flow).accepted);
        }
        block.plain(format!("{row}.rejected"), outcome.tallies.iter().map(Tally::rejected).sum::<u64>());
    }
}
