//! Recovery Objectives: how much data may be lost, how long may recovery take, and does the outage budget carry it?
//!
//! Arithmetic on rates. A backup loses at worst what was written since the one before it, asynchronous replication
//! what is still on its way; synchronous acknowledgment loses nothing, and rejects writes while the standby is away.
//! Left out: how replication works, and restoring from a backup.

mod invariants;

use crate::calendar::SECONDS_A_DAY;
use crate::figures::{Block, Figure, Mark, Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    events_a_day: u64,
    /// Events per second.
    peak_write: f64,
    /// Requests per second.
    peak_edge: f64,
    events_a_shipment: f64,
    growth_gb_a_day: f64,
    stored_gb: f64,
    /// Intervals of which the worst-case loss is tabled.
    backup_intervals: Vec<Interval>,
    /// Intervals of which the backups and their volume are tabled.
    operation_intervals: Vec<Interval>,
    /// The days over which backups add up.
    period_days: u64,
    /// Weekly full backups that fall in the period.
    full_backups: u64,
    /// Replication lags, in seconds.
    lags: Vec<f64>,
    failure_share_minutes: f64,
    outage_budget_minutes: f64,
    recovery_minutes: f64,
    /// One automatic failover, in seconds.
    failover_seconds: f64,
    /// Recovery time objectives to compare with it, in minutes.
    objectives: Vec<f64>,
    stops_a_month: f64,
    lag_seconds: f64,
}

/// The time from one backup to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Interval {
    Hours(f64),
    Minutes(f64),
}

impl Interval {
    fn seconds(self) -> f64 {
        self.number()
            * match self {
                Self::Hours(_) => 3_600.0,
                Self::Minutes(_) => 60.0,
            }
    }

    fn backups_a_day(self) -> f64 {
        SECONDS_A_DAY / self.seconds()
    }

    /// How many of its unit.
    fn number(self) -> f64 {
        match self {
            Self::Hours(number) | Self::Minutes(number) => number,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Hours(_) => "hours",
            Self::Minutes(_) => "minutes",
        }
    }

    fn name(self) -> String {
        format!("{}_{}", self.unit(), segment(self.number()))
    }
}

impl Parameters {
    fn events_a_second(&self) -> f64 {
        self.events_a_day as f64 / SECONDS_A_DAY
    }

    /// At worst: the failure comes right before the next backup.
    fn lost_events(&self, interval: Interval) -> f64 {
        self.events_a_second() * interval.seconds()
    }

    /// Failures of so many minutes that the month's share of the outage budget has room for.
    fn failures_in_share(&self, minutes: f64) -> f64 {
        self.failure_share_minutes / minutes
    }

    /// Writes a month that a standby's failover windows reject when every write waits for it.
    fn rejected_a_month(&self) -> f64 {
        self.stops_a_month * self.failover_seconds * self.peak_write
    }

    /// Events a month that had not been replicated when the active replica stopped.
    fn lost_a_month(&self) -> f64 {
        self.stops_a_month * self.lag_seconds * self.peak_write
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("events_a_day", self.events_a_day, 0..=1_000_000_000_000);
        d.real("peak_write", self.peak_write, 0.0..=1e9);
        d.real("peak_edge", self.peak_edge, 0.0..=1e9);
        d.real("events_a_shipment", self.events_a_shipment, 0.001..=1e6);
        d.real("growth_gb_a_day", self.growth_gb_a_day, 0.0..=1e6);
        d.real("stored_gb", self.stored_gb, 0.0..=1e9);
        intervals(d, "backup_intervals", &self.backup_intervals);
        intervals(d, "operation_intervals", &self.operation_intervals);
        d.integer("period_days", self.period_days, 0..=10_000);
        d.integer("full_backups", self.full_backups, 0..=10_000);
        d.list("lags", &self.lags, 0..=20, |d, i, lag| d.real(i, *lag, 0.0..=1e6));
        d.distinct("lags", &self.lags);
        d.real("failure_share_minutes", self.failure_share_minutes, 0.0..=50_000.0);
        d.real("outage_budget_minutes", self.outage_budget_minutes, 0.001..=50_000.0);
        d.real("recovery_minutes", self.recovery_minutes, 0.001..=50_000.0);
        d.real("failover_seconds", self.failover_seconds, 0.001..=1e6);
        d.list("objectives", &self.objectives, 0..=20, |d, i, minutes| d.real(i, *minutes, 0.001..=50_000.0));
        d.distinct("objectives", &self.objectives);
        d.real("stops_a_month", self.stops_a_month, 0.0..=10_000.0);
        d.real("lag_seconds", self.lag_seconds, 0.0..=1e6);
    }

