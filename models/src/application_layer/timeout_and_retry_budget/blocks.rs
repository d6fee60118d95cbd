//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::Parameters;
use crate::figures::{Block, Figure, Mark, Report, segment};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut report = Report::new([self.budget_block(), self.run_block()]);
        let [(_, none), .., (_, last)] = self.configurations();
        report.fact("timeouts.no_budget_ms", none.timeout_ms);
        report.fact("timeouts.allocated_ms", last.timeout_ms);
        report.fact("retry_budget_bound", 1.0 + self.retry_budget);
        report
    }

    fn budget_block(&self) -> Block {
        let available_ms = self.available_ms();
        let mut block = Block::new("budget");
        block.plain("parameters.threshold_ms", self.threshold_ms);
        block.plain("parameters.gateway_share_ms", self.gateway_share_ms);
        block.plain("available_ms", available_ms);
        for (i, &depth) in self.depths.iter().enumerate() {
            for (j, &tries) in self.tries_compared.iter().enumerate() {
                let row = format!("split.depth_{depth}.tries_{tries}");
                let worst_ms = (depth * tries) as f64 * self.threshold_ms + self.gateway_share_ms;
                let allocated_ms = Self::allocated_ms(available_ms, depth, tries);
                block.plain(format!("parameters.depths.{i}"), depth);
                block.plain(format!("parameters.tries_compared.{j}"), tries);
                block.plain(format!("{row}.worst_ms"), worst_ms);
                block.push(times(format!("{row}.worst_to_threshold"), worst_ms / self.threshold_ms, 1));
                block.fixed(format!("{row}.timeout_ms"), allocated_ms, 1);
                block.push(times(format!("{row}.timeout_to_median"), allocated_ms / self.step_median_ms, 2));
            }
        }
        block.plain("parameters.tries", self.tries);
        block.plain("parameters.step_median_ms", self.step_median_ms);
        block.plain("deepest_chain", self.deepest_chain());

        let more_share_available_ms = self.threshold_ms - self.more_gateway_share_ms;
        block.plain("parameters.gateway_share_ms", self.gateway_share_ms);
        block.plain("parameters.more_gateway_share_ms", self.more_gateway_share_ms);
        block.plain("parameters.depth", self.depth);
        block.plain("parameters.tries", self.tries);
        block.push(self.allocated_figure());
        let with_more_share = Self::allocated_ms(more_share_available_ms, self.depth, self.tries);
        block.fixed("allocated.timeout_with_more_share_ms", with_more_share, 1);
        block
    }

    fn run_block(&self) -> Block {
        let base = self.base_rate();
        let mut block = Block::new("run");
        block.plain("parameters.requests", self.requests);
        block.plain("parameters.depth", self.depth);
        block.plain("parameters.arms", self.arms);
        block.plain("steps", self.steps());
        block.plain("parameters.threshold_ms", self.threshold_ms);
        block.plain("parameters.gateway_share_ms", self.gateway_share_ms);
        block.plain("parameters.peak_read", self.peak_read);
        block.plain("base.steps", self.steps());
        block.fixed("base.rate", base, 2);
        for regime in &self.regimes {
            let name = segment(&regime.name);
            for (place, duration_ms) in (1..).zip(distinct(&regime.cycle_ms)) {
                block.plain(format!("regimes.{name}.durations.value_{place}_ms"), duration_ms);
            }
            for (configuration, limits) in self.configurations() {
                let row = format!("regimes.{name}.{configuration}");
                match configuration {
                    "none" | "allocated" => {
                        block.plain(format!("{row}.timeout_ms"), limits.timeout_ms);
                        block.plain(format!("{row}.tries"), limits.tries);
                    }
                    "retry_budget" => block.fixed("parameters.retry_budget", self.retry_budget, 2),
                    _ => {}
                }
                let outcome = self.run(&limits, regime);
                let multiplier = self.multiplier(&outcome);
                block.plain(format!("{row}.within_threshold"), outcome.within_threshold);
                block.plain(format!("{row}.outside_threshold"), outcome.outside_threshold);
                block.plain(format!("{row}.dropped"), outcome.dropped);
                block.plain(format!("{row}.median_ms"), outcome.median_ms);
                block.plain(format!("{row}.worst_ms"), outcome.worst_ms);
                block.push(times(format!("{row}.multiplier"), multiplier, 2));
                block.fixed(format!("{row}.rate"), base * multiplier, 2);
            }
        }
        block.plain("parameters.tries", self.tries);
        block.fixed("upper_bound.rate", base * self.tries as f64, 2);
        block
    }
}

fn times(name: String, value: f64, decimals: u8) -> Figure {
    Figure::fixed(name, value, decimals).marked(Mark::TimesBefore)
}

/// Each value once, in the order of first appearance.
fn distinct(values: &[f64]) -> Vec<f64> {
    let mut seen: Vec<f64> = Vec::new();
    for value in values {
        if !seen.iter().any(|other| other.total_cmp(value).is_eq()) {
            seen.push(*value);
        }
    }
    seen
}
