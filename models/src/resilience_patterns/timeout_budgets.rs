//! Timeout Budgets: how is one deadline split over two calls in a row, and who is blamed when the first is slow?
//!
//! A tracking query calls two arms at once. One reads one record; the other, billing, reads the tariff and then the
//! size within what the gateway leaves of the read threshold. A call that has not answered within its share is given
//! up; without a cancellation signal the store still finishes it. Left out: queueing in the stores, so that a slow
//! store does not slow down further calls.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants. Durations are in milliseconds, rates in requests per second.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    read_threshold: f64,
    gateway_share: f64,
    typical: Typical,
    /// How often a store goes through the usual durations before the tail comes.
    body_repeats: usize,
    failure_free: Regime,
    tariff_slowdown: Regime,
    requests: usize,
    peak_read: f64,
    peak_edge: f64,
    sub_calls: u64,
    deadline_bytes: u64,
    response_bytes: f64,
    slowdown_minutes: f64,
    slowdown_minutes_longer: f64,
    slowdowns_a_month: f64,
    slowdowns_a_month_more: f64,
    /// Minutes a month that failures may take.
    failure_share: f64,
}

/// How long a read of each store usually takes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typical {
    delivery: f64,
    tariff: f64,
    size: f64,
}

/// How long the reads of each store take, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Regime {
    delivery: Durations,
    tariff: Durations,
    size: Durations,
}

/// A cycle: the body, repeated, and then one long read.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Durations {
    body: Vec<f64>,
    tail: f64,
}

/// How the billing arm splits its share over its two reads.
#[derive(Debug, Clone, Copy)]
enum Policy {
    /// Each read may take all that is left.
    Greedy,
    /// Half each.
    Equal,
    /// In proportion to the typical durations.
    Weighted,
}

impl Policy {
    const ALL: [Self; 3] = [Self::Greedy, Self::Equal, Self::Weighted];

    fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::Equal => "equal",
            Self::Weighted => "weighted",
        }
    }

    /// The shares of the tariff and of the size.
    fn shares(self, whole: f64, typical: &Typical) -> (f64, f64) {
        let sum = typical.tariff + typical.size;
        match self {
            Self::Greedy => (whole, whole),
            Self::Equal => (whole / 2.0, whole / 2.0),
            Self::Weighted => (whole * typical.tariff / sum, whole * typical.size / sum),
        }
    }
}

/// A store that answers its reads in the durations of its cycle.
struct Store<'a> {
    durations: &'a Durations,
    body_repeats: usize,
    reads: usize,
    /// Reads that the caller gave up, or did not have the time to make.
    failed: u64,
}

/// What the caller saw of one read.
struct Read {
    in_time: bool,
    waited: f64,
    /// How long the store went on after the caller had given up.
    abandoned: f64,
}

impl<'a> Store<'a> {
    fn new(durations: &'a Durations, body_repeats: usize) -> Self {
        Self { durations, body_repeats, reads: 0, failed: 0 }
    }

    fn read(&mut self, limit: f64) -> Read {
        let read = if limit <= 0.0 {
            Read { in_time: false, waited: 0.0, abandoned: 0.0 }
        } else {
            let duration = self.next_duration();
            let in_time = duration <= limit;
            Read { in_time, waited: duration.min(limit), abandoned: if in_time { 0.0 } else { duration - limit } }
        };
        self.failed += u64::from(!read.in_time);
        read
    }

    fn next_duration(&mut self) -> f64 {
        let Durations { body, tail } = self.durations;
        let usual_reads = body.len() * self.body_repeats;
        let place = self.reads % (usual_reads + 1);
        self.reads += 1;
        if place == usual_reads { *tail } else { body[place % body.len()] }
    }
}

/// What one run counted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Outcome {
    answered: u64,
    dropped: u64,
    tariff_failed: u64,
    size_failed: u64,
    median: f64,
    worst: f64,
    average: f64,
    /// Milliseconds that stores worked on reads which nobody waited for.
    abandoned: f64,
}

