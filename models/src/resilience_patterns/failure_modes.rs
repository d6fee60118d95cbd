//! Failure Modes: what does a caller see of each way to break, and how far does a breakdown spread?
//!
//! Two small models. The first makes many calls to a dependency in each mode and condenses what the caller saw into a
//! signature; two modes with the same signature cannot be told apart. The second lays the flows out as call trees:
//! a component's slots in use are flow rate times hold duration, and a component without a free slot looks slow in turn.
//! Left out: time (occupancy is an average, nothing queues), retries, callers that give up before the one below them
//! does, and the load that a component is spared when the call before it in the same request fails.

mod blast_radius;
mod blocks;
mod invariants;

use crate::figures::{Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{Lehmer, Uniform};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the lesson's two programs hold in constants. A value with `_tried` is the one tried beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    calls: u64,
    round_ms: f64,
    round_ms_tried: f64,
    usual_rounds: u64,
    /// A component that calls others adds this to what they take.
    forwarding_rounds: u64,
    /// A call to a component that is down fails after this.
    error_rounds: u64,
    timeout_rounds: u64,
    shards: u64,
    down_shards: u64,
    /// Share of the calls to a healthy dependency that time out.
    timeout_share: f64,
    timeout_share_tried: f64,
    /// Shares closer than this look the same.
    tolerance: f64,
    /// Calls that a mode must be watched for before it can be named.
    naming_window: u64,
    stamp_bytes: u64,
    edge_rate: f64,
    event_rate: f64,
    slots: u64,
    slots_tried: u64,
    flows: Vec<Flow>,
    broken: Vec<String>,
    /// The component whose two modes are set against each other.
    compared: String,
    /// The component whose utilization shows the difference.
    entry: String,
    slowdowns_a_month: u64,
    slowdown_minutes: f64,
    slowdown_minutes_tried: f64,
    failure_share_minutes: f64,
}

/// Requests of one kind, per second, and the components that each passes through.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    name: String,
    rate: f64,
    tree: CallTree,
}

/// A component and what it calls, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallTree {
    component: String,
    #[serde(default)]
    calls: Vec<CallTree>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Healthy,
    Down,
    Slowdown,
    Partial,
    Stale,
    Partition,
}

impl Mode {
    const ALL: [Self; 6] = [Self::Healthy, Self::Down, Self::Slowdown, Self::Partial, Self::Stale, Self::Partition];

    fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Down => "down",
            Self::Slowdown => "slowdown",
            Self::Partial => "partial",
            Self::Stale => "stale",
            Self::Partition => "partition",
        }
    }
}

/// What one call looks like from the caller's side.
enum Outcome {
    Response { fresh: bool },
    Error,
    Timeout,
}

/// What many calls look like: shares of all calls, mean hold, and the share of fresh content among the responses.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Signature {
    response: f64,
    error: f64,
    timeout: f64,
    slot_rounds: f64,
    fresh: Option<f64>,
}

impl Signature {
    fn same_classes(&self, other: &Self, tolerance: f64) -> bool {
        [(self.response, other.response), (self.error, other.error), (self.timeout, other.timeout)]
            .iter()
            .all(|(a, b)| (a - b).abs() < tolerance)
    }

    /// No response at all counts as content of its own kind.
    fn same_content(&self, other: &Self, tolerance: f64) -> bool {
        (self.fresh.unwrap_or(-1.0) - other.fresh.unwrap_or(-1.0)).abs() < tolerance
    }
}

impl CallTree {
    fn declare(&self, d: &mut Declaration) {
        d.text("component", &self.component);
        d.list("calls", &self.calls, 0..=20, |d, i, call| d.group(i, |d| call.declare(d)));
    }
}

impl Parameters {
    fn rounds_per_second(&self) -> f64 {
        1000.0 / self.round_ms
    }

    /// Share of the calls that fail while some of the shards are down.
    fn down_share(&self) -> f64 {
        self.down_shards as f64 / self.shards as f64
    }

    fn call(&self, mode: Mode, random: &mut Lehmer) -> Outcome {
        match mode {
            Mode::Down => Outcome::Error,
            // The other side of a partition is up, but the caller waits for it just as long.
            Mode::Slowdown | Mode::Partition => Outcome::Timeout,
            Mode::Stale => Outcome::Response { fresh: false },
            Mode::Partial if random.chance(self.down_share()) => Outcome::Error,
            Mode::Healthy if random.chance(self.timeout_share) => Outcome::Timeout,
            Mode::Partial | Mode::Healthy => Outcome::Response { fresh: true },
        }
    }

