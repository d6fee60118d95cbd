//! What lanes guarantee and cost, and what a version stamp loses, for any queue of events and any consumers.

use super::{Arrangement, Event, LaneKey, Outcome, Parameters, Slot};
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-event-once", check: every_event_once },
        Invariant { id: "lane-is-a-sequence", check: lane_is_a_sequence },
        Invariant { id: "free-wastes-little", check: free_wastes_little },
        Invariant { id: "pace-bounded-by-lane-and-consumers", check: pace_bounded_by_lane_and_consumers },
        Invariant { id: "consumer-a-lane-reaches-the-ceiling", check: consumer_a_lane_reaches_the_ceiling },
        Invariant { id: "consumer-an-event-reaches-the-ceiling", check: consumer_an_event_reaches_the_ceiling },
        Invariant { id: "multiplied-consumers-restore-the-pace", check: multiplied_consumers_restore_the_pace },
        Invariant { id: "one-consumer-costs-nothing", check: one_consumer_costs_nothing },
        Invariant { id: "more-consumers-never-later", check: more_consumers_never_later },
        Invariant { id: "lanes-never-sooner", check: lanes_never_sooner },
        Invariant { id: "line-lanes-never-sooner", check: line_lanes_never_sooner },
        Invariant { id: "convoy-has-no-backward-write", check: convoy_has_no_backward_write },
        Invariant { id: "convoy-keeps-the-queue-order", check: convoy_keeps_the_queue_order },
        Invariant { id: "any-key-keeps-the-queue-order", check: any_key_keeps_the_queue_order },
        Invariant { id: "stamp-costs-no-time", check: stamp_costs_no_time },
        Invariant { id: "stamp-skips-the-backward-writes", check: stamp_skips_the_backward_writes },
        Invariant { id: "stamp-skips-no-fewer", check: stamp_skips_no_fewer },
        Invariant { id: "wrong-end-needs-backward-write", check: wrong_end_needs_backward_write },
        Invariant { id: "selective-convoy-between", check: selective_convoy_between },
    ]
}

impl Parameters {
    fn has_work(&self) -> bool {
        self.events.iter().any(|event| event.duration > 0)
    }

    fn longest_event(&self) -> u64 {
        self.events.iter().map(|event| event.duration).max().unwrap_or(0)
    }

    /// No shipment has events in two lines: then each lane of a line is made of whole lanes of shipments.
    fn one_line_a_shipment(&self) -> bool {
        let mut lines: BTreeMap<&str, &str> = BTreeMap::new();
        self.events.iter().all(|event| *lines.entry(&event.shipment).or_insert(&event.line) == event.line)
    }

    fn keeps_shipments_in_order(&self, key: LaneKey) -> bool {
        key == LaneKey::Shipment || self.one_line_a_shipment()
    }

    /// An event that starts sooner than it does in the other arrangement.
    fn sooner<'a>(&'a self, slots: &[Slot], others: &[Slot]) -> Option<(&'a Event, Slot, Slot)> {
        let pairs = self.events.iter().zip(slots.iter().zip(others));
        pairs.map(|(event, (slot, other))| (event, *slot, *other)).find(|(_, slot, other)| slot.start < other.start)
    }

    fn reaches_the_last_state(&self, shipment: &str) -> bool {
        let last = self.states.last();
        self.events.iter().any(|event| event.shipment == shipment && Some(&event.state) == last)
    }

    /// Shipment by shipment, in the order of the queue: backward writes, and shipments that end before the last state.
    fn in_queue_order(&self) -> (usize, BTreeSet<&str>) {
        let mut courses: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for event in &self.events {
            courses.entry(&event.shipment).or_default().push(self.step(event));
        }
        let backward = |course: &Vec<usize>| course.windows(2).filter(|pair| pair[1] < pair[0]).count();
        let wrong = courses.iter().filter(|(_, course)| course.last() != Some(&(self.states.len() - 1)));
        (courses.values().map(backward).sum(), wrong.map(|(shipment, _)| *shipment).collect())
    }
}

