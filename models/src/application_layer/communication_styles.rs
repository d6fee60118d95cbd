//! Communication Styles: what does the way of calling a service change about calls, bytes and coupling?
//!
//! A gateway answers one external request from several services, each of which has a part of the data. It asks them
//! for records, by procedures, or by queries; the bodies that would cross the boundary are written as JSON and
//! counted. Left out: headers, failures, and the order of the calls.

mod invariants;

use crate::figures::{Block, Report};
use crate::invariants::Invariant;
use crate::json;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What the lesson's two programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    services: Vec<Service>,
    /// The shipment that the external request asks for.
    shipment: String,
    /// External requests per second.
    peak_read: f64,
    read_egress_mbit: f64,
    /// Bytes of the answer to an external request.
    tracking_response: u64,
}

/// A service, and what the gateway uses of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    name: String,
    /// Path of its records.
    collection: String,
    /// The procedure written for the gateway; it returns the fields that the gateway reads.
    procedure: String,
    reads: Vec<String>,
    /// What it holds about the shipment.
    record: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Style {
    /// An address stands for a whole record.
    Resource,
    /// A procedure returns what its caller needs.
    Procedure,
    /// The caller lists the fields that it needs.
    Query,
}

impl Style {
    const ALL: [Self; 3] = [Self::Resource, Self::Procedure, Self::Query];

    fn name(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Procedure => "procedure",
            Self::Query => "query",
        }
    }
}

/// What crosses the boundary when a service is called.
struct Exchange {
    /// None where the path says it all.
    request: Option<Value>,
    reply: Map<String, Value>,
}

impl Service {
    fn call(&self, style: Style, shipment: &str) -> Exchange {
        let request = match style {
            Style::Resource => None,
            Style::Procedure => Some(json!({ "procedure": self.procedure, "no": shipment })),
            Style::Query => Some(json!({ "no": shipment, "fields": self.reads })),
        };
        let reply = match style {
            Style::Resource => self.record.clone(),
            Style::Procedure | Style::Query => self.selected(),
        };
        Exchange { request, reply }
    }

    /// The fields that the gateway reads, in its order.
    fn selected(&self) -> Map<String, Value> {
        let field = |name: &String| Some((name.clone(), self.record.get(name)?.clone()));
        self.reads.iter().filter_map(field).collect()
    }
}

/// What one external request costs inside.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Cost {
    calls: usize,
    sent_bytes: usize,
    received_bytes: usize,
    /// Names of the other side that stand in the caller's code, each counted once.
    path_names: usize,
    procedure_names: usize,
    field_names: usize,
}

impl Cost {
    fn bytes(&self) -> usize {
        self.sent_bytes + self.received_bytes
    }

    fn names(&self) -> usize {
        self.path_names + self.procedure_names + self.field_names
    }
}

/// One of the numbers of a cost.
type Measure = fn(&Cost) -> usize;

impl Parameters {
    fn cost(&self, style: Style) -> Cost {
        let mut cost = Cost::default();
        let mut fields = BTreeSet::new();
        for service in &self.services {
            let Exchange { request, reply } = service.call(style, &self.shipment);
            cost.calls += 1;
            cost.sent_bytes += request.map_or(0, |request| json::bytes(&request));
            fields.extend(service.reads.iter().filter(|name| reply.contains_key(*name)));
            cost.received_bytes += json::bytes(&Value::Object(reply));
        }
        // Records have a path each; procedures and queries are all called at one path.
        let distinct = |name: fn(&Service) -> &String| self.services.iter().map(name).collect::<BTreeSet<_>>().len();
        (cost.path_names, cost.procedure_names) = match style {
            Style::Resource => (distinct(|service| &service.collection), 0),
            Style::Procedure => (1, distinct(|service| &service.procedure)),
            Style::Query => (1, 0),
        };
        cost.field_names = fields.len();
        cost
    }

    fn mbit(&self, cost: &Cost) -> f64 {
        self.peak_read * cost.bytes() as f64 * 8.0 / 1e6
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.list("services", &self.services, 1..=50, |d, i, service| d.group(i, |d| service.declare(d)));
        d.distinct("services", self.services.iter().map(|service| &service.name).collect::<Vec<_>>());
        d.text("shipment", &self.shipment);
        // The record's address ends in it; the lesson's service does not decode addresses.
        let is_plain = self.shipment.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        d.require("shipment", is_plain, "letters, digits and hyphens");
        d.real("peak_read", self.peak_read, 0.0..=1e9);
        d.real("read_egress_mbit", self.read_egress_mbit, 0.000_001..=1e9);
        d.integer("tracking_response", self.tracking_response, 0..=1_000_000_000);
    }

    fn report(&self) -> Report {
        let costs = Style::ALL.map(|style| (style.name(), self.cost(style)));
        let [(_, resource), (_, procedure), _] = &costs;

        let mut block = Block::new("run");
        let rows: [(&str, Measure); 8] = [
            ("calls", |cost| cost.calls),
            ("sent_bytes", |cost| cost.sent_bytes),
            ("received_bytes", |cost| cost.received_bytes),
            ("bytes", Cost::bytes),
            ("names", Cost::names),
            ("path_names", |cost| cost.path_names),
            ("procedure_names", |cost| cost.procedure_names),
            ("field_names", |cost| cost.field_names),
        ];
        for (name, of) in rows {
            for (style, cost) in &costs {
                block.plain(format!("{style}.{name}"), of(cost));
            }
        }
        for (style, cost) in &costs {
            block.fixed(format!("{style}.rate"), self.peak_read * cost.calls as f64, 2);
            block.fixed(format!("{style}.mbit"), self.mbit(cost), 3);
            block.fixed(format!("{style}.to_read_egress"), self.mbit(cost) / self.read_egress_mbit, 2);
        }
        block.fixed("resource_to_procedure_bytes", resource.bytes() as f64 / procedure.bytes() as f64, 2);
        block.plain("parameters.tracking_response", self.tracking_response);

        let mut report = Report::new([block]);
        report.fact("services", self.services.len());
        report.fact("fields_held", self.services.iter().map(|service| service.record.len()).sum::<usize>());
        report
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Service {
    fn declare(&self, d: &mut Declaration) {
        d.text("name", &self.name);
        d.text("collection", &self.collection);
        d.text("procedure", &self.procedure);
        d.list("reads", &self.reads, 0..=100, |d, i, name| {
            d.text(i, name);
            d.require(i, self.record.contains_key(name), "the name of a field of the `record`");
        });
        d.group("record", |d| {
            for name in self.record.keys() {
                d.json(name);
            }
        });
    }
}
