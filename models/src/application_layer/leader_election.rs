//! Leader Election: what does a lease guarantee, and what do fencing and a recorded trigger add to it?
//!
//! Several nodes could start the end-of-day batch; a lease in a shared durable record gives that right to one. The
//! first leader becomes unreachable for a while and still believes in its leadership when it is back. Left out: real
//! durations, a second outage, and the shared record's own failures.

mod blocks;
mod invariants;
#[cfg(test)]
mod tests;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants. Lease, renewal and outage are in rounds; rounds count from 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    nodes: usize,
    rounds: u64,
    /// Rounds after its last renewal in which a lease has expired.
    lease: u64,
    /// Every so many rounds a node reads the record and drops a belief that it contradicts.
    renewal: u64,
    /// First round in which the first leader is unreachable.
    outage_start: u64,
    outage: u64,
    /// Rounds in which a batch must start.
    triggers: Vec<u64>,
    /// So many active leaders at once make a two-leader round.
    conflicting_leaders: usize,
    leases: Vec<u64>,
    short_outage: u64,
    long_lease: u64,
    /// Invoice lines of one batch (K01).
    invoice_lines: f64,
    /// KK4 and its sensitivity.
    handovers_a_year: Vec<f64>,
}

type NodeId = usize;

/// The node that leads first, and the only one that an outage hits.
const FIRST_LEADER: NodeId = 0;

/// The shared durable record: who holds the lease, since when, and the how-manieth leadership it is.
struct Record {
    holder: NodeId,
    last_renewal: u64,
    fencing_token: u64,
}

impl Record {
    fn has_expired(&self, now: u64, lease: u64) -> bool {
        now - self.last_renewal >= lease
    }

    /// Whether work that carries this token may be done.
    fn accepts(&self, token: u64, fencing: bool) -> bool {
        !fencing || token >= self.fencing_token
    }
}

/// What a node takes itself for. It learns from the record only when it reads it.
#[derive(Clone, Default)]
struct Node {
    believes: bool,
    /// The fencing token of the leadership that it was last granted.
    token: u64,
}

/// Which protections a run has, and what may differ from the lesson's main scenario.
#[derive(Clone, Copy)]
struct Scenario {
    lease: u64,
    outage: u64,
    /// The record rejects work that carries an older token than its own.
    fencing: bool,
    /// A trigger that no leader sees is recorded for the next one.
    persistent_trigger: bool,
}

/// What happened in one run.
#[derive(Default)]
struct Run {
    triggers: Vec<Trigger>,
    handovers: Vec<Handover>,
    /// Work that the record rejected.
    rejected: Vec<Work>,
    accepted: Vec<Work>,
    /// Rounds in which more than one reachable node believes.
    two_leader: Vec<u64>,
    /// Rounds in which no reachable node believes.
    leaderless: Vec<u64>,
    /// Rounds in which more than one node believes, reachable or not.
    two_believers: Vec<u64>,
    /// The round in which the first leader stops to believe.
    belief_dropped: Option<u64>,
}

/// What a node does in a round because it takes itself for the leader.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Work {
    round: u64,
    node: NodeId,
    token: u64,
    /// The record's own token.
    newest: u64,
}

struct Trigger {
    round: u64,
    start: BatchStart,
}

#[derive(Clone, Copy, PartialEq)]
enum BatchStart {
    /// Started in the trigger's round, by each leader whose work the record accepted.
    OnTime { starts: u64 },
    /// Recorded, and started later by a leader that found it.
    Late { round: u64 },
    /// No leader saw it.
    Missed,
    /// Recorded, but no leader found it: the run ended, or a later trigger took its place.
    Waiting,
}

struct Handover {
    round: u64,
    /// Rounds since the last renewal of the lease that expired.
    rounds: u64,
    /// What the new leader was granted.
    fencing_token: u64,
}

impl Parameters {
    fn reachable(&self, node: NodeId, now: u64, outage: u64) -> bool {
        node != FIRST_LEADER || now < self.outage_start || now >= self.outage_start + outage
    }

    fn run(&self, scenario: Scenario) -> Run {
        self.run_where(scenario, |node, now| self.reachable(node, now, scenario.outage))
    }

