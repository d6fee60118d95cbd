//! Inter-Service Contracts: whom does a schema change break, and what does it cost to break nobody?
//!
//! A provider's record is read by several consumers, each of which names the fields it needs. The change is released
//! either at once or in three steps: both forms side by side, consumers one by one, old names removed. Record sizes
//! are those of an example written as JSON. Left out: how long the transition lasts, and how the provider knows that
//! every consumer has moved.

mod blocks;
mod invariants;
#[cfg(test)]
mod tests;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::json;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the lesson's program and its schema module hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The record as it is: V1.
    fields: Vec<Field>,
    /// What V2 does to fields of V1.
    changes: Vec<Change>,
    /// What V2 has besides.
    additions: Vec<Field>,
    consumers: Vec<Consumer>,
    /// How many of the most-read fields are listed.
    most_read: usize,
    /// Requests per second.
    peak_read: f64,
    read_egress_mbit: f64,
}

/// A field of the record with its value in the example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    example: Value,
}

/// A field gets another name, another type under its own name, or both.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    of: String,
    to: Field,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Consumer {
    name: String,
    /// The fields of V1 that it uses.
    reads: Vec<String>,
}

/// The fields that a provider's record has.
#[derive(Debug, Clone)]
struct Schema(Vec<Field>);

impl Schema {
    fn field(&self, name: &str) -> Option<&Field> {
        self.0.iter().find(|field| field.name == name)
    }

    /// All fields of both; where a name stands in both, `other` decides.
    fn with(&self, other: &Self) -> Self {
        let mut fields = self.0.clone();
        for field in &other.0 {
            match fields.iter_mut().find(|old| old.name == field.name) {
                Some(old) => old.clone_from(field),
                None => fields.push(field.clone()),
            }
        }
        Self(fields)
    }

    fn record_bytes(&self) -> usize {
        let members: Map<_, _> = self.0.iter().map(|field| (field.name.clone(), field.example.clone())).collect();
        json::bytes(&Value::Object(members))
    }
}

/// A consumer's code: the names that it uses and the types that it expects there.
struct Reader<'a> {
    name: &'a str,
    expects: Vec<&'a Field>,
}

impl Reader<'_> {
    fn breaks_on(&self, schema: &Schema) -> bool {
        self.expects.iter().any(|field| schema.field(&field.name).is_none_or(|found| found.kind != field.kind))
    }
}

/// One release of the sequence, and what runs once it is out.
struct Step<'a> {
    name: &'static str,
    schema: &'a Schema,
    readers: &'a [Reader<'a>],
    units: usize,
}

impl Step<'_> {
    fn broken(&self) -> usize {
        broken(self.readers, self.schema).len()
    }
}

fn broken<'a>(readers: &[Reader<'a>], schema: &Schema) -> Vec<&'a str> {
    readers.iter().filter(|reader| reader.breaks_on(schema)).map(|reader| reader.name).collect()
}

impl Parameters {
    fn v1(&self) -> Schema {
        Schema(self.fields.clone())
    }

    /// V1 with each change in its place, and the additions behind.
    fn v2(&self) -> Schema {
        let changed = self.fields.iter().map(|field| self.change_of(&field.name).map_or(field, |change| &change.to));
        Schema(changed.chain(&self.additions).cloned().collect())
    }

    fn change_of(&self, name: &str) -> Option<&Change> {
        self.changes.iter().find(|change| change.of == name)
    }

    /// The consumers as they were written against V1.
    fn readers(&self) -> Vec<Reader<'_>> {
        self.readers_of(|name| self.fields.iter().find(|field| field.name == name))
    }

    /// The consumers after they have moved to the new names.
    fn migrated(&self) -> Vec<Reader<'_>> {
        let old = |name: &str| self.fields.iter().find(|field| field.name == name);
        self.readers_of(|name| self.change_of(name).map(|change| &change.to).or_else(|| old(name)))
    }

    fn readers_of<'a>(&'a self, field: impl Fn(&str) -> Option<&'a Field>) -> Vec<Reader<'a>> {
        let reader = |consumer: &'a Consumer| Reader {
            name: &consumer.name,
            expects: consumer.reads.iter().filter_map(|name| field(name)).collect(),
        };
        self.consumers.iter().map(reader).collect()
    }

    /// Consumers that use a changed field, and so have to be released again.
    fn affected(&self) -> usize {
        let is_affected = |consumer: &&Consumer| consumer.reads.iter().any(|name| self.change_of(name).is_some());
        self.consumers.iter().filter(is_affected).count()
    }

    /// How many units each step of the sequence releases: the provider, the consumers that move, the provider again.
    fn release_units(&self) -> [usize; 3] {
        [1, self.affected(), 1]
    }

    /// How many consumers read each field that is read, the most-read first; in a tie the one that is read earlier.
    fn readers_by_field(&self) -> Vec<(&str, usize)> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for name in self.consumers.iter().flat_map(|consumer| &consumer.reads) {
            match counts.iter_mut().find(|(counted, _)| counted == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// What the internal boundary carries if every peak read passes one record.
    fn mbit(&self, record_bytes: usize) -> f64 {
        self.peak_read * record_bytes as f64 * 8.0 / 1e6
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        let names = |fields: &[Field]| fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
        let field = |d: &mut Declaration, i: &str, field: &Field| d.group(i, |d| field.declare(d));
        d.list("fields", &self.fields, 0..=200, field);
        d.distinct("fields", names(&self.fields));
        let is_field = |name: &String| self.fields.iter().any(|field| field.name == *name);
        d.list("changes", &self.changes, 0..=200, |d, i, change| {
            d.group(i, |d| {
                d.text("of", &change.of);
                d.require("of", is_field(&change.of), "the name of one of the `fields`");
                d.group("to", |d| change.to.declare(d));
            });
        });
        d.distinct("changes", self.changes.iter().map(|change| &change.of).collect::<Vec<_>>());
        d.list("additions", &self.additions, 0..=200, field);
        // An old name with a new meaning could not stand beside the old one.
        let renamed = self.changes.iter().filter(|change| change.to.name != change.of).map(|change| &change.to);
        let new: Vec<&String> = renamed.chain(&self.additions).map(|field| &field.name).collect();
        d.distinct("additions", &new);
        d.require("additions", !new.iter().any(|name| is_field(name)), "new names that are none of the `fields`");
        d.list("consumers", &self.consumers, 0..=200, |d, i, consumer| {
            d.group(i, |d| {
                d.text("name", &consumer.name);
                d.list("reads", &consumer.reads, 0..=200, |d, i, name| {
                    d.text(i, name);
                    d.require(i, is_field(name), "the name of one of the `fields`");
                });
                d.distinct("reads", &consumer.reads);
            });
        });
        d.integer("most_read", self.most_read, 0..=200);
        d.real("peak_read", self.peak_read, 0.0..=1e9);
        d.real("read_egress_mbit", self.read_egress_mbit, 0.0..=1e9);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Field {
    fn declare(&self, d: &mut Declaration) {
        d.text("name", &self.name);
        d.text("type", &self.kind);
        d.json("example");
    }
}
