//! Asynchronous Request–Reply: how often does a client ask before a result is there, and how late does it see it?
//!
//! A request is answered at once with a job's number; the client then polls the job's status until it is done, at a
//! fixed interval or at one that grows. Left out: how long the job waits before it runs, what a poll itself takes, and
//! clients that never come back.

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
    job_seconds: f64,
    /// The time that a request may take from end to end (K01).
    threshold_ms: f64,
    fixed_intervals_s: Vec<f64>,
    backoff: Backoff,
    sellers: f64,
    /// V8.
    peak_factor: f64,
    /// In requests a second (K01).
    peak_edge: f64,
    /// KK5 and its sensitivity: reports a seller asks for in a day.
    reports_a_day: Vec<f64>,
}

/// An interval that grows from poll to poll, up to a cap.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Backoff {
    first_s: f64,
    growth: f64,
    cap_s: f64,
}

/// When the client asks.
#[derive(Debug, Clone, Copy)]
enum Strategy {
    Fixed(f64),
    Exponential(Backoff),
}

impl Strategy {
    fn name(self) -> String {
        match self {
            Self::Fixed(interval) => format!("fixed_{}", segment(interval)),
            Self::Exponential(_) => "exponential".to_owned(),
        }
    }

    fn first_interval(self) -> f64 {
        match self {
            Self::Fixed(interval) => interval,
            Self::Exponential(backoff) => backoff.first_s,
        }
    }

    fn next_interval(self, interval: f64) -> f64 {
        match self {
            Self::Fixed(_) => interval,
            Self::Exponential(backoff) => (interval * backoff.growth).min(backoff.cap_s),
        }
    }
}

/// A job polled until it was seen to be done.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Polling {
    polls: u64,
    seen_s: f64,
}

impl Polling {
    /// Polls that found the job still running.
    fn empty(self) -> u64 {
        self.polls - 1
    }

    /// The polls, and the request that started the job.
    fn requests(self) -> u64 {
        SUBMISSION + self.polls
    }
}

/// The one request that asks for the work.
const SUBMISSION: u64 = 1;

impl Parameters {
    fn poll(&self, strategy: Strategy) -> Polling {
        let mut interval = strategy.first_interval();
        let mut polling = Polling { polls: 1, seen_s: interval };
        while polling.seen_s < self.job_seconds {
            interval = strategy.next_interval(interval);
            polling = Polling { polls: polling.polls + 1, seen_s: polling.seen_s + interval };
        }
        polling
    }

    fn strategies(&self) -> Vec<Strategy> {
        let fixed = self.fixed_intervals_s.iter().copied().map(Strategy::Fixed);
        fixed.chain([Strategy::Exponential(self.backoff)]).collect()
    }

    /// The numbers in a strategy's label.
    fn label(&self, block: &mut Block, strategy: Strategy) {
        match strategy {
            Strategy::Fixed(interval) => {
                let position = self.fixed_intervals_s.iter().position(|fixed| fixed.total_cmp(&interval).is_eq());
                block.plain(format!("parameters.fixed_intervals_s.{}", position.unwrap_or(0)), interval);
            }
            Strategy::Exponential(backoff) => {
                block.plain("parameters.backoff.first_s", backoff.first_s);
                block.plain("parameters.backoff.cap_s", backoff.cap_s);
            }
        }
    }

    fn peak_rate(&self, a_day: f64) -> f64 {
        a_day / SECONDS_A_DAY * self.peak_factor
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("job_seconds", self.job_seconds, 0.0..=1e6);
        d.real("threshold_ms", self.threshold_ms, 0.0..=1e6);
        // Without the passing of time no poll ever finds the job done.
        let intervals = 0.001..=1e6;
        let list = 1..=100;
        d.list("fixed_intervals_s", &self.fixed_intervals_s, list, |d, i, interval| {
            d.real(i, *interval, intervals.clone());
        });
        d.distinct("fixed_intervals_s", &self.fixed_intervals_s);
        d.group("backoff", |d| {
            d.real("first_s", self.backoff.first_s, intervals.clone());
            d.real("growth", self.backoff.growth, 1.0..=1_000.0);
            d.real("cap_s", self.backoff.cap_s, intervals.clone());
        });
        d.real("sellers", self.sellers, 0.0..=1e9);
        d.real("peak_factor", self.peak_factor, 0.0..=1_000.0);
        d.real("peak_edge", self.peak_edge, 0.0..=1e9);
        d.list("reports_a_day", &self.reports_a_day, 0..=100, |d, i, reports| d.real(i, *reports, 0.0..=1e6));
        d.distinct("reports_a_day", &self.reports_a_day);

        let shortest = self.fixed_intervals_s.iter().copied().chain([self.backoff.first_s.min(self.backoff.cap_s)]);
        d.steps("job_seconds", shortest.map(|interval| 1.0 + self.job_seconds / interval).sum());
    }

    fn report(&self) -> Report {
        let mut block = Block::new("measure");
        block.fixed("parameters.job_seconds", self.job_seconds, 2);
        block.plain("parameters.threshold_ms", self.threshold_ms);
        block.plain("synchronous.requests", SUBMISSION);
        block.fixed("synchronous.open_seconds", self.job_seconds, 2);
        let by_threshold = self.job_seconds / (self.threshold_ms / 1000.0);
        block.push(Figure::fixed("synchronous.by_threshold", by_threshold, 0).marked(Mark::Times));
        for strategy in self.strategies() {
            let polling = self.poll(strategy);
            let row = format!("polling.{}", strategy.name());
            self.label(&mut block, strategy);
            block.plain(format!("{row}.polls"), polling.polls);
            block.plain(format!("{row}.empty"), polling.empty());
            block.fixed(format!("{row}.empty_ratio"), polling.empty() as f64 / polling.polls as f64, 3);
            block.fixed(format!("{row}.seen"), polling.seen_s, 2);
            block.fixed(format!("{row}.extra"), polling.seen_s - self.job_seconds, 2);
            block.plain(format!("{row}.requests"), polling.requests());
        }
        for (i, &a_seller) in self.reports_a_day.iter().enumerate() {
            self.load(&mut block, i, a_seller);
        }
        for (i, &a_seller) in self.reports_a_day.iter().enumerate() {
            let open = self.peak_rate(self.sellers * a_seller) * self.job_seconds;
            block.fixed(format!("parameters.reports_a_day.{i}"), a_seller, 2);
            block.fixed(format!("synchronous.kk5_{}.open_connections", segment(a_seller)), open, 3);
        }
        Report::new([block])
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Parameters {
    /// What the first fixed interval and the growing one add to the edge.
    fn load(&self, block: &mut Block, i: usize, a_seller: f64) {
        let reports = self.sellers * a_seller;
        let first = self.fixed_intervals_s.first().copied().map(Strategy::Fixed);
        for strategy in first.into_iter().chain([Strategy::Exponential(self.backoff)]) {
            let row = format!("load.kk5_{}.{}", segment(a_seller), strategy.name());
            let requests = reports * self.poll(strategy).requests() as f64;
            let peak = self.peak_rate(requests);
            let share = Figure::fixed(format!("{row}.share_of_edge"), 100.0 * peak / self.peak_edge, 3);
            block.fixed(format!("parameters.reports_a_day.{i}"), a_seller, 2);
            block.fixed(format!("{row}.reports"), reports, 0);
            self.label(block, strategy);
            block.fixed(format!("{row}.requests"), requests, 0);
            block.fixed(format!("{row}.peak_rate"), peak, 4);
            block.push(share.marked(Mark::Percent));
        }
    }
}