    fn report(&self) -> Report {
        Report::new([self.loss(), self.budget()])
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

fn intervals(d: &mut Declaration, name: &str, intervals: &[Interval]) {
    d.list(name, intervals, 0..=20, |d, i, interval| {
        d.group(i, |d| d.real(interval.unit(), interval.number(), 0.001..=100_000.0));
    });
    d.distinct(name, intervals);
}

impl Parameters {
    fn loss(&self) -> Block {
        let mut block = Block::new("loss");
        block.fixed("events_a_second", self.events_a_second(), 2);
        block.plain("parameters.peak_write", self.peak_write);

        for (i, &interval) in self.backup_intervals.iter().enumerate() {
            let row = format!("backup.{}", interval.name());
            let seconds = interval.seconds();
            let events = self.lost_events(interval);
            block.plain(format!("parameters.backup_intervals.{i}.{}", interval.unit()), interval.number());
            block.plain(format!("{row}.seconds"), seconds);
            block.grouped(format!("{row}.lost_events"), events.round());
            block.grouped(format!("{row}.lost_events_at_peak"), (self.peak_write * seconds).round());
            block.grouped(format!("{row}.lost_shipments"), (events / self.events_a_shipment).round());
        }
        for (i, &lag) in self.lags.iter().enumerate() {
            let row = format!("replication.lag_{}", segment(lag));
            let events = self.peak_write * lag;
            block.fixed(format!("parameters.lags.{i}"), lag, 1);
            block.fixed(format!("{row}.objective_seconds"), lag, 1);
            block.fixed(format!("{row}.lost_events"), events, 2);
            block.fixed(format!("{row}.lost_shipments"), events / self.events_a_shipment, 2);
        }

        let days = self.period_days as f64;
        block.plain("parameters.period_days", self.period_days);
        block.plain("operations.increment_days", self.period_days);
        for (i, &interval) in self.operation_intervals.iter().enumerate() {
            let row = format!("operations.{}", interval.name());
            let backups = interval.backups_a_day();
            block.plain(format!("parameters.operation_intervals.{i}.{}", interval.unit()), interval.number());
            block.fixed(format!("{row}.backups_a_day"), backups, 0);
            block.fixed(format!("{row}.backups"), backups * days, 0);
            block.fixed(format!("{row}.incremental_gb"), self.growth_gb_a_day * days, 2);
            block.fixed(format!("{row}.full_gb"), self.stored_gb * self.full_backups as f64, 2);
        }
        block
    }

    fn budget(&self) -> Block {
        let mut block = Block::new("budget");
        block.plain("parameters.failover_seconds", self.failover_seconds);
        self.publish_objective(&mut block, "objective.failover", self.failover_seconds / 60.0);
        for (i, &minutes) in self.objectives.iter().enumerate() {
            block.plain(format!("parameters.objectives.{i}"), minutes);
            self.publish_objective(&mut block, &format!("objective.minutes_{}", segment(minutes)), minutes);
        }
        block.plain("parameters.recovery_minutes", self.recovery_minutes);
        block.fixed("recovery.failures_in_share", self.failures_in_share(self.recovery_minutes), 2);

        let (rejected, lost) = (self.rejected_a_month(), self.lost_a_month());
        block.grouped("parameters.events_a_day", self.events_a_day);
        block.plain("synchronous.window_seconds", self.failover_seconds);
        block.fixed("synchronous.rejected_a_month", rejected, 2);
        block.fixed("asynchronous.lost_a_month", lost, 2);
        block.fixed("synchronous.rejected_per_lost", rejected / lost, 2);
        block
    }

    fn publish_objective(&self, block: &mut Block, row: &str, minutes: f64) {
        block.fixed(format!("{row}.failures_in_share"), self.failures_in_share(minutes), 2);
        let share = Figure::fixed(format!("{row}.budget_share"), 100.0 * minutes / self.outage_budget_minutes, 2);
        block.push(share.marked(Mark::PercentBefore));
        block.grouped(format!("{row}.dropped_edge_requests"), (minutes * 60.0 * self.peak_edge).round());
    }
}
