//! Circuit Breaker: what does a breaker save when a dependency fails, and what does it cost when none does?
//!
//! A gateway's slot pool is shared by two flows. Tracking queries never touch the failing dependency; state events
//! call it and hold their slot until it answers. The breaker watches the outcomes of those calls and, while open,
//! rejects events at once. Left out: where rejected events go, retries, and any real duration.

mod blocks;
mod breaker;
mod invariants;

use self::breaker::{Breaker, Rule, WindowRatio};
use crate::arrivals::Carry;
use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{Lehmer, Uniform};
use crate::slots::SlotPool;
use serde::{Deserialize, Serialize};

/// What the lesson's program holds in constants. Durations are in rounds, rates in requests per second.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    slots: usize,
    round_ms: f64,
    rounds: u64,
    failure_start: u64,
    tracking_rate: f64,
    tracking_hold: u64,
    event_rate: f64,
    modes: Modes,
    rule: WindowRatio,
    rules: Vec<NamedRule>,
    longer_open_rounds: u64,
    failure_minutes: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Modes {
    healthy: Behaviour,
    partial: Behaviour,
    slowdown: Behaviour,
    down: Behaviour,
}

/// How the dependency answers an event's call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Behaviour {
    failure_probability: f64,
    answered_hold: u64,
    failed_hold: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedRule {
    name: String,
    opens_on: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Healthy,
    Partial,
    Slowdown,
    Down,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Healthy, Self::Partial, Self::Slowdown, Self::Down];

    fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Partial => "partial",
            Self::Slowdown => "slowdown",
            Self::Down => "down",
        }
    }
}

impl Modes {
    fn of(&self, mode: Mode) -> &Behaviour {
        match mode {
            Mode::Healthy => &self.healthy,
            Mode::Partial => &self.partial,
            Mode::Slowdown => &self.slowdown,
            Mode::Down => &self.down,
        }
    }
}

/// What one run counted.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    tracking_responses: u64,
    tracking_no_slot: u64,
    event_responses: u64,
    event_rejected: u64,
    event_errors: u64,
    event_no_slot: u64,
    calls: u64,
    /// Taken by calls.
    event_slot_rounds: u64,
    /// Taken by rejected events; the table does not count them.
    rejection_slot_rounds: u64,
    opens: u64,
    at_failure: AtFailure,
    /// First opening after the failure began.
    detection: Option<Detection>,
}

/// How things stood when the failure began.
#[derive(Debug, Default, PartialEq)]
struct AtFailure {
    is_open: bool,
    calls: u64,
    event_slot_rounds: u64,
}

#[derive(Debug, PartialEq)]
struct Detection {
    /// Rounds since the failure began.
    round: u64,
    /// Slot-rounds that events took since the failure began.
    slot_rounds: u64,
}

#[derive(Clone, Copy)]
enum Flow {
    Tracking,
    Event,
}

impl Parameters {
    fn rounds_per_second(&self) -> f64 {
        1000.0 / self.round_ms
    }