impl<'a> Outcome<'a> {
    fn backward_and_wrong(&self) -> (usize, BTreeSet<&'a str>) {
        (self.backward_writes, self.wrong.iter().copied().collect())
    }
}

fn each_pace(p: &Parameters, mut check: impl FnMut(Arrangement, &Outcome) -> Held) -> Held {
    Held::all(Arrangement::ALL.map(|arrangement| check(arrangement, &p.run(arrangement, p.consumers))))
}

/// Who works is counted anew at every start, since no more can be at work at any other time.
fn every_event_once(p: &Parameters) -> Held {
    each_pace(p, |arrangement, run| {
        let durations: Vec<u64> = run.slots.iter().map(|slot| slot.finish - slot.start).collect();
        let at_work = |now: u64| run.slots.iter().filter(|slot| slot.start <= now && now < slot.finish).count();
        let most = run.slots.iter().map(|slot| at_work(slot.start)).max().unwrap_or(0);
        Held::all([
            Held::equal("durations", durations, p.events.iter().map(|event| event.duration).collect()),
            Held::at_most(format!("consumers at work, {arrangement:?}"), most, p.consumers),
            Held::equal(
                "work in lanes",
                run.lanes.values().sum(),
                match arrangement {
                    Arrangement::Convoy(_) => run.workload,
                    Arrangement::Free | Arrangement::VersionStamp => 0,
                },
            ),
        ])
    })
}

fn lane_is_a_sequence(p: &Parameters) -> Held {
    Held::all([Arrangement::CONVOY, Arrangement::LINE_CONVOY].map(|arrangement| {
        let mut lane_free: BTreeMap<Option<&str>, u64> = BTreeMap::new();
        let slots = p.process(arrangement, p.consumers);
        let overlap = p.events.iter().zip(slots).find(|(event, slot)| {
            let free = lane_free.insert(arrangement.lane(event), slot.finish);
            free.is_some_and(|free| slot.start < free)
        });
        Held::equal(format!("starts before its lane is free, {arrangement:?}"), overlap, None)
    }))
}

/// Nobody waits while there is work: at the end all but one are idle for the longest event at most.
fn free_wastes_little(p: &Parameters) -> Held {
    let run = p.run(Arrangement::Free, p.consumers);
    let consumers = p.consumers as u64;
    let bound = run.workload + (consumers - 1) * p.longest_event();
    Held::all([
        Held::at_most("work", run.workload, consumers * run.ticks),
        Held::at_most("time of all consumers", consumers * run.ticks, bound),
    ])
}

fn pace_bounded_by_lane_and_consumers(p: &Parameters) -> Held {
    each_pace(p, |arrangement, run| {
        Held::all([
            Held::at_most(format!("busiest lane, {arrangement:?}"), run.busiest_lane(), run.ticks),
            Held::at_most("longest event", p.longest_event(), run.ticks),
            Held::at_most("work a consumer", run.workload.div_ceil(p.consumers as u64), run.ticks),
            Held::at_most("ticks", run.ticks, run.workload),
        ])
    })
}

fn consumer_a_lane_reaches_the_ceiling(p: &Parameters) -> Held {
    Held::all([Arrangement::CONVOY, Arrangement::LINE_CONVOY].map(|arrangement| {
        let run = p.run(arrangement, p.ceiling_consumers);
        Held::provided(p.ceiling_consumers >= run.lanes.len(), || {
            Held::equal(format!("ticks, {arrangement:?}"), run.ticks, run.busiest_lane())
        })
    }))
}

