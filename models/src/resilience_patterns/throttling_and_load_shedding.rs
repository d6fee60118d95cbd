//! Throttling and Load Shedding: which requests does an overloaded gate turn away, and on what grounds?
//!
//! Three flows share one gate, a queue and the edge's capacity behind it, counted in units of work. Throttling
//! turns away what exceeds a flow's ceiling in a round and knows nothing of the capacity; shedding turns away what
//! the queue has no room for, the least important flow first, and knows nothing of the rates. One round stands for
//! one second. Left out: callers that give up or come back, and the time a rejection takes.

use crate::arrivals::Carry;
use crate::backlog::Backlog;
use crate::figures::{Block, Figure, Mark, Report};
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
#[derive(Debug, Default, Clone, Copy)]
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
#[derive(Debug, Default)]
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
    }

    fn report(&self) -> Report {
        let mut block = Block::new("run");
        self.publish_setup(&mut block);
        self.publish_day(&mut block, "failure_free", self.failure_free());
        block.plain("batch_overrun.usual_rate", self.flows.batch.rate);
        block.plain("parameters.batch_rate_overrun", self.batch_rate_overrun);
        self.publish_day(&mut block, "batch_overrun", self.with_batch_rate(self.batch_rate_overrun));
        block.plain("node_loss.usual_capacity", self.capacity);
        block.plain("parameters.capacity_left", self.capacity_left);
        self.publish_day(&mut block, "node_loss", self.with_capacity(self.capacity_left));
        self.publish_kept(&mut block);
        self.publish_cost(&mut block);
        self.publish_sensitivity(&mut block);

        let mut report = Report::new([block]);
        let steady = self.run(Gate::THROTTLING, Day { oscillates: false, ..self.failure_free() });
        for flow in Flow::ALL {
            report.fact(format!("without_oscillation.throttled.{}", flow.name()), steady.of(flow).throttled);
        }
        let highest = self.oscillation.iter().copied().fold(0.0, f64::max);
        report.fact("highest_tracking_rate", self.flows.tracking.rate * highest);
        report.fact("queue_limit", self.queue_rounds * self.capacity);
        report.fact("failure_free.shedding.fullest", self.run(Gate::SHEDDING, self.failure_free()).fullest);
        report
    }
}

impl Parameters {
    fn publish_setup(&self, block: &mut Block) {
        let demand = self.flows.usual_demand();
        block.plain("parameters.capacity", self.capacity);
        block.fixed("usual_demand", demand, 2);
        let utilization = demand / self.capacity as f64 * 100.0;
        block.push(Figure::fixed("usual_utilization", utilization, 1).marked(Mark::Percent));
        for flow in Flow::ALL {
            let FlowOfRequests { units, rate, tier } = self.flows.of(flow);
            let path = format!("parameters.flows.{}", flow.name());
            block.plain(format!("{path}.tier"), *tier);
            block.plain(format!("{path}.units"), *units);
            block.plain(format!("{path}.rate"), *rate);
        }
        block.plain("parameters.ceiling_ratio", self.ceiling_ratio);
        for flow in Flow::ALL {
            block.fixed(format!("ceilings.{}", flow.name()), self.ceiling(flow), 2);
        }
    }

    fn publish_day(&self, block: &mut Block, name: &str, day: Day) {
        for gate in Gate::ALL {
            let outcome = self.run(gate, day);
            let row = format!("{name}.{}", gate.name);
            for flow in Flow::ALL {
                block.plain(format!("{row}.accepted.{}", flow.name()), outcome.of(flow).accepted);
            }
            for flow in Flow::ALL {
                block.plain(format!("{row}.throttled.{}", flow.name()), outcome.of(flow).throttled);
            }
            for flow in Flow::ALL {
                block.plain(format!("{row}.shed.{}", flow.name()), outcome.of(flow).shed);
            }
            block.plain(format!("{row}.oldest_age"), outcome.oldest_age);
            block.plain(format!("{row}.backlog"), outcome.backlog);
            block.plain(format!("{row}.pending_age"), outcome.pending_age);
        }
    }

