//! Throttling and Load Shedding: which requests does an overloaded gate turn away, and on what grounds?
//!
//! Three flows share one gate, a queue and the edge's capacity behind it, counted in units of work. Throttling
//! turns away what exceeds a flow's ceiling in a round and knows nothing of the capacity; shedding turns away what
//! the queue has no room for, the least important flow first, and knows nothing of the rates. One round stands for
//! one second. Left out: callers that give up or come back, and the time a rejection takes.

mod blocks;
mod invariants;

use crate::arrivals::Carry;
use crate::backlog::Backlog;
use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants. Rates are in requests per round.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    rounds: u64,
    /// Units that the edge processes in a round.
    capacity: u64,
    /// How many rounds' work the queue holds, the running round included.
    queue_rounds: u64,
    flows: Flows,
    /// A flow's ceiling, in terms of its usual rate.
    ceiling_ratio: f64,
    /// Multipliers of the tracking flow's rate, one a round, over and over.
    oscillation: Vec<f64>,
    batch_rate_overrun: f64,
    batch_rates_swept: Vec<f64>,
    capacity_left: u64,
    capacities_swept: Vec<u64>,
    loss_minutes: f64,
    losses_a_month: f64,
    /// Minutes a month that failures may take.
    failure_share: f64,
    peak_edge: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flows {
    event: FlowOfRequests,
    tracking: FlowOfRequests,
    batch: FlowOfRequests,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowOfRequests {
    /// What one request costs the edge.
    units: u64,
    rate: f64,
    /// Shed last if 1.
    tier: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Event,
    Tracking,
    Batch,
}

impl Flow {
    const ALL: [Self; 3] = [Self::Event, Self::Tracking, Self::Batch];

    fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Tracking => "tracking",
            Self::Batch => "batch",
        }
    }
}

impl Flows {
    fn of(&self, flow: Flow) -> &FlowOfRequests {
        match flow {
            Flow::Event => &self.event,
            Flow::Tracking => &self.tracking,
            Flow::Batch => &self.batch,
        }
    }

    /// The order in which a round's requests come to the queue; where tiers are equal, as they arrived.
    fn by_importance(&self) -> [Flow; 3] {
        let mut flows = Flow::ALL;
        flows.sort_by_key(|flow| self.of(*flow).tier);
        flows
    }

    fn usual_demand(&self) -> f64 {
        Flow::ALL.iter().map(|flow| self.of(*flow)).fold(0.0, |sum, flow| sum + flow.rate * flow.units as f64)
    }
}

/// What the gate checks.
#[derive(Debug, Clone, Copy)]
struct Gate {
    name: &'static str,
    throttles: bool,
    sheds: bool,
}

impl Gate {
    const NEITHER: Self = Self { name: "neither", throttles: false, sheds: false };
    const THROTTLING: Self = Self { name: "throttling", throttles: true, sheds: false };
    const SHEDDING: Self = Self { name: "shedding", throttles: false, sheds: true };
    const BOTH: Self = Self { name: "both", throttles: true, sheds: true };
    const ALL: [Self; 4] = [Self::NEITHER, Self::THROTTLING, Self::SHEDDING, Self::BOTH];

    fn checks(self) -> u64 {
        u64::from(self.throttles) + u64::from(self.sheds)
    }
}

/// What differs from day to day.
#[derive(Debug, Clone, Copy)]
struct Day {
    capacity: u64,
    batch_rate: f64,
    oscillates: bool,
}

/// Requests of one flow that arrived in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Waiting {
    flow: Flow,
    arrived: u64,
}

/// What one run counted of one flow.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tally {
    arrived: u64,
    throttled: u64,
    shed: u64,
    accepted: u64,
}

impl Tally {
    fn rejected(&self) -> u64 {
        self.throttled + self.shed
    }
}

/// What one run counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Outcome {
    tallies: [Tally; 3],
    /// Most rounds that a processed request had waited.
    oldest_age: u64,
    /// Units left in the queue.
    backlog: u64,
    /// Rounds that the first request left in the queue has waited.
    pending_age: u64,
    /// Most units in the queue before a round's work.
    fullest: u64,
}

impl Outcome {
    fn of(&self, flow: Flow) -> &Tally {
        &self.tallies[flow as usize]
    }
}

impl Parameters {
    fn ceiling(&self, flow: Flow) -> f64 {
        self.flows.of(flow).rate * self.ceiling_ratio
    }

    fn failure_free(&self) -> Day {
        Day { capacity: self.capacity, batch_rate: self.flows.batch.rate, oscillates: true }
    }

    fn with_batch_rate(&self, batch_rate: f64) -> Day {
        Day { batch_rate, ..self.failure_free() }
    }

    fn with_capacity(&self, capacity: u64) -> Day {
        Day { capacity, ..self.failure_free() }
    }

