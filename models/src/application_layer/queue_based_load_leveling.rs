//! Queue-Based Load Leveling: what does a queue in front of a consumer absorb, a higher rate or more work?
//!
//! Events arrive by a daily profile of two rates. On every day either the producer is cut off for a while and then
//! sends all at once what it has kept, or an extra stream joins for a while. The third day is measured, when the
//! backlog no longer depends on the start. Left out: order, retries, and what happens to a dropped event.

use crate::figures::{Block, Figure, Mark, Report, segment};
use crate::parameters::{Declaration, Lesson};
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

/// A number that changes by the same amount in each of some seconds.
#[derive(Debug, Clone, Copy)]
struct Ramp {
    start: f64,
    change: f64,
}

impl Ramp {
    fn after(self, seconds: u64) -> f64 {
        self.start + self.change * seconds as f64
    }

    /// The seconds, counted from 1, after which less than one event is left.
    fn below_one_event(self, seconds: u64) -> Range<u64> {
        let crossing = (ONE_EVENT - self.start) / self.change;
        if self.change < 0.0 {
            (crossing.floor().max(0.0) as u64).saturating_add(1)..seconds + 1
        } else if self.start >= ONE_EVENT {
            0..0
        } else if self.change > 0.0 {
            1..(crossing.ceil().max(1.0) as u64).min(seconds + 1)
        } else {
            1..seconds + 1
        }
    }
}

/// Seconds in which events arrive, and the producer's kept events change, at one rate.
struct Inflow {
    seconds: u64,
    arriving: f64,
    kept: Ramp,
}

/// Seconds of an inflow in which the backlog changes, and events are dropped, at one rate.
struct Leg {
    seconds: u64,
    backlog: Ramp,
    dropped: f64,
}

/// What the measured day shows.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    dropped: f64,
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

impl Design {
    /// The longest leg from this backlog on.
    fn leg(self, backlog: f64, inflow: &Inflow) -> Leg {
        let arriving = inflow.arriving;
        let room = match self.buffer {
            Buffer::None => self.capacity,
            Buffer::Limit(limit) => (limit - backlog).max(0.0),
            Buffer::Unbounded => f64::INFINITY,
        };
        let accepted = arriving.min(room);
        let after = (backlog + accepted - self.capacity).max(0.0);
        let change = after - backlog;
        let dropped = arriving - accepted;
        // How many seconds go on like this one: until the room no longer suffices, or the backlog is empty.
        let lasts = if change == 0.0 {
            u64::MAX
        } else if dropped > 0.0 {
            1
        } else if change > 0.0 {
            ((room - arriving) / change) as u64
        } else {
            (backlog / -change) as u64
        };
        Leg { seconds: lasts.clamp(1, inflow.seconds), backlog: Ramp { start: backlog, change }, dropped }
    }
}

