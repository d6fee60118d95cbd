//! What a group of consumers gains and breaks, for any queue, group and store.

use super::{Applied, Beyond, Drained, Event, Parameters, apply_all};
use crate::invariants::{Held, Invariant};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-event-applied-once", check: every_event_applied_once },
        Invariant { id: "alone-exact", check: alone_exact },
        Invariant { id: "drain-time-exact", check: drain_time_exact },
        Invariant { id: "drain-within-two-ceilings", check: drain_within_two_ceilings },
        Invariant { id: "more-never-slower", check: more_never_slower },
        Invariant { id: "slot-for-each-is-enough", check: slot_for_each_is_enough },
        Invariant { id: "ceiling-never-reached", check: ceiling_never_reached },
        Invariant { id: "useful-consumers-by-inverse", check: useful_consumers_by_inverse },
        Invariant { id: "no-gain-beyond-ceiling", check: no_gain_beyond_ceiling },
        Invariant { id: "contribution-shrinks", check: contribution_shrinks },
        Invariant { id: "more-consumers-break-more", check: more_consumers_break_more },
        Invariant { id: "long-final-event-misleads", check: long_final_event_misleads },
        Invariant { id: "wrong-only-if-out-of-order", check: wrong_only_if_out_of_order },
        Invariant { id: "room-and-long-final-keep-state", check: room_and_long_final_keep_state },
        Invariant { id: "room-and-equal-work-keep-order", check: room_and_equal_work_keep_order },
        Invariant { id: "spacing-is-a-unit", check: spacing_is_a_unit },
    ]
}

/// Consumers before one store.
#[derive(Debug, Clone, Copy)]
struct Group {
    consumers: usize,
    slots: u64,
}

impl Group {
    /// No consumer ever waits for the store.
    fn has_room(self) -> bool {
        self.slots >= self.consumers as u64
    }
}

impl Parameters {
    /// The tables' groups, and those of the last line.
    fn groups(&self) -> Vec<Group> {
        let Beyond { store_slots, consumers, more_consumers } = self.beyond;
        let swept = self
            .store_slots
            .iter()
            .flat_map(|&slots| self.consumers.iter().map(move |&consumers| Group { consumers, slots }));
        swept.chain([consumers, more_consumers].map(|consumers| Group { consumers, slots: store_slots })).collect()
    }

    fn each_group(&self, mut check: impl FnMut(&[Event], Group) -> Held) -> Held {
        let queue = self.queue();
        Held::all(self.groups().into_iter().map(|group| check(&queue, group)))
    }

    fn drained(&self, queue: &[Event], Group { consumers, slots }: Group) -> Drained {
        self.drain(queue, consumers, slots)
    }
}

/// Even an event that takes no time holds its consumer until the next tick.
fn held_for(event: &Event) -> u64 {
    event.duration.max(1)
}

fn work(queue: &[Event]) -> u64 {
    queue.iter().map(held_for).sum()
}

/// No event gets lost or doubled, the store takes no more in a tick than it has slots, and nobody holds two: an event
/// overtakes at most as many as the other consumers hold.
fn every_event_applied_once(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        let applied = apply_all(queue, group.consumers, group.slots);
        let sorted = |events: &mut dyn Iterator<Item = Event>| {
            let mut events: Vec<Event> = events.collect();
            events.sort_unstable();
            events
        };
        let mut in_tick: BTreeMap<u64, u64> = BTreeMap::new();
        applied.iter().for_each(|Applied { tick, .. }| *in_tick.entry(*tick).or_default() += 1);
        let place = |event: &Event| (event.shipment, event.step);
        let places: BTreeMap<_, usize> = queue.iter().enumerate().map(|(i, event)| (place(event), i)).collect();
        let overtaken =
            |(i, applied): (usize, &Applied)| places.get(&place(&applied.event)).map(|at| at.saturating_sub(i));
        let most = applied.iter().enumerate().filter_map(overtaken).max();
        Held::all([
            Held::that(
                sorted(&mut applied.iter().map(|applied| applied.event)) == sorted(&mut queue.iter().copied()),
                || format!("{group:?}: {} events of {} applied, or others", applied.len(), queue.len()),
            ),
            Held::at_most(format!("applied in one tick, {group:?}"), in_tick.values().max(), Some(&group.slots)),
            Held::at_most(format!("overtaken by one event, {group:?}"), most, Some(group.consumers - 1)),
        ])
    })
}

