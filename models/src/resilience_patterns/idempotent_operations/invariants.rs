//! What a ledger of keys guarantees: for any copies of any event, whenever they come and wherever the handler stops.

mod cost;

use super::ledger::{Commit, Delivery, Event, Handled, Scope};
use super::{Parameters, Source};
use crate::invariants::{Held, Invariant};
use crate::random::{SplitMix32, Uniform};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-delivery-ends-once", check: every_delivery_ends_once },
        Invariant { id: "exactly-once-however-late", check: exactly_once_however_late },
        Invariant { id: "once-a-lifetime", check: once_a_lifetime },
        Invariant { id: "exactly-once-within-lifetime", check: exactly_once_within_lifetime },
        Invariant { id: "exactly-once-in-two-writes", check: exactly_once_in_two_writes },
        Invariant { id: "first-write-decides", check: first_write_decides },
        Invariant { id: "first-of-each-key", check: first_of_each_key },
        Invariant { id: "copies-leave-no-trace", check: copies_leave_no_trace },
        Invariant { id: "failure-free-keeps-every-effect", check: failure_free_keeps_every_effect },
        Invariant { id: "narrow-key-deletes", check: narrow_key_deletes },
        Invariant { id: "prevented-is-copies", check: prevented_is_copies },
        Invariant { id: "sources-add-up", check: cost::sources_add_up },
        Invariant { id: "sources-overlap", check: cost::sources_overlap },
        Invariant { id: "window-outweighs-record", check: cost::window_outweighs_record },
        Invariant { id: "window-weighs-as-record", check: cost::window_weighs_as_record },
        Invariant { id: "lookups-lower-ratio", check: cost::lookups_lower_ratio },
        Invariant { id: "lookups-lower-ratio-above-one", check: cost::lookups_lower_ratio_above_one },
    ]
}

impl Commit {
    const ALL: [Self; 3] = [Self::Together, Self::KeyFirst, Self::EffectFirst];
}

impl Parameters {
    fn events(&self) -> Vec<Event<'_>> {
        self.deliveries(&[]).stream.iter().map(|delivery| delivery.event).collect()
    }

    /// Of each event one to four deliveries at any time before the end, mixed with those of the others.
    fn any_deliveries(&self, end_s: u64, interrupted: f64) -> Vec<Delivery<'_>> {
        let mut random = SplitMix32::new(self.seed);
        let mut stream = Vec::new();
        for event in self.events() {
            for _ in 0..=(4.0 * random.next()) as u64 {
                let at_s = (random.next() * end_s as f64) as u64;
                stream.push(Delivery { event, at_s, interrupted: random.chance(interrupted) });
            }
        }
        random.shuffle(&mut stream);
        stream.sort_by_key(|delivery| delivery.at_s);
        stream
    }

    fn handle<'a>(&'a self, stream: &[Delivery<'a>], scope: Scope, commit: Commit) -> Handled<'a> {
        Handled::of(stream, Some(self.ledger(scope, commit)))
    }

    /// Each event's deliveries, against how often it took effect under the right key.
    fn each_event(&self, stream: &[Delivery<'_>], commit: Commit, expected: impl Fn(&[Delivery<'_>]) -> u64) -> Held {
        let mut deliveries: BTreeMap<Event<'_>, Vec<Delivery<'_>>> = BTreeMap::new();
        stream.iter().for_each(|delivery| deliveries.entry(delivery.event).or_default().push(*delivery));
        let effects = effects(&self.handle(stream, Scope::Event, commit));
        Held::all(deliveries.iter().map(|(event, deliveries)| {
            let found = effects.get(event).copied().unwrap_or_default();
            let expected = expected(deliveries);
            Held::that(found == expected, || {
                format!("{commit:?}, {event:?} took effect {found} times, expected {expected}, of {deliveries:?}")
            })
        }))
    }

    fn all_sources(&self, probability: f64) -> Vec<Source> {
        self.sources.iter().map(|source| Source { name: source.name.clone(), probability }).collect()
    }
}

/// How often each event took effect.
fn effects<'a>(handled: &Handled<'a>) -> BTreeMap<Event<'a>, u64> {
    let mut effects = BTreeMap::new();
    handled.processed.iter().for_each(|event| *effects.entry(*event).or_default() += 1);
    effects
}