impl Outcome {
    /// `start` is the leg's first second, counted from the first day on.
    fn observe(&mut self, start: u64, leg: &Leg, kept: Ramp, peak_start: u64) {
        if MEASURED.contains(&start) {
            self.dropped += leg.dropped * leg.seconds as f64;
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

impl Spike {
    fn name(self) -> String {
        match self {
            Self::None => "no_event".to_owned(),
            Self::Resend(resend) => format!("resend_{}", segment(resend)),
            Self::Volume => "volume".to_owned(),
        }
    }

    /// In peaks, while the spike lasts.
    fn arrival_ratio(self) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Resend(resend) => resend,
            Self::Volume => 2.0,
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
        let profile = self.profile();
        let seconds = |window: &Range<u64>| window.end - window.start;
        let (outage, extra_stream) = (seconds(&profile.outage), seconds(&profile.extra_stream));
        let mut block = Block::new("spike");
        block.fixed("peak", profile.peak, 2);
        block.plain("outage_seconds", outage);
        block.fixed("resent", profile.peak * outage as f64, 0);
        block.plain("extra_stream_seconds", extra_stream);
        block.fixed("extra_stream_rate", profile.peak, 2);
        block.fixed("added", profile.peak * extra_stream as f64, 0);

        for spike in [Spike::None, Spike::Resend(self.unbuffered_resend), Spike::Volume] {
            if spike == Spike::Resend(self.unbuffered_resend) {
                block.plain("parameters.unbuffered_resend", self.unbuffered_resend);
            }
            let design = Design { capacity: profile.peak, buffer: Buffer::None, spike };
            profile.publish(&mut block, "unbuffered", design);
        }
        let expected = self.queue_rows(&mut block);
        self.limits(&mut block, expected);

        let mut report = Report::new([block]);
        report.fact("off_peak", profile.off_peak);
        for spike in self.limit_spikes() {
            // At its highest the queue holds what is left after a second, and what the consumer took in it.
            let design = self.queued(spike, Buffer::Unbounded);
            let needed = profile.run(design).highest + design.capacity;
            report.fact(format!("limit.{}.without_tolerance", spike.name()), needed);
        }
        report
    }
}

impl Profile {
    fn publish(&self, block: &mut Block, design_name: &str, design: Design) -> Outcome {
        let outcome = self.run(design);
        let row = format!("{design_name}.{}", design.spike.name());
        let arrival = design.spike.arrival_ratio() * self.peak;
        let hours = |seconds: f64| seconds / HOUR as f64;
        block.fixed(format!("{row}.arrival_rate"), arrival, 0);
        block.fixed(format!("{row}.capacity"), design.capacity, 2);
        block.fixed(format!("{row}.dropped"), outcome.dropped, 0);
        block.fixed(format!("{row}.backlog"), outcome.highest, 0);
        block.fixed(format!("{row}.wait_hours"), hours(outcome.highest / design.capacity), 2);
        block.fixed(format!("{row}.drain_hours"), outcome.drain.map(|seconds| hours(seconds as f64)), 2);
        block.fixed(format!("{row}.leveling"), arrival / design.capacity, 2);
        outcome
    }
}

impl Parameters {
    /// The highest backlog of a day without a spike, as printed.
    fn queue_rows(&self, block: &mut Block) -> f64 {
        let profile = self.profile();
        let ratio = || Figure::plain("parameters.capacity_ratio", self.capacity_ratio).marked(Mark::Times);
        let mut publish = |spike, label: Option<Figure>| {
            block.push(ratio());
            label.into_iter().for_each(|label| block.push(label));
            profile.publish(block, "queue", self.queued(spike, Buffer::Unbounded))
        };
        let expected = publish(Spike::None, None);
        for (i, &resend) in self.resends.iter().enumerate() {
            publish(Spike::Resend(resend), Some(Figure::plain(format!("parameters.resends.{i}"), resend)));
        }
        publish(Spike::Volume, None);
        block.push(ratio());
        expected.highest.round()
    }

    /// The smallest limits, and what the limit that suits a day without a spike drops.
    fn limits(&self, block: &mut Block, expected: f64) {
        let profile = self.profile();
        for spike in self.limit_spikes() {
            self.label(block, spike);
            block.fixed(format!("limit.{}.smallest", spike.name()), self.smallest_limit(spike), 0);
        }
        block.plain("limit.chosen", expected);
        for spike in self.limit_spikes().into_iter().filter(|spike| *spike != Spike::None) {
            let dropped = profile.run(self.queued(spike, Buffer::holding(expected))).dropped;
            self.label(block, spike);
            block.fixed(format!("limit.{}.dropped", spike.name()), dropped, 0);
        }
    }

    fn limit_spikes(&self) -> Vec<Spike> {
        let resends = self.limit_resends.iter().copied().map(Spike::Resend);
        [Spike::None].into_iter().chain(resends).chain([Spike::Volume]).collect()
    }

    fn label(&self, block: &mut Block, spike: Spike) {
        let i = self.limit_resends.iter().position(|resend| spike == Spike::Resend(*resend));
        if let (Some(i), Spike::Resend(resend)) = (i, spike) {
            block.plain(format!("parameters.limit_resends.{i}"), resend);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::fixed;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    /// The same days second by second.
    fn second_by_second(profile: &Profile, design: Design) -> Outcome {
        let Design { capacity, buffer, spike } = design;
        let (mut backlog, mut kept) = (0.0_f64, 0.0_f64);
        let mut outcome = Outcome::default();
        for now in 0..DAYS * DAY {
            let second = now % DAY;
            let mut arriving = profile.normal(second);
            match spike {
                Spike::Resend(_) if profile.outage.contains(&second) => {
                    kept += arriving;
                    arriving = 0.0;
                }
                Spike::Resend(resend) => {
                    let extra = kept.min((resend - 1.0) * profile.peak);
                    kept -= extra;
                    arriving += extra;
                }
                Spike::Volume if profile.extra_stream.contains(&second) => arriving += profile.peak,
                Spike::Volume | Spike::None => {}
            }
            let room = match buffer {
                Buffer::None => capacity,
                Buffer::Limit(limit) => limit - backlog,
                Buffer::Unbounded => f64::INFINITY,
            };
            let accepted = arriving.min(room.max(0.0));
            backlog += accepted;
            backlog -= backlog.min(capacity);
            if MEASURED.contains(&now) {
                outcome.dropped += arriving - accepted;
                outcome.highest = outcome.highest.max(backlog);
            }
            let peak_start = MEASURED.start + profile.peak_window.start;
            if outcome.drain.is_none() && now > peak_start && backlog < ONE_EVENT && kept < ONE_EVENT {
                outcome.drain = Some(now - peak_start);
            }
        }
        outcome
    }

    fn runs() -> impl Strategy<Value = (Profile, Design)> {
        let window = || (0..DAY, 0..DAY).prop_map(|(a, b)| a.min(b)..a.max(b));
        let peak = prop_oneof![0.0..1_000.0, 0.0..2.0];
        let rates = (peak, 0.0..100.0, prop_oneof![Just(0.0), 0.0..1.5]);
        let spike = prop_oneof![
            Just(Spike::None),
            prop_oneof![Just(1.0), 1.0..20.0].prop_map(Spike::Resend),
            Just(Spike::Volume)
        ];
        let buffer = prop_oneof![
            Just(Buffer::None),
            Just(Buffer::Unbounded),
            (0..20, 0.5..1.0).prop_map(|(power, x)| { Buffer::Limit(x * f64::from(1 << power)) })
        ];
        (rates, window(), window(), window(), spike, buffer).prop_map(
            |((peak, off_peak, ratio), peak_window, outage, extra_stream, spike, buffer)| {
                let profile = Profile { peak, off_peak, peak_window, outage, extra_stream };
                (profile, Design { capacity: peak * ratio, buffer, spike })
            },
        )
    }

    /// As the lesson prints them.
    fn printed(outcome: Outcome, capacity: f64) -> (String, String, String, Option<u64>, bool) {
        let Outcome { dropped, highest, drain } = outcome;
        let wait = fixed(highest / capacity / 3600.0, 2);
        (fixed(dropped, 0), fixed(highest, 0), wait, drain, dropped < ONE_EVENT)
    }

    /// Found by comparison with the course's program: everything was dropped.
    #[test]
    fn a_queue_that_holds_nothing_serves_what_the_capacity_takes_at_once() {
        let profile = Profile { peak: 6.0, off_peak: 2.0, peak_window: 0..HOUR, outage: 0..0, extra_stream: 0..0 };
        let design = Design { capacity: 4.0, buffer: Buffer::holding(0.0), spike: Spike::None };
        assert_eq!(fixed(profile.run(design).dropped, 3), "7200.000");
    }

    /// The same cases in every run.
    fn for_every<S: Strategy>(cases: u32, settings: S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        assert_eq!(runner.run(&settings, law).map_err(|error| error.to_string()), Ok(()));
    }

    #[test]
    fn the_seconds_below_one_event_are_those_found_one_by_one() {
        let start = prop_oneof![Just(0.0), Just(ONE_EVENT), 0.0..3.0];
        let change = prop_oneof![Just(0.0), Just(0.25), -1.0..1.0];
        for_every(2_000, (start, change, 1..40_u64), |(start, change, seconds)| {
            let ramp = Ramp { start, change };
            let found: Vec<u64> = (1..=seconds).filter(|second| ramp.after(*second) < ONE_EVENT).collect();
            prop_assert_eq!(ramp.below_one_event(seconds).collect::<Vec<_>>(), found);
            Ok(())
        });
    }

    #[test]
    fn legs_of_one_rate_print_what_a_walk_through_every_second_does() {
        for_every(400, runs(), |(profile, design)| {
            let walked = second_by_second(&profile, design);
            prop_assert_eq!(printed(profile.run(design), design.capacity), printed(walked, design.capacity));
            Ok(())
        });
    }
}
