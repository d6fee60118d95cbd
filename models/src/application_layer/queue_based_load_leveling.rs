//! Queue-Based Load Leveling: what does a queue in front of a consumer absorb, a higher rate or more work?
//!
//! Events arrive by a daily profile of two rates. On every day either the producer is cut off for a while and then
//! sends all at once what it has kept, or an extra stream joins for a while. The third day is measured, when the
//! backlog no longer depends on the start. Left out: order, retries, and what happens to a dropped event.

mod blocks;
mod invariants;
mod legs;
#[cfg(test)]
mod tests;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use legs::{Inflow, Leg, Ramp};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What the lesson's program holds in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Events a day, and how far their peak lies above the day's average (K01, V8).
    daily_events: f64,
    peak_factor: f64,
    peak_start_hour: u64,
    /// K1.
    peak_hours: u64,
    /// From the start of the peak to that of the outage or the extra stream.
    spike_delay_s: u64,
    /// K4.
    outage_minutes: u64,
    /// K5.
    extra_stream_minutes: u64,
    /// What the consumer behind the queue processes, in peaks; without a queue it is one peak.
    capacity_ratio: f64,
    /// How many times the peak arrives while the kept events are sent: without a queue, with one, and where the
    /// queue's limit is looked for.
    unbuffered_resend: f64,
    resends: Vec<f64>,
    limit_resends: Vec<f64>,
    /// The search for the smallest limit goes up to `highest`, and ends within `tolerance` events above it.
    search: Search,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    highest: f64,
    tolerance: f64,
}

/// What happens every day in the peak.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spike {
    None,
    /// The producer is cut off, keeps its events, and sends them at so many peaks in all afterwards.
    Resend(f64),
    /// An extra stream of one peak.
    Volume,
}

#[derive(Debug, Clone, Copy)]
enum Buffer {
    /// What exceeds the capacity is turned away.
    None,
    /// Holds so many events; more are turned away.
    Limit(f64),
    Unbounded,
}

impl Buffer {
    /// A queue that holds nothing is none: what the consumer takes at once need not wait in it.
    fn holding(limit: f64) -> Self {
        if limit > 0.0 { Self::Limit(limit) } else { Self::None }
    }
}

#[derive(Debug, Clone, Copy)]
struct Design {
    capacity: f64,
    buffer: Buffer,
    spike: Spike,
}

/// The day in seconds, the rates in events a second.
#[derive(Debug, Clone)]
struct Profile {
    peak: f64,
    off_peak: f64,
    peak_window: Range<u64>,
    outage: Range<u64>,
    extra_stream: Range<u64>,
}

const DAY: u64 = 86_400;
const HOUR: u64 = 3_600;
const DAYS: u64 = 4;
const MEASURED: Range<u64> = 2 * DAY..3 * DAY;

/// Less than one event is none.
const ONE_EVENT: f64 = 1.0;

impl Profile {
    fn normal(&self, second: u64) -> f64 {
        if self.peak_window.contains(&second) { self.peak } else { self.off_peak }
    }

    /// The parts of a day in which nothing changes.
    fn parts(&self, spike: Spike) -> Vec<Range<u64>> {
        let mut bounds = vec![0, self.peak_window.start, self.peak_window.end, DAY];
        match spike {
            Spike::None => {}
            Spike::Resend(_) => bounds.extend([self.outage.start, self.outage.end]),
            Spike::Volume => bounds.extend([self.extra_stream.start, self.extra_stream.end]),
        }
        bounds.sort_unstable();
        bounds.windows(2).map(|pair| pair[0]..pair[1]).filter(|part| !part.is_empty()).collect()
    }
}

/// What the measured day shows.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    arrived: f64,
    processed: f64,
    dropped: f64,
    /// At the day's end, less those at its start.
    left_waiting: f64,
    highest: f64,
    /// Seconds from the start of the measured day's peak until nothing waits any more.
    drain: Option<u64>,
}

impl Profile {
    /// Four days, from one change of a rate to the next. The course walks through every second and so collects
    /// rounding errors: where a backlog is exactly a half, it may print the other neighbour.
    fn run(&self, design: Design) -> Outcome {
        let mut outcome = Outcome::default();
        let (mut backlog, mut kept) = (0.0, 0.0);
        let parts = self.parts(design.spike);
        for day in 0..DAYS {
            for part in &parts {
                let mut now = part.start;
                while now < part.end {
                    let mut inflow = self.inflow(design.spike, now, kept, part.end - now);
                    kept = inflow.kept.after(inflow.seconds).max(0.0);
                    while inflow.seconds > 0 {
                        let leg = design.leg(backlog, &inflow);
                        outcome.observe(day * DAY + now, &leg, inflow.kept, self.peak_window.start);
                        backlog = leg.backlog.after(leg.seconds).max(0.0);
                        inflow.seconds -= leg.seconds;
                        inflow.kept.start = inflow.kept.after(leg.seconds);
                        now += leg.seconds;
                    }
                }
            }
        }
        outcome
    }

