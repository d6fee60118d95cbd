//! What a style of calling changes and what it does not, for any services, records and reads.

use super::{Cost, Measure, Parameters, Service, Style};
use crate::invariants::{Held, Invariant};
use crate::json;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "style-leaves-calls", check: style_leaves_calls },
        Invariant { id: "services-add-up", check: services_add_up },
        Invariant { id: "records-come-whole", check: records_come_whole },
        Invariant { id: "resource-carries-most", check: resource_carries_most },
        Invariant { id: "resource-receives-most", check: resource_receives_most },
        Invariant { id: "procedure-carries-least", check: procedure_carries_least },
        Invariant { id: "a-field-more", check: a_field_more },
        Invariant { id: "procedure-knows-most-names", check: procedure_knows_most_names },
        Invariant { id: "query-knows-fewest-names", check: query_knows_fewest_names },
        Invariant { id: "split-adds-a-call", check: split_adds_a_call },
    ]
}

impl Parameters {
    fn costs(&self) -> [Cost; 3] {
        Style::ALL.map(|style| self.cost(style))
    }

    fn with(&self, services: Vec<Service>) -> Self {
        Self { services, ..self.clone() }
    }

    fn all_reads(&self) -> usize {
        self.services.iter().flat_map(|service| &service.reads).collect::<BTreeSet<_>>().len()
    }

    /// No two services share a name for the gateway to know.
    fn is_distinct(&self, name: fn(&Service) -> &String) -> bool {
        self.services.iter().map(name).collect::<BTreeSet<_>>().len() == self.services.len()
    }
}

/// Bytes of a name or another text.
fn text(text: &str) -> usize {
    json::bytes(&Value::from(text))
}

fn style_leaves_calls(p: &Parameters) -> Held {
    Held::equal("calls", p.costs().map(|cost| cost.calls), [p.services.len(); 3])
}

/// Calls and bytes are those of each service on its own, in any order of them.
fn services_add_up(p: &Parameters) -> Held {
    let adding: [Measure; 3] = [|cost| cost.calls, |cost| cost.sent_bytes, |cost| cost.received_bytes];
    Held::all(Style::ALL.map(|style| {
        let alone = p.services.iter().map(|service| p.with(vec![service.clone()]).cost(style));
        let alone: Vec<Cost> = alone.collect();
        let reversed = p.with(p.services.iter().rev().cloned().collect());
        let whole = p.cost(style);
        let sums = adding.map(|of| Held::equal("calls, sent or received", alone.iter().map(of).sum(), of(&whole)));
        let order = Held::equal("in another order", reversed.cost(style), whole);
        Held::all(sums.into_iter().chain([order]))
    }))
}

/// Member by member: every one of a record, and of the two other styles those that are read.
fn records_come_whole(p: &Parameters) -> Held {
    let of_members = |members: usize, bytes: usize| if members == 0 { 2 } else { bytes + members + 1 };
    let received = |service: &Service, is_carried: &dyn Fn(&String) -> bool| {
        let carried = service.record.iter().filter(|(name, _)| is_carried(name));
        let sizes: Vec<usize> = carried.map(|(name, value)| text(name) + 1 + json::bytes(value)).collect();
        of_members(sizes.len(), sizes.iter().sum())
    };
    let whole: usize = p.services.iter().map(|service| received(service, &|_| true)).sum();
    let read: usize = p.services.iter().map(|service| received(service, &|name| service.reads.contains(name))).sum();
    let [resource, procedure, query] = p.costs().map(|cost| cost.received_bytes);
    Held::all([
        Held::equal("received by each style", [resource, procedure, query], [whole, read, read]),
        Held::equal("sent for records", p.cost(Style::Resource).sent_bytes, 0),
    ])
}

fn resource_carries_most(p: &Parameters) -> Held {
    let [resource, procedure, query] = p.costs().map(|cost| cost.bytes());
    Held::all([procedure, query].map(|other| Held::at_most("bytes of another style", other, resource)))
}

