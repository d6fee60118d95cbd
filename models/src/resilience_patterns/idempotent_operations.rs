//! Idempotent Operations: which duplicate deliveries does a key recognise, what does a key of the wrong scope
//! destroy, and what does the ledger of keys cost while nothing fails?
//!
//! Every state event of every shipment reaches a handler once; in a failure window each source of duplication may
//! deliver it once more. The handler enters the event's key into a ledger and drops a delivery whose key it finds
//! there. In the published stream a copy follows at once and no handler stops halfway; the invariants make late copies
//! and handlers that do. Left out: lookups that fail, handlers that race for one key.

mod blocks;
mod invariants;
mod ledger;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{Congruential, Uniform};
use ledger::{Commit, Delivery, Event, Handled, Ledger, Scope};
use serde::{Deserialize, Serialize};

const HOURS_A_DAY: f64 = 24.0;

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

/// What reaches the handler, in order.
struct Deliveries<'a> {
    stream: Vec<Delivery<'a>>,
    /// How many each source added.
    added: Vec<u64>,
}

/// One stream, handled without a ledger and with one of each scope.
struct Day<'a> {
    deliveries: Deliveries<'a>,
    none: Handled<'a>,
    scopes: [Handled<'a>; 3],
}

/// Rows a second.
struct RowRates {
    writes: f64,
    reads: f64,
}

impl Parameters {
    /// As many shipments as the peak rate completes in one failure window.
    fn shipments(&self) -> u64 {
        (self.peak_write * self.window_s / self.states.len() as f64).round() as u64
    }

    fn deliveries(&self, sources: &[Source]) -> Deliveries<'_> {
        let mut random = Congruential::new(self.seed);
        let mut deliveries = Deliveries { stream: Vec::new(), added: vec![0; sources.len()] };
        for shipment in 0..self.shipments() {
            for (number, state) in self.states.iter().enumerate() {
                let distinct = shipment * self.states.len() as u64 + number as u64;
                let at_s = (distinct as f64 / self.peak_write) as u64;
                let delivery = Delivery { event: Event { shipment, state, number }, at_s, interrupted: false };
                deliveries.stream.push(delivery);
                for (source, added) in sources.iter().zip(&mut deliveries.added) {
                    if random.chance(source.probability) {
                        deliveries.stream.push(delivery);
                        *added += 1;
                    }
                }
            }
        }
        deliveries
    }

    fn lifetime_s(&self) -> u64 {
        self.ledger_hours * 3_600
    }

    fn ledger(&self, scope: Scope, commit: Commit) -> Ledger<'_> {
        Ledger::new(scope, commit, self.lifetime_s())
    }

    fn effects(&self, event: &Event<'_>) -> u64 {
        if event.state == self.delivered { self.side_effects.delivery } else { self.side_effects.event }
    }

    fn day(&self, sources: &[Source]) -> Day<'_> {
        let deliveries = self.deliveries(sources);
        let none = Handled::of(&deliveries.stream, None);
        let scopes =
            Scope::ALL.map(|scope| Handled::of(&deliveries.stream, Some(self.ledger(scope, Commit::Together))));
        Day { deliveries, none, scopes }
    }

    /// Side effects that a ledger of this scope keeps from happening.
    fn prevented(&self, day: &Day<'_>, scope: Scope) -> u64 {
        self.side_effects_of(&day.none) - self.side_effects_of(&day.scopes[scope as usize])
    }

    fn side_effects_of(&self, handled: &Handled<'_>) -> u64 {
        handled.processed.iter().map(|event| self.effects(event)).sum()
    }

    /// Writes a day that need a key: one for each event, and one that creates the shipment.
    fn keyed_writes(&self) -> u64 {
        self.daily_events + self.daily_shipments
    }

    fn ledger_records(&self, hours: u64) -> f64 {
        (self.keyed_writes() * hours) as f64 / HOURS_A_DAY
    }

    fn ledger_megabytes(&self, hours: u64, record_bytes: u64) -> f64 {
        self.ledger_records(hours) * record_bytes as f64 / 1e6
    }

    /// Each write looks its key up, and writes the key's row beside its own.
    fn keyed_rows(&self) -> RowRates {
        RowRates { writes: self.peak_write * 2.0, reads: self.store_read + self.peak_write }
    }

    /// How likely it is that an event is delivered more than once.
    fn duplication(&self) -> f64 {
        1.0 - self.sources.iter().map(|source| 1.0 - source.probability).product::<f64>()
    }

    /// How many copies of an event are to be expected.
    fn expected_copies(&self) -> f64 {
        self.sources.iter().map(|source| source.probability).sum()
    }
}

impl Day<'_> {
    fn duplicates(&self, distinct: u64) -> u64 {
        self.deliveries.stream.len() as u64 - distinct
    }

    /// Deliveries of the billed event beyond each shipment's first.
    fn duplicates_of(&self, state: &str, shipments: u64) -> u64 {
        self.deliveries.stream.iter().filter(|delivery| delivery.event.state == state).count() as u64 - shipments
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

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
