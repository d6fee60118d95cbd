//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{HOUR_S, Outcome, Parameters, Phase, Profile, arrived, lost, ratio_segment};
use crate::calendar::SECONDS_A_DAY;
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut report = Report::default();
        let mut spread = Block::new("spread");
        spread.plain("parameters.daily_events", self.daily_events);
        spread.plain("parameters.peak_factor", self.peak_factor);
        spread.plain("parameters.delayed_after_s", self.delayed_after_s);
        let tables =
            [("usual_peak", "peak_hours", self.peak_hours), ("longer_peak", "more_peak_hours", self.more_peak_hours)];
        for (table, parameter, hours) in tables {
            spread.plain(format!("parameters.{parameter}"), hours);
            self.publish_table(&mut spread, &mut report, table, &self.profile(hours));
        }
        report.blocks = vec![spread, self.outage_block()];
        report
    }

    fn publish_table(&self, block: &mut Block, report: &mut Report, table: &str, profile: &Profile) {
        block.fixed(format!("{table}.profile.peak"), profile.peak, 2);
        block.fixed(format!("{table}.profile.off_peak"), profile.off_peak, 2);
        block.fixed(format!("{table}.profile.average"), profile.average, 2);
        report.fact(format!("{table}.peak_events"), profile.peak * profile.peak_s);
        report.fact(format!("{table}.off_peak_events"), profile.off_peak * (SECONDS_A_DAY - profile.peak_s));
        let arrived = arrived(&self.day(profile, profile.peak, None));
        for (i, ratio) in self.capacity_ratios.iter().enumerate() {
            let capacity = profile.peak * ratio;
            let outcome = self.run(&self.day(profile, capacity, None), capacity, self.spread_days);
            let wait_s = outcome.highest_backlog / capacity;
            let row = format!("{table}.{}", ratio_segment(*ratio));
            block.fixed(format!("{row}.capacity"), capacity, 2);
            block.fixed(format!("parameters.capacity_ratios.{i}"), *ratio, 2);
            block.fixed(format!("{row}.highest_backlog"), outcome.highest_backlog, 0);
            // Below an hour the course prints minutes.
            if wait_s < HOUR_S {
                block.fixed(format!("{row}.longest_wait"), wait_s / 60.0, 1);
            } else {
                block.fixed(format!("{row}.longest_wait"), wait_s / HOUR_S, 2);
            }
            block.fixed(format!("{row}.drain_hours"), outcome.drain_hours(), 2);
            block.fixed(format!("{row}.delayed"), outcome.delayed, 0);
            block.fixed(format!("{row}.delayed_share"), outcome.delayed / arrived, 3);
            report.fact(format!("{row}.longest_wait_hours"), wait_s / HOUR_S);
            report.fact(format!("{row}.drain_s"), outcome.drained_after_s);
        }
    }

    fn outage_block(&self) -> Block {
        let profile = self.profile(self.peak_hours);
        let peak = profile.peak;
        let mut block = Block::new("outage");
        block.plain("parameters.outage_s", self.outage_s);
        block.fixed("outage.events", peak * self.outage_s as f64, 0);

        for (name, outage) in [("usual", None), ("outage", Some(self.outage()))] {
            let day = self.day(&profile, peak, outage);
            self.publish_design(&mut block, &format!("synchronous.{name}"), peak, Some(&day), Outcome::NO_QUEUE);
        }
        for (i, ratio) in self.outage_ratios.iter().enumerate() {
            let capacity = peak * ratio;
            for (name, outage) in [("usual", None), ("outage", Some(self.outage()))] {
                let outcome = self.run(&self.day(&profile, capacity, outage), capacity, self.outage_days);
                let label = Figure::fixed(format!("parameters.outage_ratios.{i}"), *ratio, 2);
                block.push(label.marked(Mark::Times));
                let row = format!("queue.{}.{name}", ratio_segment(*ratio));
                self.publish_design(&mut block, &row, capacity, None, outcome);
            }
        }

        block.plain("parameters.store_requests", self.store_requests);
        block.plain("parameters.store_read", self.store_read);
        block.fixed("store.writes", peak, 2);
        let synchronous = ("synchronous".to_owned(), 1.0);
        let queued = self.outage_ratios.iter().map(|ratio| (ratio_segment(*ratio), *ratio));
        for (name, ratio) in std::iter::once(synchronous).chain(queued) {
            let (row, capacity) = (format!("store.{name}"), peak * ratio);
            let requests = self.store_read + capacity;
            block.fixed(format!("{row}.capacity"), capacity, 2);
            block.fixed(format!("{row}.requests"), requests, 2);
            let to_baseline = Figure::fixed(format!("{row}.to_baseline"), requests / self.store_requests, 2);
            block.push(to_baseline.marked(Mark::Times));
            block.fixed(format!("{row}.write_read_ratio"), capacity / self.store_read, 2);
        }
        block
    }

    /// A design that turns events away has a day of them, one with a queue does not lose any.
    fn publish_design(&self, block: &mut Block, row: &str, capacity: f64, refuses: Option<&[Phase]>, outcome: Outcome) {
        block.fixed(format!("{row}.capacity"), capacity, 2);
        block.fixed(format!("{row}.lost"), refuses.map_or(0.0, lost), 0);
        block.fixed(format!("{row}.highest_backlog"), outcome.highest_backlog, 0);
        block.fixed(format!("{row}.wait_hours"), outcome.highest_backlog / capacity / HOUR_S, 2);
        block.fixed(format!("{row}.drain_hours"), outcome.drain_hours(), 2);
    }
}

impl Outcome {
    /// Nothing waits, so that the queue is empty in the first second of the peak.
    pub(super) const NO_QUEUE: Self = Self { highest_backlog: 0.0, delayed: 0.0, drained_after_s: Some(1) };

    fn drain_hours(&self) -> Option<f64> {
        self.drained_after_s.map(|seconds| seconds as f64 / HOUR_S)
    }
}
