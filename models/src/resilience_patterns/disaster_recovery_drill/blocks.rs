//! What the lesson publishes: the figures of its blocks in order.

use super::{Delivery, Parameters};
use crate::figures::{Block, Figure, Mark, segment};

impl Parameters {
    pub(super) fn plan(&self) -> Block {
        let mut block = Block::new("plan");
        let (planned, measured) = (self.planned_rounds(), self.measured_rounds());
        let deviation = |planned: u64, measured: u64| measured as i64 - planned as i64;
        for (i, step) in self.steps.iter().enumerate() {
            let row = format!("step.{}", segment(&step.name));
            block.plain(format!("parameters.steps.{i}.planned"), step.planned);
            block.plain(format!("parameters.steps.{i}.measured"), step.measured);
            block.push(Figure::plain(format!("{row}.deviation"), deviation(step.planned, step.measured)).with_plus());
        }
        block.plain("total.planned", planned);
        block.plain("total.measured", measured);
        block.push(Figure::plain("total.deviation", deviation(planned, measured)).with_plus());
        block.push(Figure::fixed("total.ratio", measured as f64 / planned as f64, 2).marked(Mark::Times));

        block.plain("total.planned_seconds", self.seconds(planned));
        block.plain("total.measured_seconds", self.seconds(measured));
        block.plain("parameters.round_seconds", self.round_seconds);
        for (i, &seconds) in self.objectives.iter().enumerate() {
            block.plain(format!("parameters.objectives.{i}"), seconds);
        }
        block.fixed("drill.dropped_edge_requests", self.seconds(measured) * self.peak_edge, 2);
        block.fixed("drill.minutes", self.seconds(measured) / 60.0, 2);
        for frequency in &self.frequencies {
            let row = format!("frequency.{}", segment(&frequency.name));
            let minutes = self.minutes_a_month(frequency);
            let share = |name: &str, of: f64| Figure::fixed(format!("{row}.{name}"), 100.0 * minutes / of, 2);
            block.fixed(format!("{row}.drills_a_month"), frequency.drills_a_month(), 2);
            block.fixed(format!("{row}.minutes_a_month"), minutes, 2);
            block.push(share("planned_share", self.planned_share_minutes).marked(Mark::Percent));
            block.push(share("budget_share", self.outage_budget_minutes).marked(Mark::Percent));
        }
        let deviating = self.steps.iter().filter(|step| step.measured != step.planned).count();
        block.plain("step_count.deviating", deviating);
        block.plain("step_count.all", self.steps.len());
        block
    }

    pub(super) fn work(&self) -> Block {
        let mut block = Block::new("work");
        let window = self.measured_rounds();
        block.plain("parameters.rounds", self.rounds);
        block.plain("parameters.workflows_a_round", self.workflows_a_round);
        block.plain("workflow.steps", self.workflow.steps());
        block.plain("workflow.side_effects", self.workflow.side_effects(self.workflow.steps()));
        block.plain("parameters.failover_round", self.failover_round);
        block.plain("window", window);
        for delivery in Delivery::ALL {
            let counts = self.run(delivery, window);
            let row = delivery.name();
            block.plain(format!("{row}.total"), counts.total);
            block.plain(format!("{row}.completed"), counts.completed);
            block.plain(format!("{row}.restarted"), counts.restarted);
            block.plain(format!("{row}.discarded"), counts.discarded);
            block.plain(format!("{row}.duplicated_side_effects"), counts.duplicated_side_effects);
            block.plain(format!("{row}.orphaned"), counts.orphaned);
        }
        block
    }
}