    /// The longest inflow at one rate from that second of a day on; the profile does not change for so many seconds.
    fn inflow(&self, spike: Spike, second: u64, kept: f64, seconds: u64) -> Inflow {
        let normal = self.normal(second);
        let steady = |arriving| Inflow { seconds, arriving, kept: Ramp { start: kept, change: 0.0 } };
        match spike {
            Spike::None => steady(normal),
            Spike::Volume if self.extra_stream.contains(&second) => steady(normal + self.peak),
            Spike::Volume => steady(normal),
            Spike::Resend(_) if self.outage.contains(&second) => {
                Inflow { seconds, arriving: 0.0, kept: Ramp { start: kept, change: normal } }
            }
            Spike::Resend(resend) => {
                let extra = kept.min((resend - 1.0) * self.peak);
                if extra <= 0.0 {
                    return steady(normal);
                }
                // As many whole seconds as the kept events last; the rest comes in the second after them.
                let seconds = seconds.min((kept / extra) as u64);
                Inflow { seconds, arriving: normal + extra, kept: Ramp { start: kept, change: -extra } }
            }
        }
    }
}

impl Outcome {
    /// `start` is the leg's first second, counted from the first day on.
    fn observe(&mut self, start: u64, leg: &Leg, kept: Ramp, peak_start: u64) {
        if MEASURED.contains(&start) {
            let seconds = leg.seconds as f64;
            self.arrived += leg.arriving * seconds;
            self.processed += leg.processed * seconds;
            self.dropped += leg.dropped * seconds;
            self.left_waiting += leg.backlog.change * seconds;
            // A leg is highest at an end, and starts at the end of the one before. What the measured day starts with
            // does not count, but no day ends with less than it began with.
            self.highest = self.highest.max(leg.backlog.after(leg.seconds));
        }
        let measured_peak = MEASURED.start + peak_start;
        if self.drain.is_none() && start + leg.seconds > measured_peak {
            let (backlog, kept) = (leg.backlog.below_one_event(leg.seconds), kept.below_one_event(leg.seconds));
            // Seconds count from 1 here; the peak's own first second does not count.
            let counts_from = (measured_peak + 2).saturating_sub(start);
            let first = backlog.start.max(kept.start).max(counts_from);
            if first < backlog.end.min(kept.end) {
                self.drain = Some(start + first - 1 - measured_peak);
            }
        }
    }
}

impl Parameters {
    fn profile(&self) -> Profile {
        let peak = self.daily_events / DAY as f64 * self.peak_factor;
        let peak_seconds = self.peak_hours * HOUR;
        let peak_start = self.peak_start_hour * HOUR;
        let spike_start = peak_start + self.spike_delay_s;
        Profile {
            peak,
            off_peak: (self.daily_events - peak * peak_seconds as f64) / (DAY - peak_seconds) as f64,
            peak_window: peak_start..peak_start + peak_seconds,
            outage: spike_start..spike_start + self.outage_minutes * 60,
            extra_stream: spike_start..spike_start + self.extra_stream_minutes * 60,
        }
    }

    fn queued(&self, spike: Spike, buffer: Buffer) -> Design {
        Design { capacity: self.profile().peak * self.capacity_ratio, buffer, spike }
    }

    /// By bisection: at most `tolerance` above the smallest limit that drops less than one event.
    fn smallest_limit(&self, spike: Spike) -> f64 {
        let profile = self.profile();
        let (mut low, mut high) = (0.0, self.search.highest);
        while high - low > self.search.tolerance {
            let middle = (low + high) / 2.0;
            let suffices = profile.run(self.queued(spike, Buffer::holding(middle))).dropped < ONE_EVENT;
            *if suffices { &mut high } else { &mut low } = middle;
        }
        high
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("daily_events", self.daily_events, 0.0..=1e9);
        d.real("peak_factor", self.peak_factor, 0.0..=24.0);
        d.integer("peak_start_hour", self.peak_start_hour, 0..=23);
        d.integer("peak_hours", self.peak_hours, 1..=23);
        let end = self.peak_start_hour.saturating_add(self.peak_hours);
        d.require("peak_hours", end <= 24, "a peak that ends before midnight");
        let fits = self.peak_factor * self.peak_hours as f64 <= 24.0;
        d.require("peak_factor", fits, "a peak of no more than the day's events");
        d.integer("spike_delay_s", self.spike_delay_s, 0..=DAY as i64);
        d.integer("outage_minutes", self.outage_minutes, 0..=1_440);
        d.integer("extra_stream_minutes", self.extra_stream_minutes, 0..=1_440);
        let longest = self.outage_minutes.max(self.extra_stream_minutes).saturating_mul(60);
        let inside = self.spike_delay_s.saturating_add(longest) <= self.peak_hours.saturating_mul(HOUR);
        d.require("spike_delay_s", inside, "an outage and an extra stream that end within the peak");
        d.real("capacity_ratio", self.capacity_ratio, 0.0..=1_000.0);
        let resend = 1.0..=1e6;
        d.real("unbuffered_resend", self.unbuffered_resend, resend.clone());
        for (name, resends) in [("resends", &self.resends), ("limit_resends", &self.limit_resends)] {
            d.list(name, resends, 0..=100, |d, i, value| d.real(i, *value, resend.clone()));
            d.distinct(name, resends);
        }
        d.group("search", |d| {
            d.real("highest", self.search.highest, 1.0..=1e12);
            d.real("tolerance", self.search.tolerance, 0.001..=1e12);
        });
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
