//! Strangler Fig Pattern: in which order do the routes of an old system move to a new one, what does each order cost
//! in dual writes, and how fast can a moved route go back?
//!
//! State that is touched by moved and unmoved routes at once is split: it lives in both systems, and each write goes
//! to both. A facade in front decides for each route which system answers. Left out: how long a step takes, copying
//! what was there before, and writes that reach one side only.

mod blocks;
mod invariants;
mod least;
#[cfg(test)]
mod tests;

use crate::calendar::SECONDS_A_DAY;
use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What the lesson's program holds in constants, and what its text computes beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    routes: Vec<Route>,
    entities: Vec<Entity>,
    /// Requests a second at the edge.
    peak_edge: f64,
    failure_share_minutes: f64,
    /// Records a second that a backfill copies.
    scan_rate: f64,
    /// The entity whose writes must be copied back once dual writes have stopped.
    backfilled: String,
    stopped_since: Vec<Elapsed>,
    /// The new system stops at the first step at which so much of the traffic has moved.
    stop_share: f64,
    /// How long a revert takes where the facade decides.
    facade_revert_s: f64,
    /// How long it takes where clients hold a routing entry.
    entry_lifetime_s: f64,
    budget: Budget,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    name: String,
    daily_requests: u64,
    reads: Vec<String>,
    writes: Vec<String>,
}

impl Route {
    fn touches(&self) -> impl Iterator<Item = &String> {
        self.reads.iter().chain(&self.writes)
    }
}

/// One kind of state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entity {
    name: String,
    daily_writes: u64,
}

/// How long ago dual writes stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Elapsed {
    Hours(u64),
    Days(u64),
}

impl Elapsed {
    fn count(self) -> u64 {
        let (Self::Hours(count) | Self::Days(count)) = self;
        count
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Hours(_) => "hours",
            Self::Days(_) => "days",
        }
    }

    fn seconds(self) -> f64 {
        match self {
            Self::Hours(hours) => hours as f64 * 3_600.0,
            Self::Days(days) => days as f64 * SECONDS_A_DAY,
        }
    }
}

/// The timeout budget of one request, in ms: the gateway takes its share, equal calls share the rest.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    threshold_ms: f64,
    gateway_ms: f64,
    facade_ms: f64,
    calls: u64,
}

#[derive(Debug, Clone, Copy)]
enum Order {
    /// The busiest route first.
    Volume,
    /// Always the route that leaves the fewest dual writes, the busier one of equals.
    State,
}

impl Order {
    const ALL: [Self; 2] = [Self::Volume, Self::State];

    fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::State => "state",
        }
    }
}

/// The state that lives in both systems.
struct Split {
    entities: usize,
    daily_dual_writes: u64,
}

/// One route moved.
struct Step<'a> {
    route: &'a Route,
    moved_traffic: f64,
    split_entities: usize,
    dual_writes: f64,
}

/// A whole migration, and its two integrals over the steps.
struct Migration<'a> {
    steps: Vec<Step<'a>>,
    dual_write_area: f64,
    traffic_area: f64,
}

impl Migration<'_> {
    /// Where the new system stops: the first step at which so much of the traffic has moved, and its number.
    fn reaching(&self, share: f64) -> Option<(u64, &Step<'_>)> {
        (1u64..).zip(&self.steps).find(|(_, step)| step.moved_traffic >= share)
    }
}

impl Parameters {
    fn daily_requests(&self) -> u64 {
        self.routes.iter().map(|route| route.daily_requests).sum()
    }

    fn split(&self, moved: &[&Route], remaining: &[&Route]) -> Split {
        let touched = |routes: &[&Route], entity: &Entity| {
            routes.iter().any(|route| route.touches().any(|touched| *touched == entity.name))
        };
        let split = self.entities.iter().filter(|entity| touched(moved, entity) && touched(remaining, entity));
        split.fold(Split { entities: 0, daily_dual_writes: 0 }, |split, entity| Split {
            entities: split.entities + 1,
            daily_dual_writes: split.daily_dual_writes + entity.daily_writes,
        })
    }

    fn order(&self, order: Order) -> Vec<&Route> {
        let mut remaining: Vec<&Route> = self.routes.iter().collect();
        if let Order::Volume = order {
            remaining.sort_by_key(|route| Reverse(route.daily_requests));
            return remaining;
        }
        let mut moved = Vec::new();
        while let Some(next) = (0..remaining.len()).min_by_key(|&candidate| {
            let after = [moved.as_slice(), &[remaining[candidate]]].concat();
            let left = [&remaining[..candidate], &remaining[candidate + 1..]].concat();
            (self.split(&after, &left).daily_dual_writes, Reverse(remaining[candidate].daily_requests))
        }) {
            moved.push(remaining.remove(next));
        }
        moved
    }

