//! Timeout and Retry Budget: how does a chain of calls spend the time that a request may take, and how many calls does
//! it make of one?
//!
//! A gateway calls the arms of a request in parallel; each arm is a chain of steps, each step one call with retries.
//! How long the calls take is a cycle that all steps draw from in turn. Left out: backoff, queueing, and that slow
//! calls make the service behind them slower.

mod blocks;
mod invariants;

use crate::figures::{Figure, Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use std::iter::{Copied, Cycle};
use std::slice::Iter;

/// What the lesson's two programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// How long a request may take, end to end.
    threshold_ms: f64,
    /// U3, and its sensitivity.
    gateway_share_ms: f64,
    more_gateway_share_ms: f64,
    /// How long a step's call usually takes.
    step_median_ms: f64,
    /// Chain lengths and numbers of tries of the budget table.
    depths: Vec<u64>,
    tries_compared: Vec<u64>,
    requests: usize,
    /// Steps of an arm, one after the other.
    depth: u64,
    /// Arms of a request, side by side.
    arms: u64,
    /// Calls that a step makes at most.
    tries: u64,
    /// Retries that a first call earns.
    retry_budget: f64,
    regimes: Vec<Regime>,
    /// Requests per second.
    peak_read: f64,
}

/// How long calls take, one after the other, round and round.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Regime {
    name: String,
    cycle_ms: Vec<f64>,
}

/// How a caller limits the time and the calls of a step.
#[derive(Debug, Clone, Copy)]
struct Limits {
    timeout_ms: f64,
    tries: u64,
    /// The caller passes on how much time is left, and no call may take more.
    deadline: bool,
    /// Retries are made only while they are fewer than this share of the first calls.
    retry_budget: Option<f64>,
}

/// The calls of a run, and how long each takes.
struct Calls<'a> {
    durations_ms: Cycle<Copied<Iter<'a, f64>>>,
    first: u64,
    retries: u64,
}

/// How a step, an arm or a request ended, after how long.
#[derive(Clone, Copy)]
struct End {
    answered: bool,
    elapsed_ms: f64,
}

impl Calls<'_> {
    fn step(&mut self, limits: &Limits, remaining_ms: f64) -> End {
        let mut elapsed_ms = 0.0;
        for attempt in 0..limits.tries {
            let left_ms = if limits.deadline { remaining_ms - elapsed_ms } else { f64::INFINITY };
            let timeout_ms = limits.timeout_ms.min(left_ms);
            let is_first = attempt == 0;
            if timeout_ms <= 0.0 || !(is_first || self.may_retry(limits)) {
                break;
            }
            *if is_first { &mut self.first } else { &mut self.retries } += 1;
            let duration_ms = self.durations_ms.next().unwrap_or_default();
            if duration_ms <= timeout_ms {
                return End { answered: true, elapsed_ms: elapsed_ms + duration_ms };
            }
            elapsed_ms += timeout_ms;
        }
        End { answered: false, elapsed_ms }
    }

    fn may_retry(&self, limits: &Limits) -> bool {
        limits.retry_budget.is_none_or(|budget| (self.retries as f64) < budget * self.first as f64)
    }

    /// The steps of an arm in a row, up to the first that is not answered.
    fn arm(&mut self, limits: &Limits, depth: u64, available_ms: f64) -> End {
        let mut end = End { answered: true, elapsed_ms: 0.0 };
        for _ in 0..depth {
            let step = self.step(limits, available_ms - end.elapsed_ms);
            end = End { answered: step.answered, elapsed_ms: end.elapsed_ms + step.elapsed_ms };
            if !end.answered {
                break;
            }
        }
        end
    }
}

/// What one run yields.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Outcome {
    within_threshold: u64,
    outside_threshold: u64,
    /// Requests of which an arm was not answered.
    dropped: u64,
    median_ms: f64,
    worst_ms: f64,
    first_calls: u64,
    retries: u64,
}

impl Outcome {
    fn calls(&self) -> u64 {
        self.first_calls + self.retries
    }
}

impl Parameters {
    /// What the gateway leaves for the steps.
    fn available_ms(&self) -> f64 {
        self.threshold_ms - self.gateway_share_ms
    }

    fn steps(&self) -> u64 {
        self.depth * self.arms
    }

    /// The timeout with which a chain keeps within its time even if every try of every step runs out.
    fn allocated_ms(available_ms: f64, depth: u64, tries: u64) -> f64 {
        available_ms / (depth * tries) as f64
    }

