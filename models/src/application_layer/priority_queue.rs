//! Priority Queue: who pays when three classes of work share a capacity that does not suffice for all of them?
//!
//! State events, billing records and reports arrive over a window; each second the consumers complete as many jobs as
//! their capacity allows, by one of three policies. Jobs are divisible, so a fraction of one may be done. Left out:
//! what a job needs beside capacity, and everything after the window.

mod blocks;
mod invariants;

use crate::calendar::SECONDS_A_DAY;
use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What the lesson's program holds in constants. Rates and capacities are in jobs a second.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// V10.
    window_hours: f64,
    /// State events a day, and how far their peak lies above the day's average (K01, V8).
    daily_events: f64,
    peak_factor: f64,
    /// Billing records.
    billing_rate: f64,
    reports: u64,
    /// Records of one report.
    report_size: f64,
    /// K6 and its sensitivity.
    capacity: f64,
    capacities: Vec<f64>,
    shares: Shares,
    burst: Burst,
}

/// The part of the capacity that is kept for each class.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shares {
    state_event: f64,
    billing: f64,
    report: f64,
}

/// A while in which state events arrive at a multiple of their rate.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Burst {
    start_s: u64,
    seconds: u64,
    multiplier: f64,
}

impl Burst {
    fn covers(self, now: u64) -> bool {
        now >= self.start_s && now < self.start_s + self.seconds
    }
}

/// The classes of work, the most urgent first.
const CLASSES: [&str; 3] = ["state_event", "billing", "report"];

/// One of each class.
type EachClass<T> = [T; 3];

#[derive(Debug, Clone, Copy)]
enum Policy {
    /// In the order of arrival, whatever the class.
    SingleQueue,
    /// A class gets what the ones before it leave.
    StrictPriority,
    /// Each class gets its share; what is left goes round once more, in the order of the classes.
    WeightedShare(EachClass<f64>),
}

/// Jobs that arrived together; a part of the last one may be done.
#[derive(Debug, Clone, PartialEq)]
struct Batch {
    arrival: u64,
    jobs: f64,
}

/// The jobs of one class.
#[derive(Debug, Clone, Default, PartialEq)]
struct Queue {
    batches: VecDeque<Batch>,
    arrived: f64,
    completed: f64,
    backlog: f64,
    /// Over all completed jobs, in seconds.
    total_wait: f64,
    longest_wait: u64,
}

/// Fractions of jobs do not add up exactly; less than this is none.
const NO_JOB: f64 = 1e-9;

impl Queue {
    fn push(&mut self, now: u64, jobs: f64) {
        if jobs > 0.0 {
            self.batches.push_back(Batch { arrival: now, jobs });
            self.backlog += jobs;
            self.arrived += jobs;
        }
    }

    /// Completes jobs from the front, as far as the capacity goes; how much of it was used.
    fn complete(&mut self, now: u64, capacity: f64) -> f64 {
        let mut left = capacity;
        while left > NO_JOB
            && let Some(front) = self.batches.front_mut()
        {
            let jobs = left.min(front.jobs);
            let wait = now - front.arrival;
            front.jobs -= jobs;
            left -= jobs;
            self.backlog -= jobs;
            self.total_wait += jobs * wait as f64;
            self.completed += jobs;
            self.longest_wait = self.longest_wait.max(wait);
            if front.jobs <= NO_JOB {
                self.batches.pop_front();
            }
        }
        capacity - left
    }

    /// Rounding may leave less than nothing.
    fn remaining(&self) -> f64 {
        self.backlog.max(0.0)
    }
}

/// What remains of all classes.
fn remaining(queues: &EachClass<Queue>) -> f64 {
    queues.iter().fold(0.0, |sum, queue| sum + queue.remaining())
}

/// One second's work.
fn serve(queues: &mut EachClass<Queue>, policy: Policy, capacity: f64, now: u64) {
    let mut left = capacity;
    match policy {
        Policy::SingleQueue => {
            while left > NO_JOB {
                let waiting = queues.iter_mut().filter(|queue| !queue.batches.is_empty());
                let oldest = waiting.min_by_key(|queue| queue.batches.front().map(|batch| batch.arrival));
                let Some(queue) = oldest else { break };
                let batch = queue.batches.front().map_or(0.0, |batch| batch.jobs);
                left -= queue.complete(now, left.min(batch));
            }
        }
        Policy::StrictPriority => {
            for queue in queues {
                left -= queue.complete(now, left);
            }
        }
        Policy::WeightedShare(shares) => {
            for (queue, share) in queues.iter_mut().zip(shares) {
                left -= queue.complete(now, left.min(capacity * share));
            }
            for queue in queues {
                left -= queue.complete(now, left);
            }
        }
    }
}

