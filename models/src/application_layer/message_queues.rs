//! Message Queues: what does capacity below the peak cost in backlog and delay, and what does a queue lose in an
//! outage?
//!
//! Events arrive at one rate in a daily peak window and at another outside it; a consumer of fixed capacity works
//! through the queue second by second. Days repeat until the backlog at the start of a day no longer changes. Left
//! out: redelivery, the cost of the queue itself, and random arrivals.

use crate::figures::{Block, Figure, Mark, Report, segment};
use crate::numbers;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use std::ops::Range;

const DAY_S: u64 = 86_400;
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
        let average = self.daily_events / DAY_S as f64;
        let peak = average * self.peak_factor;
        let peak_s = peak_hours * HOUR_S;
        let off_peak = (self.daily_events - peak * peak_s) / (DAY_S as f64 - peak_s);
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
        let outage = 2.0 * (1.0 + self.outage_ratios.len() as f64) * self.outage_days.run as f64;
        d.steps("capacity_ratios", DAY_S as f64 * (spread + outage + 8.0));
    }

    fn report(&self) -> Report {
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
}

impl Parameters {
    fn publish_table(&self, block: &mut Block, report: &mut Report, table: &str, profile: &Profile) {
        block.fixed(format!("{table}.profile.peak"), profile.peak, 2);
        block.fixed(format!("{table}.profile.off_peak"), profile.off_peak, 2);
        block.fixed(format!("{table}.profile.average"), profile.average, 2);
        report.fact(format!("{table}.peak_events"), profile.peak * profile.peak_s);
        report.fact(format!("{table}.off_peak_events"), profile.off_peak * (DAY_S as f64 - profile.peak_s));
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
    const NO_QUEUE: Self = Self { highest_backlog: 0.0, delayed: 0.0, drained_after_s: Some(1) };

    fn drain_hours(&self) -> Option<f64> {
        self.drained_after_s.map(|seconds| seconds as f64 / HOUR_S)
    }
}

/// A capacity's name: its share of the peak as the tables print it.
fn ratio_segment(ratio: f64) -> String {
    segment(format!("ratio_{}", numbers::fixed(ratio, 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

    /// The lesson's own walk: every second of every day.
    fn second_by_second(scenario: &Scenario) -> Outcome {
        let Scenario { day, peak_start_s, capacity, delayed_after_s, days } = scenario;
        let mut outcome = Outcome::default();
        let mut backlog = 0.0_f64;
        let measured = days.warm_up * DAY_S..(days.warm_up + 1) * DAY_S;
        for now in 0..days.run * DAY_S {
            let phase = day.iter().find(|phase| phase.seconds.contains(&(now % DAY_S))).unwrap();
            if measured.contains(&now) && backlog / capacity > *delayed_after_s {
                outcome.delayed += phase.arriving;
            }
            backlog += phase.arriving;
            backlog -= backlog.min(phase.capacity);
            if measured.contains(&now) && backlog > outcome.highest_backlog {
                outcome.highest_backlog = backlog;
            }
            if outcome.drained_after_s.is_none() && now > measured.start + peak_start_s && backlog < 1.0 {
                outcome.drained_after_s = Some(now - measured.start - peak_start_s);
            }
        }
        outcome
    }

    /// A day cut anywhere into up to six phases, some of them empty, some without capacity.
    fn days() -> impl Strategy<Value = Vec<Phase>> {
        let rate = prop_oneof![Just(0.0), 0.0..2.0, 0.0..200.0];
        let parts = proptest::collection::vec((0..=DAY_S, rate.clone(), rate), 1..=6);
        parts.prop_map(|mut parts| {
            parts.sort_by_key(|(cut, ..)| *cut);
            let cuts: Vec<u64> = parts.iter().skip(1).map(|(cut, ..)| *cut).chain([DAY_S]).collect();
            let mut start = 0;
            let phase = |((_, arriving, capacity), end): (&(u64, f64, f64), u64)| {
                let seconds = std::mem::replace(&mut start, end)..end;
                Phase { seconds, arriving: *arriving, capacity: *capacity }
            };
            parts.iter().zip(cuts).map(phase).collect()
        })
    }

    fn check<S: Strategy>(settings: &S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
        let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        assert_eq!(runner.run(settings, law).map_err(|error| error.to_string()), Ok(()));
    }

    #[test]
    fn skipping_the_seconds_of_an_empty_queue_changes_nothing() {
        let settings = (days(), 0..DAY_S, 0.1..200.0, 0.0..20_000.0, 0..3_u64, 1..=3_u64);
        check(&settings, |(day, peak_start_s, capacity, delayed_after_s, warm_up, more)| {
            let days = Days { warm_up, run: warm_up + more };
            let scenario = Scenario { day: &day, peak_start_s, capacity, delayed_after_s, days };
            prop_assert_eq!(scenario.run(), second_by_second(&scenario));
            Ok(())
        });
    }

    /// Where the queue empties before the next peak: up at one rate, down at another, no second in between.
    #[test]
    fn a_day_agrees_with_its_closed_form_to_the_second() {
        let settings = (0..9_u64, 3600..40_000_u64, 20.0..100.0, 0.0..1.0, 0.02..0.8, 0.0..2_000.0);
        check(
            &settings,
            |(start_hour, peak_s, peak, off_share, capacity_share, delayed_after_s): (u64, u64, f64, f64, f64, f64)| {
                let off_peak = peak * off_share * 0.5;
                let average = (peak * peak_s as f64 + off_peak * (DAY_S - peak_s) as f64) / DAY_S as f64;
                // At least one event a second too many, or the queue counts as empty while it fills.
                let capacity = average + (peak - average) * capacity_share;
                let highest = (peak - capacity) * peak_s as f64;
                let (up, down) = (peak - capacity, capacity - off_peak);
                let delaying = delayed_after_s * capacity;
                let delayed = if highest > delaying {
                    peak * (peak_s as f64 - delaying / up) + off_peak * (highest - delaying) / down
                } else {
                    0.0
                };
                let drained_after_s = peak_s as f64 + (highest - 1.0) / down;

                let (from, until) = (start_hour * 3600, start_hour * 3600 + peak_s);
                let phase = |seconds, arriving| Phase { seconds, arriving, capacity };
                let day = [phase(0..from, off_peak), phase(from..until, peak), phase(until..DAY_S, off_peak)];
                let days = Days { warm_up: 1, run: 3 };
                let outcome = Scenario { day: &day, peak_start_s: from, capacity, delayed_after_s, days }.run();
                prop_assert!((outcome.highest_backlog - highest).abs() < 1e-3, "{outcome:?}, {highest}");
                prop_assert!((outcome.delayed - delayed).abs() <= peak + off_peak, "{outcome:?}, {delayed}");
                let drained = outcome.drained_after_s.map_or(f64::NAN, |seconds| seconds as f64);
                prop_assert!((drained - drained_after_s).abs() <= 1.0, "{outcome:?}, {drained_after_s}");
                Ok(())
            },
        );
    }
}