fn interrupted(delivery: &&Delivery<'_>) -> bool {
    delivery.interrupted
}

fn completed(deliveries: &[Delivery<'_>]) -> Vec<u64> {
    deliveries.iter().filter(|delivery| !delivery.interrupted).map(|delivery| delivery.at_s).collect()
}

fn every_delivery_ends_once(p: &Parameters) -> Held {
    let published = p.deliveries(&p.sources);
    let added = p.events().len() as u64 + published.added.iter().sum::<u64>();
    let streams = [published.stream, p.any_deliveries(3 * p.lifetime_s(), 0.3)];
    let ends = streams.iter().flat_map(|stream| Scope::ALL.map(|scope| (stream, scope))).flat_map(|(stream, scope)| {
        Commit::ALL.map(|commit| {
            let handled = p.handle(stream, scope, commit);
            let ended = handled.processed.len() as u64 + handled.suppressed + handled.interrupted;
            Held::equal(format!("deliveries, {scope:?}, {commit:?}"), ended, stream.len() as u64)
        })
    });
    Held::all(std::iter::once(Held::equal("events and copies", added, streams[0].len() as u64)).chain(ends))
}

fn exactly_once_however_late(p: &Parameters) -> Held {
    p.each_event(&p.any_deliveries(3 * p.lifetime_s(), 0.0), Commit::Together, |_| 1)
}

/// The deliveries that are completed, in spells of one lifetime from the first of each.
fn once_a_lifetime(p: &Parameters) -> Held {
    let lifetime = p.lifetime_s();
    p.each_event(&p.any_deliveries(3 * lifetime, 0.3), Commit::Together, |deliveries| {
        let completed = completed(deliveries);
        let (mut rest, mut spells) = (completed.as_slice(), 0);
        while let [first, others @ ..] = rest {
            rest = &others[others.partition_point(|at| *at < first + lifetime)..];
            spells += 1;
        }
        spells
    })
}

fn exactly_once_within_lifetime(p: &Parameters) -> Held {
    Held::provided(p.lifetime_s() > 0, || {
        p.each_event(&p.any_deliveries(p.lifetime_s(), 0.5), Commit::Together, |deliveries| {
            u64::from(!completed(deliveries).is_empty())
        })
    })
}

fn exactly_once_in_two_writes(p: &Parameters) -> Held {
    Held::provided(p.lifetime_s() > 0, || {
        Held::all([Commit::KeyFirst, Commit::EffectFirst].map(|commit| {
            p.each_event(&p.any_deliveries(p.lifetime_s(), 0.5), commit, |deliveries| {
                u64::from(!completed(deliveries).is_empty())
            })
        }))
    })
}

/// Only the interrupted deliveries before the first completed one tell the three apart.
fn first_write_decides(p: &Parameters) -> Held {
    Held::provided(p.lifetime_s() > 0, || {
        let stream = p.any_deliveries(p.lifetime_s(), 0.5);
        let leading = |deliveries: &[Delivery<'_>]| deliveries.iter().take_while(interrupted).count() as u64;
        let any = |deliveries: &[Delivery<'_>]| u64::from(!completed(deliveries).is_empty());
        Held::all([
            p.each_event(&stream, Commit::KeyFirst, |d| u64::from(leading(d) == 0)),
            p.each_event(&stream, Commit::EffectFirst, |d| leading(d) + any(d)),
        ])
    })
}

/// What a key cannot tell apart is one event to the ledger: the first to arrive takes effect, once, no other does.
fn first_of_each_key(p: &Parameters) -> Held {
    let different: BTreeSet<&String> = p.states.iter().collect();
    Held::provided(p.lifetime_s() > 0 && p.shipments() > 0, || {
        let stream = p.any_deliveries(p.lifetime_s(), 0.0);
        Held::all(Scope::ALL.map(|scope| {
            let told_apart = |event: &Event<'_>| match scope {
                Scope::Tracking => (event.shipment, String::new()),
                Scope::State => (event.shipment, event.state.to_owned()),
                Scope::Event => (event.shipment, event.number.to_string()),
            };
            let mut seen = BTreeSet::new();
            let first = |delivery: &&Delivery<'_>| seen.insert(told_apart(&delivery.event));
            let expected: Vec<Event<'_>> = stream.iter().filter(first).map(|delivery| delivery.event).collect();
            let of_a_shipment = match scope {
                Scope::Tracking => 1,
                Scope::State => different.len(),
                Scope::Event => p.states.len(),
            };
            let handled = p.handle(&stream, scope, Commit::Together);
            let all = p.shipments() as usize * of_a_shipment;
            Held::all([
                Held::equal(format!("effects under {scope:?}"), &handled.processed, &expected),
                Held::equal(format!("number of effects under {scope:?}"), handled.processed.len(), all),
                Held::equal(format!("keys under {scope:?}"), handled.ledger, all),
            ])
        }))
    })
}

/// What a key of any scope lets through in the window is what it lets through without a failure.
fn copies_leave_no_trace(p: &Parameters) -> Held {
    Held::provided(p.lifetime_s() > 0, || {
        let (free, window) = (p.day(&[]), p.day(&p.sources));
        Held::all(Scope::ALL.into_iter().zip(free.scopes.iter().zip(&window.scopes)).map(|(scope, (free, window))| {
            let name = scope.name();
            let copies = window.suppressed - free.suppressed;
            Held::all([
                Held::equal(format!("effects under {name}"), &window.processed, &free.processed),
                Held::equal(format!("keys under {name}"), window.ledger, free.ledger),
                Held::equal(format!("copies under {name}"), copies as usize, p.deliveries(&p.sources).copies().len()),
            ])
        }))
    })
}

impl<'a> super::Deliveries<'a> {
    /// Each delivery that repeats the one before.
    fn copies(&self) -> Vec<Event<'a>> {
        let pairs = self.stream.windows(2).filter(|pair| pair[0].event == pair[1].event);
        pairs.map(|pair| pair[1].event).collect()
    }
}

fn failure_free_keeps_every_effect(p: &Parameters) -> Held {
    let free = p.day(&p.all_sources(0.0));
    let [.., right] = &free.scopes;
    let (shipments, states) = (p.shipments(), p.states.len() as u64);
    let a_shipment = (states - 1) * p.side_effects.event + p.side_effects.delivery;
    Held::all([
        Held::equal("effects", &right.processed, &free.none.processed),
        Held::equal("suppressed and interrupted", (right.suppressed, right.interrupted), (0, 0)),
        Held::equal("keys", right.ledger as u64, shipments * states),
        Held::equal("side effects", p.side_effects_of(right), shipments * a_shipment),
    ])
}

/// A shipment's events come within its ledger's lifetime of each other.
fn narrow_key_deletes(p: &Parameters) -> Held {
    let free = p.day(&[]);
    let end_s = free.deliveries.stream.last().map_or(0, |delivery| delivery.at_s);
    Held::provided(p.shipments() > 0 && p.lifetime_s() > end_s, || {
        let states = p.states.len() as u64;
        let different = p.states.iter().collect::<BTreeSet<_>>().len() as u64;
        let suppressed = free.scopes.each_ref().map(|handled| handled.suppressed);
        let deleted = [states - 1, states - different, 0].map(|of_a_shipment| p.shipments() * of_a_shipment);
        Held::equal("events suppressed under each key", suppressed, deleted)
    })
}

fn prevented_is_copies(p: &Parameters) -> Held {
    Held::provided(p.lifetime_s() > 0, || {
        let prevented = |sources: &[Source]| p.prevented(&p.day(sources), Scope::Event);
        let copies: u64 = p.deliveries(&p.sources).copies().iter().map(|event| p.effects(event)).sum();
        let all = p.side_effects_of(&p.day(&[]).none) * p.sources.len() as u64;
        Held::all([
            Held::equal("prevented", prevented(&p.sources), copies),
            Held::at_most("prevented", prevented(&p.sources), all),
            Held::equal("where no source delivers again", prevented(&p.all_sources(0.0)), 0),
            Held::equal("where every source does", prevented(&p.all_sources(1.0)), all),
        ])
    })
}
