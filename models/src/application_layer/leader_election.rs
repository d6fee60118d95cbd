//! Leader Election: what does a lease guarantee, and what do fencing and a recorded trigger add to it?
//!
//! Several nodes could start the end-of-day batch; a lease in a shared durable record gives that right to one. The
//! first leader becomes unreachable for a while and still believes in its leadership when it is back. Left out: real
//! durations, a second outage, and the shared record's own failures.

mod invariants;

use crate::figures::{Block, Report, segment};
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

/// A number taken from a run.
type Count = fn(&Run) -> u64;

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

impl Run {
    fn triggers_where(&self, condition: impl Fn(BatchStart) -> bool) -> Vec<u64> {
        self.triggers.iter().filter(|trigger| condition(trigger.start)).map(|trigger| trigger.round).collect()
    }

    fn batches_started(&self) -> usize {
        self.triggers_where(|start| matches!(start, BatchStart::OnTime { .. } | BatchStart::Late { .. })).len()
    }

    fn missed(&self) -> usize {
        self.triggers_where(|start| start == BatchStart::Missed).len()
    }

    /// Starts beyond the first of each batch.
    fn double_starts(&self) -> u64 {
        self.triggers.iter().map(|t| if let BatchStart::OnTime { starts } = t.start { starts - 1 } else { 0 }).sum()
    }

    fn delayed_rounds(&self) -> u64 {
        self.triggers.iter().map(|t| if let BatchStart::Late { round } = t.start { round - t.round } else { 0 }).sum()
    }