    fn rate(&self, flow: Flow, day: Day, multiplier: f64) -> f64 {
        match flow {
            Flow::Event => self.flows.event.rate,
            Flow::Tracking if day.oscillates => self.flows.tracking.rate * multiplier,
            Flow::Tracking => self.flows.tracking.rate,
            Flow::Batch => day.batch_rate,
        }
    }

    /// More than arrive on any day.
    fn most_units(&self) -> f64 {
        let highest = self.oscillation.iter().copied().fold(1.0, f64::max);
        let batch = self.batch_rates_swept.iter().copied().fold(self.batch_rate_overrun, f64::max);
        let rates = Flow::ALL.map(|flow| match flow {
            Flow::Batch => (flow, self.flows.batch.rate.max(batch)),
            _ => (flow, self.flows.of(flow).rate * highest),
        });
        self.rounds as f64 * rates.iter().fold(0.0, |sum, (flow, rate)| sum + rate * self.flows.of(*flow).units as f64)
    }

    fn run(&self, gate: Gate, day: Day) -> Outcome {
        let limit = self.queue_rounds * day.capacity;
        let mut carries: [Carry; 3] = Default::default();
        let mut queue = Backlog::new();
        let mut queued_units = 0;
        let mut outcome = Outcome::default();
        for (now, multiplier) in (1..=self.rounds).zip(self.oscillation.iter().cycle()) {
            for flow in self.flows.by_importance() {
                let arrivals = carries[flow as usize].arrivals(self.rate(flow, day, *multiplier));
                // What a flow leaves of its ceiling is not carried over.
                let passed = if gate.throttles { arrivals.min(self.ceiling(flow) as u64) } else { arrivals };
                let units = self.flows.of(flow).units;
                let room = if gate.sheds { limit.saturating_sub(queued_units) / units } else { u64::MAX };
                let accepted = passed.min(room);
                queue.push(Waiting { flow, arrived: now }, accepted);
                queued_units += accepted * units;

                let tally = &mut outcome.tallies[flow as usize];
                tally.arrived += arrivals;
                tally.throttled += arrivals - passed;
                tally.shed += passed - accepted;
                tally.accepted += accepted;
            }
            outcome.fullest = outcome.fullest.max(queued_units);

            let mut capacity = day.capacity;
            while let Some((Waiting { flow, arrived }, waiting)) = queue.front() {
                let units = self.flows.of(flow).units;
                // What does not fit into the rest of the round holds up all behind it.
                let processed = waiting.min(capacity / units);
                if processed == 0 {
                    break;
                }
                capacity -= processed * units;
                queued_units -= processed * units;
                outcome.oldest_age = outcome.oldest_age.max(now - arrived);
                queue.take(processed).for_each(drop);
            }
        }
        outcome.backlog = queued_units;
        outcome.pending_age = queue.front().map_or(0, |(next, _)| self.rounds - next.arrived);
        outcome
    }
}

/// What is counted in units stays far below 2^64.
const MOST_UNITS: f64 = 1e18;

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("rounds", self.rounds, 1..=1_000_000);
        d.integer("capacity", self.capacity, 1..=1_000_000);
        d.integer("queue_rounds", self.queue_rounds, 0..=1_000);
        d.group("flows", |d| {
            for flow in Flow::ALL {
                d.group(flow.name(), |d| self.flows.of(flow).declare(d));
            }
        });
        d.real("ceiling_ratio", self.ceiling_ratio, 0.0..=1_000.0);
        d.list("oscillation", &self.oscillation, 1..=1_000, |d, i, multiplier| d.real(i, *multiplier, 0.0..=1_000.0));
        d.real("batch_rate_overrun", self.batch_rate_overrun, 0.0..=1_000_000.0);
        d.list("batch_rates_swept", &self.batch_rates_swept, 0..=20, |d, i, rate| d.real(i, *rate, 0.0..=1_000_000.0));
        d.integer("capacity_left", self.capacity_left, 0..=1_000_000);
        d.list("capacities_swept", &self.capacities_swept, 0..=20, |d, i, units| d.integer(i, *units, 0..=1_000_000));
        d.real("loss_minutes", self.loss_minutes, 0.0..=100_000.0);
        d.real("losses_a_month", self.losses_a_month, 0.0..=10_000.0);
        d.real("failure_share", self.failure_share, 0.001..=100_000.0);
        d.real("peak_edge", self.peak_edge, 0.001..=1_000_000.0);

        let runs = 3 * Gate::ALL.len() + 5 + self.batch_rates_swept.len() + self.capacities_swept.len();
        d.steps("rounds", runs as f64 * self.rounds as f64 * 20.0);
        d.require("rounds", self.most_units() <= MOST_UNITS, format!("at most {MOST_UNITS:e} units of work in all"));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl FlowOfRequests {
    fn declare(&self, d: &mut Declaration) {
        d.integer("units", self.units, 1..=1_000_000);
        d.real("rate", self.rate, 0.0..=1_000_000.0);
        d.integer("tier", self.tier, 0..=1_000);
    }
}
