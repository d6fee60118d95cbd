//! Deployment Stamps and Geo-Replicas: how far does the loss of one component reach, once the service is split into
//! self-contained copies?
//!
//! Flows run through components; a placement keeps some of them outside the stamps, shared by all. Left out: time,
//! capacity, requests that concern two stamps, and how a stamp is replicated.

mod invariants;

use crate::figures::{Block, Figure, Mark, Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    stamps: u64,
    flows: Vec<Flow>,
    shared: Shared,
    /// Stamp counts of the load table.
    stamp_counts: Vec<u64>,
    /// Requests per second.
    peak_edge: f64,
    /// Requests per second that reach the store.
    store_requests: f64,
    /// Events per second.
    peak_write: f64,
    shipments_a_day: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    name: String,
    /// Per stamp and round.
    requests: u64,
    /// The components that a request touches, in order.
    path: Vec<String>,
}

/// The components outside the stamps, in the two placements that have stamps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    shared_stamp: Vec<String>,
    self_contained: Vec<String>,
}

/// How the components are placed.
#[derive(Clone, Copy)]
enum Placement<'a> {
    /// One service without stamps: every component serves all.
    SinglePiece,
    /// So many stamps, each with its own copy of every component that is not shared.
    Stamped { stamps: u64, shared: &'a [String] },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Stamp,
    Shared,
}

impl Placement<'_> {
    fn stamps(self) -> u64 {
        match self {
            Self::SinglePiece => 1,
            Self::Stamped { stamps, .. } => stamps,
        }
    }

    fn scope(self, component: &str) -> Scope {
        match self {
            Self::Stamped { shared, .. } if !shared.iter().any(|name| name == component) => Scope::Stamp,
            _ => Scope::Shared,
        }
    }
}

/// What one component's loss takes with it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BlastRadius {
    requests: u64,
    all_requests: u64,
    stamps: u64,
}

impl BlastRadius {
    fn percent(&self) -> f64 {
        100.0 * (self.requests as f64 / self.all_requests as f64)
    }
}

impl Parameters {
    fn placements(&self) -> [(&'static str, Placement<'_>); 3] {
        let stamped = |shared| Placement::Stamped { stamps: self.stamps, shared };
        [
            ("single_piece", Placement::SinglePiece),
            ("shared_stamp", stamped(&self.shared.shared_stamp)),
            ("self_contained", self.self_contained()),
        ]
    }

    fn self_contained(&self) -> Placement<'_> {
        Placement::Stamped { stamps: self.stamps, shared: &self.shared.self_contained }
    }

    /// Every component once, in the order in which the flows name them.
    fn components(&self) -> Vec<&str> {
        let mut components = Vec::new();
        for component in self.flows.iter().flat_map(|flow| &flow.path) {
            if !components.contains(&component.as_str()) {
                components.push(component.as_str());
            }
        }
        components
    }

    fn count(&self, placement: Placement, scope: Scope) -> usize {
        self.components().into_iter().filter(|component| placement.scope(component) == scope).count()
    }

    /// Steps of a flow that enter or leave a stamp.
    fn crossing_links(&self, placement: Placement) -> usize {
        let crosses = |link: &&[String]| placement.scope(&link[0]) != placement.scope(&link[1]);
        self.flows.iter().map(|flow| flow.path.windows(2).filter(crosses).count()).sum()
    }

    fn blast_radius(&self, placement: Placement, down: &str) -> BlastRadius {
        let stamps = match placement.scope(down) {
            Scope::Shared => placement.stamps(),
            Scope::Stamp => 1,
        };
        let touched = self.flows.iter().filter(|flow| flow.path.iter().any(|component| component == down));
        BlastRadius {
            requests: touched.map(|flow| flow.requests * stamps).sum(),
            all_requests: self.flows.iter().map(|flow| flow.requests * placement.stamps()).sum(),
            stamps,
        }
    }

    /// Components to set up for so many self-contained stamps, each in so many regions; what is shared there is once.
    fn deployed(&self, stamps: u64, regions: u64) -> u64 {
        let placement = self.self_contained();
        self.count(placement, Scope::Stamp) as u64 * stamps * regions + self.count(placement, Scope::Shared) as u64
    }

    /// The widest blast radius among the components that even self-contained stamps share.
    fn floor_percent(&self) -> Option<f64> {
        let placement = self.self_contained();
        let shared = self.components().into_iter().filter(|component| placement.scope(component) == Scope::Shared);
        shared.map(|component| self.blast_radius(placement, component).percent()).reduce(f64::max)
    }
}

