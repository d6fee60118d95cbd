//! Claim Check Pattern: what does a queue save when a large payload stays outside the message, and what can go wrong
//! between the two writes that replace one?
//!
//! A producer reports deliveries with a proof attached, or writes the proof to a store and sends a check for it. It
//! may crash before the message is written; the consumer may crash before it acknowledges, so that the message comes
//! once more. Left out: the producer's own retries, reads that fail, and time, so that a lifetime never runs out.

mod invariants;

use crate::calendar::{DAYS_A_YEAR, SECONDS_A_DAY};
use crate::figures::{Block, Figure, Mark, Report};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{Congruential, Uniform};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What the lesson's two programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    /// Deliveries reported in one run.
    events: usize,
    event_bytes: u64,
    proof_bytes: u64,
    check_bytes: u64,
    failure_free: Crashes,
    failure_window: Crashes,
    daily_shipments: u64,
    /// Peak rate over the day's average.
    peak_factor: f64,
    write_entry_mbit: f64,
    daily_growth_mb: f64,
    stored_gb: f64,
    backlog_events: f64,
    /// One of so many state events is a delivery.
    events_per_shipment: u64,
    lifetimes_days: Vec<u64>,
}

/// How likely a process is to stop in the gap between two remote steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Crashes {
    /// Before the message is written.
    producer: f64,
    /// After the work, before the acknowledgment.
    consumer: f64,
}

/// Where the proof travels, and when it is deleted if it does not travel in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Attached,
    /// A check; the consumer deletes the proof once it has processed the message.
    DeletedAtOnce,
    /// A check; the proof outlives every redelivery.
    KeptForLifetime,
}

impl Layout {
    const ALL: [Self; 3] = [Self::Attached, Self::DeletedAtOnce, Self::KeptForLifetime];

    fn name(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::DeletedAtOnce => "immediate",
            Self::KeptForLifetime => "lifetime",
        }
    }

    fn uses_check(self) -> bool {
        self != Self::Attached
    }
}

/// The payload store: which event's proof it holds.
struct ProofStore(Vec<bool>);

impl ProofStore {
    fn put(&mut self, event: usize) {
        self.0[event] = true;
    }

    fn holds(&self, event: usize) -> bool {
        self.0[event]
    }

    fn delete(&mut self, event: usize) {
        self.0[event] = false;
    }

    fn len(&self) -> usize {
        self.0.iter().filter(|held| **held).count()
    }
}

struct Message {
    event: usize,
    redelivered: bool,
}

/// What one run counted.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    deliveries: u64,
    /// Neither message nor proof was written.
    lost_events: u64,
    /// The proof was written, the message was not.
    orphaned: u64,
    /// Whose message was there, its proof no longer.
    dangling: Vec<usize>,
    /// How often each event was processed.
    times_processed: Vec<u8>,
    in_store: usize,
}

impl Counts {
    fn processed(&self) -> u64 {
        self.times_processed.iter().map(|times| u64::from(*times)).sum()
    }
}

impl Parameters {
    fn message_bytes(&self, layout: Layout) -> u64 {
        self.event_bytes + if layout.uses_check() { self.check_bytes } else { self.proof_bytes }
    }

    fn run(&self, layout: Layout, crashes: &Crashes) -> Counts {
        let mut random = Congruential::new(self.seed);
        let mut store = ProofStore(vec![false; self.events]);
        let mut queue = VecDeque::with_capacity(self.events);
        let mut counts = Counts { times_processed: vec![0; self.events], ..Counts::default() };

        for event in 0..self.events {
            if layout.uses_check() {
                store.put(event);
            }
            match (random.chance(crashes.producer), layout.uses_check()) {
                (true, true) => counts.orphaned += 1,
                (true, false) => counts.lost_events += 1,
                (false, _) => queue.push_back(Message { event, redelivered: false }),
            }
        }
        while let Some(Message { event, redelivered }) = queue.pop_front() {
            counts.deliveries += 1;
            if layout.uses_check() && !store.holds(event) {
                counts.dangling.push(event);
                continue;
            }
            counts.times_processed[event] += 1;
            if layout == Layout::DeletedAtOnce {
                store.delete(event);
            }
            if random.chance(crashes.consumer) && !redelivered {
                queue.push_back(Message { event, redelivered: true });
            }
        }
        Counts { in_store: store.len(), ..counts }
    }

    fn moved_bytes(&self, layout: Layout, run: &Counts) -> u64 {
        run.deliveries * self.message_bytes(layout)
    }

    /// Every shipment is delivered once.
    fn peak_deliveries(&self) -> f64 {
        self.daily_shipments as f64 / SECONDS_A_DAY * self.peak_factor
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.integer("events", self.events, 0..=10_000_000);
        d.integer("event_bytes", self.event_bytes, 0..=1_000_000_000);
        d.integer("proof_bytes", self.proof_bytes, 0..=1_000_000_000);
        d.integer("check_bytes", self.check_bytes, 0..=1_000_000_000);
        d.group("failure_free", |d| self.failure_free.declare(d));
        d.group("failure_window", |d| self.failure_window.declare(d));
        d.integer("daily_shipments", self.daily_shipments, 0..=1_000_000_000);
        d.real("peak_factor", self.peak_factor, 0.0..=1_000.0);
        d.real("write_entry_mbit", self.write_entry_mbit, 0.0..=1e6);
        d.real("daily_growth_mb", self.daily_growth_mb, 0.0..=1e9);
        d.real("stored_gb", self.stored_gb, 0.0..=1e9);
        d.real("backlog_events", self.backlog_events, 0.0..=1e12);
        d.integer("events_per_shipment", self.events_per_shipment, 1..=1_000);
        d.list("lifetimes_days", &self.lifetimes_days, 0..=20, |d, i, days| d.integer(i, *days, 0..=100_000));
        d.distinct("lifetimes_days", &self.lifetimes_days);

        // Two conditions; each event is produced, consumed and perhaps consumed again.
        d.steps("events", 2.0 * 3.0 * Layout::ALL.len() as f64 * self.events as f64);
    }