/// With fewer consumers one of them may wait for a busy lane with an event in its hands, and an idle lane for it.
fn consumer_an_event_reaches_the_ceiling(p: &Parameters) -> Held {
    Held::all([p.events.len(), p.events.len() + 1].map(|consumers| {
        let [free, convoy, line_convoy] = Arrangement::PACES.map(|arrangement| p.run(arrangement, consumers));
        Held::all([
            Held::equal("free", free.ticks, p.longest_event()),
            Held::equal("convoy", convoy.ticks, convoy.busiest_lane()),
            Held::equal("line convoy", line_convoy.ticks, line_convoy.busiest_lane()),
        ])
    }))
}

/// As the lesson reads its multiplier: so many times the consumers, for the same completion rate.
fn multiplied_consumers_restore_the_pace(p: &Parameters) -> Held {
    let free = p.run(Arrangement::Free, p.consumers);
    Held::all([Arrangement::CONVOY, Arrangement::LINE_CONVOY].map(|arrangement| {
        Held::provided(p.has_work(), || {
            let factor = free.concurrency() / p.run(arrangement, p.consumers).concurrency();
            let consumers = (p.consumers as f64 * factor).ceil() as usize;
            let ticks = p.run(arrangement, consumers).ticks;
            Held::at_most(format!("ticks with {consumers} consumers, {arrangement:?}"), ticks, free.ticks)
        })
    }))
}

fn one_consumer_costs_nothing(p: &Parameters) -> Held {
    let expected = p.in_queue_order();
    Held::all(Arrangement::PACES.map(|arrangement| {
        let run = p.run(arrangement, 1);
        Held::all([
            Held::equal(format!("ticks, {arrangement:?}"), run.ticks, run.workload),
            Held::equal("backward writes, wrong", run.backward_and_wrong(), expected.clone()),
        ])
    }))
}

fn more_consumers_never_later(p: &Parameters) -> Held {
    Held::all(Arrangement::PACES.map(|arrangement| {
        let [fewer, more] = [p.consumers, p.consumers + 1].map(|consumers| p.process(arrangement, consumers));
        Held::equal(format!("later with one more, {arrangement:?}"), p.sooner(&fewer, &more), None)
    }))
}

fn lanes_never_sooner(p: &Parameters) -> Held {
    let free = p.process(Arrangement::Free, p.consumers);
    Held::all([Arrangement::CONVOY, Arrangement::LINE_CONVOY].map(|arrangement| {
        let slots = p.process(arrangement, p.consumers);
        Held::equal(format!("sooner than without lanes, {arrangement:?}"), p.sooner(&slots, &free), None)
    }))
}

fn line_lanes_never_sooner(p: &Parameters) -> Held {
    Held::provided(p.one_line_a_shipment(), || {
        let (fine, coarse) = (p.run(Arrangement::CONVOY, p.consumers), p.run(Arrangement::LINE_CONVOY, p.consumers));
        Held::all([
            Held::equal("sooner than with a lane a shipment", p.sooner(&coarse.slots, &fine.slots), None),
            Held::at_most("busiest lane", fine.busiest_lane(), coarse.busiest_lane()),
            Held::at_most("lanes", coarse.lanes.len(), fine.lanes.len()),
        ])
    })
}

fn convoy_has_no_backward_write(p: &Parameters) -> Held {
    let run = p.run(Arrangement::CONVOY, p.consumers);
    Held::equal("backward writes, wrong", run.backward_and_wrong(), (0, BTreeSet::new()))
}

fn convoy_keeps_the_queue_order(p: &Parameters) -> Held {
    let expected = p.in_queue_order();
    Held::all([LaneKey::Shipment, LaneKey::Line].map(|key| {
        Held::provided(p.keeps_shipments_in_order(key), || {
            let run = p.run(Arrangement::Convoy(key), p.consumers);
            Held::equal(format!("backward writes, wrong, {key:?}"), run.backward_and_wrong(), expected.clone())
        })
    }))
}