impl Parameters {
    fn arm_share(&self) -> f64 {
        self.read_threshold - self.gateway_share
    }

    fn run(&self, regime: &Regime, policy: Policy) -> Outcome {
        let store = |durations| Store::new(durations, self.body_repeats);
        let (mut delivery, mut tariff, mut size) =
            (store(&regime.delivery), store(&regime.tariff), store(&regime.size));
        let whole = self.arm_share();
        let (tariff_share, size_share) = policy.shares(whole, &self.typical);
        let (mut answered, mut abandoned) = (0, 0.0);
        let mut end_to_end = Vec::with_capacity(self.requests);
        for _ in 0..self.requests {
            let first = delivery.read(whole);
            let second = tariff.read(tariff_share.min(whole));
            // Also after a failed tariff: the arm decides when it knows both.
            let third = size.read(size_share.min(whole - second.waited));
            let elapsed = self.gateway_share + first.waited.max(second.waited + third.waited);
            end_to_end.push(elapsed);
            for read in [&first, &second, &third] {
                abandoned += read.abandoned;
            }
            let complete = first.in_time && second.in_time && third.in_time;
            answered += u64::from(complete && elapsed <= self.read_threshold);
        }
        let average = end_to_end.iter().sum::<f64>() / self.requests as f64;
        end_to_end.sort_by(f64::total_cmp);
        Outcome {
            answered,
            dropped: self.requests as u64 - answered,
            tariff_failed: tariff.failed,
            size_failed: size.failed,
            median: end_to_end[self.requests / 2],
            worst: end_to_end[self.requests - 1],
            average,
            abandoned,
        }
    }

    /// Slots held for that long by each request at the peak: arrival rate times duration.
    fn slots(&self, ms: f64) -> f64 {
        self.peak_read * ms / 1000.0
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("read_threshold", self.read_threshold, 0.0..=100_000.0);
        d.real("gateway_share", self.gateway_share, 0.0..=100_000.0);
        d.group("typical", |d| {
            d.real("delivery", self.typical.delivery, 0.001..=100_000.0);
            d.real("tariff", self.typical.tariff, 0.001..=100_000.0);
            d.real("size", self.typical.size, 0.001..=100_000.0);
        });
        d.integer("body_repeats", self.body_repeats, 0..=1_000);
        d.group("failure_free", |d| self.failure_free.declare(d));
        d.group("tariff_slowdown", |d| self.tariff_slowdown.declare(d));
        d.integer("requests", self.requests, 1..=1_000_000);
        d.real("peak_read", self.peak_read, 0.0..=1_000_000.0);
        d.real("peak_edge", self.peak_edge, 0.0..=1_000_000.0);
        d.integer("sub_calls", self.sub_calls, 0..=1_000);
        d.integer("deadline_bytes", self.deadline_bytes, 0..=10_000);
        d.real("response_bytes", self.response_bytes, 1.0..=1_000_000_000.0);
        d.real("slowdown_minutes", self.slowdown_minutes, 0.0..=100_000.0);
        d.real("slowdown_minutes_longer", self.slowdown_minutes_longer, 0.0..=100_000.0);
        d.real("slowdowns_a_month", self.slowdowns_a_month, 0.0..=10_000.0);
        d.real("slowdowns_a_month_more", self.slowdowns_a_month_more, 0.0..=10_000.0);
        d.real("failure_share", self.failure_share, 0.001..=100_000.0);

        let runs = 2 * Policy::ALL.len();
        d.steps("requests", (runs * self.requests) as f64 * 30.0);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Regime {
    fn declare(&self, d: &mut Declaration) {
        for (name, durations) in [("delivery", &self.delivery), ("tariff", &self.tariff), ("size", &self.size)] {
            d.group(name, |d| {
                d.list("body", &durations.body, 1..=1_000, |d, i, ms| d.real(i, *ms, 0.0..=1_000_000.0));
                d.real("tail", durations.tail, 0.0..=1_000_000.0);
            });
        }
    }
}
