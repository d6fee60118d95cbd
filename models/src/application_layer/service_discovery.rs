//! Service Discovery: for how long, and how often, is a silent replica still called, depending on where the callers
//! take the addresses from?
//!
//! Replicas tell a registry by heartbeats that they live; one goes silent, another comes up. A caller takes one
//! address after the other from its list, on a logical clock. Left out: the registry's own failure, the time that a
//! heartbeat or a resolution takes, and any check of the callers' own.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's two programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// U2.
    heartbeat_ms: u64,
    ttl_ms: u64,
    lower_ttl_ms: u64,
    /// Replicas that are up at the start; the new one is the next.
    replicas: usize,
    /// Which of them goes silent, from 1.
    failing_replica: usize,
    failure_ms: u64,
    new_ms: u64,
    start_ms: u64,
    end_ms: u64,
    /// From one request to the next.
    step_ms: u64,
    cache_ms: u64,
    /// Services that call this one.
    consumers: u64,
    /// Requests per second at the edge.
    peak_edge: f64,
    failures_a_month: f64,
    daily_queries: f64,
    daily_events: f64,
    month_days: f64,
    /// How long the load balancer's health check takes to notice, and what it costs in requests per second.
    health_window_s: f64,
    health_load: f64,
    recovery_minutes: f64,
}

/// Where a caller's list of addresses comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Placement {
    /// Written by hand into every caller.
    Static,
    Registry {
        /// How long the caller keeps a resolved list.
        cache_ms: u64,
        /// The silent replica deregistered before it stopped.
        graceful_shutdown: bool,
    },
}

/// The last heartbeat of each registered replica, in the order of their numbers.
struct Registry {
    ttl_ms: u64,
    last_beats: Vec<Option<u64>>,
}

impl Registry {
    fn beat(&mut self, replica: usize, now: u64) {
        self.last_beats[replica] = Some(now);
    }

    fn deregister(&mut self, replica: usize) {
        self.last_beats[replica] = None;
    }

    /// The replicas whose registration has not run out.
    fn resolve(&self, now: u64) -> Vec<usize> {
        let is_live = |beat: &Option<u64>| beat.is_some_and(|beat| now - beat < self.ttl_ms);
        (0..self.last_beats.len()).filter(|replica| is_live(&self.last_beats[*replica])).collect()
    }
}

/// A caller's list, and when it was resolved.
#[derive(Default)]
struct Resolver {
    list: Vec<usize>,
    resolved: Option<u64>,
}

