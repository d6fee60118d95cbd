//! Bulkhead Pattern: what does a pool of its own save the neighbour of a slow flow, and what does it cost otherwise?
//!
//! A gateway's slots serve two flows, either from one pool or split between them; a call that finds no free slot is
//! dropped. On the failing day the events' dependency slows down and each event holds its slot longer. Nothing is
//! detected and nothing decided, so there is no mechanism beside the split itself. Left out: waiting for a slot,
//! retries, and what becomes of a dropped call.

use crate::figures::{Block, Figure, Mark, Report};
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
#[derive(Debug, Default)]
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

#[derive(Debug, Default)]
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
        let shared = self.days(Layout::Shared);
        let split = self.days(Layout::Split { tracking: self.tracking_slots });
        let event_slots = self.slots - self.tracking_slots;

        let mut block = Block::new("run");
        block.plain("parameters.rounds", self.rounds);
        block.plain("seconds", self.rounds as f64 / self.rounds_per_second());
        block.plain("parameters.failure_start", self.failure_start);
        block.plain("parameters.slots", self.slots);
        block.plain("parameters.seed", self.seed);
        block.fixed("arrivals.tracking", self.tracking_mean(), 4);
        block.fixed("arrivals.event", self.event_mean(), 4);

        for (day, counts) in [("healthy", &shared.healthy), ("slowdown", &shared.slowdown)] {
            block.plain(format!("runs.shared.{day}.slots"), self.slots);
            self.publish_run(&mut block, &format!("runs.shared.{day}"), counts);
        }
        for (day, counts) in [("healthy", &split.healthy), ("slowdown", &split.slowdown)] {
            block.plain(format!("runs.split.{day}.tracking_slots"), self.tracking_slots);
            block.plain(format!("runs.split.{day}.event_slots"), event_slots);
            self.publish_run(&mut block, &format!("runs.split.{day}"), counts);
        }
        self.publish_cost(&mut block, &shared.healthy, &split.healthy);
        self.publish_gain(&mut block, &shared.slowdown, &split.slowdown);

        block.plain("sweep.shared.slots", self.slots);
        shared.publish_dropped(&mut block, "sweep.shared");
        for &tracking in &self.tracking_slots_swept {
            let row = format!("sweep.tracking_{tracking}");
            block.plain(format!("{row}.tracking_slots"), tracking);
            block.plain(format!("{row}.event_slots"), self.slots - tracking);
            self.days(Layout::Split { tracking }).publish_dropped(&mut block, &row);
        }

        let wider = self.run(Layout::Split { tracking: self.tracking_slots_wider }, Day::Healthy);
        let narrower_event_slots = self.slots - self.tracking_slots_wider;
        let load = self.event_mean() * self.event_hold as f64;
        block.plain("parameters.tracking_slots_wider", self.tracking_slots_wider);
        block.plain("sensitivity.event_slots", narrower_event_slots);
        block.plain("parameters.tracking_slots", self.tracking_slots);
        block.plain("sensitivity.chosen.event_slots", event_slots);
        block.plain("sensitivity.chosen.tracking_dropped", split.healthy.tracking.dropped);
        block.plain("sensitivity.tracking_dropped", wider.tracking.dropped);
        block.plain("sensitivity.chosen.event_dropped", split.healthy.event.dropped);
        block.plain("sensitivity.event_dropped", wider.event.dropped);
        block.fixed("sensitivity.chosen.event_utilization", load / event_slots as f64, 3);
        block.plain("sensitivity.chosen.event_pool", event_slots);
        block.fixed("sensitivity.event_utilization", load / narrower_event_slots as f64, 3);
        block.plain("sensitivity.event_pool", narrower_event_slots);

        let mut report = Report::new([block]);
        report.fact("event_load_slots", load);
        report.fact("runs.split.healthy.dropped_beside_idle", split.healthy.dropped_beside_idle);
        report.fact("runs.split.slowdown.dropped_beside_idle", split.slowdown.dropped_beside_idle);
        report
    }
}

/// Poisson counts are drawn by multiplying uniforms until they fall below e^-mean, which must not vanish.
const MOST_ARRIVALS: f64 = 500.0;

impl Parameters {
    fn average_busy(&self, counts: &Counts) -> f64 {
        counts.busy_rounds as f64 / self.rounds as f64
    }

    fn publish_run(&self, block: &mut Block, row: &str, counts: &Counts) {
        block.plain(format!("{row}.tracking_responses"), counts.tracking.responses);
        block.plain(format!("{row}.tracking_dropped"), counts.tracking.dropped);
        block.plain(format!("{row}.event_responses"), counts.event.responses);
        block.plain(format!("{row}.event_dropped"), counts.event.dropped);
        block.plain(format!("{row}.idle_slots"), counts.idle_slots);
        block.fixed(format!("{row}.average_busy"), self.average_busy(counts), 2);
    }

    /// What the split costs on the day without a failure.
    fn publish_cost(&self, block: &mut Block, shared: &Counts, split: &Counts) {
        let layouts = [("shared", shared), ("split", split)];
        for (layout, counts) in layouts {
            block.plain(format!("cost.tracking_dropped.{layout}"), counts.tracking.dropped);
        }
        for (layout, counts) in layouts {
            block.plain(format!("cost.event_dropped.{layout}"), counts.event.dropped);
        }
        for (layout, counts) in layouts {
            block.fixed(format!("cost.average_busy.{layout}"), self.average_busy(counts), 2);
        }
        for (layout, counts) in layouts {
            let utilization = self.average_busy(counts) / self.slots as f64;
            block.fixed(format!("cost.utilization.{layout}"), utilization, 3);
        }
        for (layout, counts) in layouts {
            block.plain(format!("cost.idle_slots.{layout}"), counts.idle_slots);
        }
    }

    /// What the split saves on the failing day.
    fn publish_gain(&self, block: &mut Block, shared: &Counts, split: &Counts) {
        let rescued = shared.tracking.dropped as f64 - split.tracking.dropped as f64;
        let saved = 100.0 * rescued / shared.tracking.dropped as f64;
        let scale = self.failure_minutes * 60.0 * self.rounds_per_second() / (self.rounds - self.failure_start) as f64;
        block.plain("gain.tracking_dropped.shared", shared.tracking.dropped);
        block.plain("gain.tracking_dropped.split", split.tracking.dropped);
        block.push(Figure::fixed("gain.tracking_saved", saved, 1).marked(Mark::Percent));
        block.plain("gain.event_dropped.shared", shared.event.dropped);
        block.plain("gain.event_dropped.split", split.event.dropped);
        block.plain("parameters.failure_minutes", self.failure_minutes);
        block.fixed("gain.tracking_rescued", rescued * scale, 0);
    }
}

impl Days {
    fn publish_dropped(&self, block: &mut Block, row: &str) {
        for (day, counts) in [("healthy", &self.healthy), ("slowdown", &self.slowdown)] {
            block.plain(format!("{row}.{day}.tracking_dropped"), counts.tracking.dropped);
            block.plain(format!("{row}.{day}.event_dropped"), counts.event.dropped);
        }
    }
}
