//! Competing Consumers: how far does one more consumer shorten the drain, and what does it do to the order of events?
//!
//! A queue holds the state events of many shipments, those of one shipment close together. Consumers take them one
//! by one; a finished event is applied to a store that takes only so many in a tick, and holds its consumer until
//! then. Left out: failures and redelivery, arrivals while the queue drains, and any real duration.

mod invariants;

use crate::figures::{Block, Figure, Mark, Report};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{SplitMix32, Uniform};
use serde::{Deserialize, Serialize};

/// What the lesson's program holds in constants. Durations are in ticks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    shipments: usize,
    /// State events of a shipment (V4).
    events_per_shipment: usize,
    /// How far apart in the queue the events of one shipment are, in places of an evenly filled queue.
    spacing: f64,
    shortest_duration: u64,
    longest_duration: u64,
    /// The event that ends a shipment also prepares its invoice line.
    final_duration: u64,
    /// How many events the store applies in a tick: the resource that consumers cannot split.
    store_slots: Vec<u64>,
    consumers: Vec<usize>,
    /// The peak of the writes in events a second (K01), and the lower rate at which the queue is worked off.
    peak_write: f64,
    processing_rate: f64,
    /// The number of the lesson that chose the processing rate.
    processing_lesson: u64,
    /// The step beyond the ceiling that the last line looks at.
    beyond: Beyond,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Beyond {
    store_slots: u64,
    consumers: usize,
    more_consumers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    shipment: usize,
    /// The place among the shipment's events, from 0.
    step: usize,
    duration: u64,
}

/// A consumer that holds an event: until it is processed, and then until the store has a slot for it.
#[derive(Debug, Clone, Copy)]
struct Held {
    event: Event,
    remaining: u64,
}

/// An event whose effect stands in the store.
#[derive(Debug, Clone, Copy)]
struct Applied {
    /// Counted from 0.
    tick: u64,
    event: Event,
}

/// What is left when the queue has drained.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Drained {
    ticks: u64,
    throughput: f64,
    /// Shipments of which an event was applied after a later one.
    out_of_order: usize,
    /// Shipments whose last applied event is not their final one.
    wrong_final: usize,
}

impl Parameters {
    /// The queue from front to end.
    fn queue(&self) -> Vec<Event> {
        let mut random = SplitMix32::new(self.seed);
        let mut placed = Vec::with_capacity(self.events());
        for shipment in 0..self.shipments {
            let start = random.next() * self.shipments as f64 * self.spacing;
            for step in 0..self.events_per_shipment {
                let place = start + step as f64 * self.spacing + random.next() * self.spacing;
                let duration = if step == self.final_step() { self.final_duration } else { self.duration(&mut random) };
                placed.push((place, Event { shipment, step, duration }));
            }
        }
        placed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        placed.into_iter().map(|(_, event)| event).collect()
    }

    fn duration(&self, random: &mut SplitMix32) -> u64 {
        let choices = self.longest_duration - self.shortest_duration + 1;
        self.shortest_duration + (random.next() * choices as f64).floor() as u64
    }

    fn events(&self) -> usize {
        self.shipments * self.events_per_shipment
    }

    fn final_step(&self) -> usize {
        self.events_per_shipment - 1
    }

    fn drain(&self, queue: &[Event], consumers: usize, store_slots: u64) -> Drained {
        let applied = apply_all(queue, consumers, store_slots);
        let mut last_step: Vec<Option<usize>> = vec![None; self.shipments];
        let mut out_of_order = vec![false; self.shipments];
        for Event { shipment, step, .. } in applied.iter().map(|applied| applied.event) {
            out_of_order[shipment] |= last_step[shipment].is_some_and(|last| step < last);
            last_step[shipment] = Some(step);
        }
        let ticks = applied.last().map_or(0, |last| last.tick + 1);
        Drained {
            ticks,
            throughput: queue.len() as f64 / ticks as f64,
            out_of_order: out_of_order.iter().filter(|broken| **broken).count(),
            wrong_final: last_step.iter().filter(|last| **last != Some(self.final_step())).count(),
        }
    }
}