impl Parameters {
    fn run(&self, policy: Policy, capacity: f64, burst: Option<Burst>) -> EachClass<Queue> {
        self.run_observed(policy, capacity, burst, |_| ())
    }

    /// Shows the queues after each second.
    fn run_observed(
        &self,
        policy: Policy,
        capacity: f64,
        burst: Option<Burst>,
        mut after: impl FnMut(&EachClass<Queue>),
    ) -> EachClass<Queue> {
        let mut queues = EachClass::<Queue>::default();
        for now in 0..self.window_seconds() {
            let multiplier = burst.filter(|burst| burst.covers(now)).map_or(1.0, |burst| burst.multiplier);
            let reports = if now.is_multiple_of(self.report_interval()) { self.report_size } else { 0.0 };
            let arrivals = [self.event_rate() * multiplier, self.billing_rate, reports];
            for (queue, jobs) in queues.iter_mut().zip(arrivals) {
                queue.push(now, jobs);
            }
            serve(&mut queues, policy, capacity, now);
            after(&queues);
        }
        queues
    }

    fn window_seconds(&self) -> u64 {
        (self.window_hours * 3600.0) as u64
    }

    fn event_rate(&self) -> f64 {
        self.daily_events / SECONDS_A_DAY * self.peak_factor
    }

    /// Seconds from one report to the next.
    fn report_interval(&self) -> u64 {
        self.window_seconds() / self.reports
    }

    /// The capacity that would suffice, without the burst.
    fn required(&self) -> f64 {
        let window = self.window_seconds() as f64;
        (self.event_rate() * window + self.billing_rate * window + self.reports as f64 * self.report_size) / window
    }

    fn weighted_share(&self) -> Policy {
        Policy::WeightedShare([self.shares.state_event, self.shares.billing, self.shares.report])
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("window_hours", self.window_hours, 0.01..=240.0);
        let seconds = self.window_hours * 3600.0;
        d.require("window_hours", seconds.fract().abs() < f64::EPSILON, "a whole number of seconds");
        d.real("daily_events", self.daily_events, 0.0..=1e12);
        d.real("peak_factor", self.peak_factor, 0.0..=1_000.0);
        d.real("billing_rate", self.billing_rate, 0.0..=1e6);
        // They are spread over whole seconds; "none at all" is a size of zero.
        d.integer("reports", self.reports, 1..=1_000_000);
        d.require("reports", self.reports <= self.window_seconds(), "at most one a second of the window");
        d.real("report_size", self.report_size, 0.0..=1e9);
        d.real("capacity", self.capacity, 0.0..=1e9);
        // The course's program never ends on an arrival that is too small to be served.
        let served = |jobs: f64| jobs == 0.0 || jobs > NO_JOB;
        let expected = format!("none, or more than {NO_JOB} at a time");
        d.require("daily_events", served(self.event_rate()), &expected);
        d.require("billing_rate", served(self.billing_rate), &expected);
        d.require("report_size", served(self.report_size), &expected);
        d.list("capacities", &self.capacities, 0..=100, |d, i, capacity| d.real(i, *capacity, 0.0..=1e9));
        d.distinct("capacities", &self.capacities);
        d.group("shares", |d| {
            let Shares { state_event, billing, report } = self.shares;
            d.real("state_event", state_event, 0.0..=1.0);
            d.real("billing", billing, 0.0..=1.0);
            d.real("report", report, 0.0..=1.0);
        });
        d.group("burst", |d| {
            d.integer("start_s", self.burst.start_s, 0..=1_000_000);
            d.integer("seconds", self.burst.seconds, 0..=1_000_000);
            d.real("multiplier", self.burst.multiplier, 1.0..=1_000.0);
        });
        let runs = 5 + self.capacities.len();
        d.steps("window_hours", 30.0 * runs as f64 * seconds);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
