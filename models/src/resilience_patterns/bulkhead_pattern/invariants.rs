//! What the bulkhead's argument rests on, at any parameters.

use super::{Calls, Counts, Day, Layout, Parameters};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-request-ends-once", check: every_request_ends_once },
        Invariant { id: "busy-slots-are-the-load", check: busy_slots_are_the_load },
        Invariant { id: "busy-slots-miss-a-round-each", check: busy_slots_miss_a_round_each },
        Invariant { id: "neighbour-untouched", check: neighbour_untouched },
        Invariant { id: "split-rescues-the-neighbour", check: split_rescues_the_neighbour },
        Invariant { id: "own-flow-drops-no-fewer", check: own_flow_drops_no_fewer },
        Invariant { id: "pool-bounds-its-flow", check: pool_bounds_its_flow },
        Invariant { id: "moved-slot-trades-flows", check: moved_slot_trades_flows },
        Invariant { id: "sharing-drops-no-more", check: sharing_drops_no_more },
        Invariant { id: "sharing-drops-no-more-at-equal-holds", check: sharing_drops_no_more_at_equal_holds },
        Invariant { id: "idle-slots-count-drops", check: idle_slots_count_drops },
        Invariant { id: "drops-beside-idle-bounded", check: drops_beside_idle_bounded },
        Invariant { id: "no-slowdown-no-second-day", check: no_slowdown_no_second_day },
        Invariant { id: "one-flow-or-no-slot", check: one_flow_or_no_slot },
    ]
}

const DAYS: [Day; 2] = [Day::Healthy, Day::Slowdown];

/// More slots than requests can arrive.
const PLENTY: usize = usize::MAX / 2;

impl Parameters {
    /// The splits that the lesson tries, by the slots of the tracking flow.
    fn splits(&self) -> impl Iterator<Item = usize> {
        [self.tracking_slots, self.tracking_slots_wider].into_iter().chain(self.tracking_slots_swept.iter().copied())
    }

    fn on_each_split(&self, check: impl Fn(usize) -> Held) -> Held {
        Held::all(self.splits().map(check))
    }

    fn split(&self, tracking: usize, day: Day) -> Counts {
        self.run(Layout::Split { tracking }, day)
    }

    /// What arrives follows from the seed and the rates alone, so that the same requests meet other pools.
    fn with_pools(&self, tracking: usize, event: usize, day: Day) -> Counts {
        Self { slots: tracking + event, ..self.clone() }.split(tracking, day)
    }

    /// Slot-rounds of all requests that were answered, if each takes its hold less some rounds.
    fn served(&self, counts: &Counts, less: u64) -> u64 {
        counts.tracking.responses * (self.tracking_hold - less) + counts.event.responses * (self.event_hold - less)
    }

    /// Served slot-rounds that the busy slots do not show may only be those that the run's end cuts off.
    fn accounts_for_busy_slots(&self, less: u64) -> Held {
        let layouts = self.splits().map(|tracking| Layout::Split { tracking }).chain([Layout::Shared]);
        let cut_off = self.slots as u64 * (self.tracking_hold.max(self.event_hold) - less);
        Held::all(layouts.map(|layout| {
            let counts = self.run(layout, Day::Healthy);
            let served = self.served(&counts, less);
            Held::all([
                Held::at_most(format!("busy slot-rounds, {layout:?}"), counts.busy_rounds, served),
                Held::at_most(format!("served slot-rounds, {layout:?}"), served, counts.busy_rounds + cut_off),
            ])
        }))
    }
}

impl Counts {
    fn dropped(&self) -> u64 {
        self.tracking.dropped + self.event.dropped
    }
}

/// The arrivals are those of a run in which nobody has to be dropped.
fn every_request_ends_once(p: &Parameters) -> Held {
    let plenty = p.with_pools(PLENTY, PLENTY, Day::Healthy);
    let layouts = p.splits().map(|tracking| Layout::Split { tracking }).chain([Layout::Shared]);
    let ends = |calls: &Calls| calls.responses + calls.dropped;
    Held::all(layouts.flat_map(|layout| DAYS.map(|day| (layout, day))).map(|(layout, day)| {
        let counts = p.run(layout, day);
        let found = [ends(&counts.tracking), ends(&counts.event)];
        let arrived = [plenty.tracking.responses, plenty.event.responses];
        Held::equal(format!("requests of both flows, {layout:?}, {day:?}"), found, arrived)
    }))
}

fn busy_slots_are_the_load(p: &Parameters) -> Held {
    p.accounts_for_busy_slots(0)
}

/// They are counted as a round begins, when nobody of that round has come yet.
fn busy_slots_miss_a_round_each(p: &Parameters) -> Held {
    p.accounts_for_busy_slots(1)
}

/// Each flow sees its own pool and nothing else: not the other one's holds, and not how many slots that one has.
fn neighbour_untouched(p: &Parameters) -> Held {
    p.on_each_split(|tracking| {
        let [healthy, slow] = DAYS.map(|day| p.split(tracking, day));
        let alone = p.with_pools(tracking, 0, Day::Healthy);
        let events = DAYS.map(|day| p.with_pools(0, p.slots - tracking, day).event);
        Held::all([
            Held::equal(format!("tracking on the slow day, {tracking} slots"), slow.tracking, healthy.tracking),
            Held::equal(format!("tracking beside no event slots, {tracking} slots"), alone.tracking, healthy.tracking),
            Held::equal(
                format!("events beside no tracking slots, {tracking} slots"),
                events,
                [healthy.event, slow.event],
            ),
        ])
    })
}

