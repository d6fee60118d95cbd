//! Whom a release breaks and what the transition carries, for any record, change and consumers.

use super::{Change, Field, Parameters, Reader, Schema, broken};
use crate::invariants::{Held, Invariant};
use crate::json;
use serde_json::Value;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant {
            id: "at-once-breaks-the-readers-of-what-changes",
            check: at_once_breaks_the_readers_of_what_changes,
        },
        Invariant { id: "a-field-costs-its-readers", check: a_field_costs_its_readers },
        Invariant { id: "sequence-breaks-nobody", check: each_step_of_the_sequence },
        Invariant { id: "renaming-sequence-breaks-nobody", check: renaming_sequence_breaks_nobody },
        Invariant { id: "early-contract-breaks-the-unmoved", check: early_contract_breaks_the_unmoved },
        Invariant { id: "one-release-more", check: one_release_more },
        Invariant { id: "fields-counted-once", check: fields_counted_once },
        Invariant { id: "transition-carries-both", check: transition_carries_both },
        Invariant { id: "additions-break-nobody", check: additions_break_nobody },
    ]
}

impl Parameters {
    fn transition(&self) -> Schema {
        self.v1().with(&self.v2())
    }

    /// Every change is one: another name, another type, or both.
    fn all_differ(&self) -> bool {
        let differs = |change: &Change| {
            let is_other = |old: &Field| old.kind != change.to.kind;
            change.to.name != change.of || self.v1().field(&change.of).is_some_and(is_other)
        };
        self.changes.iter().all(differs)
    }

    fn all_rename(&self) -> bool {
        self.changes.iter().all(|change| change.to.name != change.of)
    }

    /// Consumers that name a changed field, in their order.
    fn users_of_changes(&self) -> Vec<&str> {
        let uses = |reads: &[String]| self.changes.iter().any(|change| reads.contains(&change.of));
        self.consumers.iter().filter(|consumer| uses(&consumer.reads)).map(|consumer| consumer.name.as_str()).collect()
    }

    /// The first so many consumers have moved, the others have not.
    fn moved_up_to(&self, moved: usize) -> Vec<Reader<'_>> {
        self.migrated().into_iter().take(moved).chain(self.readers().into_iter().skip(moved)).collect()
    }
}

fn at_once_breaks_the_readers_of_what_changes(p: &Parameters) -> Held {
    Held::provided(p.all_differ(), || Held::equal("broken", broken(&p.readers(), &p.v2()), p.users_of_changes()))
}

/// One field at a time gets another name.
fn a_field_costs_its_readers(p: &Parameters) -> Held {
    let counts = p.readers_by_field();
    Held::all(p.fields.iter().map(|field| {
        let mut to = field.clone();
        to.name.push_str(" renamed");
        let change = Change { of: field.name.clone(), to };
        let alone = Parameters { changes: vec![change], additions: Vec::new(), ..p.clone() };
        let readers = counts.iter().find(|(name, _)| *name == field.name).map_or(0, |(_, count)| *count);
        Held::equal(format!("broken by another {}", field.name), broken(&alone.readers(), &alone.v2()).len(), readers)
    }))
}

/// Each step on its own: both names, then consumers one by one, then the new names only.
fn each_step_of_the_sequence(p: &Parameters) -> Held {
    let (transition, nobody) = (p.transition(), Vec::<&str>::new());
    let moving = (0..=p.consumers.len()).map(|moved| {
        let broken = broken(&p.moved_up_to(moved), &transition);
        Held::equal(format!("broken in the transition after {moved} have moved"), broken, nobody.clone())
    });
    let contracted = Held::equal("broken at the end", broken(&p.migrated(), &p.v2()), nobody.clone());
    Held::all(moving.chain([contracted]))
}

fn renaming_sequence_breaks_nobody(p: &Parameters) -> Held {
    Held::provided(p.all_rename(), || each_step_of_the_sequence(p))
}

fn early_contract_breaks_the_unmoved(p: &Parameters) -> Held {
    Held::provided(p.all_differ(), || {
        Held::all((0..=p.consumers.len()).map(|moved| {
            let unmoved: Vec<&str> = p.consumers.iter().skip(moved).map(|consumer| consumer.name.as_str()).collect();
            let mut expected = p.users_of_changes();
            expected.retain(|name| unmoved.contains(name));
            Held::equal(format!("broken after {moved} have moved"), broken(&p.moved_up_to(moved), &p.v2()), expected)
        }))
    })
}

/// At once: the provider and whom it breaks. In sequence: the provider twice, and who moves.
fn one_release_more(p: &Parameters) -> Held {
    Held::provided(p.all_differ(), || {
        let at_once = broken(&p.readers(), &p.v2()).len() + 1;
        let in_sequence: usize = p.release_units().iter().sum();
        Held::equal("releases of single units", in_sequence, at_once + 1)
    })
}

fn fields_counted_once(p: &Parameters) -> Held {
    let new_names = p.changes.iter().filter(|change| change.to.name != change.of).count() + p.additions.len();
    let reads: usize = p.consumers.iter().map(|consumer| consumer.reads.len()).sum();
    Held::all([
        Held::equal("of V2", p.v2().0.len(), p.fields.len() + p.additions.len()),
        Held::equal("of the transition", p.transition().0.len(), p.fields.len() + new_names),
        Held::equal("reads by field", p.readers_by_field().into_iter().map(|(_, count)| count).sum(), reads),
    ])
}

/// A record is its members with a comma or a bracket behind each, and one bracket more.
fn transition_carries_both(p: &Parameters) -> Held {
    let record = |schema: &Schema| {
        let member = |field: &Field| json::bytes(&Value::from(field.name.as_str())) + json::bytes(&field.example) + 2;
        if schema.0.is_empty() { 2 } else { 1 + schema.0.iter().map(member).sum::<usize>() }
    };
    let schemas = [p.v1(), p.transition(), p.v2()];
    let by_member = Held::all(schemas.iter().map(|schema| Held::equal("bytes", schema.record_bytes(), record(schema))));
    let kept: Vec<Field> = p.fields.iter().filter(|field| p.change_of(&field.name).is_none()).cloned().collect();
    let once = Held::provided(p.all_rename() && !kept.is_empty(), || {
        let [v1, transition, v2] = schemas.map(|schema| schema.record_bytes());
        Held::equal("bytes of both, without what stays", v1 + v2 - Schema(kept).record_bytes(), transition)
    });
    Held::all([by_member, once])
}

fn additions_break_nobody(p: &Parameters) -> Held {
    let added = Parameters { changes: Vec::new(), ..p.clone() };
    let unchanged = Parameters { additions: Vec::new(), ..added.clone() };
    let bytes = |schema: Schema| schema.record_bytes();
    Held::all([
        Held::equal("broken by additions", broken(&added.readers(), &added.v2()), Vec::new()),
        Held::equal("releases", added.release_units().to_vec(), vec![1, 0, 1]),
        Held::equal("bytes of no change", bytes(unchanged.transition()), bytes(p.v1())),
    ])
}
