//! Graceful Degradation: what is left of a response when one of its sources stops?
//!
//! A response is made of fields from several sources; the core fields must be there, the others may be missing.
//! Three policies answer with less and less: all fields or nothing, without the missing ones, or with the last known
//! value as long as it is not too old. Each round stands for one second and for one request. Left out: when the
//! failure is noticed, and whether the reader takes an old value for a new one.

use crate::figures::{Block, Figure, Mark, Report, segment};
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
#[derive(Debug, Default)]
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

#[derive(Debug, Default, Clone, Copy)]
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
                let missed = (now + place * self.transient_stagger).is_multiple_of(self.transient_interval);
                values.push(if !stopped && !missed {
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
        let mut block = Block::new("run");
        block.plain("failure_rounds", self.failure_rounds());
        block.plain("parameters.warmup", self.warmup);
        block.plain("parameters.staleness_bound", self.staleness_bound);
        for (i, field) in self.fields.iter().enumerate() {
            block.plain(format!("parameters.fields.{i}.bytes"), field.bytes);
        }
        block.plain("field_bytes", self.fields.iter().map(|field| field.bytes).sum::<u64>());
        block.plain("parameters.response_bytes", self.response_bytes);

        let days = [
            ("failure_free", None),
            ("optional_down", Some(self.optional_failure.as_str())),
            ("core_down", Some(self.core_failure.as_str())),
        ]
        .map(|(name, down)| (name, Policy::ALL.map(|policy| (policy, self.run(policy, down)))));
        for (day, outcomes) in &days {
            publish_day(&mut block, day, outcomes);
        }
        let [(_, failure_free), failing @ ..] = &days;
        self.publish_cost(&mut block, failure_free);
        self.publish_downtime(&mut block, failing);
        for source in &self.isolated_sources {
            let outcome = self.run(Policy::StaleFallback, Some(source));
            let row = format!("isolation.{}", segment(source));
            block.plain(format!("{row}.responses"), outcome.responses());
            block.fixed(format!("{row}.average_bytes"), outcome.average_bytes(), 1);
            block.plain(format!("{row}.last_response"), outcome.last_response);
        }

        let mut report = Report::new([block]);
        for (day, outcomes) in &days {
            for (policy, outcome) in outcomes {
                for (field, served) in self.fields.iter().zip(&outcome.served) {
                    let row = format!("{day}.{}.of.{}", policy.name(), segment(&field.name));
                    report.fact(format!("{row}.stale"), served.stale);
                    report.fact(format!("{row}.missing"), served.missing);
                }
            }
        }
        report
    }
}

fn publish_day(block: &mut Block, day: &str, outcomes: &[(Policy, Outcome)]) {
    for (policy, outcome) in outcomes {
        let row = format!("{day}.{}", policy.name());
        block.plain(format!("{row}.responses"), outcome.responses());
        block.plain(format!("{row}.full"), outcome.full);
        block.plain(format!("{row}.reduced"), outcome.reduced);
        block.plain(format!("{row}.dropped"), outcome.dropped);
        block.plain(format!("{row}.fresh_fields"), outcome.total(|served| served.fresh));
        block.plain(format!("{row}.stale_fields"), outcome.total(|served| served.stale));
        block.plain(format!("{row}.missing_fields"), outcome.total(|served| served.missing));
        block.fixed(format!("{row}.average_bytes"), outcome.average_bytes(), 1);
        block.plain(format!("{row}.last_response"), outcome.last_response);
    }
}

impl Parameters {
    /// What the pattern costs, and the strict policy without it, on the day without a failure.
    fn publish_cost(&self, block: &mut Block, outcomes: &[(Policy, Outcome); 3]) {
        let [(_, strict), _, (_, fallback)] = outcomes;
        let fields = self.fields.len() as f64;
        let rounds = self.failure_rounds() as f64;
        let marker_bytes = self.marker_bytes as f64 * fields;
        let marker_share = marker_bytes / self.response_bytes * 100.0;
        let marker_kib = self.peak_read * self.marker_bytes as f64 * fields / 1024.0;
        block.plain("parameters.marker_bytes", self.marker_bytes);
        block.plain("cost.fields", self.fields.len());
        block.plain("cost.marker_bytes", marker_bytes);
        block.push(Figure::fixed("cost.marker_share", marker_share, 1).marked(Mark::Percent));
        block.fixed("cost.marker_kib_per_second", marker_kib, 2);

        let store_mib = self.fallback_records as f64 * self.response_bytes / 1024.0 / 1024.0;
        block.plain("parameters.fallback_records", self.fallback_records);
        block.plain("cost.record_bytes", self.response_bytes);
        block.fixed("cost.store_mib", store_mib, 2);
        block.fixed("cost.writes_per_second", self.peak_read * fields, 2);

        let stale = fallback.total(|served| served.stale);
        block.plain("cost.strict.dropped", strict.dropped);
        block.plain("cost.strict.requests", self.failure_rounds());
        block.fixed("cost.strict.dropped_per_second", self.peak_read * strict.dropped as f64 / rounds, 2);
        block.plain("cost.fallback.dropped", fallback.dropped);
        block.plain("cost.fallback.stale_fields", stale);
        let stale_share = stale as f64 / (rounds * fields) * 100.0;
        block.push(Figure::fixed("cost.fallback.stale_share", stale_share, 2).marked(Mark::Percent));
    }

    /// What the failing days take of the minutes that failures may take.
    fn publish_downtime(&self, block: &mut Block, days: &[(&str, [(Policy, Outcome); 3])]) {
        block.plain("parameters.failure_minutes", self.failure_minutes);
        block.plain("parameters.failure_share", self.failure_share);
        for (day, outcomes) in days {
            for (policy, outcome) in outcomes {
                let minutes = self.failure_minutes * (outcome.dropped as f64 / self.failure_rounds() as f64);
                let share = minutes / self.failure_share * 100.0;
                let row = format!("downtime.{day}.{}", policy.name());
                block.plain(format!("{row}.responses"), outcome.responses());
                block.fixed(format!("{row}.minutes"), minutes, 2);
                block.push(Figure::fixed(format!("{row}.of_failure_share"), share, 1).marked(Mark::Percent));
            }
        }
    }
}
