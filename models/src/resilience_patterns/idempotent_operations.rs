//! Idempotent Operations: which duplicate deliveries does a key recognise, what does a key of the wrong scope
//! destroy, and what does the ledger of keys cost while nothing fails?
//!
//! Every state event of every shipment reaches a handler once; in a failure window each source of duplication may
//! deliver it once more. The handler enters the event's key into a ledger and drops a delivery whose key it finds
//! there. Left out: lookups that fail, keys that expire between two deliveries, handlers that race for one key.

mod blocks;

use crate::figures::Report;
use crate::parameters::{Declaration, Lesson};
use crate::random::{Congruential, Uniform};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// What the lesson's two programs hold in constants. Rates are a second.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    peak_write: f64,
    window_s: f64,
    /// The states that every shipment passes through, one event each.
    states: Vec<String>,
    /// The state whose event also bills the seller and notifies the recipient.
    delivered: String,
    side_effects: SideEffects,
    sources: Vec<Source>,
    windows_a_month: u64,
    other_windows_a_month: u64,
    daily_events: u64,
    daily_shipments: u64,
    /// Reads that reach the store, behind the cache.
    store_read: f64,
    daily_growth_mb: f64,
    write_read_ratio: f64,
    record_bytes: u64,
    other_record_bytes: u64,
    ledger_hours: u64,
    other_ledger_hours: Vec<u64>,
}

/// How many effects one handled event has.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SideEffects {
    event: u64,
    delivery: u64,
}

/// Something that delivers an event again, independently of the other sources.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    name: String,
    probability: f64,
}

/// One event of one shipment.
#[derive(Debug, Clone, Copy)]
struct Event<'a> {
    shipment: u64,
    state: &'a str,
    /// The carrier's own number of the event.
    number: usize,
}

/// What a key consists of, from too narrow to right.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// The tracking number alone.
    Tracking,
    /// And the state.
    State,
    /// And the carrier's event number.
    Event,
}

impl Scope {
    const ALL: [Self; 3] = [Self::Tracking, Self::State, Self::Event];

    fn name(self) -> &'static str {
        match self {
            Self::Tracking => "tracking",
            Self::State => "state",
            Self::Event => "event",
        }
    }

    fn key(self, event: Event<'_>) -> Key<'_> {
        let Event { shipment, state, number } = event;
        match self {
            Self::Tracking => Key { shipment, state: None, number: None },
            Self::State => Key { shipment, state: Some(state), number: None },
            Self::Event => Key { shipment, state: Some(state), number: Some(number) },
        }
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    shipment: u64,
    state: Option<&'a str>,
    number: Option<usize>,
}

/// What reaches the handler, in order.
struct Deliveries<'a> {
    events: Vec<Event<'a>>,
    /// How many each source added.
    added: Vec<u64>,
}

/// What the handler did.
#[derive(Debug, Default)]
struct Handled {
    processed: u64,
    suppressed: u64,
    side_effects: u64,
    ledger: usize,
}

/// One stream, handled without a ledger and with one of each scope.
struct Day<'a> {
    deliveries: Deliveries<'a>,
    none: Handled,
    scopes: [Handled; 3],
}

impl Parameters {
    /// As many shipments as the peak rate completes in one failure window.
    fn shipments(&self) -> u64 {
        (self.peak_write * self.window_s / self.states.len() as f64).round() as u64
    }