impl Resolver {
    fn refresh(&mut self, registry: &Registry, now: u64, cache_ms: u64) {
        if self.resolved.is_none_or(|resolved| now - resolved >= cache_ms) {
            self.list = registry.resolve(now);
            self.resolved = Some(now);
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    /// Requests that went to each replica, the new one last.
    to: Vec<u64>,
    /// Requests that found an empty list.
    to_nobody: u64,
    /// From the failure until no request goes to the silent replica any more; none if it is still listed at the end.
    window_ms: Option<u64>,
}

impl Parameters {
    /// The one that goes silent, counted from 0.
    fn failing(&self) -> usize {
        self.failing_replica - 1
    }

    fn run(&self, placement: Placement) -> Outcome {
        let (failing, new) = (self.failing(), self.replicas);
        let mut registry = Registry { ttl_ms: self.ttl_ms, last_beats: vec![None; self.replicas + 1] };
        let mut caller = Resolver { list: (0..self.replicas).collect(), resolved: None };
        let mut outcome = Outcome { to: vec![0; self.replicas + 1], to_nobody: 0, window_ms: None };
        let mut last_to_dead = None;
        let mut requests = 0..;

        for now in (0..=self.end_ms).step_by(self.step_ms as usize) {
            if now % self.heartbeat_ms == 0 {
                for replica in (0..self.replicas).filter(|replica| *replica != failing || now <= self.failure_ms) {
                    registry.beat(replica, now);
                }
                if now >= self.new_ms {
                    registry.beat(new, now);
                }
            }
            if matches!(placement, Placement::Registry { graceful_shutdown: true, .. }) && now == self.failure_ms {
                registry.deregister(failing);
            }
            if now < self.start_ms {
                continue;
            }
            if let Placement::Registry { cache_ms, .. } = placement {
                caller.refresh(&registry, now, cache_ms);
            }
            let turn = requests.next().unwrap_or_default();
            let chosen = caller.list.get(turn % caller.list.len().max(1)).copied();
            *chosen.map_or(&mut outcome.to_nobody, |replica| &mut outcome.to[replica]) += 1;
            if chosen == Some(failing) {
                last_to_dead = Some(now);
            }
        }
        let closed = last_to_dead.map_or(0, |last| last - self.failure_ms + self.step_ms);
        outcome.window_ms = (!caller.list.contains(&failing)).then_some(closed);
        outcome
    }

    /// The four of the table.
    fn placements(&self) -> [(&'static str, Placement); 4] {
        let registry = |cache_ms, graceful_shutdown| Placement::Registry { cache_ms, graceful_shutdown };
        [
            ("static", Placement::Static),
            ("registry", registry(0, false)),
            ("cached", registry(self.cache_ms, false)),
            ("graceful", registry(0, true)),
        ]
    }

    /// Places in which an operator writes addresses.
    fn configuration_points(&self, placement: Placement) -> u64 {
        if placement == Placement::Static { self.consumers } else { 1 }
    }

    fn to_dead(&self, outcome: &Outcome) -> u64 {
        outcome.to[self.failing()]
    }

    fn requests(&self) -> u64 {
        (self.end_ms - self.start_ms) / self.step_ms + 1
    }

    fn replica_rate(&self) -> f64 {
        self.peak_edge / self.replicas as f64
    }

    fn requests_a_month(&self) -> f64 {
        (self.daily_queries + self.daily_events) * self.month_days
    }

    /// Heartbeats per second that the registry takes, the interval being the same part of the time to live as in U2.
    fn heartbeat_rate(&self, ttl_ms: u64) -> f64 {
        let beats_in_ttl = self.ttl_ms as f64 / self.heartbeat_ms as f64;
        self.replicas as f64 * 1000.0 / (ttl_ms as f64 / beats_in_ttl)
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("heartbeat_ms", self.heartbeat_ms, 1..=1_000_000);
        d.integer("ttl_ms", self.ttl_ms, 1..=1_000_000);
        d.integer("lower_ttl_ms", self.lower_ttl_ms, 1..=1_000_000);
        d.integer("replicas", self.replicas, 1..=1_000);
        d.integer("failing_replica", self.failing_replica, 1..=1_000);
        d.require("failing_replica", self.failing_replica <= self.replicas, "one of the `replicas`");
        d.integer("failure_ms", self.failure_ms, 0..=100_000_000);
        d.integer("new_ms", self.new_ms, 0..=100_000_000);
        d.integer("start_ms", self.start_ms, 0..=100_000_000);
        d.integer("end_ms", self.end_ms, 0..=100_000_000);
        d.integer("step_ms", self.step_ms, 1..=1_000_000);
        // The clock stops only at multiples of the step; requests before the failure would count as lost.
        let at_a_step = |ms: u64| ms.is_multiple_of(self.step_ms.max(1));
        for (name, ms) in [("heartbeat_ms", self.heartbeat_ms), ("failure_ms", self.failure_ms)] {
            d.require(name, at_a_step(ms), "a multiple of `step_ms`");
        }
        for (name, ms) in [("start_ms", self.start_ms), ("end_ms", self.end_ms)] {
            d.require(name, at_a_step(ms), "a multiple of `step_ms`");
        }
        d.require("start_ms", self.failure_ms <= self.start_ms, "not before the failure (`failure_ms`)");
        d.require("end_ms", self.start_ms <= self.end_ms, "not before the first request (`start_ms`)");
        d.integer("cache_ms", self.cache_ms, 0..=100_000_000);
        d.integer("consumers", self.consumers, 0..=1_000_000);
        d.real("peak_edge", self.peak_edge, 0.0..=1e9);
        d.real("failures_a_month", self.failures_a_month, 0.0..=1e6);
        d.real("daily_queries", self.daily_queries, 0.0..=1e12);
        d.real("daily_events", self.daily_events, 0.0..=1e12);
        d.real("month_days", self.month_days, 1.0..=31.0);
        d.real("health_window_s", self.health_window_s, 0.0..=1e6);
        d.real("health_load", self.health_load, 0.0..=1e9);
        d.real("recovery_minutes", self.recovery_minutes, 0.0..=1e6);

        let ticks = self.end_ms as f64 / self.step_ms.max(1) as f64;
        d.steps("end_ms", 4.0 * ticks * (2.0 + self.replicas as f64));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
