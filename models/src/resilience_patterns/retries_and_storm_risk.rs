//! Retries and Storm Risk: how many calls reach a broken dependency when every layer of a chain retries?
//!
//! Each layer that retries multiplies the tries that one request may take at the dependency below. A failed call
//! comes back after an exponential backoff with full jitter; a retry budget bounds the extra calls of all requests
//! together. Left out: the layers' own slots and timeouts, the rare failures of a day that has a window of its own,
//! and what becomes of a call that is due after the run ends.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{Lehmer, Uniform};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::iter::repeat_n;

/// What the lesson's program holds in constants. Durations are in rounds, rates in requests per second.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    round_ms: f64,
    rounds: u64,
    failure_start: u64,
    event_rate: f64,
    /// Calls a round that the dependency answers when it is well.
    usual_capacity: u64,
    /// Share of the calls that fail on a day without a window.
    rare_failures: f64,
    outage: Window,
    degradation: Window,
    /// Tries that a layer makes, the first one included.
    tries: u64,
    backoff_base: u64,
    backoff_cap: u64,
    /// Extra calls that the budget allows for each first one.
    budget: f64,
    budget_narrow: f64,
    bound_layers: Vec<u32>,
    read_threshold: u64,
}

/// A stretch of rounds in which the dependency keeps only part of its capacity.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    duration: u64,
    capacity: u64,
}

/// How the chain retries.
#[derive(Debug, Clone, Copy)]
struct Policy {
    name: &'static str,
    retrying_layers: u32,
    budget: Option<f64>,
}

/// What one run counted; calls are those that reach the dependency.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    requests: u64,
    calls: u64,
    first_calls: u64,
    extra_calls: u64,
    successful: u64,
    dropped: u64,
    /// Neither answered nor dropped: the next try is due after the run ends.
    unfinished: u64,
    /// Most calls in one round.
    peak: u64,
    /// Most calls in one round outside the window.
    peak_outside: u64,
    window_calls: u64,
    dropped_in_window: u64,
}

/// One policy's run, with what is told about it.
struct Run {
    policy: Policy,
    allowed: u64,
    counts: Counts,
    window_rate: f64,
}

impl Parameters {
    fn rounds_per_second(&self) -> f64 {
        1000.0 / self.round_ms
    }

    fn event_mean(&self) -> f64 {
        self.event_rate / self.rounds_per_second()
    }

    /// The layers' tries multiply: so many calls may one request take.
    fn allowed(&self, layers: u32) -> u64 {
        self.tries.saturating_pow(layers)
    }

    /// The longest backoff after so many failures.
    fn backoff(&self, failures: u64) -> u64 {
        let doublings = u32::try_from(failures).unwrap_or(u32::MAX);
        self.backoff_cap.min(self.backoff_base.saturating_mul(2_u64.saturating_pow(doublings)))
    }

    /// The longest that a request may wait between its first try and its last, by rounds.
    fn longest_wait(&self, layers: u32) -> u64 {
        // There is no backoff after the last try, and the jitter stays below the backoff.
        let waits = 0..self.allowed(layers).saturating_sub(1);
        waits.map(|failures| self.backoff(failures).max(1)).sum()
    }

    fn run(&self, policy: Policy, window: Option<Window>) -> Run {
        let allowed = self.allowed(policy.retrying_layers);
        let mut random = Lehmer::new(self.seed);
        let mut counts = Counts::default();
        // Of every call that waits for its round: how often it has failed.
        let mut due: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for now in 0..self.rounds {
            let broken = window.filter(|w| (self.failure_start..self.failure_start + w.duration).contains(&now));
            let capacity = broken.map_or(self.usual_capacity, |w| w.capacity);

            let arrivals = random.poisson(self.event_mean());
            let mut calls = due.remove(&now).unwrap_or_default();
            calls.extend(repeat_n(0, arrivals as usize));
            counts.requests += arrivals;
            counts.calls += calls.len() as u64;
            counts.peak = counts.peak.max(calls.len() as u64);
            match broken {
                Some(_) => counts.window_calls += calls.len() as u64,
                None => counts.peak_outside = counts.peak_outside.max(calls.len() as u64),
            }

            for (place, failures) in (0..).zip(calls) {
                *if failures == 0 { &mut counts.first_calls } else { &mut counts.extra_calls } += 1;
                let fails_rarely = |random: &mut Lehmer| window.is_none() && random.chance(self.rare_failures);
                if place < capacity && !fails_rarely(&mut random) {
                    counts.successful += 1;
                } else if failures + 1 < allowed && counts.within(policy.budget) {
                    let wait = (random.next() * self.backoff(failures) as f64) as u64;
                    due.entry(now + 1 + wait).or_default().push(failures + 1);
                } else {
                    counts.dropped += 1;
                    counts.dropped_in_window += u64::from(broken.is_some());
                }
            }
        }
        counts.unfinished = due.values().map(|calls| calls.len() as u64).sum();
        let window_rate = window.map_or(0.0, |w| counts.window_calls as f64 / w.duration as f64);
        Run { policy, allowed, counts, window_rate }
    }
}

impl Counts {
    fn within(&self, budget: Option<f64>) -> bool {
        budget.is_none_or(|share| self.extra_calls as f64 <= share * self.first_calls as f64)
    }

    /// Calls for each request.
    fn multiplier(&self) -> f64 {
        self.calls as f64 / self.requests as f64
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.real("round_ms", self.round_ms, 0.1..=1_000.0);
        d.integer("rounds", self.rounds, 1..=1_000_000);
        d.integer("failure_start", self.failure_start, 0..=1_000_000);
        d.real("event_rate", self.event_rate, 0.0..=10_000.0);
        // Poisson counts are drawn by multiplying uniforms until they fall below e^-mean, which must not vanish.
        d.require("event_rate", self.event_mean() <= 500.0, "at most 500 arrivals a round");
        d.integer("usual_capacity", self.usual_capacity, 0..=1_000_000);
        d.real("rare_failures", self.rare_failures, 0.0..=1.0);
        for (name, window) in [("outage", &self.outage), ("degradation", &self.degradation)] {
            d.group(name, |d| {
                d.integer("duration", window.duration, 1..=1_000_000);
                d.integer("capacity", window.capacity, 0..=1_000_000);
            });
        }
        d.integer("tries", self.tries, 1..=10);
        d.integer("backoff_base", self.backoff_base, 0..=10_000);
        d.integer("backoff_cap", self.backoff_cap, 0..=10_000);
        d.real("budget", self.budget, 0.0..=100.0);
        d.real("budget_narrow", self.budget_narrow, 0.0..=100.0);
        // 10^15 is below 2^53: up to there the doubles of the lesson's program count exactly.
        d.list("bound_layers", &self.bound_layers, 0..=16, |d, i, layers| d.integer(i, *layers, 0..=15));
        d.integer("read_threshold", self.read_threshold, 1..=1_000_000);

        let most_calls = self.allowed(ALL_LAYERS).min(self.rounds) as f64;
        d.steps("rounds", 32.0 * self.rounds as f64 * (1.0 + self.event_mean() * most_calls));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

/// Gateway, event endpoint and state store.
const ALL_LAYERS: u32 = 3;