/// Drains the queue; every event in the order in which the store took it.
fn apply_all(queue: &[Event], consumers: usize, store_slots: u64) -> Vec<Applied> {
    let mut consumers: Vec<Option<Held>> = vec![None; consumers];
    let mut waiting = queue.iter();
    let mut applied = Vec::with_capacity(queue.len());
    let mut tick = 0;
    while applied.len() < queue.len() {
        for held in consumers.iter_mut().flatten() {
            held.remaining = held.remaining.saturating_sub(1);
        }
        let mut slots_left = store_slots;
        for consumer in &mut consumers {
            if let Some(Held { event, remaining: 0 }) = *consumer
                && slots_left > 0
            {
                slots_left -= 1;
                applied.push(Applied { tick, event });
                *consumer = None;
            }
        }
        for idle in consumers.iter_mut().filter(|consumer| consumer.is_none()) {
            *idle = waiting.next().map(|event| Held { event: *event, remaining: event.duration });
        }
        tick += 1;
    }
    applied
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.integer("shipments", self.shipments, 1..=1_000_000);
        d.integer("events_per_shipment", self.events_per_shipment, 1..=1_000);
        d.real("spacing", self.spacing, 0.0..=1e6);
        d.integer("shortest_duration", self.shortest_duration, 0..=10_000);
        d.integer("longest_duration", self.longest_duration, 0..=10_000);
        d.require("longest_duration", self.shortest_duration <= self.longest_duration, "at least `shortest_duration`");
        d.integer("final_duration", self.final_duration, 0..=10_000);
        // Without a consumer or a slot the queue never drains.
        d.list("store_slots", &self.store_slots, 0..=20, |d, i, slots| d.integer(i, *slots, 1..=10_000));
        d.distinct("store_slots", &self.store_slots);
        d.list("consumers", &self.consumers, 0..=50, |d, i, consumers| d.integer(i, *consumers, 1..=1_000));
        d.distinct("consumers", &self.consumers);
        d.real("peak_write", self.peak_write, 0.0..=1e6);
        d.real("processing_rate", self.processing_rate, 0.0..=1e6);
        d.integer("processing_lesson", self.processing_lesson, 0..=99);
        d.group("beyond", |d| {
            let Beyond { store_slots, consumers, more_consumers } = self.beyond;
            d.integer("store_slots", store_slots, 1..=10_000);
            d.integer("consumers", consumers, 1..=1_000);
            d.integer("more_consumers", more_consumers, 1..=1_000);
            d.require("more_consumers", consumers <= more_consumers, "at least `consumers`");
        });

        // A tick looks at every consumer; there are as many ticks as the consumers' work or the store's slots ask for.
        let events = self.shipments as f64 * self.events_per_shipment as f64;
        let work = events * self.longest_duration.max(self.final_duration).max(1) as f64;
        let run = |consumers: usize, slots: u64| work + events * consumers as f64 / slots as f64;
        let swept = self.store_slots.iter().flat_map(|s| self.consumers.iter().map(move |n| run(*n, *s)));
        let beyond = |consumers| run(consumers, self.beyond.store_slots);
        let steps = swept.sum::<f64>() + run(1, 1) + beyond(self.beyond.consumers) + beyond(self.beyond.more_consumers);
        d.steps("shipments", steps);
    }

    fn report(&self) -> Report {
        let queue = self.queue();
        // One consumer never fills a slot beyond the first, so this is the baseline of every table.
        let alone = self.drain(&queue, 1, 1);
        let mut block = Block::new("consumer");
        block.plain("parameters.shipments", self.shipments);
        block.plain("parameters.events_per_shipment", self.events_per_shipment);
        block.plain("events", queue.len());
        for (i, &slots) in self.store_slots.iter().enumerate() {
            block.plain(format!("parameters.store_slots.{i}"), slots);
            let mut previous = None;
            for (j, &consumers) in self.consumers.iter().enumerate() {
                let row = format!("slots_{slots}.consumers_{consumers}");
                let drained = self.drain(&queue, consumers, slots);
                let speedup = alone.ticks as f64 / drained.ticks as f64;
                let contribution = previous.map(|(fewer, less)| (speedup - less) / (consumers as f64 - fewer as f64));
                block.plain(format!("parameters.consumers.{j}"), consumers);
                block.plain(format!("{row}.ticks"), drained.ticks);
                block.fixed(format!("{row}.speedup"), speedup, 2);
                block.fixed(format!("{row}.contribution"), contribution, 3);
                block.fixed(format!("{row}.throughput"), drained.throughput, 3);
                block.plain(format!("{row}.out_of_order"), drained.out_of_order);
                block.plain(format!("{row}.wrong_final"), drained.wrong_final);
                previous = Some((consumers, speedup));
            }
        }
        self.ceilings(&mut block, alone.throughput);
        self.beyond_the_ceiling(&mut block, &queue);

        let mut report = Report::new([block]);
        report.fact("alone.throughput", alone.throughput);
        report.fact("alone.ticks", alone.ticks);
        report
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Parameters {
    /// So many times the rate of one consumer is the most that a group behind one store delivers.
    fn ceilings(&self, block: &mut Block, alone: f64) {
        block.plain("parameters.peak_write", self.peak_write);
        block.push(Figure::padded("parameters.processing_lesson", self.processing_lesson, 2));
        block.plain("parameters.processing_rate", self.processing_rate);
        for (i, &slots) in self.store_slots.iter().enumerate() {
            let ceiling = slots as f64 / alone;
            block.plain(format!("parameters.store_slots.{i}"), slots);
            block.fixed(format!("slots_{slots}.ceiling"), ceiling, 2);
            block.fixed(format!("slots_{slots}.least_rate_queued"), self.processing_rate / ceiling, 2);
            block.fixed(format!("slots_{slots}.least_rate_synchronous"), self.peak_write / ceiling, 2);
        }
    }

    fn beyond_the_ceiling(&self, block: &mut Block, queue: &[Event]) {
        let Beyond { store_slots, consumers, more_consumers } = self.beyond;
        let fewer = self.drain(queue, consumers, store_slots);
        let more = self.drain(queue, more_consumers, store_slots);
        let change = |before: f64, after: f64| (after / before - 1.0) * 100.0;
        let ticks = change(fewer.ticks as f64, more.ticks as f64);
        let out_of_order = change(fewer.out_of_order as f64, more.out_of_order as f64);
        block.plain("parameters.beyond.store_slots", store_slots);
        block.plain("parameters.beyond.consumers", consumers);
        block.plain("parameters.beyond.more_consumers", more_consumers);
        block.push(Figure::fixed("beyond.ticks", ticks, 1).marked(Mark::Percent));
        block.push(Figure::fixed("beyond.out_of_order", out_of_order, 0).marked(Mark::Percent).with_plus());
        block.plain("beyond.wrong_final_before", fewer.wrong_final);
        block.plain("beyond.wrong_final_after", more.wrong_final);
    }
}
