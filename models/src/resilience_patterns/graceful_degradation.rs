//! Graceful Degradation: what is left of a response when one of its sources stops?
//!
//! A response is made of fields from several sources; the core fields must be there, the others may be missing.
//! Three policies answer with less and less: all fields or nothing, without the missing ones, or with the last known
//! value as long as it is not too old. Each round stands for one second and for one request. Left out: when the
//! failure is noticed, and whether the reader takes an old value for a new one.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    failure_minutes: f64,
    /// Rounds before the failure; what they fill the fallback store with is all it knows.
    warmup: u64,
    fields: Vec<Field>,
    /// Rounds after which a stored value is too old to be served.
    staleness_bound: u64,
    /// A healthy source misses one round in so many.
    transient_interval: u64,
    /// How many rounds earlier than the field before it a field misses its round.
    transient_stagger: u64,
    optional_failure: String,
    core_failure: String,
    isolated_sources: Vec<String>,
    marker_bytes: u64,
    fallback_records: u64,
    peak_read: f64,
    response_bytes: f64,
    /// Minutes a month that failures may take.
    failure_share: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    name: String,
    bytes: u64,
    source: String,
    core: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    AllOrNothing,
    FieldSkip,
    StaleFallback,
}

impl Policy {
    const ALL: [Self; 3] = [Self::AllOrNothing, Self::FieldSkip, Self::StaleFallback];

    fn name(self) -> &'static str {
        match self {
            Self::AllOrNothing => "all_or_nothing",
            Self::FieldSkip => "field_skip",
            Self::StaleFallback => "stale_fallback",
        }
    }

    /// The response goes out.
    fn answers(self, fields: &[Field], values: &[Value]) -> bool {
        match self {
            Self::AllOrNothing => values.iter().all(|value| *value == Value::Fresh),
            Self::FieldSkip | Self::StaleFallback => {
                fields.iter().zip(values).all(|(field, value)| !field.core || *value != Value::Missing)
            }
        }
    }
}

/// What a request got for one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Fresh,
    Stale,
    Missing,
}

/// What one run counted after the warmup.
#[derive(Debug, PartialEq, Default)]
struct Outcome {
    full: u64,
    reduced: u64,
    dropped: u64,
    /// Of each field, over the responses.
    served: Vec<Served>,
    bytes: u64,
    /// Rounds from the failure to the last response.
    last_response: u64,
}

#[derive(Debug, PartialEq, Default, Clone, Copy)]
struct Served {
    fresh: u64,
    stale: u64,
    missing: u64,
}

impl Outcome {
    fn responses(&self) -> u64 {
        self.full + self.reduced
    }

    fn average_bytes(&self) -> f64 {
        if self.responses() == 0 { 0.0 } else { self.bytes as f64 / self.responses() as f64 }
    }

    fn total(&self, kind: impl Fn(&Served) -> u64) -> u64 {
        self.served.iter().map(kind).sum()
    }
}

impl Parameters {
    fn failure_rounds(&self) -> u64 {
        (self.failure_minutes * ROUNDS_A_MINUTE).round() as u64
    }

    /// The field of that place misses a round, although its source is healthy.
    fn misses(&self, place: u64, round: u64) -> bool {
        (round + place * self.transient_stagger).is_multiple_of(self.transient_interval)
    }

    /// A run in which the source `down`, if any, stops after the warmup.
    fn run(&self, policy: Policy, down: Option<&str>) -> Outcome {
        let mut outcome = Outcome { served: vec![Served::default(); self.fields.len()], ..Outcome::default() };
        let mut last_fresh: Vec<Option<u64>> = vec![None; self.fields.len()];
        let mut values = Vec::with_capacity(self.fields.len());
        for now in 1..=self.warmup + self.failure_rounds() {
            let failing = now > self.warmup;
            values.clear();
            for ((field, last_fresh), place) in self.fields.iter().zip(&mut last_fresh).zip(0..) {
                let stopped = failing && down == Some(&field.source);
                values.push(if !stopped && !self.misses(place, now) {
                    *last_fresh = Some(now);
                    Value::Fresh
                } else if policy == Policy::StaleFallback
                    && last_fresh.is_some_and(|fresh| now - fresh <= self.staleness_bound)
                {
                    Value::Stale
                } else {
                    Value::Missing
                });
            }
            if failing {
                outcome.count(self, policy, &values, now - self.warmup);
            }
        }
        outcome
    }
}

impl Outcome {
    fn count(&mut self, parameters: &Parameters, policy: Policy, values: &[Value], round: u64) {
        let fields = &parameters.fields;
        if !policy.answers(fields, values) {
            self.dropped += 1;
            return;
        }
        for ((field, served), value) in fields.iter().zip(&mut self.served).zip(values) {
            match value {
                Value::Fresh => served.fresh += 1,
                Value::Stale => served.stale += 1,
                Value::Missing => served.missing += 1,
            }
            if *value != Value::Missing {
                self.bytes += field.bytes + parameters.marker_bytes;
            }
        }
        let full = values.iter().all(|value| *value == Value::Fresh);
        *if full { &mut self.full } else { &mut self.reduced } += 1;
        self.last_response = round;
    }
}

const ROUNDS_A_MINUTE: f64 = 60.0;

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("failure_minutes", self.failure_minutes, 0.0..=10_000.0);
        d.integer("warmup", self.warmup, 0..=1_000_000);
        d.list("fields", &self.fields, 1..=50, |d, i, field| {
            d.group(i, |d| {
                d.text("name", &field.name);
                d.integer("bytes", field.bytes, 0..=1_000_000_000);
                d.text("source", &field.source);
                d.flag("core", field.core);
            });
        });
        d.integer("staleness_bound", self.staleness_bound, 0..=1_000_000_000);
        d.integer("transient_interval", self.transient_interval, 1..=1_000_000_000);
        d.integer("transient_stagger", self.transient_stagger, 0..=1_000_000_000);
        let is_source = |source: &str| self.fields.iter().any(|field| field.source == source);
        for (name, source) in [("optional_failure", &self.optional_failure), ("core_failure", &self.core_failure)] {
            d.text(name, source);
            d.require(name, is_source(source), "the source of one of the fields");
        }
        d.list("isolated_sources", &self.isolated_sources, 0..=50, |d, i, source| {
            d.text(i, source);
            d.require(i, is_source(source), "the source of one of the fields");
        });
        d.integer("marker_bytes", self.marker_bytes, 0..=1_000_000);
        d.integer("fallback_records", self.fallback_records, 0..=1_000_000_000);
        d.real("peak_read", self.peak_read, 0.0..=1_000_000.0);
        d.real("response_bytes", self.response_bytes, 1.0..=1_000_000_000.0);
        d.real("failure_share", self.failure_share, 0.001..=100_000.0);

        let rounds = self.warmup + self.failure_rounds();
        let runs = 17 + self.isolated_sources.len();
        d.steps("failure_minutes", (runs * self.fields.len() * 4) as f64 * rounds as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
