//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Failure, Parameters, UnitLoss};
use crate::figures::{Block, Figure, Mark, Report, segment};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut report = Report::new([self.measure(), self.capacity()]);
        // The rounds that the lesson's own distances give a lost zone and a lost region.
        let zone = UnitLoss { propagation_rounds: self.propagation.same_region, ..self.losses.zone };
        let region = UnitLoss { propagation_rounds: self.propagation.other_region, ..self.losses.region };
        report.fact("by_distance.zone", self.unpropagated(&zone));
        report.fact("by_distance.region", self.unpropagated(&region));
        report.fact("by_distance.ratio", self.unpropagated(&region) / self.unpropagated(&zone));
        report
    }

    fn measure(&self) -> Block {
        let mut block = Block::new("measure");
        block.plain("parameters.rounds", self.rounds);
        block.plain("parameters.writes_a_round", self.writes_a_round);
        block.plain("parameters.failure_round", self.failure_round);
        block.plain("parameters.propagation.same_zone", self.propagation.same_zone);
        block.plain("parameters.propagation.same_region", self.propagation.same_region);
        block.plain("parameters.propagation.other_region", self.propagation.other_region);
        for plan in &self.plans {
            for failure in Failure::ALL {
                let counts = self.run(plan, failure);
                let row = format!("plans.{}.{}", segment(&plan.name), failure.name());
                let replicas = plan.replicas.len();
                let capacity = 100.0 * counts.survivors as f64 / replicas as f64;
                block.plain(format!("{row}.survivors"), counts.survivors);
                block.plain(format!("{row}.replicas"), replicas);
                block.push(Figure::fixed(format!("{row}.capacity"), capacity, 1).marked(Mark::Percent));
                block.plain(format!("{row}.dropped"), counts.dropped);
                block.plain(format!("{row}.lost"), counts.lost);
            }
        }
        block
    }

    fn capacity(&self) -> Block {
        let mut block = Block::new("capacity");
        for (i, &zones) in self.zone_counts.iter().enumerate() {
            let row = format!("capacity.zones_{zones}");
            let provisioned = self.provisioned(zones);
            block.plain(format!("parameters.zone_counts.{i}"), zones);
            block.fixed(format!("{row}.load_each"), self.peak_edge / zones as f64, 2);
            block.fixed(format!("{row}.load_each_after_loss"), self.peak_edge_without_one(zones), 2);
            block.fixed(format!("{row}.provisioned"), provisioned, 2);
            block.fixed(format!("{row}.idle"), provisioned - self.peak_edge, 2);
            let extra = Figure::fixed(format!("{row}.extra"), 100.0 * (provisioned / self.peak_edge - 1.0), 1);
            block.push(extra.marked(Mark::Percent));
        }

        let bytes_an_event = self.growth_gb_a_day * 1e9 / self.events_a_day as f64;
        block.fixed("transfer.bytes_an_event", bytes_an_event, 2);
        block.plain("parameters.growth_gb_a_day", self.growth_gb_a_day);
        block.grouped("parameters.events_a_day", self.events_a_day);
        block.fixed("transfer.kb_a_second", self.peak_write * bytes_an_event / 1024.0, 2);
        block.fixed("transfer.mb_a_day", self.growth_gb_a_day * 1000.0, 2);

        block.plain("parameters.round_seconds", self.round_seconds);
        for (name, loss) in self.losses.named() {
            let row = format!("unpropagated.{name}");
            block.plain(format!("parameters.losses.{name}.units"), loss.units);
            block.plain(format!("parameters.losses.{name}.propagation_rounds"), loss.propagation_rounds);
            block.plain(format!("{row}.seconds"), loss.propagation_rounds as f64 * self.round_seconds);
            block.fixed(format!("{row}.writes_a_second"), self.peak_write / loss.units as f64, 2);
            block.fixed(format!("{row}.writes"), self.unpropagated(loss), 2);
        }
        let ratio = self.unpropagated(&self.losses.region) / self.unpropagated(&self.losses.zone);
        block.fixed("unpropagated.ratio", ratio, 2);
        block
    }
}
