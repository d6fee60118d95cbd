//! How a value spreads and what a store that is down costs, at any interval, stagger, detection and outage.

use super::{Counts, Parameters, Restart, Rollout};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "propagation-within-the-interval", check: propagation_within_the_interval },
        Invariant { id: "faulty-from-refresh-to-refresh", check: faulty_from_refresh_to_refresh },
        Invariant { id: "stagger-moves-no-faulty-response", check: stagger_moves_no_faulty_response },
        Invariant { id: "whole-intervals-are-the-detection-time", check: whole_intervals_are_the_detection_time },
        Invariant { id: "stagger-never-speeds-up", check: stagger_never_speeds_up },
        Invariant { id: "staged-is-one-replica", check: staged_is_one_replica },
        Invariant { id: "mixed-values", check: mixed_values },
        Invariant { id: "last-known-good-drops-nothing", check: last_known_good_drops_nothing },
        Invariant { id: "no-wrong-value-no-outage-no-cost", check: no_wrong_value_no_outage_no_cost },
    ]
}

impl Parameters {
    fn withdrawn_at(&self) -> u64 {
        self.wrong_at_s + self.detection_s
    }

    /// The first second from `from` on in which the replica reads the store.
    fn next_refresh(&self, replica: usize, stagger: u64, from: u64) -> u64 {
        let first = replica as u64 * stagger;
        first + from.saturating_sub(first).div_ceil(self.refresh_s) * self.refresh_s
    }

    /// Seconds in which a replica holds the wrong value: from the first read that finds it to the first that does not.
    fn wrong_seconds(&self, replica: usize, stagger: u64) -> u64 {
        let seen = |from| self.next_refresh(replica, stagger, from).min(self.duration_s);
        seen(self.withdrawn_at()) - seen(self.wrong_at_s)
    }

    /// Every replica reads before the value is written, and once more after it is withdrawn.
    fn all_read_around_it(&self, stagger: u64) -> bool {
        let last = self.replicas - 1;
        last as u64 * stagger <= self.wrong_at_s
            && (0..self.replicas).all(|r| self.next_refresh(r, stagger, self.withdrawn_at()) < self.duration_s)
    }

    fn each_spread(&self, check: impl Fn(Rollout, u64, Counts) -> Held) -> Held {
        let runs = Rollout::ALL.into_iter().flat_map(|rollout| self.staggers_s.iter().map(move |s| (rollout, *s)));
        Held::all(runs.map(|(rollout, stagger)| check(rollout, stagger, self.spread(rollout, stagger))))
    }
}

fn propagation_within_the_interval(p: &Parameters) -> Held {
    p.each_spread(|rollout, stagger, run| {
        let stays = p.detection_s >= p.refresh_s;
        Held::provided(stays && p.all_read_around_it(stagger), || {
            let latest = (p.refresh_s - 1) as i64;
            let found = run.propagation_s.map_or(i64::MAX, |seconds| seconds as i64);
            Held::at_most(format!("propagation, {} at stagger {stagger}", rollout.name()), found, latest)
        })
    })
}

/// The seconds are counted from the intervals; the run adds up a response rate second by second.
fn faulty_from_refresh_to_refresh(p: &Parameters) -> Held {
    p.each_spread(|rollout, stagger, run| {
        let seconds: u64 = (0..p.affected(rollout)).map(|replica| p.wrong_seconds(replica, stagger)).sum();
        let what = format!("faulty responses, {} at stagger {stagger}", rollout.name());
        Held::close(what, run.faulty_responses, seconds as f64 * p.replica_rate)
    })
}

fn stagger_moves_no_faulty_response(p: &Parameters) -> Held {
    p.each_spread(|rollout, stagger, run| {
        Held::provided(p.all_read_around_it(stagger) && p.all_read_around_it(0), || {
            let together = p.spread(rollout, 0).faulty_responses;
            Held::close(format!("faulty responses at stagger {stagger}"), run.faulty_responses, together)
        })
    })
}

fn whole_intervals_are_the_detection_time(p: &Parameters) -> Held {
    let whole = Parameters { detection_s: p.detection_s.next_multiple_of(p.refresh_s), ..p.clone() };
    whole.each_spread(|rollout, stagger, run| {
        Held::provided(whole.all_read_around_it(stagger), || {
            let expected = (whole.affected(rollout) as u64 * whole.detection_s) as f64 * whole.replica_rate;
            Held::close(format!("faulty responses at stagger {stagger}"), run.faulty_responses, expected)
        })
    })
}