fn any_key_keeps_the_queue_order(p: &Parameters) -> Held {
    let run = p.run(Arrangement::LINE_CONVOY, p.consumers);
    Held::equal("backward writes, wrong", run.backward_and_wrong(), p.in_queue_order())
}

/// Every shipment ends in the latest state that it has an event of; what is left out of its history was behind that.
fn stamp_costs_no_time(p: &Parameters) -> Held {
    let (free, stamp) = (p.run(Arrangement::Free, p.consumers), p.run(Arrangement::VersionStamp, p.consumers));
    let never_last = |event: &&Event| !p.reaches_the_last_state(&event.shipment);
    let unfinished: BTreeSet<&str> = p.events.iter().filter(never_last).map(|event| event.shipment.as_str()).collect();
    Held::all([
        Held::equal("starts and finishes", &stamp.slots, &free.slots),
        Held::equal("wrong", stamp.wrong.iter().copied().collect(), unfinished),
        Held::equal("rejected backward writes", stamp.skipped, stamp.backward_writes),
        Held::equal("rejected without a stamp", free.skipped, 0),
    ])
}

fn skipped_and_backward(p: &Parameters) -> (usize, usize) {
    let [free, stamp] =
        [Arrangement::Free, Arrangement::VersionStamp].map(|arrangement| p.run(arrangement, p.consumers));
    (stamp.skipped, free.backward_writes)
}

fn stamp_skips_the_backward_writes(p: &Parameters) -> Held {
    let (skipped, backward) = skipped_and_backward(p);
    Held::equal("skipped events", skipped, backward)
}

fn stamp_skips_no_fewer(p: &Parameters) -> Held {
    let (skipped, backward) = skipped_and_backward(p);
    Held::all([
        Held::at_most("backward writes", backward, skipped),
        Held::equal("one without the other", backward == 0, skipped == 0),
    ])
}

/// Every shipment that has an event of the last state, and ends before it, was set back at least once.
fn wrong_end_needs_backward_write(p: &Parameters) -> Held {
    each_pace(p, |arrangement, run| {
        let set_back = run.wrong.iter().filter(|shipment| p.reaches_the_last_state(shipment)).count();
        Held::at_most(format!("shipments set back in the end, {arrangement:?}"), set_back, run.backward_writes)
    })
}

/// None of the events through the convoy costs nothing, all of them the whole multiplier, and in between it is linear.
fn selective_convoy_between(p: &Parameters) -> Held {
    let rates = |events: u64| -> [f64; 2] {
        let report = Parameters { constrained_events: vec![events], ..p.clone() }.report();
        let rate = |name: &str| {
            let name = format!("cost.constrained_{events}.{name}");
            report.figures().find(|figure| figure.name == name).and_then(|figure| figure.value.as_f64())
        };
        ["convoy", "line_convoy"].map(|name| rate(name).unwrap_or(f64::NAN))
    };
    Held::provided(p.has_work(), || {
        let all = p.events_per_shipment;
        let ticks = |arrangement| p.run(arrangement, p.consumers).ticks as f64;
        let ratios =
            [Arrangement::CONVOY, Arrangement::LINE_CONVOY].map(|lanes| ticks(lanes) / ticks(Arrangement::Free));
        let between = p.constrained_events.iter().map(|&events| {
            let share = events as f64 / all as f64;
            Held::all(rates(events).into_iter().zip(ratios).map(|(rate, ratio)| {
                Held::close(format!("multiplier at {events} events"), rate - 1.0, share * (ratio - 1.0))
            }))
        });
        // The multiplier is a ratio of concurrencies: rounded otherwise than one of ticks.
        let ends =
            rates(0).into_iter().map(|rate| Held::equal("multiplier at no event", rate.to_bits(), 1.0_f64.to_bits()));
        let whole =
            rates(all).into_iter().zip(ratios).map(|(rate, ratio)| Held::close("multiplier at all", rate, ratio));
        Held::all(between.chain(ends).chain(whole))
    })
}