    fn report(&self) -> Report {
        let free = Layout::ALL.map(|layout| self.run(layout, &self.failure_free));
        let window = Layout::ALL.map(|layout| self.run(layout, &self.failure_window));

        let mut measure = Block::new("measure");
        measure.plain("message.attached", self.message_bytes(Layout::Attached));
        measure.plain("message.check", self.message_bytes(Layout::KeptForLifetime));
        measure.plain("parameters.event_bytes", self.event_bytes);
        measure.plain("parameters.proof_bytes", self.proof_bytes);
        measure.plain("parameters.check_bytes", self.check_bytes);
        self.publish_condition(&mut measure, "failure_free", &self.failure_free, &free);
        self.publish_condition(&mut measure, "failure_window", &self.failure_window, &window);

        let mut cost = Block::new("cost");
        self.publish_queue(&mut cost);
        self.publish_store(&mut cost);
        self.publish_daily(&mut cost, &window);
        Report::new([measure, cost])
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Crashes {
    fn declare(&self, d: &mut Declaration) {
        d.real("producer", self.producer, 0.0..=1.0);
        d.real("consumer", self.consumer, 0.0..=1.0);
    }
}

impl Parameters {
    fn publish_condition(&self, block: &mut Block, condition: &str, crashes: &Crashes, runs: &[Counts]) {
        block.plain(format!("{condition}.events"), self.events);
        block.plain(format!("parameters.{condition}.producer"), crashes.producer);
        block.plain(format!("parameters.{condition}.consumer"), crashes.consumer);
        for (layout, run) in Layout::ALL.into_iter().zip(runs) {
            let row = format!("{condition}.{}", layout.name());
            let moved = self.moved_bytes(layout, run);
            block.plain(format!("{row}.deliveries"), run.deliveries);
            block.fixed(format!("{row}.megabytes"), moved as f64 / 1e6, 2);
            block.plain(format!("{row}.lost_events"), run.lost_events);
            block.plain(format!("{row}.orphaned"), run.orphaned);
            block.plain(format!("{row}.dangling"), run.dangling.len());
            block.plain(format!("{row}.processed"), run.processed());
            block.plain(format!("{row}.in_store"), run.in_store);
        }
    }

    /// The published peak, and the published backlog, of each size of message.
    fn publish_queue(&self, block: &mut Block) {
        let peak = self.peak_deliveries();
        let backlog = self.backlog_events / self.events_per_shipment as f64;
        block.fixed("peak_deliveries", peak, 4);
        block.plain("parameters.daily_shipments", self.daily_shipments);
        block.plain("parameters.peak_factor", self.peak_factor);
        let attached = self.message_bytes(Layout::Attached) as f64;
        let check = self.message_bytes(Layout::KeptForLifetime) as f64;
        for (name, bytes) in [("attached", attached), ("check", check)] {
            let row = format!("queue.{name}");
            let mbit = peak * bytes * 8.0 / 1e6;
            block.plain(format!("{row}.message_bytes"), bytes);
            block.fixed(format!("{row}.mbit"), mbit, 4);
            block.push(
                Figure::fixed(format!("{row}.of_write_entry"), mbit / self.write_entry_mbit, 2).marked(Mark::Times),
            );
            block.fixed(format!("{row}.backlog_mb"), backlog * bytes / 1e6, 1);
        }
        block.push(Figure::fixed("queue.byte_ratio", attached / check, 1).marked(Mark::Times));
        block.grouped("queue.backlog_messages", backlog);
        block.grouped("parameters.backlog_events", self.backlog_events);
        block.plain("parameters.events_per_shipment", self.events_per_shipment);
    }

    fn publish_store(&self, block: &mut Block) {
        for &days in &self.lifetimes_days {
            let row = format!("store.days_{days}");
            let proofs = self.daily_shipments * days;
            let gigabytes = proofs as f64 * self.proof_bytes as f64 / 1e9;
            block.plain(format!("{row}.days"), days);
            block.grouped(format!("{row}.proofs"), proofs);
            block.fixed(format!("{row}.gigabytes"), gigabytes, 2);
            let percent = 100.0 * gigabytes / self.stored_gb;
            block.push(Figure::fixed(format!("{row}.of_stored"), percent, 2).marked(Mark::Percent));
            let times = gigabytes * 1000.0 / self.daily_growth_mb;
            block.push(Figure::fixed(format!("{row}.of_daily_growth"), times, 2).marked(Mark::Times));
        }
    }

    /// The failure window's shares, applied to a whole day.
    fn publish_daily(&self, block: &mut Block, window: &[Counts; 3]) {
        let [attached, immediate, _] = window;
        let shipments = self.daily_shipments as f64;
        let daily = |counted: u64| shipments * (counted as f64 / self.events as f64);
        let orphaned_bytes = daily(immediate.orphaned) * self.proof_bytes as f64;
        block.grouped("daily.deliveries", self.daily_shipments);
        block.fixed("daily.dangling", daily(immediate.dangling.len() as u64), 0);
        block.fixed("daily.orphaned", daily(immediate.orphaned), 0);
        block.fixed("daily.orphaned_mb", orphaned_bytes / 1e6, 1);
        block.fixed("yearly.orphaned_gb", orphaned_bytes * DAYS_A_YEAR / 1e9, 2);
        block.fixed("daily.lost_attached", daily(attached.lost_events), 0);
    }
}