    fn migrate<'a>(&'a self, routes: &[&'a Route]) -> Migration<'a> {
        let mut migration = Migration { steps: Vec::new(), dual_write_area: 0.0, traffic_area: 0.0 };
        let mut moved_requests = 0;
        for (step, &route) in routes.iter().enumerate() {
            let (moved, remaining) = routes.split_at(step + 1);
            let split = self.split(moved, remaining);
            moved_requests += route.daily_requests;
            let moved_traffic = moved_requests as f64 / self.daily_requests() as f64;
            let dual_writes = split.daily_dual_writes as f64 / SECONDS_A_DAY;
            migration.dual_write_area += dual_writes;
            migration.traffic_area += moved_traffic;
            migration.steps.push(Step { route, moved_traffic, split_entities: split.entities, dual_writes });
        }
        migration
    }

    /// What the old system misses of an entity's writes.
    fn missed(&self, daily_writes: u64, elapsed: Elapsed) -> f64 {
        daily_writes as f64 / SECONDS_A_DAY * elapsed.seconds()
    }

    /// Requests that the moved routes lose until they are reverted.
    fn dropped(&self, moved_traffic: f64, revert_s: f64) -> f64 {
        self.peak_edge * moved_traffic * revert_s
    }

    fn of_failure_share(&self, seconds: f64) -> f64 {
        100.0 * seconds / (self.failure_share_minutes * 60.0)
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        let known: BTreeSet<&String> = self.entities.iter().map(|entity| &entity.name).collect();
        // The best order is sought among all sets of routes.
        d.list("routes", &self.routes, 1..=16, |d, i, route| {
            d.group(i, |d| {
                d.text("name", &route.name);
                d.integer("daily_requests", route.daily_requests, 0..=1_000_000_000_000);
                for (name, touched) in [("reads", &route.reads), ("writes", &route.writes)] {
                    d.list(name, touched, 0..=100, |d, i, entity| d.text(i, entity));
                    d.require(name, touched.iter().all(|entity| known.contains(entity)), "names that `entities` has");
                }
            });
        });
        d.distinct("routes", self.routes.iter().map(|route| &route.name));
        // Shares of no traffic at all are no numbers, and no step would reach `stop_share`.
        d.require("routes", self.daily_requests() > 0, "at least one request a day in all");
        d.list("entities", &self.entities, 0..=100, |d, i, entity| {
            d.group(i, |d| {
                d.text("name", &entity.name);
                d.integer("daily_writes", entity.daily_writes, 0..=1_000_000_000_000);
            });
        });
        d.distinct("entities", self.entities.iter().map(|entity| &entity.name));
        d.real("peak_edge", self.peak_edge, 0.0..=1e7);
        d.real("failure_share_minutes", self.failure_share_minutes, 0.0..=44_640.0);
        d.real("scan_rate", self.scan_rate, 0.0..=1e9);
        d.text("backfilled", &self.backfilled);
        d.require("backfilled", known.contains(&self.backfilled), "a name that `entities` has");
        d.list("stopped_since", &self.stopped_since, 0..=20, |d, i, elapsed| {
            d.group(i, |d| d.integer(elapsed.unit(), elapsed.count(), 0..=1_000_000));
        });
        d.distinct("stopped_since", &self.stopped_since);
        d.real("stop_share", self.stop_share, 0.0..=1.0);
        d.real("facade_revert_s", self.facade_revert_s, 0.0..=1e6);
        d.real("entry_lifetime_s", self.entry_lifetime_s, 0.0..=1e6);
        d.group("budget", |d| {
            d.real("threshold_ms", self.budget.threshold_ms, 0.0..=1e6);
            d.real("gateway_ms", self.budget.gateway_ms, 0.0..=1e6);
            d.real("facade_ms", self.budget.facade_ms, 0.0..=1e6);
            d.integer("calls", self.budget.calls, 1..=100);
        });

        // Each step of the state order tries every remaining route, and each try looks at all that is touched.
        let touched: usize = self.routes.iter().map(|route| route.reads.len() + route.writes.len()).sum();
        let tries = (self.routes.len() * self.routes.len()) as f64 * (self.routes.len() + touched) as f64;
        let sets = (self.routes.len() as f64).exp2() * self.routes.len() as f64;
        d.steps("routes", (tries + sets) * (1.0 + self.entities.len() as f64));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