    fn deliveries(&self, sources: &[Source]) -> Deliveries<'_> {
        let mut random = Congruential::new(self.seed);
        let mut deliveries = Deliveries { events: Vec::new(), added: vec![0; sources.len()] };
        for shipment in 0..self.shipments() {
            for (number, state) in self.states.iter().enumerate() {
                let event = Event { shipment, state, number };
                deliveries.events.push(event);
                for (source, added) in sources.iter().zip(&mut deliveries.added) {
                    if random.chance(source.probability) {
                        deliveries.events.push(event);
                        *added += 1;
                    }
                }
            }
        }
        deliveries
    }

    fn handle(&self, events: &[Event<'_>], scope: Option<Scope>) -> Handled {
        let mut ledger = HashSet::new();
        let mut handled = Handled::default();
        for &event in events {
            if scope.is_some_and(|scope| !ledger.insert(scope.key(event))) {
                handled.suppressed += 1;
                continue;
            }
            handled.processed += 1;
            handled.side_effects +=
                if event.state == self.delivered { self.side_effects.delivery } else { self.side_effects.event };
        }
        Handled { ledger: ledger.len(), ..handled }
    }

    fn day(&self, sources: &[Source]) -> Day<'_> {
        let deliveries = self.deliveries(sources);
        let none = self.handle(&deliveries.events, None);
        let scopes = Scope::ALL.map(|scope| self.handle(&deliveries.events, Some(scope)));
        Day { deliveries, none, scopes }
    }

    /// Writes a day that need a key: one for each event, and one that creates the shipment.
    fn keyed_writes(&self) -> u64 {
        self.daily_events + self.daily_shipments
    }
}

impl Day<'_> {
    fn duplicates(&self, distinct: u64) -> u64 {
        self.deliveries.events.len() as u64 - distinct
    }

    /// Deliveries of the billed event beyond each shipment's first.
    fn duplicates_of(&self, state: &str, shipments: u64) -> u64 {
        self.deliveries.events.iter().filter(|event| event.state == state).count() as u64 - shipments
    }

    /// Side effects that a ledger of this scope keeps from happening.
    fn prevented(&self, scope: Scope) -> u64 {
        self.none.side_effects - self.scopes[scope as usize].side_effects
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.real("peak_write", self.peak_write, 0.0..=100_000.0);
        d.real("window_s", self.window_s, 0.0..=100_000.0);
        d.list("states", &self.states, 1..=100, |d, i, state| d.text(i, state));
        d.text("delivered", &self.delivered);
        // The published count of duplicate deliveries takes it that each shipment is delivered once.
        let delivered = self.states.iter().filter(|state| **state == self.delivered).count();
        d.require("delivered", delivered == 1, "a state that occurs once in `states`");
        d.group("side_effects", |d| {
            d.integer("event", self.side_effects.event, 0..=1_000);
            d.integer("delivery", self.side_effects.delivery, 0..=1_000);
        });
        d.list("sources", &self.sources, 0..=20, |d, i, source| {
            d.group(i, |d| {
                d.text("name", &source.name);
                d.real("probability", source.probability, 0.0..=1.0);
            });
        });
        d.distinct("sources", self.sources.iter().map(|source| &source.name));
        d.integer("windows_a_month", self.windows_a_month, 0..=10_000);
        d.integer("other_windows_a_month", self.other_windows_a_month, 0..=10_000);
        d.integer("daily_events", self.daily_events, 0..=10_000_000_000);
        d.integer("daily_shipments", self.daily_shipments, 0..=10_000_000_000);
        d.real("store_read", self.store_read, 0.0..=1_000_000.0);
        d.real("daily_growth_mb", self.daily_growth_mb, 0.0..=1e9);
        d.real("write_read_ratio", self.write_read_ratio, 0.0..=1e6);
        d.integer("record_bytes", self.record_bytes, 0..=1_000_000);
        d.integer("other_record_bytes", self.other_record_bytes, 0..=1_000_000);
        d.integer("ledger_hours", self.ledger_hours, 0..=10_000);
        d.list("other_ledger_hours", &self.other_ledger_hours, 0..=20, |d, i, hours| d.integer(i, *hours, 0..=10_000));
        d.distinct("other_ledger_hours", &self.other_ledger_hours);

        // An entry into the ledger costs about as much as thirty draws.
        let deliveries = self.peak_write * self.window_s * (2.0 + self.sources.len() as f64);
        d.steps("window_s", 30.0 * Scope::ALL.len() as f64 * deliveries);
    }

    fn report(&self) -> Report {
        self.publish()
    }
}