fn resource_receives_most(p: &Parameters) -> Held {
    let [resource, others @ ..] = p.costs().map(|cost| cost.received_bytes);
    Held::all(others.map(|other| Held::at_most("received by another style", other, resource)))
}

fn procedure_carries_least(p: &Parameters) -> Held {
    let [resource, procedure, query] = p.costs().map(|cost| cost.bytes());
    Held::all([resource, query].map(|other| Held::at_most("bytes of a procedure call", procedure, other)))
}

/// One field more is read: the record comes anyway, a procedure returns it, a query names it as well.
fn a_field_more(p: &Parameters) -> Held {
    Held::all(p.services.iter().enumerate().flat_map(|(i, service)| {
        let unread = service.record.iter().filter(|(name, _)| !service.reads.contains(name));
        unread.map(move |(name, value)| {
            let mut services = p.services.clone();
            services[i].reads.push(name.clone());
            let comma = usize::from(!service.reads.is_empty());
            let (named, returned) = (text(name) + comma, text(name) + 1 + json::bytes(value) + comma);
            let new_name = usize::from(!p.services.iter().any(|service| service.reads.contains(name)));
            let more = p.with(services);
            let grown = [(Style::Resource, 0, 0), (Style::Procedure, 0, returned), (Style::Query, named, returned)];
            Held::all(grown.map(|(style, sent, received)| {
                let mut expected = p.cost(style);
                expected.sent_bytes += sent;
                expected.received_bytes += received;
                expected.field_names += new_name;
                Held::equal(format!("{} with {name}", style.name()), more.cost(style), expected)
            }))
        })
    }))
}

fn procedure_knows_most_names(p: &Parameters) -> Held {
    let [resource, procedure, query] = p.costs().map(|cost| cost.names());
    Held::all([resource, query].map(|other| Held::at_most("names of another style", other, procedure)))
}

/// A query needs what is read and one path; a record a path each, a procedure a name each beside the path.
fn query_knows_fewest_names(p: &Parameters) -> Held {
    let [resource, procedure, query] = p.costs().map(|cost| cost.names());
    let (reads, services) = (p.all_reads(), p.services.len());
    Held::all([
        Held::equal("names of a query", query, reads + 1),
        Held::at_most("names of a query", query, resource.min(procedure)),
        Held::provided(p.is_distinct(|service| &service.collection), || {
            Held::equal("names of records", resource, reads + services)
        }),
        Held::provided(p.is_distinct(|service| &service.procedure), || {
            Held::equal("names of procedures", procedure, reads + 1 + services)
        }),
    ])
}

/// Every service gives half of its record away to a new one.
fn split_adds_a_call(p: &Parameters) -> Held {
    let has = |record: &Map<String, Value>, reads: &[String]| -> Vec<String> {
        reads.iter().filter(|name| record.contains_key(*name)).cloned().collect()
    };
    let halves = |service: &Service| {
        let mut rest = service.record.iter();
        let half: Map<String, Value> =
            rest.by_ref().take(service.record.len() / 2).map(|(name, value)| (name.clone(), value.clone())).collect();
        let rest = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
        [half, rest].map(|record| Service { reads: has(&record, &service.reads), record, ..service.clone() })
    };
    let divisible = p.services.iter().all(|service| service.record.len() >= 2);
    Held::provided(divisible, || {
        let split = p.with(p.services.iter().flat_map(halves).collect());
        let [[resource, ..], [more, ..]] = [p.costs(), split.costs()];
        let (services, costs) = (p.services.len(), p.costs().into_iter().zip(split.costs()));
        Held::all(
            [
                Held::equal("bytes of records", more.bytes(), resource.bytes() + services),
                Held::equal("fields that are read", split.all_reads(), p.all_reads()),
            ]
            .into_iter()
            .chain(costs.flat_map(|(whole, split)| {
                [
                    Held::equal("calls", split.calls, 2 * whole.calls),
                    Held::at_most("bytes", whole.bytes(), split.bytes()),
                ]
            })),
        )
    })
}
