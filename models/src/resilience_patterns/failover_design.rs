//! Failover Design: when should a standby take over, should it give the work back, and what does a transition cost?
//!
//! Replica A is active and fails by a schedule; replica B stands by. A shallow check asks each round only whether the
//! active replica responds, so that a half-failed A, which accepts writes and loses them, never triggers anything.
//! Left out: failures of B, two replicas that both believe themselves active, and what the check asks.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::schedule::Schedule;
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    rounds: u64,
    replica_a: Replica,
    /// How long a transition takes, in either direction.
    promotion_rounds: u64,
    /// Consecutive responses of A after which automatic failback begins.
    failback_responses: u64,
    /// Consecutive failed checks that trigger failover, as swept.
    thresholds: Vec<u64>,
    /// The threshold that the lesson settles on.
    threshold: u64,
    round_seconds: f64,
    stops_a_month: f64,
    pauses_a_month: f64,
    recovery_minutes: f64,
    failure_share_minutes: f64,
    /// Requests per second.
    peak_write: f64,
    /// Requests per second.
    peak_edge: f64,
    /// Pool sizes of the active-active setup.
    active_active_replicas: Vec<u64>,
}

/// The failure schedule of replica A.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replica {
    /// Does not respond, and recovers by itself.
    paused: Schedule,
    /// Does not respond.
    stopped: Schedule,
    /// Responds and accepts writes, none of which reaches the store.
    half_failed: Schedule,
}

impl Replica {
    fn responds(&self, round: u64) -> bool {
        !self.paused.includes(round) && !self.stopped.includes(round)
    }

    fn stores_writes(&self, round: u64) -> bool {
        self.responds(round) && !self.half_failed.includes(round)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Active {
    A,
    B,
}

/// While it runs no replica accepts writes.
#[derive(Clone, Copy)]
struct Transition {
    to: Active,
    completes: u64,
}

/// What happens when the replica that had failed responds again.
#[derive(Clone, Copy, PartialEq)]
enum Failback {
    Automatic,
    /// The replica that took over stays active.
    Permanent,
}

/// Rounds, each with what became of its writes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Writes {
    stored: u64,
    dropped: u64,
    silently_lost: u64,
}

/// Rounds, and transitions begun.
#[derive(Debug, Default)]
struct Counts {
    writes: Writes,
    failovers: u64,
    /// Failovers away from a replica that responded again as soon as they completed.
    false_failovers: u64,
    failbacks: u64,
    transition_rounds: u64,
}

impl Writes {
    fn answered_by(&mut self, replica: &Replica, round: u64) {
        if replica.stores_writes(round) {
            self.stored += 1;
        } else {
            self.silently_lost += 1;
        }
    }
}

impl Parameters {
    fn run(&self, threshold: u64, failback: Failback) -> Counts {
        let a = &self.replica_a;
        let mut counts = Counts::default();
        let mut active = Active::A;
        let mut transition = None;
        let (mut failed_checks, mut responses) = (0, 0);

        for now in 1..=self.rounds {
            let begin = |to| Some(Transition { to, completes: now + self.promotion_rounds });
            if let Some(Transition { to, completes }) = transition {
                counts.transition_rounds += 1;
                counts.writes.dropped += 1;
                if now == completes {
                    if to == Active::B && a.responds(now + 1) {
                        counts.false_failovers += 1;
                    }
                    active = to;
                    transition = None;
                    (failed_checks, responses) = (0, 0);
                }
                continue;
            }
            match active {
                Active::A if !a.responds(now) => {
                    counts.writes.dropped += 1;
                    failed_checks += 1;
                    if failed_checks >= threshold {
                        counts.failovers += 1;
                        transition = begin(Active::B);
                    }
                }
                Active::A => {
                    failed_checks = 0;
                    counts.writes.answered_by(a, now);
                }
                Active::B => {
                    counts.writes.stored += 1;
                    responses = if a.responds(now) { responses + 1 } else { 0 };
                    if failback == Failback::Automatic && responses >= self.failback_responses {
                        counts.failbacks += 1;
                        transition = begin(Active::A);
                    }
                }
            }
        }
        counts
    }

    /// What becomes of the writes where A alone accepts them.
    fn without_failover(&self) -> Writes {
        let a = &self.replica_a;
        let mut writes = Writes::default();
        for round in 1..=self.rounds {
            if a.responds(round) {
                writes.answered_by(a, round);
            } else {
                writes.dropped += 1;
            }
        }
        writes
    }

    /// From the first failed check of a real stop until the standby accepts writes.
    fn window_seconds(&self, threshold: u64) -> f64 {
        (threshold + self.promotion_rounds) as f64 * self.round_seconds
    }

    /// Seconds a month lost to failovers that a pause triggered; a pause shorter than the threshold triggers none.
    fn false_failover_seconds(&self, threshold: u64) -> f64 {
        if threshold > self.replica_a.paused.longest() {
            return 0.0;
        }
        let failback = self.promotion_rounds as f64 * self.round_seconds;
        self.pauses_a_month * (self.window_seconds(threshold) + failback)
    }

    fn failure_share_percent(&self, seconds: f64) -> f64 {
        100.0 * seconds / 60.0 / self.failure_share_minutes
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("rounds", self.rounds, 0..=1_000_000);
        d.group("replica_a", |d| {
            self.replica_a.paused.declare(d, "paused");
            self.replica_a.stopped.declare(d, "stopped");
            self.replica_a.half_failed.declare(d, "half_failed");
        });
        // In the course's program a promotion of no rounds would never complete.
        d.integer("promotion_rounds", self.promotion_rounds, 1..=10_000);
        d.integer("failback_responses", self.failback_responses, 0..=1_000_000);
        d.list("thresholds", &self.thresholds, 1..=20, |d, i, threshold| d.integer(i, *threshold, 1..=10_000));
        d.distinct("thresholds", &self.thresholds);
        d.integer("threshold", self.threshold, 1..=10_000);
        d.real("round_seconds", self.round_seconds, 0.001..=3_600.0);
        d.real("stops_a_month", self.stops_a_month, 0.0..=10_000.0);
        d.real("pauses_a_month", self.pauses_a_month, 0.0..=100_000.0);
        d.real("recovery_minutes", self.recovery_minutes, 0.0..=50_000.0);
        d.real("failure_share_minutes", self.failure_share_minutes, 0.1..=50_000.0);
        d.real("peak_write", self.peak_write, 0.0..=1e6);
        d.real("peak_edge", self.peak_edge, 0.0..=1e6);
        let pools = &self.active_active_replicas;
        d.list("active_active_replicas", pools, 1..=20, |d, i, replicas| d.integer(i, *replicas, 1..=10_000));
        d.distinct("active_active_replicas", pools);

        let a = &self.replica_a;
        let spans = a.paused.spans().len() + a.stopped.spans().len() + a.half_failed.spans().len();
        d.steps("rounds", (self.thresholds.len() + 4) as f64 * self.rounds as f64 * (1 + spans) as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
