//! Failover Design: when should a standby take over, should it give the work back, and what does a transition cost?
//!
//! Replica A is active and fails by a schedule; replica B stands by. A shallow check asks each round only whether the
//! active replica responds, so that a half-failed A, which accepts writes and loses them, never triggers anything.
//! Left out: failures of B, two replicas that both believe themselves active, and what the check asks.

use crate::figures::{Block, Figure, Mark, Report};
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

/// Rounds, and transitions begun.
#[derive(Default)]
struct Counts {
    failovers: u64,
    /// Failovers away from a replica that responded again as soon as they completed.
    false_failovers: u64,
    failbacks: u64,
    transition_rounds: u64,
    dropped: u64,
    silently_lost: u64,
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
                counts.dropped += 1;
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
                    counts.dropped += 1;
                    failed_checks += 1;
                    if failed_checks >= threshold {
                        counts.failovers += 1;
                        transition = begin(Active::B);
                    }
                }
                Active::A => {
                    failed_checks = 0;
                    if !a.stores_writes(now) {
                        counts.silently_lost += 1;
                    }
                }
                Active::B if failback == Failback::Automatic => {
                    responses = if a.responds(now) { responses + 1 } else { 0 };
                    if responses >= self.failback_responses {
                        counts.failbacks += 1;
                        transition = begin(Active::A);
                    }
                }
                Active::B => {}
            }
        }
        counts
    }

    /// Rounds in which A alone accepts, drops and silently loses writes.
    fn without_failover(&self) -> [usize; 3] {
        let a = &self.replica_a;
        let rounds = |is: &dyn Fn(u64) -> bool| (1..=self.rounds).filter(|&round| is(round)).count();
        [
            rounds(&|round| a.stores_writes(round)),
            rounds(&|round| !a.responds(round)),
            rounds(&|round| a.responds(round) && !a.stores_writes(round)),
        ]
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
        let automatic = self.run(self.threshold, Failback::Automatic);
        let permanent = self.run(self.threshold, Failback::Permanent);
        let mut report = Report::new([self.measure(&automatic, &permanent), self.budget(automatic.silently_lost)]);
        report.fact("promotion_rounds", self.promotion_rounds);
        report.fact("window_seconds", self.window_seconds(self.threshold));
        report.fact("longest_pause_rounds", self.replica_a.paused.longest());
        report.fact("failback.permanent.silently_lost", permanent.silently_lost);
        report
    }
}

impl Parameters {
    fn measure(&self, automatic: &Counts, permanent: &Counts) -> Block {
        let mut block = Block::new("measure");
        let [accepted, dropped, silently_lost] = self.without_failover();
        block.plain("parameters.rounds", self.rounds);
        block.plain("replica_a.paused_rounds", self.replica_a.paused.rounds());
        block.plain("replica_a.stopped_rounds", self.replica_a.stopped.rounds());
        block.plain("replica_a.half_failed_rounds", self.replica_a.half_failed.rounds());
        block.plain("no_failover.accepted", accepted);
        block.plain("no_failover.dropped", dropped);
        block.plain("no_failover.silently_lost", silently_lost);

        for (i, &threshold) in self.thresholds.iter().enumerate() {
            let counts = self.run(threshold, Failback::Automatic);
            let row = format!("detection.threshold_{threshold}");
            block.plain(format!("parameters.thresholds.{i}"), threshold);
            block.plain(format!("{row}.failovers"), counts.failovers);
            block.plain(format!("{row}.false_failovers"), counts.false_failovers);
            block.plain(format!("{row}.failbacks"), counts.failbacks);
            block.plain(format!("{row}.transition_rounds"), counts.transition_rounds);
            block.plain(format!("{row}.dropped"), counts.dropped);
            block.plain(format!("{row}.silently_lost"), counts.silently_lost);
        }
        for (policy, counts) in [("automatic", automatic), ("permanent", permanent)] {
            let row = format!("failback.{policy}");
            block.plain(format!("{row}.threshold"), self.threshold);
            block.plain(format!("{row}.failovers"), counts.failovers);
            block.plain(format!("{row}.failbacks"), counts.failbacks);
            block.plain(format!("{row}.transition_rounds"), counts.transition_rounds);
            block.plain(format!("{row}.dropped"), counts.dropped);
            block.plain(format!("{row}.active_changes"), counts.failovers + counts.failbacks);
        }
        block
    }

    fn budget(&self, silent_rounds: u64) -> Block {
        let mut block = Block::new("budget");
        for &threshold in &self.thresholds {
            let row = format!("budget.threshold_{threshold}");
            let stops = self.stops_a_month * self.window_seconds(threshold);
            let false_failovers = self.false_failover_seconds(threshold);
            let total = stops + false_failovers;
            block.plain(format!("{row}.threshold"), threshold);
            block.plain(format!("{row}.window_seconds"), self.window_seconds(threshold));
            block.fixed(format!("{row}.stops_seconds"), stops, 1);
            block.fixed(format!("{row}.false_failovers_seconds"), false_failovers, 1);
            block.fixed(format!("{row}.total_minutes"), total / 60.0, 2);
            let share = Figure::fixed(format!("{row}.failure_share"), self.failure_share_percent(total), 2);
            block.push(share.marked(Mark::PercentBefore));
        }

        let recovery_seconds = self.recovery_minutes * 60.0;
        let unprotected = self.stops_a_month * recovery_seconds;
        let rounds = self.threshold + self.promotion_rounds;
        let protected = self.stops_a_month * rounds as f64 * self.round_seconds;
        let window = self.window_seconds(self.threshold);
        block.plain("parameters.stops_a_month", self.stops_a_month);
        block.plain("stops.recovery_seconds", recovery_seconds);
        block.fixed("stops.no_failover_minutes", unprotected / 60.0, 1);
        let share = Figure::fixed("stops.no_failover_failure_share", self.failure_share_percent(unprotected), 1);
        block.push(share.marked(Mark::PercentBefore));
        block.plain("parameters.threshold", self.threshold);
        block.plain("stops.failover_seconds", protected);
        block.push(Figure::fixed("stops.times_shorter", unprotected / protected, 1).marked(Mark::Times));
        block.fixed("window.dropped_writes", window * self.peak_write, 2);
        block.fixed("window.dropped_edge_requests", window * self.peak_edge, 2);

        let half_failed_seconds = silent_rounds as f64 * self.round_seconds;
        let lost_writes = half_failed_seconds * self.peak_write;
        block.plain("half_failed.rounds", silent_rounds);
        block.plain("parameters.round_seconds", self.round_seconds);
        block.plain("half_failed.seconds", half_failed_seconds);
        block.fixed("half_failed.lost_writes", lost_writes, 2);

        for (i, &replicas) in self.active_active_replicas.iter().enumerate() {
            let row = format!("active_active.replicas_{replicas}");
            block.plain(format!("parameters.active_active_replicas.{i}"), replicas);
            block.fixed(format!("{row}.dropped_writes"), window * self.peak_write / replicas as f64, 2);
            block.fixed(format!("{row}.lost_writes"), lost_writes / replicas as f64, 2);
        }
        block
    }
}
