//! Service Discovery: for how long, and how often, is a silent replica still called, depending on where the callers
//! take the addresses from?
//!
//! Replicas tell a registry by heartbeats that they live; one goes silent, another comes up. A caller takes one
//! address after the other from its list, on a logical clock. Left out: the registry's own failure, the time that a
//! heartbeat or a resolution takes, and any check of the callers' own.

use crate::figures::{Block, Figure, Mark, Report};
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

#[derive(Debug, Default)]
struct Outcome {
    /// Requests that went to the silent replica.
    to_dead: u64,
    to_new: u64,
    /// From the failure until no request goes to the silent replica any more; none if it is still listed at the end.
    window_ms: Option<u64>,
}

impl Parameters {
    fn run(&self, placement: Placement) -> Outcome {
        let (failing, new) = (self.failing_replica - 1, self.replicas);
        let mut registry = Registry { ttl_ms: self.ttl_ms, last_beats: vec![None; self.replicas + 1] };
        let mut caller = Resolver { list: (0..self.replicas).collect(), resolved: None };
        let mut outcome = Outcome { window_ms: Some(0), ..Outcome::default() };
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
            let chosen = caller.list.get(turn % caller.list.len().max(1));
            if chosen == Some(&failing) {
                outcome.to_dead += 1;
                last_to_dead = Some(now);
            }
            outcome.to_new += u64::from(chosen == Some(&new));
        }
        let closed = last_to_dead.map_or(0, |last| last - self.failure_ms + self.step_ms);
        outcome.window_ms = (!caller.list.contains(&failing)).then_some(closed);
        outcome
    }

    /// Places in which an operator writes addresses.
    fn configuration_points(&self, placement: Placement) -> u64 {
        if placement == Placement::Static { self.consumers } else { 1 }
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
        let registry = |cache_ms, graceful_shutdown| Placement::Registry { cache_ms, graceful_shutdown };
        let rows = [
            ("static", Placement::Static),
            ("registry", registry(0, false)),
            ("cached", registry(self.cache_ms, false)),
            ("graceful", registry(0, true)),
        ]
        .map(|(name, placement)| (name, placement, self.run(placement)));
        let [_, (.., registry), (.., cached), (.., graceful)] = &rows;

        let mut measure = Block::new("measure");
        measure.plain("parameters.heartbeat_ms", self.heartbeat_ms);
        measure.plain("parameters.ttl_ms", self.ttl_ms);
        measure.plain("parameters.failure_ms", self.failure_ms);
        measure.plain("parameters.new_ms", self.new_ms);
        measure.plain("parameters.start_ms", self.start_ms);
        measure.plain("parameters.end_ms", self.end_ms);
        measure.plain("parameters.step_ms", self.step_ms);
        measure.plain("requests", self.requests());
        for (name, placement, outcome) in &rows {
            if *name == "cached" {
                measure.plain("parameters.cache_ms", self.cache_ms);
            }
            measure.plain(format!("placements.{name}.window_ms"), outcome.window_ms);
            measure.plain(format!("placements.{name}.to_dead"), outcome.to_dead);
            measure.plain(format!("placements.{name}.to_new"), outcome.to_new);
            measure.plain(format!("placements.{name}.configuration_points"), self.configuration_points(*placement));
        }

        let seconds = |outcome: &Outcome| outcome.window_ms.map(|ms| ms as f64 / 1000.0);
        let (health_s, registry_s) = (self.health_window_s, seconds(registry));
        let mut budget = Block::new("budget");
        budget.plain("parameters.peak_edge", self.peak_edge);
        budget.plain("parameters.replicas", self.replicas);
        budget.fixed("replica_rate", self.replica_rate(), 2);
        budget.plain("parameters.health_window_s", health_s);
        self.publish_cost(&mut budget, "health_check", Some(health_s));
        for (name, window_s) in [("registry", registry_s), ("cached", seconds(cached)), ("graceful", seconds(graceful))]
        {
            if name == "cached" {
                budget.plain("parameters.cache_ms", self.cache_ms);
            }
            budget.plain(format!("windows.{name}.seconds"), window_s);
            self.publish_cost(&mut budget, name, window_s);
        }
        let manual_s = self.recovery_minutes * 60.0;
        budget.plain("windows.manual.seconds", manual_s);
        self.publish_cost(&mut budget, "manual", Some(manual_s));

        let combined_s = registry_s.map(|registry_s| health_s.min(registry_s));
        let to_dead = |window_s: Option<f64>| window_s.map(|window_s| self.replica_rate() * window_s);
        budget.plain("parameters.health_window_s", health_s);
        budget.plain("combined.registry_s", registry_s);
        budget.plain("combined.window_s", combined_s);
        budget.fixed("combined.per_failure", to_dead(combined_s), 2);
        let ratio = registry_s.map(|registry_s| registry_s / health_s);
        budget.push(Figure::fixed("combined.registry_to_health", ratio, 1).marked(Mark::Times));

        // A registration that runs out earlier closes the window by as much earlier.
        let shortened_s = (self.ttl_ms as f64 - self.lower_ttl_ms as f64) / 1000.0;
        let lower_s = registry_s.map(|registry_s| registry_s - shortened_s);
        budget.plain("parameters.ttl_ms", self.ttl_ms);
        budget.plain("parameters.lower_ttl_ms", self.lower_ttl_ms);
        budget.fixed("lower_ttl.window_s", lower_s, 2);
        budget.fixed("lower_ttl.per_failure", to_dead(lower_s), 2);
        budget.fixed("heartbeats.usual", self.heartbeat_rate(self.ttl_ms), 2);
        budget.fixed("heartbeats.lower_ttl", self.heartbeat_rate(self.lower_ttl_ms), 2);
        budget.plain("parameters.health_load", self.health_load);

        let mut report = Report::new([measure, budget]);
        report.fact("requests_a_month", self.requests_a_month());
        report
    }
}

impl Parameters {
    /// What a window of that many seconds costs, a failure and a month.
    fn publish_cost(&self, block: &mut Block, row: &str, window_s: Option<f64>) {
        let per_failure = window_s.map(|window_s| self.replica_rate() * window_s);
        let monthly = per_failure.map(|requests| requests * self.failures_a_month);
        let availability = monthly.map(|monthly| 100.0 * (1.0 - monthly / self.requests_a_month()));
        block.fixed(format!("windows.{row}.per_failure"), per_failure, 2);
        block.fixed(format!("windows.{row}.monthly"), monthly, 0);
        block.push(Figure::fixed(format!("windows.{row}.availability"), availability, 5).marked(Mark::Percent));
    }
}