/// Without a competitor nothing waits and nothing breaks: one tick until the first event is taken, then its work.
fn alone_exact(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        let alone = p.drained(queue, Group { consumers: 1, ..group });
        Held::all([
            Held::equal("ticks", alone.ticks, 1 + work(queue)),
            Held::equal("out of order, wrong final", (alone.out_of_order, alone.wrong_final), (0, 0)),
        ])
    })
}

/// From event to event instead of tick by tick: a consumer takes the next one when the store frees it, and the store
/// takes one at least a tick after the one that many slots before.
fn last_applied(queue: &[Event], group: Group) -> u64 {
    let mut processed = BinaryHeap::new();
    let mut applied: Vec<u64> = Vec::new();
    let mut apply_first = |processed: &mut BinaryHeap<Reverse<u64>>| {
        let Reverse(ready) = processed.pop()?;
        let slot = applied.len().checked_sub(group.slots as usize).map_or(0, |earlier| applied[earlier] + 1);
        applied.push(ready.max(slot));
        applied.last().copied()
    };
    for event in queue {
        let start = if processed.len() < group.consumers { Some(0) } else { apply_first(&mut processed) };
        processed.push(Reverse(start.unwrap_or_default() + held_for(event)));
    }
    std::iter::from_fn(|| apply_first(&mut processed)).last().unwrap_or_default()
}

fn drain_time_exact(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        Held::equal(format!("ticks, {group:?}"), p.drained(queue, group).ticks, last_applied(queue, group) + 1)
    })
}

/// In each tick all consumers work or the store is full, until the queue is empty; then the longest event ends.
fn drain_within_two_ceilings(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        let ticks = p.drained(queue, group).ticks;
        let (by_consumers, by_store) = (work(queue), queue.len() as u64);
        let longest = queue.iter().map(held_for).max().unwrap_or_default();
        let consumers = group.consumers as u64;
        let least = by_consumers.div_ceil(consumers).max(by_store.div_ceil(group.slots)) + 1;
        let most = by_consumers / consumers + by_store / group.slots + longest + 1;
        Held::all([
            Held::at_most(format!("ticks that are needed, {group:?}"), least, ticks),
            Held::at_most(format!("ticks, {group:?}"), ticks, most),
        ])
    })
}

fn more_never_slower(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        let ticks = p.drained(queue, group).ticks;
        let another_consumer = Group { consumers: group.consumers + 1, ..group };
        let another_slot = Group { slots: group.slots + 1, ..group };
        Held::all([another_consumer, another_slot].map(|more| {
            Held::at_most(format!("ticks of {more:?} instead of {group:?}"), p.drained(queue, more).ticks, ticks)
        }))
    })
}

/// The store sets no ceiling as long as each consumer finds a slot.
fn slot_for_each_is_enough(p: &Parameters) -> Held {
    p.each_group(|queue, Group { consumers, slots }| {
        let enough = p.drained(queue, Group { consumers, slots: consumers as u64 });
        let more = p.drained(queue, Group { consumers, slots: consumers as u64 + slots });
        Held::equal(format!("{consumers} consumers with {slots} slots too many"), more, enough)
    })
}

/// What the lesson calls the asymptotic ceiling, in consumers.
fn ceiling(queue: &[Event], slots: u64) -> f64 {
    slots as f64 * (1 + work(queue)) as f64 / queue.len() as f64
}

fn speedup(p: &Parameters, queue: &[Event], group: Group) -> f64 {
    (1 + work(queue)) as f64 / p.drained(queue, group).ticks as f64
}

