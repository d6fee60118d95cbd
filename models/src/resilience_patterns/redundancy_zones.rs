//! Redundancy Zones: which writes end up nowhere when a machine, a zone or a region is lost, and what does spreading
//! the replicas cost?
//!
//! Each write is accepted by one replica, in turn, and copied to all the others; a copy takes longer the farther it
//! goes. Then one unit fails for good. Left out: conflicts, reads, copies sent again, and recovery.

mod blocks;
mod invariants;

use crate::figures::{Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    rounds: u64,
    failure_round: u64,
    writes_a_round: u64,
    propagation: Propagation,
    plans: Vec<Plan>,
    failing: Failing,
    /// Zone counts of the capacity table.
    zone_counts: Vec<u64>,
    /// Requests per second.
    peak_edge: f64,
    /// Events per second.
    peak_write: f64,
    events_a_day: u64,
    growth_gb_a_day: f64,
    round_seconds: f64,
    losses: Losses,
}

/// Rounds that a copy is on its way.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Propagation {
    same_zone: u64,
    same_region: u64,
    other_region: u64,
}

/// Where the replicas of one placement plan stand.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    name: String,
    replicas: Vec<Place>,
}

/// Zones are named within their region.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    region: String,
    zone: String,
}

/// What fails: the replica of that number, all of the zone, or all of the region.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failing {
    machine: usize,
    zone: String,
    region: String,
}

/// The two losses that the lesson converts to the service's rates.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Losses {
    zone: UnitLoss,
    region: UnitLoss,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitLoss {
    /// How many units share the writes.
    units: u64,
    /// How long a write stands in the lost unit alone.
    propagation_rounds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Failure {
    Machine,
    Zone,
    Region,
}

impl Failure {
    const ALL: [Self; 3] = [Self::Machine, Self::Zone, Self::Region];

    fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Zone => "zone",
            Self::Region => "region",
        }
    }
}

impl Failing {
    fn takes(&self, failure: Failure, replica: usize, place: &Place) -> bool {
        match failure {
            Failure::Machine => replica == self.machine,
            Failure::Zone => place.region == self.region && place.zone == self.zone,
            Failure::Region => place.region == self.region,
        }
    }
}

impl Propagation {
    fn rounds(&self, from: &Place, to: &Place) -> u64 {
        if from.region != to.region {
            self.other_region
        } else if from.zone != to.zone {
            self.same_region
        } else {
            self.same_zone
        }
    }
}

#[derive(Default)]
struct Counts {
    survivors: usize,
    dropped: u64,
    /// Accepted writes that no surviving replica has.
    lost: u64,
}

impl Parameters {
    fn run(&self, plan: &Plan, failure: Failure) -> Counts {
        let fails = |replica: usize| self.failing.takes(failure, replica, &plan.replicas[replica]);
        let all: Vec<usize> = (0..plan.replicas.len()).collect();
        let survivors: Vec<usize> = all.iter().copied().filter(|&replica| !fails(replica)).collect();
        // A copy must have arrived by the round of the failure; what is still on its way dies with its source.
        let escapes_after = |replica: usize| {
            let from = &plan.replicas[replica];
            survivors.iter().map(|&to| self.propagation.rounds(from, &plan.replicas[to])).min()
        };
        let happens = self.failure_round <= self.rounds;
        let mut counts = Counts { survivors: if happens { survivors.len() } else { all.len() }, ..Counts::default() };
        let mut turn = 0;
        for now in 1..=self.rounds {
            let pool = if now < self.failure_round { &all } else { &survivors };
            for _ in 0..self.writes_a_round {
                if pool.is_empty() {
                    counts.dropped += 1;
                    continue;
                }
                let replica = pool[turn % pool.len()];
                turn += 1;
                let in_time = |rounds| now + rounds <= self.failure_round;
                if happens && fails(replica) && !escapes_after(replica).is_some_and(in_time) {
                    counts.lost += 1;
                }
            }
        }
        counts
    }

    /// What all zones must be able to carry, so that one fewer carry the peak.
    fn provisioned(&self, zones: u64) -> f64 {
        zones as f64 * self.peak_edge_without_one(zones)
    }

    fn peak_edge_without_one(&self, zones: u64) -> f64 {
        self.peak_edge / (zones - 1) as f64
    }

    /// Writes that stand in the lost unit alone, at the service's peak.
    fn unpropagated(&self, loss: &UnitLoss) -> f64 {
        loss.propagation_rounds as f64 * self.round_seconds * self.peak_write / loss.units as f64
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("rounds", self.rounds, 0..=100_000);
        d.integer("failure_round", self.failure_round, 0..=100_000);
        d.integer("writes_a_round", self.writes_a_round, 0..=10_000);
        // In the course's program a copy that takes no round never arrives.
        d.group("propagation", |d| {
            d.integer("same_zone", self.propagation.same_zone, 1..=100_000);
            d.integer("same_region", self.propagation.same_region, 1..=100_000);
            d.integer("other_region", self.propagation.other_region, 1..=100_000);
        });
        d.list("plans", &self.plans, 1..=20, |d, i, plan| {
            d.group(i, |d| {
                d.text("name", &plan.name);
                d.list("replicas", &plan.replicas, 1..=100, |d, i, place| {
                    d.group(i, |d| {
                        d.text("region", &place.region);
                        d.text("zone", &place.zone);
                    });
                });
            });
        });
        d.distinct("plans", self.plans.iter().map(|plan| segment(&plan.name)).collect::<Vec<_>>());
        d.group("failing", |d| {
            d.integer("machine", self.failing.machine, 0..=1_000);
            d.text("zone", &self.failing.zone);
            d.text("region", &self.failing.region);
        });
        d.list("zone_counts", &self.zone_counts, 0..=20, |d, i, zones| d.integer(i, *zones, 2..=1_000));
        d.distinct("zone_counts", &self.zone_counts);
        d.real("peak_edge", self.peak_edge, 0.001..=1e9);
        d.real("peak_write", self.peak_write, 0.0..=1e9);
        d.integer("events_a_day", self.events_a_day, 1..=1_000_000_000_000);
        d.real("growth_gb_a_day", self.growth_gb_a_day, 0.0..=1e6);
        d.real("round_seconds", self.round_seconds, 0.001..=3_600.0);
        d.group("losses", |d| {
            for (name, loss) in self.losses.named() {
                d.group(name, |d| {
                    d.integer("units", loss.units, 1..=1_000);
                    d.integer("propagation_rounds", loss.propagation_rounds, 0..=100_000);
                });
            }
        });

        let replicas: usize = self.plans.iter().map(|plan| plan.replicas.len()).sum();
        let writes = self.rounds as f64 * self.writes_a_round as f64;
        d.steps("rounds", (Failure::ALL.len() * replicas) as f64 * writes);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Losses {
    fn named(&self) -> [(&'static str, &UnitLoss); 2] {
        [("zone", &self.zone), ("region", &self.region)]
    }
}
