//! Stateless Services: what becomes of data that connects two requests, if a replica keeps it to itself or outside?
//!
//! A client opens a session and sends its tracking requests to the replicas in turn; then a replica restarts. The
//! replicas are objects that answer one request after the other, each with its own memory or with a store that all
//! share. Left out: requests at the same time (the read and the write of a list are two steps), and how long
//! anything takes.

mod invariants;

use crate::figures::{Block, Figure, Mark, Report};
use crate::invariants::Invariant;
use crate::json;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the lesson's programs hold in constants, and what they take from the traffic layer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    replicas: usize,
    /// Which of them restarts, from 1.
    restarted_replica: usize,
    /// A tracking request writes its session back (U1).
    writes_back: bool,
    /// Tracking requests of the session.
    requests: usize,
    /// The shipment of the first request; each further request asks for the next.
    first_shipment: u64,
    /// Requests per second at the edge.
    peak_edge: f64,
    /// Requests per second that saturate a replica, and the share of it that counts as safe.
    saturation: f64,
    target_utilization: f64,
    /// How unevenly sticky sessions load that many replicas.
    sticky: Vec<Spread>,
    /// Share of the largest session.
    serial_fraction: f64,
    /// Requests per second that reach the store.
    store_requests: f64,
    write_ingress_mbit: f64,
    /// Shipments in a session that travels with its requests.
    list_lengths: Vec<u64>,
}

/// The busiest replica's load over the average one's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spread {
    replicas: u64,
    imbalance: f64,
}

/// The shipments that a session watches, in the order of the requests.
type Session = Vec<String>;

/// Where sessions are kept, by name.
#[derive(Debug, Default)]
struct Sessions {
    kept: BTreeMap<&'static str, Session>,
    reads: u64,
    writes: u64,
}

impl Sessions {
    fn read(&mut self, name: &str) -> Option<Session> {
        self.reads += 1;
        self.kept.get(name).cloned()
    }

    fn write(&mut self, name: &'static str, session: Session) {
        self.writes += 1;
        self.kept.insert(name, session);
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// In the memory of the replica that answers.
    Memory,
    /// In a process of its own.
    External,
}

/// The running processes: replicas with their memory, and the state store.
struct System {
    mode: Mode,
    writes_back: bool,
    memories: Vec<Sessions>,
    store: Sessions,
}

impl System {
    fn start(mode: Mode, writes_back: bool, replicas: usize) -> Self {
        let memories = (0..replicas).map(|_| Sessions::default()).collect();
        Self { mode, writes_back, memories, store: Sessions::default() }
    }

    /// A new process takes the replica's place; what the old one had in memory is gone.
    fn restart(&mut self, replica: usize) {
        self.memories[replica] = Sessions::default();
    }

    /// Where the process of a replica finds sessions.
    fn sessions(&mut self, replica: usize) -> &mut Sessions {
        match self.mode {
            Mode::Memory => &mut self.memories[replica],
            Mode::External => &mut self.store,
        }
    }

    fn open(&mut self, replica: usize) {
        self.sessions(replica).write(SESSION, Session::new());
    }

    /// Answers a tracking request; none where the replica finds no session.
    fn track(&mut self, replica: usize, shipment: String) -> Option<()> {
        let writes_back = self.writes_back;
        let sessions = self.sessions(replica);
        let mut session = sessions.read(SESSION)?;
        if writes_back {
            session.push(shipment);
            sessions.write(SESSION, session);
        }
        Some(())
    }

    /// How many shipments the replica thinks the session watches.
    fn watched(&mut self, replica: usize) -> Option<usize> {
        Some(self.sessions(replica).read(SESSION)?.len())
    }
}

/// The one session of the client.
const SESSION: &str = "S1";

/// What the client saw, and what the store had to do for it.
struct Outcome {
    /// Tracking requests that found their session.
    found: usize,
    /// Shipments that each replica counts afterwards.
    summary: Vec<Option<usize>>,
    /// What the restarted replica counts.
    after_restart: Option<usize>,
    reads_per_request: f64,
    writes_per_request: f64,
    /// Bytes of the session as the store holds it in the end.
    stored_bytes: Option<usize>,
}

impl Parameters {
    fn run(&self, mode: Mode) -> Outcome {
        let mut system = System::start(mode, self.writes_back, self.replicas);
        system.open(0);
        let (reads, writes) = (system.store.reads, system.store.writes);
        let mut found = 0;
        for (i, shipment) in self.shipments(self.requests as u64).into_iter().enumerate() {
            found += usize::from(system.track(i % self.replicas, shipment).is_some());
        }
        let per_request = |operations: u64| operations as f64 / self.requests as f64;
        let reads_per_request = per_request(system.store.reads - reads);
        let writes_per_request = per_request(system.store.writes - writes);
        let summary = (0..self.replicas).map(|replica| system.watched(replica)).collect();

        let restarted = self.restarted_replica - 1;
        system.restart(restarted);
        let after_restart = system.watched(restarted);
        let stored_bytes = system.store.kept.get(SESSION).map(session_bytes);
        Outcome { found, summary, after_restart, reads_per_request, writes_per_request, stored_bytes }
    }

    /// Requests per second at the busiest of so many replicas.
    fn busiest_rate(&self, imbalance: f64, replicas: u64) -> f64 {
        imbalance * self.peak_edge / replicas as f64
    }

