//! Message Queues: what does capacity below the peak cost in backlog and delay, and what does a queue lose in an
//! outage?
//!
//! Events arrive at one rate in a daily peak window and at another outside it; a consumer of fixed capacity works
//! through the queue second by second. Days repeat until the backlog at the start of a day no longer changes. Left
//! out: redelivery, the cost of the queue itself, and random arrivals.

mod blocks;
mod invariants;
mod phases;
#[cfg(test)]
mod tests;

use crate::calendar::SECONDS_A_DAY;
use crate::figures::{Report, segment};
use crate::invariants::Invariant;
use crate::numbers;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use std::ops::Range;

const DAY_S: u64 = SECONDS_A_DAY as u64;
const HOUR_S: f64 = 3600.0;

/// What the lesson's two programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    daily_events: f64,
    /// V8: the peak rate over the day's average.
    peak_factor: f64,
    peak_start_hour: f64,
    /// K1, and its sensitivity.
    peak_hours: f64,
    more_peak_hours: f64,
    /// An event that waits longer is delayed.
    delayed_after_s: f64,
    /// Capacities of the table, as shares of the peak rate.
    capacity_ratios: Vec<f64>,
    spread_days: Days,
    outage_start_hour: f64,
    outage_s: u64,
    outage_ratios: Vec<f64>,
    outage_days: Days,
    /// Requests per second that reach the store, and the reads among them.
    store_requests: f64,
    store_read: f64,
}

/// How many days a run takes, and which of them is measured: the one after the warm-up.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Days {
    warm_up: u64,
    run: u64,
}

/// Events per second in and outside the peak window, and on average.
#[derive(Debug, Clone, Copy)]
struct Profile {
    average: f64,
    peak: f64,
    off_peak: f64,
    peak_s: f64,
}

/// A part of the day in which nothing changes.
#[derive(Debug, Clone)]
struct Phase {
    seconds: Range<u64>,
    /// Events a second.
    arriving: f64,
    capacity: f64,
}

impl Phase {
    /// Whether an empty queue stays empty.
    fn keeps_up(&self) -> bool {
        self.arriving <= self.capacity
    }
}

/// What the measured day saw of the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Outcome {
    highest_backlog: f64,
    /// Events that arrived while the backlog meant more than the tolerated wait.
    delayed: f64,
    /// From the start of the peak until less than one event is left.
    drained_after_s: Option<u64>,
}

/// A day that repeats, and how its queue is watched.
#[derive(Debug, Clone)]
struct Scenario<'a> {
    day: &'a [Phase],
    peak_start_s: u64,
    /// Events per second that the consumer processes when it can.
    capacity: f64,
    delayed_after_s: f64,
    days: Days,
}

impl Scenario<'_> {
    /// Second by second while events wait, phase by phase while none do.
    ///
    /// A closed form would not do: the backlog often crosses the threshold exactly at a whole second, and which
    /// side the published count takes is decided by the rounding of the sums up to there.
    fn run(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let mut backlog = 0.0_f64;
        for today in 0..self.days.run {
            if today > self.days.warm_up && outcome.drained_after_s.is_some() {
                break;
            }
            let measured = today == self.days.warm_up;
            for phase in self.day {
                for second in phase.seconds.clone() {
                    if backlog <= 0.0 && phase.keeps_up() {
                        self.note_empty(&mut outcome, today, second..phase.seconds.end);
                        break;
                    }
                    if measured && backlog / self.capacity > self.delayed_after_s {
                        outcome.delayed += phase.arriving;
                    }
                    backlog += phase.arriving;
                    backlog -= backlog.min(phase.capacity);
                    if measured {
                        outcome.highest_backlog = outcome.highest_backlog.max(backlog);
                    }
                    if backlog < 1.0 {
                        self.note_empty(&mut outcome, today, second..second + 1);
                    }
                }
            }
        }
        outcome
    }

    /// Less than one event is left in these seconds: takes the first one after the measured day's peak began.
    fn note_empty(&self, outcome: &mut Outcome, today: u64, seconds: Range<u64>) {
        let peak_start = self.days.warm_up * DAY_S + self.peak_start_s;
        let first = (today * DAY_S + seconds.start).max(peak_start + 1);
        if first < today * DAY_S + seconds.end {
            outcome.drained_after_s.get_or_insert(first - peak_start);
        }
    }
}

impl Parameters {
    fn profile(&self, peak_hours: f64) -> Profile {
        let average = self.daily_events / SECONDS_A_DAY;
        let peak = average * self.peak_factor;
        let peak_s = peak_hours * HOUR_S;
        let off_peak = (self.daily_events - peak * peak_s) / (SECONDS_A_DAY - peak_s);
        Profile { average, peak, off_peak, peak_s }
    }

    fn peak_start_s(&self) -> u64 {
        (self.peak_start_hour * HOUR_S) as u64
    }

    /// The seconds in which the store refuses every write.
    fn outage(&self) -> Range<u64> {
        let start = (self.outage_start_hour * HOUR_S) as u64;
        start..start + self.outage_s
    }

