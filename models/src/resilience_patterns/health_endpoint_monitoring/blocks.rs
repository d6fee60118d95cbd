//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Depth, Parameters};
use crate::calendar::SECONDS_A_DAY;
use crate::figures::{Block, Figure, Mark, Report};
use crate::schedule::Schedule;

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut report = Report::new([self.measure(), self.budget()]);
        for &interval in &self.intervals {
            let counts = self.run(Depth::Local, interval);
            report.fact(format!("interval.every_{interval}.reads_to_stopped"), counts.reads_to_stopped);
        }
        report.fact("pauses", self.pauses());
        report.fact("paused_rounds", self.paused_rounds());
        let longest = self.replicas.iter().map(|replica| replica.warming.longest()).max();
        report.fact("longest_warming_rounds", longest);
        report
    }

    fn measure(&self) -> Block {
        let mut block = Block::new("measure");
        block.plain("parameters.rounds", self.rounds);
        block.plain("replica_count", self.replicas.len());
        block.plain("parameters.requests.reads", self.requests.reads);
        block.plain("parameters.requests.writes", self.requests.writes);
        block.plain("parameters.requests.batch", self.requests.batch);
        for (i, replica) in self.replicas.iter().enumerate() {
            for (kind, schedule) in replica.schedules() {
                publish_spans(&mut block, &format!("parameters.replicas.{i}.{kind}"), schedule);
            }
        }
        publish_spans(&mut block, "parameters.state_store_down", &self.state_store_down);
        publish_spans(&mut block, "parameters.billing_store_down", &self.billing_store_down);

        for depth in Depth::ALL {
            let counts = self.run(depth, 1);
            let row = format!("depth.{}", depth.name());
            block.plain(format!("{row}.out_of_pool"), counts.out_of_pool);
            block.plain(format!("{row}.dropped_reads"), counts.dropped_reads);
            block.plain(format!("{row}.dropped_writes"), counts.dropped_writes);
            block.plain(format!("{row}.dropped_batch"), counts.dropped_batch);
            block.plain(format!("{row}.silently_lost"), counts.silently_lost);
            block.plain(format!("{row}.wasted_rejections"), counts.wasted_rejections);
        }
        for (i, &interval) in self.intervals.iter().enumerate() {
            let counts = self.run(Depth::Local, interval);
            let row = format!("interval.every_{interval}");
            block.plain(format!("parameters.intervals.{i}"), interval);
            block.plain(format!("{row}.checks"), counts.checks);
            block.plain(format!("{row}.detection_delay"), counts.detection_delay);
            block.plain(format!("{row}.false_evictions"), counts.false_evictions);
            block.plain(format!("{row}.dropped_reads"), counts.dropped_reads);
            block.plain(format!("{row}.silently_lost"), counts.silently_lost);
        }
        block
    }

    fn budget(&self) -> Block {
        let mut block = Block::new("budget");
        for &replicas in &self.check_load.replicas {
            for &interval in &self.check_load.intervals {
                let row = format!("check_load.replicas_{replicas}.every_{interval}");
                let checks = self.checks_a_second(replicas, interval);
                block.plain(format!("{row}.replicas"), replicas);
                block.plain(format!("{row}.interval_seconds"), interval as f64 * self.round_seconds);
                block.fixed(format!("{row}.checks_a_second"), checks, 2);
                let load = Figure::fixed(format!("{row}.store_load"), 100.0 * checks / self.store_requests, 2);
                block.push(load.marked(Mark::PercentBefore));
                block.grouped(format!("{row}.checks_a_day"), (checks * SECONDS_A_DAY).round());
            }
        }

        let replicas = self.replicas.len() as f64;
        let (before, after) = (self.peak_edge / replicas, self.peak_edge / (replicas - 1.0));
        block.plain("eviction.replicas", self.replicas.len());
        block.fixed("eviction.load_after", after, 2);
        block.fixed("eviction.load_before", before, 2);
        block.push(Figure::fixed("eviction.load_ratio", after / before, 2).marked(Mark::Times));
        for (i, &interval) in self.eviction_intervals.iter().enumerate() {
            let row = format!("eviction.every_{interval}");
            block.plain(format!("parameters.eviction_intervals.{i}"), interval);
            block.fixed(format!("{row}.a_month"), self.false_evictions_a_month(interval), 1);
            let lost = Figure::fixed(format!("{row}.capacity_lost"), 100.0 / replicas, 1);
            block.push(lost.marked(Mark::Percent));
            block.plain(format!("{row}.seconds"), interval as f64 * self.round_seconds);
        }
        block
    }

    /// Of a month's pauses, those that the schedule's share says are seen as failures.
    pub(super) fn false_evictions_a_month(&self, interval: u64) -> f64 {
        let caught = self.run(Depth::Local, interval).false_evictions as f64 / self.paused_rounds() as f64;
        self.pauses_a_month * caught
    }
}

/// A span of one round is published as one number.
fn publish_spans(block: &mut Block, name: &str, schedule: &Schedule) {
    for (i, span) in schedule.spans().iter().enumerate() {
        block.plain(format!("{name}.{i}.first"), span.first);
        if span.rounds() > 1 {
            block.plain(format!("{name}.{i}.last"), span.last);
        }
    }
}