    /// One day: the mode begins at `failure_start`, before it the dependency is healthy.
    fn run(&self, mode: Mode, rule: Option<Rule>) -> Counts {
        let mut random = Lehmer::new(self.seed);
        let mut pool = SlotPool::new(self.slots);
        let mut breaker = rule.map(Breaker::new);
        let mut counts = Counts::default();
        let (mut tracking, mut events) = (Carry::default(), Carry::default());
        let mut arrivals = Vec::new();

        for now in 0..self.rounds {
            if let Some(breaker) = &mut breaker {
                breaker.start_round(now);
            }
            if now == self.failure_start {
                counts.at_failure = AtFailure {
                    is_open: breaker.as_ref().is_some_and(Breaker::is_open),
                    calls: counts.calls,
                    event_slot_rounds: counts.event_slot_rounds,
                };
            }
            let tracking = tracking.arrivals(self.tracking_rate / self.rounds_per_second()) as usize;
            let events = events.arrivals(self.event_rate / self.rounds_per_second()) as usize;
            arrivals.clear();
            arrivals.resize(tracking, Flow::Tracking);
            arrivals.resize(tracking + events, Flow::Event);
            random.shuffle(&mut arrivals);

            let failing = mode != Mode::Healthy && now >= self.failure_start;
            let dependency = self.modes.of(if failing { mode } else { Mode::Healthy });
            for flow in &arrivals {
                match flow {
                    Flow::Tracking if pool.acquire(now, self.tracking_hold) => counts.tracking_responses += 1,
                    Flow::Tracking => counts.tracking_no_slot += 1,
                    Flow::Event if breaker.as_ref().is_some_and(Breaker::is_open) => {
                        counts.event_rejected += 1;
                        if pool.acquire(now, REJECTION_HOLD) {
                            counts.rejection_slot_rounds += REJECTION_HOLD;
                        }
                    }
                    Flow::Event => {
                        let failed = random.chance(dependency.failure_probability);
                        let hold = if failed { dependency.failed_hold } else { dependency.answered_hold };
                        if !pool.acquire(now, hold) {
                            counts.event_no_slot += 1;
                            continue;
                        }
                        counts.calls += 1;
                        counts.event_slot_rounds += hold;
                        *if failed { &mut counts.event_errors } else { &mut counts.event_responses } += 1;
                        let Some(breaker) = &mut breaker else {
                            continue;
                        };
                        if breaker.observe(now, failed) {
                            counts.opens += 1;
                            if failing {
                                counts.detection.get_or_insert(Detection {
                                    round: now - self.failure_start,
                                    slot_rounds: counts.event_slot_rounds - counts.at_failure.event_slot_rounds,
                                });
                            }
                        }
                    }
                }
            }
        }
        counts
    }
}

/// An event that an open breaker rejects still passes through the gateway.
const REJECTION_HOLD: u64 = 1;

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.integer("slots", self.slots, 0..=1_000);
        d.real("round_ms", self.round_ms, 0.1..=1_000.0);
        d.integer("rounds", self.rounds, 1..=1_000_000);
        d.integer("failure_start", self.failure_start, 0..=1_000_000);
        d.require("failure_start", self.failure_start < self.rounds, "a round before the run ends (`rounds`)");
        d.real("tracking_rate", self.tracking_rate, 0.0..=10_000.0);
        d.integer("tracking_hold", self.tracking_hold, 0..=10_000);
        d.real("event_rate", self.event_rate, 0.0..=10_000.0);
        d.group("modes", |d| {
            for mode in Mode::ALL {
                d.group(mode.name(), |d| self.modes.of(mode).declare(d));
            }
        });
        d.group("rule", |d| self.rule.declare(d));
        d.list("rules", &self.rules, 3..=3, |d, i, rule| d.group(i, |d| rule.declare(d)));
        d.integer("longer_open_rounds", self.longer_open_rounds, 1..=1_000_000);
        d.real("failure_minutes", self.failure_minutes, 0.0..=100_000.0);

        let arrivals = (self.tracking_rate + self.event_rate) / self.rounds_per_second() * self.rounds as f64;
        let runs = (2 * Mode::ALL.len() + self.rules.len() * Mode::ALL.len() + 3) as f64;
        d.steps("rounds", runs * (self.rounds as f64 + arrivals * (1.0 + self.slots as f64 / 8.0)));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Behaviour {
    fn declare(&self, d: &mut Declaration) {
        d.real("failure_probability", self.failure_probability, 0.0..=1.0);
        d.integer("answered_hold", self.answered_hold, 0..=10_000);
        d.integer("failed_hold", self.failed_hold, 0..=10_000);
    }
}

impl NamedRule {
    fn declare(&self, d: &mut Declaration) {
        d.text("name", &self.name);
        d.group("opens_on", |d| self.opens_on.declare(d));
    }
}