    /// The day's phases; an outage lies within the peak window.
    fn day(&self, profile: &Profile, capacity: f64, outage: Option<Range<u64>>) -> Vec<Phase> {
        let peak = self.peak_start_s()..self.peak_start_s() + profile.peak_s as u64;
        let outage = outage.unwrap_or(peak.end..peak.end);
        let phase = |seconds, arriving, capacity| Phase { seconds, arriving, capacity };
        vec![
            phase(0..peak.start, profile.off_peak, capacity),
            phase(peak.start..outage.start, profile.peak, capacity),
            phase(outage.clone(), profile.peak, 0.0),
            phase(outage.end..peak.end, profile.peak, capacity),
            phase(peak.end..DAY_S, profile.off_peak, capacity),
        ]
    }

    fn run(&self, day: &[Phase], capacity: f64, days: Days) -> Outcome {
        let (peak_start_s, delayed_after_s) = (self.peak_start_s(), self.delayed_after_s);
        Scenario { day, peak_start_s, capacity, delayed_after_s, days }.run()
    }
}

/// Events of a day that a design without a queue turns away.
fn lost(day: &[Phase]) -> f64 {
    let refused = day.iter().filter(|phase| !phase.keeps_up());
    sum_by_second(refused, |phase| phase.arriving - phase.capacity)
}

/// Events of a day.
fn arrived(day: &[Phase]) -> f64 {
    sum_by_second(day.iter(), |phase| phase.arriving)
}

/// Added up second by second, as the programs do: a product would round differently.
fn sum_by_second<'a>(phases: impl Iterator<Item = &'a Phase>, rate: impl Fn(&Phase) -> f64) -> f64 {
    let mut sum = 0.0;
    for phase in phases {
        let rate = rate(phase);
        for _ in phase.seconds.clone() {
            sum += rate;
        }
    }
    sum
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("daily_events", self.daily_events, 1.0..=1e12);
        d.real("peak_factor", self.peak_factor, 0.001..=1_000.0);
        d.real("peak_start_hour", self.peak_start_hour, 0.0..=23.0);
        let is_whole = |hours: f64| (hours * HOUR_S).fract().abs() <= 0.0;
        for (name, hours) in [("peak_hours", self.peak_hours), ("more_peak_hours", self.more_peak_hours)] {
            d.real(name, hours, 0.0..=23.0);
            d.require(name, is_whole(hours), "a whole number of seconds");
            d.require(
                name,
                self.peak_start_hour + hours <= 24.0,
                "a peak that ends within the day (`peak_start_hour`)",
            );
            let share = self.peak_factor * hours / 24.0;
            d.require(name, share <= 1.0, "a peak that holds no more than the day's events (`peak_factor`)");
        }
        d.real("delayed_after_s", self.delayed_after_s, 0.0..=1e9);
        let ratios = [("capacity_ratios", &self.capacity_ratios), ("outage_ratios", &self.outage_ratios)];
        for (name, list) in ratios {
            d.list(name, list, 0..=50, |d, i, ratio| d.real(i, *ratio, 0.001..=1_000.0));
            d.distinct(name, list.iter().map(|ratio| ratio_segment(*ratio)).collect::<Vec<_>>());
        }
        for (name, days) in [("spread_days", self.spread_days), ("outage_days", self.outage_days)] {
            d.group(name, |d| {
                d.integer("warm_up", days.warm_up, 0..=1_000);
                d.integer("run", days.run, 1..=1_000);
                d.require("warm_up", days.warm_up < days.run, "fewer days than the `run`");
            });
        }
        d.real("outage_start_hour", self.outage_start_hour, 0.0..=24.0);
        d.integer("outage_s", self.outage_s, 0..=DAY_S as i64);
        for (name, hour) in [("peak_start_hour", self.peak_start_hour), ("outage_start_hour", self.outage_start_hour)] {
            d.require(name, is_whole(hour), "a whole number of seconds");
        }
        let peak_end_s = (self.peak_start_hour + self.peak_hours) * HOUR_S;
        let in_peak = self.outage().start >= self.peak_start_s() && self.outage().end as f64 <= peak_end_s;
        d.require("outage_start_hour", in_peak, "an outage (`outage_s`) within the peak window");
        d.real("store_requests", self.store_requests, 0.001..=1e9);
        d.real("store_read", self.store_read, 0.0..=1e9);

        let spread = 2.0 * self.capacity_ratios.len() as f64 * self.spread_days.run as f64;
        let outage = 2.0 * self.outage_ratios.len() as f64 * self.outage_days.run as f64;
        // Without a queue the events of a day are only added up: for two tables, and for two designs.
        d.steps("capacity_ratios", SECONDS_A_DAY * (spread + outage + 4.0));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

/// A capacity's name: its share of the peak as the tables print it.
fn ratio_segment(ratio: f64) -> String {
    segment(format!("ratio_{}", numbers::fixed(ratio, 2)))
}
