//! Sequential Convoy: what does keeping the order of a shipment's events cost, and what does a version stamp lose?
//!
//! The events of a few shipments go to consumers, the next one to whoever is free first. A convoy makes an event wait
//! for the one before it in its lane; a version stamp lets events run freely and rejects those that would set their
//! shipment back. Left out: arrivals over time (all events stand in the queue), failures, and any real duration.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the lesson's programs hold in constants. Durations are in ticks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The states that a shipment goes through, in order.
    states: Vec<String>,
    /// In the order of the queue.
    events: Vec<Event>,
    consumers: usize,
    consumer_counts: Vec<usize>,
    peak_write: f64,
    /// State events of a shipment (V4), and how many of them carry an order constraint (KK1 and its sensitivity).
    events_per_shipment: u64,
    constrained_events: Vec<u64>,
    /// With so many consumers the lanes' loads set the pace.
    ceiling_consumers: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    shipment: String,
    line: String,
    state: String,
    duration: u64,
}

/// What must be processed one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaneKey {
    Shipment,
    Line,
}

impl LaneKey {
    fn of(self, event: &Event) -> &str {
        match self {
            Self::Shipment => &event.shipment,
            Self::Line => &event.line,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    Free,
    Convoy(LaneKey),
    /// Free, and the handler rejects an event that would set its shipment back.
    VersionStamp,
}

impl Arrangement {
    const CONVOY: Self = Self::Convoy(LaneKey::Shipment);
    const LINE_CONVOY: Self = Self::Convoy(LaneKey::Line);
    const ALL: [Self; 4] = [Self::Free, Self::CONVOY, Self::LINE_CONVOY, Self::VersionStamp];
    /// A stamp changes what is applied, not when: it has no column of its own where only ticks count.
    const PACES: [Self; 3] = [Self::Free, Self::CONVOY, Self::LINE_CONVOY];

    fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Convoy(LaneKey::Shipment) => "convoy",
            Self::Convoy(LaneKey::Line) => "line_convoy",
            Self::VersionStamp => "version_stamp",
        }
    }

    fn lane(self, event: &Event) -> Option<&str> {
        match self {
            Self::Convoy(key) => Some(key.of(event)),
            Self::Free | Self::VersionStamp => None,
        }
    }
}

/// When an event is processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    start: u64,
    finish: u64,
}

/// What became of the events in one arrangement.
struct Outcome<'a> {
    /// For each event, in the order of the queue.
    slots: Vec<Slot>,
    /// Events that would set, or did set, their shipment back to an earlier state.
    backward_writes: usize,
    /// Backward writes that were rejected.
    skipped: usize,
    /// Shipments that do not end in the last state, in the order of their first write.
    wrong: Vec<&'a str>,
    ticks: u64,
    workload: u64,
    /// The work in each lane.
    lanes: BTreeMap<&'a str, u64>,
}

impl Outcome<'_> {
    fn busiest_lane(&self) -> u64 {
        self.lanes.values().copied().max().unwrap_or(0)
    }

    /// How many consumers are busy on average.
    fn concurrency(&self) -> f64 {
        self.workload as f64 / self.ticks as f64
    }
}

impl Parameters {
    fn run(&self, arrangement: Arrangement, consumers: usize) -> Outcome<'_> {
        let slots = self.process(arrangement, consumers);
        let mut by_finish: Vec<(&Event, &Slot)> = self.events.iter().zip(&slots).collect();
        by_finish.sort_by_key(|(_, slot)| slot.finish);

        let mut states: Vec<(&str, usize)> = Vec::new();
        let (mut backward_writes, mut skipped) = (0, 0);
        for (event, _) in by_finish {
            let step = self.step(event);
            match states.iter_mut().find(|(shipment, _)| *shipment == event.shipment) {
                None => states.push((&event.shipment, step)),
                Some((_, current)) => {
                    let backward = step < *current;
                    let rejected = backward && arrangement == Arrangement::VersionStamp;
                    backward_writes += usize::from(backward);
                    skipped += usize::from(rejected);
                    if !rejected {
                        *current = step;
                    }
                }
            }
        }
        let last_step = self.states.len() - 1;
        let mut lanes = BTreeMap::new();
        for event in &self.events {
            if let Some(lane) = arrangement.lane(event) {
                *lanes.entry(lane).or_default() += event.duration;
            }
        }
        Outcome {
            backward_writes,
            skipped,
            wrong: states.iter().filter(|(_, step)| *step != last_step).map(|(shipment, _)| *shipment).collect(),
            ticks: slots.iter().map(|slot| slot.finish).max().unwrap_or(0),
            workload: self.events.iter().map(|event| event.duration).sum(),
            lanes,
            slots,
        }
    }

    /// Each event goes to the consumer that is free first, which then waits for the lane.
    fn process(&self, arrangement: Arrangement, consumers: usize) -> Vec<Slot> {
        let mut free_from = vec![0; consumers];
        let mut lane_free_from: BTreeMap<&str, u64> = BTreeMap::new();
        let mut slot_of = |event| {
            let lane = arrangement.lane(event);
            let consumer = (0..consumers).min_by_key(|consumer| free_from[*consumer]).unwrap_or(0);
            let lane_free = lane.and_then(|lane| lane_free_from.get(lane)).copied().unwrap_or(0);
            let start = lane_free.max(free_from[consumer]);
            let finish = start + event.duration;
            free_from[consumer] = finish;
            if let Some(lane) = lane {
                lane_free_from.insert(lane, finish);
            }
            Slot { start, finish }
        };
        self.events.iter().map(|event: &Event| slot_of(event)).collect()
    }

    /// The place of the event's state in the shipment's course.
    fn step(&self, event: &Event) -> usize {
        self.states.iter().position(|state| *state == event.state).unwrap_or(0)
    }

    fn shipments(&self) -> usize {
        self.events.iter().map(|event| &event.shipment).collect::<BTreeSet<_>>().len()
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.list("states", &self.states, 1..=100, |d, i, state| d.text(i, state));
        d.distinct("states", &self.states);
        d.list("events", &self.events, 1..=10_000, |d, i, event| {
            d.group(i, |d| {
                d.text("shipment", &event.shipment);
                d.text("line", &event.line);
                d.text("state", &event.state);
                d.require("state", self.states.contains(&event.state), "one of `states`");
                d.integer("duration", event.duration, 0..=1_000_000);
            });
        });
        d.integer("consumers", self.consumers, 1..=10_000);
        d.list("consumer_counts", &self.consumer_counts, 0..=100, |d, i, count| d.integer(i, *count, 1..=10_000));
        d.distinct("consumer_counts", &self.consumer_counts);
        d.real("peak_write", self.peak_write, 0.0..=1e6);
        d.integer("events_per_shipment", self.events_per_shipment, 1..=1_000);
        let most = self.events_per_shipment.min(1_000) as i64;
        d.list("constrained_events", &self.constrained_events, 0..=100, |d, i, events| d.integer(i, *events, 0..=most));
        d.distinct("constrained_events", &self.constrained_events);
        d.integer("ceiling_consumers", self.ceiling_consumers, 1..=10_000);

        let swept: f64 = self.consumer_counts.iter().map(|consumers| *consumers as f64).sum();
        let consumers = 3.0 * swept + 4.0 * self.consumers as f64 + 3.0 * self.ceiling_consumers as f64;
        let runs = (7 + 3 * self.consumer_counts.len()) as f64;
        // Each event looks for a free consumer, its lane, and its shipment among those seen so far.
        d.steps("events", self.events.len() as f64 * (consumers + runs * self.events.len() as f64 / 8.0));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