fn split_rescues_the_neighbour(p: &Parameters) -> Held {
    let shared = p.run(Layout::Shared, Day::Slowdown);
    let split = p.split(p.tracking_slots, Day::Slowdown);
    Held::at_most("tracking requests dropped on the slow day", split.tracking.dropped, shared.tracking.dropped)
}

fn own_flow_drops_no_fewer(p: &Parameters) -> Held {
    let shared = p.run(Layout::Shared, Day::Slowdown);
    let split = p.split(p.tracking_slots, Day::Slowdown);
    Held::at_most("events that the single pool drops on the slow day", shared.event.dropped, split.event.dropped)
}

/// A slot takes one request for each hold that begins before the run, or the healthy part of it, ends.
fn pool_bounds_its_flow(p: &Parameters) -> Held {
    let slow_rounds = p.rounds - p.failure_start;
    let of_a_slot = [
        p.rounds.div_ceil(p.event_hold),
        p.failure_start.div_ceil(p.event_hold) + slow_rounds.div_ceil(p.event_hold_slow),
    ];
    p.on_each_split(|tracking| {
        let event_slots = (p.slots - tracking) as u64;
        Held::all(DAYS.into_iter().zip(of_a_slot).map(|(day, events)| {
            let counts = p.split(tracking, day);
            let queries = tracking as u64 * p.rounds.div_ceil(p.tracking_hold);
            Held::all([
                Held::at_most(format!("tracking answers, {tracking} slots"), counts.tracking.responses, queries),
                Held::at_most(
                    format!("event answers, {event_slots} slots, {day:?}"),
                    counts.event.responses,
                    event_slots * events,
                ),
            ])
        }))
    })
}

/// What gets a slot more drops no more, what has to give it drops no fewer.
fn moved_slot_trades_flows(p: &Parameters) -> Held {
    p.on_each_split(|tracking| {
        Held::provided(tracking < p.slots, || {
            Held::all(DAYS.map(|day| {
                let (before, after) = (p.split(tracking, day), p.split(tracking + 1, day));
                let holds_grow = day == Day::Healthy || p.event_hold <= p.event_hold_slow;
                let split = format!("from {tracking} tracking slots to one more, {day:?}");
                Held::all([
                    Held::at_most(
                        format!("tracking dropped, {split}"),
                        after.tracking.dropped,
                        before.tracking.dropped,
                    ),
                    Held::provided(holds_grow, || {
                        Held::at_most(format!("events dropped, {split}"), before.event.dropped, after.event.dropped)
                    }),
                ])
            }))
        })
    })
}

fn sharing_drops_no_more(p: &Parameters) -> Held {
    let shared = p.run(Layout::Shared, Day::Healthy);
    p.on_each_split(|tracking| {
        let split = p.split(tracking, Day::Healthy);
        Held::at_most(format!("dropped from one pool, beside {tracking} slots"), shared.dropped(), split.dropped())
    })
}

fn sharing_drops_no_more_at_equal_holds(p: &Parameters) -> Held {
    sharing_drops_no_more(&Parameters { event_hold: p.tracking_hold, ..p.clone() })
}

fn idle_slots_count_drops(p: &Parameters) -> Held {
    let split = p.split(p.tracking_slots, Day::Healthy);
    Held::equal("idle slots, beside the drops next to them", split.idle_slots, split.dropped_beside_idle)
}

fn drops_beside_idle_bounded(p: &Parameters) -> Held {
    let shared = DAYS.map(|day| p.run(Layout::Shared, day)).map(|c| (c.idle_slots, c.dropped_beside_idle));
    let of_splits = p.on_each_split(|tracking| {
        Held::all(DAYS.map(|day| {
            let c = p.split(tracking, day);
            let event_slots = (p.slots - tracking) as u64;
            let most = c.tracking.dropped * event_slots + c.event.dropped * tracking as u64;
            let split = format!("{tracking} tracking slots, {day:?}");
            Held::all([
                Held::at_most(format!("dropped beside idle slots, {split}"), c.dropped_beside_idle, c.dropped()),
                Held::at_most(format!("idle slots not counted, {split}"), c.dropped_beside_idle, c.idle_slots),
                Held::at_most(format!("idle slots, {split}"), c.idle_slots, most),
            ])
        }))
    });
    Held::all([Held::equal("idle slots beside a single pool", shared, [(0, 0); 2]), of_splits])
}

fn no_slowdown_no_second_day(p: &Parameters) -> Held {
    let usual = Parameters { event_hold_slow: p.event_hold, ..p.clone() };
    let layouts = p.splits().map(|tracking| Layout::Split { tracking }).chain([Layout::Shared]);
    Held::all(layouts.map(|layout| {
        let [healthy, slow] = DAYS.map(|day| usual.run(layout, day));
        Held::equal(format!("{layout:?}"), slow, healthy)
    }))
}

/// A flow that has all slots needs no wall, a flow without slots is all dropped.
fn one_flow_or_no_slot(p: &Parameters) -> Held {
    let no_events = Parameters { event_rate: 0.0, ..p.clone() };
    let no_tracking = Parameters { tracking_rate: 0.0, ..p.clone() };
    Held::all(DAYS.map(|day| {
        let none = p.with_pools(0, 0, day);
        let without = [p.split(0, day).tracking.responses, p.split(p.slots, day).event.responses];
        Held::all([
            Held::equal("without events", no_events.split(p.slots, day), no_events.run(Layout::Shared, day)),
            Held::equal("without tracking", no_tracking.split(0, day), no_tracking.run(Layout::Shared, day)),
            Held::equal("answers of a flow without slots", without, [0; 2]),
            Held::equal("answers without slots", [none.tracking.responses, none.event.responses], [0; 2]),
            Held::equal("busy slots without slots", none.busy_rounds, 0),
        ])
    }))
}