    /// How many steps a chain may have before that timeout is below what a step usually takes.
    fn deepest_chain(&self) -> f64 {
        (self.available_ms() / (self.tries as f64 * self.step_median_ms)).floor()
    }

    fn allocated_figure(&self) -> Figure {
        Figure::fixed("allocated.timeout_ms", Self::allocated_ms(self.available_ms(), self.depth, self.tries), 1)
    }

    /// The four configurations; each adds one limit to the one before.
    fn configurations(&self) -> [(&'static str, Limits); 4] {
        let none = Limits { timeout_ms: self.threshold_ms, tries: self.tries, deadline: false, retry_budget: None };
        let deadline = Limits { deadline: true, ..none };
        // The program takes the timeout as the table prints it.
        let timeout_ms = self.allocated_figure().digits().parse().unwrap_or(f64::NAN);
        let allocated = Limits { timeout_ms, ..deadline };
        let retry_budget = Limits { retry_budget: Some(self.retry_budget), ..allocated };
        [("none", none), ("deadline", deadline), ("allocated", allocated), ("retry_budget", retry_budget)]
    }

    fn run(&self, limits: &Limits, regime: &Regime) -> Outcome {
        let mut calls = Calls { durations_ms: regime.cycle_ms.iter().copied().cycle(), first: 0, retries: 0 };
        let mut outcome = Outcome::default();
        let mut elapsed = Vec::with_capacity(self.requests);
        for _ in 0..self.requests {
            let (mut answered, mut longest_ms) = (true, 0.0_f64);
            for _ in 0..self.arms {
                let arm = calls.arm(limits, self.depth, self.available_ms());
                answered &= arm.answered;
                longest_ms = longest_ms.max(arm.elapsed_ms);
            }
            let elapsed_ms = self.gateway_share_ms + longest_ms;
            elapsed.push(elapsed_ms);
            *match (answered, elapsed_ms > self.threshold_ms) {
                (false, _) => &mut outcome.dropped,
                (true, true) => &mut outcome.outside_threshold,
                (true, false) => &mut outcome.within_threshold,
            } += 1;
        }
        elapsed.sort_by(f64::total_cmp);
        outcome.median_ms = elapsed[self.requests / 2];
        outcome.worst_ms = elapsed[self.requests - 1];
        (outcome.first_calls, outcome.retries) = (calls.first, calls.retries);
        outcome
    }

    /// Calls, as a multiple of one call a step.
    fn multiplier(&self, outcome: &Outcome) -> f64 {
        outcome.calls() as f64 / (self.requests as u64 * self.steps()) as f64
    }

    fn base_rate(&self) -> f64 {
        self.peak_read * self.steps() as f64
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("threshold_ms", self.threshold_ms, 0.001..=1e9);
        d.real("gateway_share_ms", self.gateway_share_ms, 0.0..=1e9);
        d.real("more_gateway_share_ms", self.more_gateway_share_ms, 0.0..=1e9);
        for (name, share_ms) in
            [("gateway_share_ms", self.gateway_share_ms), ("more_gateway_share_ms", self.more_gateway_share_ms)]
        {
            d.require(name, share_ms <= self.threshold_ms, "at most what a request may take (`threshold_ms`)");
        }
        d.real("step_median_ms", self.step_median_ms, 0.001..=1e9);
        let count = |d: &mut Declaration, i: &str, count: &u64| d.integer(i, *count, 1..=1_000);
        for (name, list) in [("depths", &self.depths), ("tries_compared", &self.tries_compared)] {
            d.list(name, list, 0..=50, count);
            d.distinct(name, list);
        }
        d.integer("requests", self.requests, 1..=1_000_000);
        d.integer("depth", self.depth, 1..=1_000);
        d.integer("arms", self.arms, 1..=1_000);
        d.integer("tries", self.tries, 1..=1_000);
        d.real("retry_budget", self.retry_budget, 0.0..=1_000.0);
        d.list("regimes", &self.regimes, 0..=20, |d, i, regime| {
            d.group(i, |d| {
                d.text("name", &regime.name);
                let durations = &regime.cycle_ms;
                d.list("cycle_ms", durations, 1..=1_000, |d, i, duration_ms| d.real(i, *duration_ms, 0.0..=1e9));
            });
        });
        d.distinct("regimes", self.regimes.iter().map(|regime| segment(&regime.name)).collect::<Vec<_>>());
        d.real("peak_read", self.peak_read, 0.0..=1e9);

        let most_calls = self.requests as f64 * self.steps() as f64 * self.tries as f64;
        d.steps("requests", 4.0 * self.regimes.len() as f64 * most_calls);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