/// The first replica is never staggered: others see the value before or after it, and the last of all no sooner.
fn stagger_never_speeds_up(p: &Parameters) -> Held {
    let seconds = |seen: Option<u64>| seen.unwrap_or(u64::MAX);
    p.each_spread(|rollout, stagger, run| {
        let together = p.spread(rollout, 0);
        let what = |what: &str| format!("{what}, {} at stagger {stagger}", rollout.name());
        Held::all([
            Held::at_most(what("propagation together"), seconds(together.propagation_s), seconds(run.propagation_s)),
            Held::at_most(what("first seen"), seconds(run.first_seen), seconds(together.first_seen)),
        ])
    })
}

fn staged_is_one_replica(p: &Parameters) -> Held {
    Held::all(p.staggers_s.iter().map(|&stagger| {
        let [all, staged] = Rollout::ALL.map(|rollout| p.spread(rollout, stagger).faulty_responses);
        Held::all([
            Held::at_most(format!("staged at stagger {stagger}"), staged, all),
            Held::provided(stagger == 0, || Held::close("all at once", all, staged * p.replicas as f64)),
        ])
    }))
}

fn mixed_values(p: &Parameters) -> Held {
    p.each_spread(|rollout, stagger, run| {
        let what = |what: &str| format!("{what}, {} at stagger {stagger}", rollout.name());
        let never_mixed = p.replicas == 1 || (matches!(rollout, Rollout::AllAtOnce) && stagger == 0);
        let always_mixed = p.replicas > 1 && matches!(rollout, Rollout::Staged);
        let held = run.first_seen.zip(run.last_seen).map_or(0, |(first, last)| last - first + 1);
        Held::all([
            Held::at_most(what("mixed"), run.mixed_s, held),
            Held::at_most(what("stretches"), run.mixed_windows, run.mixed_s),
            Held::provided(never_mixed, || Held::equal(what("mixed"), run.mixed_s, 0)),
            Held::provided(always_mixed, || Held::equal(what("mixed"), run.mixed_s, p.wrong_seconds(0, stagger))),
        ])
    })
}

/// Both fail the same reads; whoever needs the store drops what arrives until it is back.
fn last_known_good_drops_nothing(p: &Parameters) -> Held {
    let (disk, store) = (p.outage(Restart::FromDisk), p.outage(Restart::NeedsStore));
    let end = p.outage.end_s().min(p.duration_s);
    let down = end.saturating_sub(p.outage.restart_at_s.max(p.outage.start_s));
    let is_hit = p.outage.covers(p.outage.restart_at_s) && p.outage.restart_at_s < p.duration_s;
    let reads = |replica: usize| {
        let before = |second: u64| p.next_refresh(replica, p.outage.stagger_s, second) / p.refresh_s;
        before(end) - before(p.outage.start_s.min(end))
    };
    let failed: u64 = (0..p.replicas).map(reads).sum();
    let expected = if is_hit { down as f64 * p.replica_rate } else { 0.0 };
    Held::all([
        Held::equal("dropped from disk", disk.dropped_requests.to_bits(), 0.0_f64.to_bits()),
        Held::close("dropped without the store", store.dropped_requests, expected),
        Held::equal("failed reads", (disk.failed_reads, store.failed_reads), (failed, failed)),
    ])
}

fn no_wrong_value_no_outage_no_cost(p: &Parameters) -> Held {
    let mut calm = Parameters { detection_s: 0, ..p.clone() };
    calm.outage.length_s = 0;
    let spreads = calm.each_spread(|rollout, stagger, run| {
        let seen = (run.first_seen, run.last_seen, run.propagation_s, run.mixed_s);
        let what = format!("seen, {} at stagger {stagger}", rollout.name());
        Held::all([
            Held::equal(what, seen, (None, None, None, 0)),
            Held::equal("faulty responses", run.faulty_responses.to_bits(), 0.0_f64.to_bits()),
        ])
    });
    Held::all([
        spreads,
        Held::all([Restart::FromDisk, Restart::NeedsStore].map(|restart| {
            let run = calm.outage(restart);
            Held::equal(
                "failed reads, drops",
                (run.failed_reads, run.dropped_requests.to_bits()),
                (0, 0.0_f64.to_bits()),
            )
        })),
    ])
}
