//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Parameters, Setting, Source};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut block = Block::new("run");
        block.plain("rounds", self.rounds());
        block.plain("parameters.source_rate", self.source_rate);
        let average = self.oscillation.iter().sum::<f64>() / self.oscillation.len() as f64;
        block.fixed("average_multiplier", average, 2);
        for (i, link) in self.links.iter().enumerate() {
            block.plain(format!("parameters.links.{i}.capacity"), link.capacity);
            block.plain(format!("parameters.links.{i}.rate"), link.rate);
        }
        block.plain("parameters.consumer.capacity", self.consumer.capacity);

        block.plain("parameters.consumer.usual_rate", self.consumer.usual_rate);
        self.publish_settings(&mut block, "failure_free", self.consumer.usual_rate);
        block.plain("parameters.consumer.slow_rate", self.consumer.slow_rate);
        self.publish_settings(&mut block, "slow", self.consumer.slow_rate);
        self.publish_cost(&mut block);
        self.publish_sensitivity(&mut block);
        Report::new([block])
    }

    fn publish_settings(&self, block: &mut Block, day: &str, consumption: u64) {
        for setting in self.settings() {
            let outcome = self.run(setting, consumption, Source::Oscillating);
            let row = format!("{day}.{}", self.name(setting));
            if let Setting::Depth(depth @ 1..) = setting
                && depth < self.link_count()
            {
                block.plain(format!("{row}.depth"), depth);
            }
            block.plain(format!("{row}.completed"), outcome.completed);
            block.plain(format!("{row}.rejected"), outcome.rejected);
            block.plain(format!("{row}.lost"), outcome.total_lost());
            for (link, lost) in self.link_names().iter().zip(&outcome.lost) {
                block.plain(format!("{row}.lost_at.{link}"), *lost);
            }
            block.plain(format!("{row}.backlog"), outcome.backlog);
            block.plain(format!("{row}.pending_age"), outcome.pending_age);
            block.plain(format!("{row}.finished_age"), outcome.finished_age);
        }
    }

    /// What the signal costs on the day without a failure, against unlimited buffers.
    fn publish_cost(&self, block: &mut Block) {
        let run = |setting, source| self.run(setting, self.consumer.usual_rate, source);
        let to_the_limit = Setting::Depth(self.link_count());
        let unlimited = run(Setting::UnlimitedBuffers, Source::Oscillating);
        let signalled = run(to_the_limit, Source::Oscillating);
        let share = signalled.rejected as f64 / signalled.produced as f64 * 100.0;
        block.plain("cost.produced", signalled.produced);
        block.plain("cost.rejected", signalled.rejected);
        block.push(Figure::fixed("cost.rejected_share", share, 2).marked(Mark::Percent));
        block.plain("cost.rejected_without_oscillation", run(to_the_limit, Source::Steady).rejected);
        block.plain("cost.pending_age.unlimited", unlimited.pending_age);
        block.plain("cost.pending_age.to_the_limit", signalled.pending_age);
        for (link, paused) in self.link_names().iter().zip(&signalled.paused) {
            block.plain(format!("cost.paused.{link}"), *paused);
        }
        // Every rejection stops the source once.
        block.plain("cost.source_stopped", signalled.rejected);
        block.plain("cost.links", self.link_count());
        block.plain("cost.source_rate", self.source_rate);
        block.fixed("cost.checks_per_second", self.link_count() as f64 * self.source_rate, 2);
    }

    /// How the gain shrinks as the consumer falls further behind.
    fn publish_sensitivity(&self, block: &mut Block) {
        block.plain("sensitivity.rounds", self.rounds());
        for &rate in &self.consumer.rates_swept {
            let run = |setting| self.run(setting, rate, Source::Oscillating);
            let lost = run(Setting::Depth(0)).total_lost();
            let rejected = run(Setting::Depth(self.link_count())).rejected;
            let row = format!("sensitivity.rate_{rate}");
            block.plain(format!("{row}.consumption"), rate);
            block.fixed(format!("{row}.gap"), self.source_rate - rate as f64, 2);
            block.plain(format!("{row}.unlimited_backlog"), run(Setting::UnlimitedBuffers).backlog);
            block.plain(format!("{row}.lost_without_signal"), lost);
            block.plain(format!("{row}.rejected_at_limit"), rejected);
            block.fixed(format!("{row}.lost_to_rejected"), lost as f64 / rejected as f64, 3);
        }
    }
}