fn ceiling_never_reached(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        let (speedup, ceiling) = (speedup(p, queue, group), ceiling(queue, group.slots));
        Held::all([
            Held::that(speedup < ceiling, || format!("{group:?}: speedup {speedup}, ceiling {ceiling}")),
            Held::at_most(format!("speedup, {group:?}"), speedup, group.consumers as f64),
        ])
    })
}

/// The lesson's sentence has the ceiling's quotient upside down.
fn useful_consumers_by_inverse(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        Held::at_most(format!("speedup, {group:?}"), speedup(p, queue, group), 1.0 / ceiling(queue, group.slots))
    })
}

fn no_gain_beyond_ceiling(p: &Parameters) -> Held {
    let Beyond { store_slots: slots, consumers, more_consumers } = p.beyond;
    let queue = p.queue();
    Held::provided(consumers as f64 >= ceiling(&queue, slots), || {
        let ticks = |consumers| p.drained(&queue, Group { consumers, slots }).ticks;
        Held::equal(format!("ticks of {more_consumers} consumers"), ticks(more_consumers), ticks(consumers))
    })
}

fn contribution_shrinks(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        let with = |more| speedup(p, queue, Group { consumers: group.consumers + more, ..group });
        Held::at_most(format!("contribution of two more than {group:?}"), with(2) - with(1), with(1) - with(0))
    })
}

fn more_consumers_break_more(p: &Parameters) -> Held {
    p.each_group(|queue, group| {
        let more = p.drained(queue, Group { consumers: group.consumers + 1, ..group });
        Held::at_most(format!("out of order, {group:?}"), p.drained(queue, group).out_of_order, more.out_of_order)
    })
}

fn long_final_event_misleads(p: &Parameters) -> Held {
    let longer = Parameters { final_duration: p.final_duration + 1, ..p.clone() };
    let longer_queue = longer.queue();
    p.each_group(|queue, group| {
        let (wrong, with_longer) = (p.drained(queue, group), longer.drained(&longer_queue, group));
        Held::at_most(format!("wrong final states, {group:?}"), wrong.wrong_final, with_longer.wrong_final)
    })
}

fn wrong_only_if_out_of_order(p: &Parameters) -> Held {
    let single = Parameters { events_per_shipment: 1, ..p.clone() };
    let single_queue = single.queue();
    p.each_group(|queue, group| {
        let (several, one) = (p.drained(queue, group), single.drained(&single_queue, group));
        Held::all([
            Held::at_most(format!("wrong final states, {group:?}"), several.wrong_final, several.out_of_order),
            Held::equal("of shipments with one event", (one.out_of_order, one.wrong_final), (0, 0)),
        ])
    })
}

/// Whatever starts before the final event then ends before it.
fn room_and_long_final_keep_state(p: &Parameters) -> Held {
    Held::provided(p.final_duration.max(1) >= p.longest_duration, || {
        p.each_group(|queue, group| {
            Held::provided(group.has_room(), || {
                Held::equal(format!("wrong final states, {group:?}"), p.drained(queue, group).wrong_final, 0)
            })
        })
    })
}

fn room_and_equal_work_keep_order(p: &Parameters) -> Held {
    let duration = p.final_duration;
    let equal = Parameters { shortest_duration: duration, longest_duration: duration, ..p.clone() };
    let queue = equal.queue();
    Held::all(p.groups().into_iter().map(|group| {
        Held::provided(group.has_room(), || {
            let order: Vec<Event> = apply_all(&queue, group.consumers, group.slots).iter().map(|a| a.event).collect();
            Held::that(order == queue, || format!("{group:?} applies in another order than that of the queue"))
        })
    }))
}

/// Twice the spacing doubles every place to the last bit.
fn spacing_is_a_unit(p: &Parameters) -> Held {
    let wider = Parameters { spacing: 2.0 * p.spacing, ..p.clone() };
    Held::that(wider.queue() == p.queue(), || format!("another queue at a spacing of {}", wider.spacing))
}