    fn handover_rounds(&self) -> u64 {
        self.handovers.iter().map(|handover| handover.rounds).sum()
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
        let runs = [
            ("plain", self.run(self.plain())),
            ("fencing", self.run(self.fencing())),
            ("fencing_trigger", self.run(self.fencing_trigger())),
        ];
        let outages = [("long", self.outage), ("short", self.short_outage)];
        let scan: Vec<_> = self
            .leases
            .iter()
            .map(|lease| {
                let run = |outage| self.run(Scenario { lease: *lease, outage, ..self.plain() });
                (lease, outages.map(|(name, outage)| (format!("scan.lease_{lease}.{name}"), run(outage))))
            })
            .collect();
        let long_lease = self.run(Scenario { lease: self.long_lease, ..self.plain() });

        let mut measure = Block::new("measure");
        measure.plain("parameters.nodes", self.nodes);
        measure.plain("parameters.rounds", self.rounds);
        measure.plain("parameters.lease", self.lease);
        measure.plain("parameters.renewal", self.renewal);
        measure.plain("parameters.outage_start", self.outage_start);
        measure.plain("outage_end", self.outage_start + self.outage - 1);
        for (i, round) in self.triggers.iter().enumerate() {
            measure.plain(format!("parameters.triggers.{i}"), *round);
        }
        let measures: [(&str, Count); 8] = [
            ("started", |run| run.batches_started() as u64),
            ("missed", |run| run.missed() as u64),
            ("delayed_rounds", Run::delayed_rounds),
            ("double_starts", Run::double_starts),
            ("rejected", |run| run.rejected.len() as u64),
            ("two_leader_rounds", |run| run.two_leader.len() as u64),
            ("leaderless_rounds", |run| run.leaderless.len() as u64),
            ("handover_rounds", Run::handover_rounds),
        ];
        for (name, count) in measures {
            for (run_name, run) in &runs {
                measure.plain(format!("runs.{run_name}.{name}"), count(run));
            }
        }
        measure.plain("parameters.outage", self.outage);
        measure.plain("parameters.short_outage", self.short_outage);
        for _ in outages {
            measure.plain("parameters.conflicting_leaders", self.conflicting_leaders);
        }
        for (i, (lease, row)) in scan.iter().enumerate() {
            measure.plain(format!("parameters.leases.{i}"), **lease);
            for (name, run) in row {
                measure.plain(format!("{name}.handover_rounds"), run.handover_rounds());
                measure.plain(format!("{name}.leaderless_rounds"), run.leaderless.len());
                measure.plain(format!("{name}.missed"), run.missed());
                measure.plain(format!("{name}.two_leader_rounds"), run.two_leader.len());
                measure.plain(format!("{name}.double_starts"), run.double_starts());
            }
        }

        let [(_, plain), _, (_, protected)] = &runs;
        let mut report = Report::new([measure, self.cost(plain, protected, &long_lease)]);
        report.fact("triggers.count", self.triggers.len());
        report.fact("triggers.interval", even_interval(&self.triggers));
        report.fact("old_leader.reachable_again", self.outage_start + self.outage);
        for (name, run) in &runs {
            run.facts(&mut report, &format!("runs.{name}"));
        }
        for (name, run) in scan.iter().flat_map(|(_, row)| row) {
            run.facts(&mut report, name);
        }
        long_lease.facts(&mut report, "long_lease");
        // Which of the two protections does what only shows beside each of them alone.
        let trigger = self.run(self.trigger());
        report.fact("trigger_only.delayed_rounds", trigger.delayed_rounds());
        trigger.facts(&mut report, "trigger_only");
        report
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

impl Parameters {
    /// A year's batches: triggers fall into a run's windows in proportion to their rounds.
    fn cost(&self, plain: &Run, protected: &Run, long_lease: &Run) -> Block {
        let share = |rounds: &[u64]| rounds.len() as f64 / self.rounds as f64;
        let (leaderless, two_leader) = (share(&plain.leaderless), share(&plain.two_leader));
        let mut block = Block::new("cost");
        block.plain("window.leaderless_rounds", plain.leaderless.len());
        block.plain("parameters.rounds", self.rounds);
        block.fixed("window.leaderless_share", leaderless, 4);
        block.plain("window.two_leader_rounds", plain.two_leader.len());
        block.plain("parameters.rounds", self.rounds);
        block.fixed("window.two_leader_share", two_leader, 4);
        block.plain("parameters.invoice_lines", self.invoice_lines);
        for (i, handovers) in self.handovers_a_year.iter().enumerate() {
            let row = format!("cost.kk4_{}", segment(handovers));
            let (missed, double) = (handovers * leaderless, handovers * two_leader);
            block.plain(format!("parameters.handovers_a_year.{i}"), *handovers);
            block.fixed(format!("{row}.missed_batches"), missed, 2);
            block.fixed(format!("{row}.missed_lines"), missed * self.invoice_lines, 0);
            block.fixed(format!("{row}.double_batches"), double, 2);
            block.fixed(format!("{row}.double_lines"), double * self.invoice_lines, 0);
        }
        block.plain("protected.missed", protected.missed());
        block.plain("protected.double_starts", protected.double_starts());
        block.plain("protected.delayed_rounds", protected.delayed_rounds());
        block.plain("parameters.long_lease", self.long_lease);
        block.plain("long_lease.handover_rounds", long_lease.handover_rounds());
        block.plain("long_lease.leaderless_rounds", long_lease.leaderless.len());
        block.plain("long_lease.two_leader_rounds", long_lease.two_leader.len());
        block
    }
}

impl Run {
    /// In which rounds it happened, where the blocks only say how often.
    fn facts(&self, report: &mut Report, run: &str) {
        let handovers: Vec<u64> = self.handovers.iter().map(|handover| handover.round).collect();
        report.fact(format!("{run}.handovers"), handovers.len());
        report.fact(format!("{run}.handover_at"), handovers);
        let tokens: Vec<u64> = self.handovers.iter().map(|handover| handover.fencing_token).collect();
        report.fact(format!("{run}.fencing_tokens"), tokens);
        report.fact(format!("{run}.two_leader_in"), self.two_leader.clone());
        report.fact(format!("{run}.two_believers_in"), self.two_believers.clone());
        report.fact(format!("{run}.leaderless_in"), self.leaderless.clone());
        report.fact(format!("{run}.old_leader_drops_belief"), self.belief_dropped);
        let mut triggers = |name: &str, condition: fn(BatchStart) -> bool| {
            report.fact(format!("{run}.triggers_{name}"), self.triggers_where(condition));
        };
        triggers("started_once", |start| start == BatchStart::OnTime { starts: 1 });
        triggers("started_twice", |start| matches!(start, BatchStart::OnTime { starts: 2.. }));
        triggers("delayed", |start| matches!(start, BatchStart::Late { .. }));
        triggers("missed", |start| start == BatchStart::Missed);
        triggers("waiting", |start| start == BatchStart::Waiting);
    }
}

const MAX_ROUNDS: i64 = 100_000;

/// The distance between neighbours, if it is the same everywhere.
fn even_interval(rounds: &[u64]) -> Option<i64> {
    let mut intervals = rounds.windows(2).map(|pair| pair[1] as i64 - pair[0] as i64);
    let first = intervals.next()?;
    intervals.all(|interval| interval == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three nodes; the first is away in rounds 4 and 5, its lease expires in round 4, and it reads the record in 7.
    fn parameters() -> Parameters {
        Parameters {
            nodes: 3,
            rounds: 8,
            lease: 1,
            renewal: 7,
            outage_start: 4,
            outage: 2,
            triggers: vec![],
            conflicting_leaders: 2,
            leases: vec![],
            short_outage: 1,
            long_lease: 1,
            invoice_lines: 0.0,
            handovers_a_year: vec![],
        }
    }

    #[test]
    fn an_unreachable_leader_believes_but_does_not_act() {
        let parameters = parameters();
        let run = parameters.run(parameters.plain());
        assert_eq!(run.two_believers, [4, 5, 6, 7]);
        assert_eq!(run.two_leader, [6, 7]);
        assert_eq!(run.belief_dropped, Some(7));
    }

    #[test]
    fn the_record_keeps_only_the_last_trigger_that_nobody_saw() {
        let parameters = Parameters { lease: 9, triggers: vec![4, 5, 8], ..parameters() };
        let run = parameters.run(parameters.fencing_trigger());
        let starts: Vec<BatchStart> = run.triggers.iter().map(|trigger| trigger.start).collect();
        assert!(starts == [BatchStart::Waiting, BatchStart::Late { round: 6 }, BatchStart::OnTime { starts: 1 }]);
    }
}