    /// Replicas with which the busiest one stays at the safe share of its saturation.
    fn needed(&self, imbalance: f64) -> f64 {
        (imbalance * self.peak_edge / (self.saturation * self.target_utilization)).ceil()
    }

    fn shipments(&self, count: u64) -> Session {
        (0..count).map(|i| format!("TR-{}", self.first_shipment + i)).collect()
    }
}

fn session_bytes(session: &Session) -> usize {
    json::bytes(&Value::from(session.as_slice()))
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("replicas", self.replicas, 1..=1_000);
        d.integer("restarted_replica", self.restarted_replica, 1..=1_000);
        d.require("restarted_replica", self.restarted_replica <= self.replicas, "one of the `replicas`");
        d.flag("writes_back", self.writes_back);
        d.integer("requests", self.requests, 1..=2_000);
        d.integer("first_shipment", self.first_shipment, 0..=1_000_000_000_000);
        d.real("peak_edge", self.peak_edge, 0.0..=1e9);
        d.real("saturation", self.saturation, 0.001..=1e9);
        d.real("target_utilization", self.target_utilization, 0.001..=1.0);
        d.list("sticky", &self.sticky, 0..=50, |d, i, spread| {
            d.group(i, |d| {
                d.integer("replicas", spread.replicas, 1..=1_000_000);
                d.real("imbalance", spread.imbalance, 1.0..=1e6);
            });
        });
        d.distinct("sticky", self.sticky.iter().map(|spread| spread.replicas).collect::<Vec<_>>());
        d.real("serial_fraction", self.serial_fraction, 0.000_001..=1.0);
        d.real("store_requests", self.store_requests, 0.001..=1e9);
        d.real("write_ingress_mbit", self.write_ingress_mbit, 0.000_001..=1e9);
        d.list("list_lengths", &self.list_lengths, 0..=50, |d, i, length| d.integer(i, *length, 0..=100_000));
        d.distinct("list_lengths", &self.list_lengths);
        // Each request copies the list that the requests before it made.
        d.steps("requests", 2.0 * (self.requests as f64).powi(2) + self.list_lengths.iter().sum::<u64>() as f64);
    }

    fn report(&self) -> Report {
        let (memory, external) = (self.run(Mode::Memory), self.run(Mode::External));
        let mut measure = Block::new("measure");
        self.publish_sessions(&mut measure, "memory", &memory);
        self.publish_sessions(&mut measure, "external", &external);
        let mut report = Report::new([measure, self.capacity_block(&external)]);
        report.fact("store.reads_per_request", external.reads_per_request);
        report.fact("store.writes_per_request", external.writes_per_request);
        report.fact("store.session_bytes", external.stored_bytes);
        report
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Parameters {
    fn publish_sessions(&self, block: &mut Block, mode: &str, outcome: &Outcome) {
        block.plain(format!("{mode}.found"), outcome.found);
        block.plain("parameters.requests", self.requests);
        for (number, tracked) in (1..).zip(&outcome.summary) {
            block.plain(format!("{mode}.summary.k{number}"), *tracked);
        }
        block.plain(format!("{mode}.after_restart"), outcome.after_restart);
    }

    fn capacity_block(&self, external: &Outcome) -> Block {
        let mut block = Block::new("capacity");
        // Where any replica can take any request, all take the same share.
        for (arrangement, is_sticky) in [("sticky", true), ("stateless", false)] {
            for (i, Spread { replicas, imbalance }) in self.sticky.iter().enumerate() {
                let row = format!("{arrangement}.replicas_{replicas}");
                let imbalance = if is_sticky { *imbalance } else { 1.0 };
                let imbalance_name =
                    if is_sticky { format!("parameters.sticky.{i}.imbalance") } else { format!("{row}.imbalance") };
                let busiest = self.busiest_rate(imbalance, *replicas);
                block.plain(format!("parameters.sticky.{i}.replicas"), *replicas);
                block.fixed(imbalance_name, imbalance, 3);
                block.fixed(format!("{row}.busiest_rate"), busiest, 2);
                block.fixed(format!("{row}.utilization"), busiest / self.saturation, 3);
                block.plain(format!("{row}.needed"), self.needed(imbalance));
            }
        }
        block.plain("scaling.whole", 1);
        block.plain("parameters.serial_fraction", self.serial_fraction);
        block.push(times("scaling.bound", 1.0 / self.serial_fraction));

        let both = (external.reads_per_request + external.writes_per_request) * self.peak_edge;
        let reads = external.reads_per_request * self.peak_edge;
        block.fixed("store.rate", both, 2);
        block.push(times("store.to_baseline", both / self.store_requests));
        block.plain("parameters.store_requests", self.store_requests);
        block.fixed("store.read_rate", reads, 2);
        block.push(times("store.reads_to_baseline", reads / self.store_requests));

        for (i, length) in self.list_lengths.iter().enumerate() {
            let row = format!("in_request.length_{length}");
            let bytes = session_bytes(&self.shipments(*length));
            let mbit = self.peak_edge * bytes as f64 * 8.0 / 1e6;
            block.plain(format!("parameters.list_lengths.{i}"), *length);
            block.plain(format!("{row}.bytes"), bytes);
            block.fixed(format!("{row}.mbit"), mbit, 3);
            block.fixed(format!("{row}.to_write_ingress"), mbit / self.write_ingress_mbit, 2);
        }
        block
    }
}

fn times(name: &str, value: f64) -> Figure {
    Figure::fixed(name, value, 2).marked(Mark::Times)
}