    /// A run in which nodes are reachable at other times than in the lesson's single outage.
    fn run_where(&self, scenario: Scenario, reachable: impl Fn(NodeId, u64) -> bool) -> Run {
        let Scenario { lease, fencing, persistent_trigger, .. } = scenario;
        let mut record = Record { holder: FIRST_LEADER, last_renewal: 0, fencing_token: 1 };
        let mut nodes = vec![Node::default(); self.nodes];
        nodes[FIRST_LEADER] = Node { believes: true, token: record.fencing_token };
        let mut run = Run::default();
        // The record has room for one trigger; this is its place in the list.
        let mut recorded: Option<usize> = None;

        for now in 1..=self.rounds {
            if reachable(record.holder, now) {
                record.last_renewal = now;
            }
            if record.has_expired(now, lease) {
                let mut others = (0..self.nodes).filter(|node| *node != record.holder);
                if let Some(successor) = others.find(|node| reachable(*node, now)) {
                    let fencing_token = record.fencing_token + 1;
                    run.handovers.push(Handover { round: now, rounds: now - record.last_renewal, fencing_token });
                    record = Record { holder: successor, last_renewal: now, fencing_token };
                    nodes[successor] = Node { believes: true, token: fencing_token };
                }
            }

            let is_active = |node: &NodeId| nodes[*node].believes && reachable(*node, now);
            let active: Vec<NodeId> = (0..self.nodes).filter(is_active).collect();
            let work = |node: &NodeId| Work {
                round: now,
                node: *node,
                token: nodes[*node].token,
                newest: record.fencing_token,
            };
            let (accepted, rejected): (Vec<Work>, Vec<Work>) =
                active.iter().map(work).partition(|work| record.accepts(work.token, fencing));
            let starts = accepted.len() as u64;
            run.accepted.extend(accepted);
            run.rejected.extend(rejected);
            if active.is_empty() {
                run.leaderless.push(now);
            } else if active.len() >= self.conflicting_leaders {
                run.two_leader.push(now);
            }
            if nodes.iter().filter(|node| node.believes).count() >= self.conflicting_leaders {
                run.two_believers.push(now);
            }

            if self.triggers.contains(&now) {
                let start = match (starts, persistent_trigger) {
                    (1.., _) => BatchStart::OnTime { starts },
                    (0, true) => BatchStart::Waiting,
                    (0, false) => BatchStart::Missed,
                };
                if start == BatchStart::Waiting {
                    recorded = Some(run.triggers.len());
                }
                run.triggers.push(Trigger { round: now, start });
            } else if starts > 0
                && let Some(trigger) = recorded.take()
            {
                run.triggers[trigger].start = BatchStart::Late { round: now };
            }

            if now.is_multiple_of(self.renewal) {
                for node in active.into_iter().filter(|node| *node != record.holder) {
                    nodes[node].believes = false;
                    if node == FIRST_LEADER {
                        run.belief_dropped.get_or_insert(now);
                    }
                }
            }
        }
        run
    }

    /// The lesson's main scenario, without protections.
    fn plain(&self) -> Scenario {
        Scenario { lease: self.lease, outage: self.outage, fencing: false, persistent_trigger: false }
    }

    fn fencing(&self) -> Scenario {
        Scenario { fencing: true, ..self.plain() }
    }

    fn trigger(&self) -> Scenario {
        Scenario { persistent_trigger: true, ..self.plain() }
    }

    fn fencing_trigger(&self) -> Scenario {
        Scenario { persistent_trigger: true, ..self.fencing() }
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        // Somebody else must be able to take over: the course's program hands the lease of a single node to nobody.
        d.integer("nodes", self.nodes, 2..=1_000);
        d.integer("rounds", self.rounds, 1..=MAX_ROUNDS);
        d.integer("lease", self.lease, 0..=MAX_ROUNDS);
        d.integer("renewal", self.renewal, 1..=MAX_ROUNDS);
        d.integer("outage_start", self.outage_start, 1..=MAX_ROUNDS);
        d.integer("outage", self.outage, 0..=MAX_ROUNDS);
        d.list("triggers", &self.triggers, 0..=1_000, |d, i, round| d.integer(i, *round, 1..=MAX_ROUNDS));
        d.integer("conflicting_leaders", self.conflicting_leaders, 2..=1_000);
        d.list("leases", &self.leases, 0..=100, |d, i, lease| d.integer(i, *lease, 0..=MAX_ROUNDS));
        d.integer("short_outage", self.short_outage, 0..=MAX_ROUNDS);
        d.integer("long_lease", self.long_lease, 0..=MAX_ROUNDS);
        d.real("invoice_lines", self.invoice_lines, 0.0..=1e9);
        d.list("handovers_a_year", &self.handovers_a_year, 0..=100, |d, i, n| d.real(i, *n, 0.0..=1e6));

        // A lease of no rounds changes hands in every round, so also while the first leader is away.
        let shortest = self.leases.iter().fold(self.lease.min(self.long_lease), |a, b| a.min(*b));
        d.require("nodes", shortest > 0 || self.nodes >= 3, "at least 3 where a lease is 0 rounds");
        d.distinct("leases", &self.leases);
        d.distinct("handovers_a_year", &self.handovers_a_year);

        let runs = 5 + 2 * self.leases.len();
        let steps_a_round = 1 + self.nodes / 4 + self.triggers.len() / 8;
        d.steps("rounds", runs as f64 * self.rounds as f64 * steps_a_round as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

const MAX_ROUNDS: i64 = 100_000;