/// A stamp and its geo-replica in a second region.
const WITH_GEO_REPLICA: u64 = 2;

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("stamps", self.stamps, 1..=10_000);
        d.list("flows", &self.flows, 1..=20, |d, i, flow| {
            d.group(i, |d| {
                d.text("name", &flow.name);
                d.integer("requests", flow.requests, 0..=1_000_000);
                d.list("path", &flow.path, 0..=50, |d, i, component| d.text(i, component));
            });
        });
        let components = self.components();
        d.distinct("flows", components.iter().map(segment).collect::<Vec<_>>());
        d.group("shared", |d| {
            let placements =
                [("shared_stamp", &self.shared.shared_stamp), ("self_contained", &self.shared.self_contained)];
            for (name, shared) in placements {
                d.list(name, shared, 0..=50, |d, i, component| d.text(i, component));
                let known = shared.iter().all(|component| components.contains(&component.as_str()));
                d.require(name, known, "components that a flow touches");
            }
        });
        d.list("stamp_counts", &self.stamp_counts, 0..=20, |d, i, stamps| d.integer(i, *stamps, 1..=1_000_000));
        d.distinct("stamp_counts", &self.stamp_counts);
        d.real("peak_edge", self.peak_edge, 0.0..=1e9);
        d.real("store_requests", self.store_requests, 0.0..=1e9);
        d.real("peak_write", self.peak_write, 0.0..=1e9);
        d.real("shipments_a_day", self.shipments_a_day, 0.0..=1e12);
    }

    fn report(&self) -> Report {
        Report::new([self.measure(), self.load()])
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Parameters {
    fn measure(&self) -> Block {
        let mut block = Block::new("measure");
        block.plain("component_count", self.components().len());
        block.plain("flow_count", self.flows.len());
        for (i, flow) in self.flows.iter().enumerate() {
            block.plain(format!("parameters.flows.{i}.requests"), flow.requests);
        }
        for (name, placement) in self.placements() {
            block.plain(format!("{name}.stamps"), placement.stamps());
            block.plain(format!("{name}.shared"), self.count(placement, Scope::Shared));
            block.plain(format!("{name}.stamp_local"), self.count(placement, Scope::Stamp));
            block.plain(format!("{name}.crossing_links"), self.crossing_links(placement));
        }
        for component in self.components() {
            for (name, placement) in self.placements() {
                let cell = format!("blast.{}.{name}", segment(component));
                let radius = self.blast_radius(placement, component);
                block.push(Figure::fixed(format!("{cell}.requests"), radius.percent(), 1).marked(Mark::Percent));
                block.plain(format!("{cell}.stamps"), radius.stamps);
                block.plain(format!("{cell}.all_stamps"), placement.stamps());
            }
        }
        block
    }

    fn load(&self) -> Block {
        let mut block = Block::new("load");
        for (i, &stamps) in self.stamp_counts.iter().enumerate() {
            let row = format!("load.stamps_{stamps}");
            let share = stamps as f64;
            block.plain(format!("parameters.stamp_counts.{i}"), stamps);
            block.fixed(format!("{row}.edge"), self.peak_edge / share, 2);
            block.fixed(format!("{row}.store"), self.store_requests / share, 2);
            block.fixed(format!("{row}.writes"), self.peak_write / share, 2);
            block.push(Figure::fixed(format!("{row}.blast_radius"), 100.0 / share, 2).marked(Mark::Percent));
            block.grouped(format!("{row}.shipments"), self.shipments_a_day / share);
        }
        for &stamps in &self.stamp_counts {
            let row = format!("components.stamps_{stamps}");
            block.plain(format!("{row}.stamps"), stamps);
            block.plain(format!("{row}.total"), self.deployed(stamps, 1));
            block.plain(format!("{row}.with_geo_replicas"), self.deployed(stamps, WITH_GEO_REPLICA));
            block.plain(format!("{row}.touched_by_billing"), stamps);
        }
        block.push(Figure::fixed("floor", self.floor_percent(), 1).marked(Mark::Percent));
        block
    }
}
