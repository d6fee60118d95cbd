//! Bulkhead Pattern: what does a pool of its own save the neighbour of a slow flow, and what does it cost otherwise?
//!
//! A gateway's slots serve two flows, either from one pool or split between them; a call that finds no free slot is
//! dropped. On the failing day the events' dependency slows down and each event holds its slot longer. Nothing is
//! detected and nothing decided, so there is no mechanism beside the split itself. Left out: waiting for a slot,
//! retries, and what becomes of a dropped call.

mod blocks;
mod invariants;

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
    event_hold: u64,
    event_hold_slow: u64,
    /// The tracking flow's share of a split pool; the events get the rest.
    tracking_slots: usize,
    tracking_slots_swept: Vec<usize>,
    tracking_slots_wider: usize,
    failure_minutes: f64,
}

#[derive(Debug, Clone, Copy)]
enum Layout {
    Shared,
    Split { tracking: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Day {
    Healthy,
    Slowdown,
}

#[derive(Debug, Clone, Copy)]
enum Flow {
    Tracking,
    Event,
}

/// The gateway's slots.
enum Pools {
    Shared(SlotPool),
    Split { tracking: SlotPool, event: SlotPool },
}

impl Pools {
    fn new(layout: Layout, slots: usize) -> Self {
        match layout {
            Layout::Shared => Self::Shared(SlotPool::new(slots)),
            Layout::Split { tracking } => {
                Self::Split { tracking: SlotPool::new(tracking), event: SlotPool::new(slots - tracking) }
            }
        }
    }

    /// The pool that a flow draws from, and the one behind the bulkhead.
    fn of(&mut self, flow: Flow) -> (&mut SlotPool, Option<&mut SlotPool>) {
        match (self, flow) {
            (Self::Shared(pool), _) => (pool, None),
            (Self::Split { tracking, event }, Flow::Tracking) => (tracking, Some(event)),
            (Self::Split { tracking, event }, Flow::Event) => (event, Some(tracking)),
        }
    }

    fn busy(&mut self, now: u64) -> usize {
        match self {
            Self::Shared(pool) => pool.busy(now),
            Self::Split { tracking, event } => tracking.busy(now) + event.busy(now),
        }
    }
}

/// What one run counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    tracking: Calls,
    event: Calls,
    /// Idle slots behind the bulkhead, summed over the calls that were dropped meanwhile.
    idle_slots: u64,
    /// Calls that were dropped while at least one slot behind the bulkhead was idle.
    dropped_beside_idle: u64,
    /// Slots that were busy when a round began, summed over the rounds.
    busy_rounds: u64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Calls {
    responses: u64,
    dropped: u64,
}

impl Parameters {
    fn rounds_per_second(&self) -> f64 {
        1000.0 / self.round_ms
    }

    fn tracking_mean(&self) -> f64 {
        self.tracking_rate / self.rounds_per_second()
    }

    fn event_mean(&self) -> f64 {
        self.event_rate / self.rounds_per_second()
    }

    fn run(&self, layout: Layout, day: Day) -> Counts {
        let mut random = Lehmer::new(self.seed);
        let mut pools = Pools::new(layout, self.slots);
        let mut counts = Counts::default();
        let mut arrivals = Vec::new();
        for now in 0..self.rounds {
            counts.busy_rounds += pools.busy(now) as u64;
            arrivals.clear();
            arrivals.resize(random.poisson(self.tracking_mean()) as usize, Flow::Tracking);
            arrivals.resize(arrivals.len() + random.poisson(self.event_mean()) as usize, Flow::Event);
            random.shuffle(&mut arrivals);

            let slow = day == Day::Slowdown && now >= self.failure_start;
            for &flow in &arrivals {
                let (hold, calls) = match flow {
                    Flow::Tracking => (self.tracking_hold, &mut counts.tracking),
                    Flow::Event if slow => (self.event_hold_slow, &mut counts.event),
                    Flow::Event => (self.event_hold, &mut counts.event),
                };
                let (own, beyond) = pools.of(flow);
                if own.acquire(now, hold) {
                    calls.responses += 1;
                } else {
                    calls.dropped += 1;
                    let idle = beyond.map_or(0, |pool| pool.idle(now));
                    counts.idle_slots += idle as u64;
                    counts.dropped_beside_idle += u64::from(idle > 0);
                }
            }
        }
        counts
    }

    /// Both days under one layout.
    fn days(&self, layout: Layout) -> Days {
        Days { healthy: self.run(layout, Day::Healthy), slowdown: self.run(layout, Day::Slowdown) }
    }
}

struct Days {
    healthy: Counts,
    slowdown: Counts,
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.integer("slots", self.slots, 0..=10_000);
        d.real("round_ms", self.round_ms, 0.1..=1_000.0);
        d.integer("rounds", self.rounds, 1..=1_000_000);
        d.integer("failure_start", self.failure_start, 0..=1_000_000);
        d.require("failure_start", self.failure_start < self.rounds, "a round before the run ends (`rounds`)");
        d.real("tracking_rate", self.tracking_rate, 0.0..=10_000.0);
        d.real("event_rate", self.event_rate, 0.0..=10_000.0);
        for (name, mean) in [("tracking_rate", self.tracking_mean()), ("event_rate", self.event_mean())] {
            d.require(name, mean <= MOST_ARRIVALS, format!("at most {MOST_ARRIVALS} arrivals a round"));
        }
        // A call takes at least the round in which it arrives.
        d.integer("tracking_hold", self.tracking_hold, 1..=10_000);
        d.integer("event_hold", self.event_hold, 1..=10_000);
        d.integer("event_hold_slow", self.event_hold_slow, 1..=10_000);
        d.integer("tracking_slots", self.tracking_slots, 0..=10_000);
        d.list("tracking_slots_swept", &self.tracking_slots_swept, 0..=20, |d, i, tracking| {
            d.integer(i, *tracking, 0..=10_000);
            d.require(i, *tracking <= self.slots, "no more than `slots`");
        });
        d.integer("tracking_slots_wider", self.tracking_slots_wider, 0..=10_000);
        for (name, tracking) in
            [("tracking_slots", self.tracking_slots), ("tracking_slots_wider", self.tracking_slots_wider)]
        {
            d.require(name, tracking <= self.slots, "no more than `slots`");
        }
        d.real("failure_minutes", self.failure_minutes, 0.0..=100_000.0);

        let runs = 2 * (3 + self.tracking_slots_swept.len());
        let arrivals = self.tracking_mean() + self.event_mean();
        d.steps("rounds", runs as f64 * self.rounds as f64 * (10.0 + 12.0 * arrivals));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

/// Poisson counts are drawn by multiplying uniforms until they fall below e^-mean, which must not vanish.
const MOST_ARRIVALS: f64 = 500.0;