    /// How much of the peak shedding keeps when a node is lost.
    fn publish_kept(&self, block: &mut Block) {
        let outcome = self.run(Gate::SHEDDING, self.with_capacity(self.capacity_left));
        let rounds = self.rounds as f64;
        let kept = (outcome.of(Flow::Event).accepted + outcome.of(Flow::Tracking).accepted) as f64 / rounds;
        let shed: u64 = outcome.tallies.iter().map(|tally| tally.shed).sum();
        let batch = &self.flows.batch;
        let minutes = self.loss_minutes * self.losses_a_month;
        block.fixed("kept.per_round", kept, 2);
        block.plain("parameters.peak_edge", self.peak_edge);
        block.fixed("kept.of_peak", kept / self.peak_edge, 4);
        block.fixed("kept.batch_load", batch.rate * batch.units as f64, 2);
        block.fixed("kept.gap", self.flows.usual_demand() - self.capacity_left as f64, 2);
        block.plain("parameters.loss_minutes", self.loss_minutes);
        block.plain("parameters.losses_a_month", self.losses_a_month);
        block.plain("kept.minutes_a_month", minutes);
        let share = minutes / self.failure_share * 100.0;
        block.push(Figure::fixed("kept.of_failure_share", share, 1).marked(Mark::Percent));
        block.plain("parameters.failure_share", self.failure_share);
        block.fixed("kept.shed_per_round", shed as f64 / rounds, 2);
    }

    /// What either check costs on the day without a failure.
    fn publish_cost(&self, block: &mut Block) {
        let throttling = self.run(Gate::THROTTLING, self.failure_free());
        let steady = self.run(Gate::THROTTLING, Day { oscillates: false, ..self.failure_free() });
        let shedding = self.run(Gate::SHEDDING, self.failure_free());
        let neither = self.run(Gate::NEITHER, self.failure_free());
        let Tally { arrived, throttled, .. } = *throttling.of(Flow::Tracking);
        block.plain("cost.throttled", throttled);
        let share = throttled as f64 / arrived as f64 * 100.0;
        block.push(Figure::fixed("cost.throttled_share", share, 2).marked(Mark::Percent));
        block.fixed("cost.throttled_per_second", self.flows.tracking.rate * throttled as f64 / arrived as f64, 2);
        block.plain("cost.throttled_without_oscillation", steady.of(Flow::Tracking).throttled);
        block.plain("cost.shed", shedding.tallies.iter().map(|tally| tally.shed).sum::<u64>());
        block.plain("cost.oldest_age.shedding", shedding.oldest_age);
        block.plain("cost.oldest_age.neither", neither.oldest_age);
        block.plain("cost.checks", Gate::BOTH.checks());
    }

    fn publish_sensitivity(&self, block: &mut Block) {
        for (i, &rate) in self.batch_rates_swept.iter().enumerate() {
            block.fixed(format!("parameters.batch_rates_swept.{i}"), rate, 1);
            self.publish_both(block, &format!("sensitivity.batch_rate_{i}"), self.with_batch_rate(rate));
        }
        for (i, &capacity) in self.capacities_swept.iter().enumerate() {
            let loss = (1.0 - capacity as f64 / self.capacity as f64) * 100.0;
            block.plain(format!("parameters.capacities_swept.{i}"), capacity);
            block.push(Figure::fixed(format!("sensitivity.capacity_{i}.loss"), loss, 0).marked(Mark::Percent));
            self.publish_both(block, &format!("sensitivity.capacity_{i}"), self.with_capacity(capacity));
        }
    }

    fn publish_both(&self, block: &mut Block, row: &str, day: Day) {
        let outcome = self.run(Gate::BOTH, day);
        for flow in Flow::ALL {
            block.plain(format!("{row}.accepted.{}", flow.name()), outcome.of(flow).accepted);
        }
        block.plain(format!("{row}.rejected"), outcome.tallies.iter().map(Tally::rejected).sum::<u64>());
    }
}

impl FlowOfRequests {
    fn declare(&self, d: &mut Declaration) {
        d.integer("units", self.units, 1..=1_000_000);
        d.real("rate", self.rate, 0.0..=1_000_000.0);
        d.integer("tier", self.tier, 0..=1_000);
    }
}