    fn signature(&self, mode: Mode, random: &mut Lehmer) -> Signature {
        let (mut responses, mut fresh, mut errors, mut timeouts) = (0, 0, 0, 0);
        for _ in 0..self.calls {
            match self.call(mode, random) {
                Outcome::Response { fresh: is_fresh } => {
                    responses += 1;
                    fresh += u64::from(is_fresh);
                }
                Outcome::Error => errors += 1,
                Outcome::Timeout => timeouts += 1,
            }
        }
        let slot_rounds = responses * self.usual_rounds + errors * self.error_rounds + timeouts * self.timeout_rounds;
        let share = |count: u64| count as f64 / self.calls as f64;
        Signature {
            response: share(responses),
            error: share(errors),
            timeout: share(timeouts),
            slot_rounds: share(slot_rounds),
            fresh: (responses > 0).then(|| fresh as f64 / responses as f64),
        }
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.integer("calls", self.calls, 1..=10_000_000);
        d.real("round_ms", self.round_ms, 0.1..=1_000.0);
        d.real("round_ms_tried", self.round_ms_tried, 0.1..=1_000.0);
        d.integer("usual_rounds", self.usual_rounds, 0..=10_000);
        d.integer("forwarding_rounds", self.forwarding_rounds, 0..=10_000);
        d.integer("error_rounds", self.error_rounds, 0..=10_000);
        d.integer("timeout_rounds", self.timeout_rounds, 0..=10_000);
        d.integer("shards", self.shards, 1..=10_000);
        d.integer("down_shards", self.down_shards, 0..=10_000);
        d.require("down_shards", self.down_shards <= self.shards, "at most all `shards`");
        d.real("timeout_share", self.timeout_share, 0.0..=1.0);
        d.real("timeout_share_tried", self.timeout_share_tried, 0.0..=1.0);
        d.real("tolerance", self.tolerance, 0.0..=1.0);
        d.integer("naming_window", self.naming_window, 0..=1_000_000);
        d.integer("stamp_bytes", self.stamp_bytes, 0..=1_000_000);
        d.real("edge_rate", self.edge_rate, 0.0..=1_000_000.0);
        d.real("event_rate", self.event_rate, 0.0..=1_000_000.0);
        d.integer("slots", self.slots, 0..=1_000_000);
        d.integer("slots_tried", self.slots_tried, 0..=1_000_000);
        d.list("flows", &self.flows, 1..=50, |d, i, flow| {
            d.group(i, |d| {
                d.text("name", &flow.name);
                d.real("rate", flow.rate, 0.0..=1_000_000.0);
                d.group("tree", |d| flow.tree.declare(d));
            });
        });
        let parts: Vec<&CallTree> = self.flows.iter().flat_map(|flow| flow.tree.components()).collect();
        let components: BTreeSet<&str> = parts.iter().map(|part| part.component.as_str()).collect();
        let known = |name: &str| components.contains(name);
        let somewhere = "a component of one of the `flows`";
        d.require("flows", all_distinct(self.flows.iter().map(|flow| &flow.name)), "flows of different names");
        d.require("flows", all_distinct(&components), "components whose names differ in a letter or digit");
        d.list("broken", &self.broken, 0..=50, |d, i, name| {
            d.text(i, name);
            d.require(i, known(name), somewhere);
        });
        d.require("broken", all_distinct(&self.broken), "each component once");
        d.text("compared", &self.compared);
        d.require("compared", known(&self.compared), somewhere);
        d.text("entry", &self.entry);
        d.require("entry", known(&self.entry), somewhere);
        d.integer("slowdowns_a_month", self.slowdowns_a_month, 0..=10_000);
        d.real("slowdown_minutes", self.slowdown_minutes, 0.0..=50_000.0);
        d.real("slowdown_minutes_tried", self.slowdown_minutes_tried, 0.0..=50_000.0);
        d.real("failure_share_minutes", self.failure_share_minutes, 0.001..=50_000.0);

        d.steps("calls", (Mode::ALL.len() as u64 * self.calls) as f64);
        let parts = parts.len() as f64;
        d.steps("flows", parts * parts * (4 + 4 * self.broken.len()) as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

/// Distinct also as parts of a figure's name.
fn all_distinct(names: impl IntoIterator<Item = impl ToString>) -> bool {
    let mut seen = BTreeSet::new();
    names.into_iter().all(|name| seen.insert(segment(name)))
}
