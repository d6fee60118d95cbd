//! How far a value spreads and for how long, for any refresh, stagger and time of writing; and what an outage costs.

use super::{Counts, Outage, Parameters, Restart, Rollout};
use crate::invariants::{Held, Invariant};
use std::ops::Range;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "held-from-refresh-to-refresh", check: held_from_refresh_to_refresh },
        Invariant { id: "propagation-within-interval", check: propagation_within_interval },
        Invariant { id: "propagation-below-interval", check: propagation_below_interval },
        Invariant { id: "stagger-keeps-propagation", check: stagger_keeps_propagation },
        Invariant { id: "stagger-never-faster", check: stagger_never_faster },
        Invariant { id: "stagger-keeps-faulty-total", check: stagger_keeps_faulty_total },
        Invariant { id: "whole-intervals-keep-faulty-total", check: whole_intervals_keep_faulty_total },
        Invariant { id: "one-mixed-window", check: one_mixed_window },
        Invariant { id: "mixed-at-either-end", check: mixed_at_either_end },
        Invariant { id: "staged-is-one-replica", check: staged_is_one_replica },
        Invariant { id: "longer-refresh-more-faulty", check: longer_refresh_more_faulty },
        Invariant { id: "faulty-below-ceiling", check: faulty_below_ceiling },
        Invariant { id: "last-known-good-drops-nothing", check: last_known_good_drops_nothing },
        Invariant { id: "store-required-waits-for-the-store", check: store_required_waits_for_the_store },
        Invariant { id: "a-read-each-interval", check: a_read_each_interval },
    ]
}

impl Parameters {
    fn withdrawn_at_s(&self) -> u64 {
        self.wrong_at_s + self.detection_s
    }

    /// Of the seconds from one that a replica refreshes at, the first.
    fn next_refresh(&self, replica: usize, stagger_s: u64, from_s: u64) -> u64 {
        let first = replica as u64 * stagger_s;
        first + from_s.saturating_sub(first).next_multiple_of(self.refresh_s)
    }

    /// When each replica holds a value that is written for all: from a refresh to a refresh, or never.
    fn held(&self, stagger_s: u64) -> Vec<Range<u64>> {
        let at = |replica, from| self.next_refresh(replica, stagger_s, from).min(self.duration_s);
        (0..self.replicas).map(|k| at(k, self.wrong_at_s)..at(k, self.withdrawn_at_s())).collect()
    }

    /// Every replica has begun to refresh, sees the value before it is withdrawn, and the run sees that withdrawal.
    fn reaches_all(&self, stagger_s: u64) -> bool {
        let last_begins = (self.replicas as u64 - 1) * stagger_s;
        last_begins <= self.wrong_at_s
            && self.detection_s >= self.refresh_s
            && self.withdrawn_at_s() + self.refresh_s <= self.duration_s
    }

    fn on_each_stagger(&self, mut check: impl FnMut(u64, Counts) -> Held) -> Held {
        Held::all(self.staggers_s.iter().map(|&stagger| check(stagger, self.spread(Rollout::AllAtOnce, stagger))))
    }

    fn on_each_stagger_that_reaches_all(&self, mut check: impl FnMut(u64, Counts) -> Held) -> Held {
        self.on_each_stagger(|stagger, run| Held::provided(self.reaches_all(stagger), || check(stagger, run)))
    }

    /// Requests that one replica answers in so many seconds.
    fn requests(&self, seconds: u64) -> f64 {
        seconds as f64 * self.replica_rate
    }
}

/// A sum over seconds beside a product.
fn held_from_refresh_to_refresh(p: &Parameters) -> Held {
    p.on_each_stagger(|stagger, run| {
        let held: Vec<Range<u64>> = p.held(stagger).into_iter().filter(|held| !held.is_empty()).collect();
        let seconds = held.iter().map(|held| held.end - held.start).sum();
        Held::all([
            Held::close(format!("faulty, stagger {stagger}"), run.faulty_responses, p.requests(seconds)),
            Held::equal(
                format!("first seen, stagger {stagger}"),
                run.first_seen,
                held.iter().map(|held| held.start).min(),
            ),
            Held::equal(
                format!("last seen, stagger {stagger}"),
                run.last_seen,
                held.iter().map(|held| held.end - 1).max(),
            ),
        ])
    })
}

fn propagation_within_interval(p: &Parameters) -> Held {
    p.on_each_stagger(|stagger, run| {
        let within = run.propagation_s.is_some_and(|seconds| seconds <= p.refresh_s);
        Held::that(within, || format!("propagation {:?}, stagger {stagger}", run.propagation_s))
    })
}

/// Until the last replica's next refresh.
fn propagation_below_interval(p: &Parameters) -> Held {
    p.on_each_stagger_that_reaches_all(|stagger, run| {
        let last = (0..p.replicas).map(|k| p.next_refresh(k, stagger, p.wrong_at_s)).max();
        let expected = last.map(|last| last - p.wrong_at_s);
        Held::all([
            Held::equal(format!("propagation, stagger {stagger}"), run.propagation_s, expected),
            Held::at_most(format!("propagation, stagger {stagger}"), expected, Some(p.refresh_s - 1)),
        ])
    })
}

fn stagger_keeps_propagation(p: &Parameters) -> Held {
    let without = p.spread(Rollout::AllAtOnce, 0).propagation_s;
    p.on_each_stagger_that_reaches_all(|stagger, run| {
        Held::equal(format!("propagation, stagger {stagger}"), run.propagation_s, without)
    })
}

/// The first replica refreshes as it does without.
fn stagger_never_faster(p: &Parameters) -> Held {
    let without = p.spread(Rollout::AllAtOnce, 0);
    p.on_each_stagger_that_reaches_all(|stagger, run| {
        Held::all([
            Held::at_most(format!("propagation, stagger {stagger}"), without.propagation_s, run.propagation_s),
            Held::at_most(format!("first seen, stagger {stagger}"), run.first_seen, without.first_seen),
        ])
    })
}

fn stagger_keeps_faulty_total(p: &Parameters) -> Held {
    let without = p.spread(Rollout::AllAtOnce, 0).faulty_responses;
    p.on_each_stagger_that_reaches_all(|stagger, run| {
        Held::close(format!("faulty responses, stagger {stagger}"), run.faulty_responses, without)
    })
}

/// Then each replica holds the value for as long as the store does. A sum over seconds beside a product.
fn whole_intervals_keep_faulty_total(p: &Parameters) -> Held {
    let whole = p.detection_s.is_multiple_of(p.refresh_s);
    p.on_each_stagger_that_reaches_all(|stagger, run| {
        Held::provided(whole, || {
            let expected = p.requests(p.detection_s * p.replicas as u64);
            Held::close(format!("faulty responses, stagger {stagger}"), run.faulty_responses, expected)
        })
    })
}

fn one_mixed_window(p: &Parameters) -> Held {
    p.on_each_stagger_that_reaches_all(|stagger, run| {
        Held::at_most(format!("mixed windows, stagger {stagger}"), run.mixed_windows, 1)
    })
}

/// From the first replica's refresh to the last one's, once on the way in and once on the way out.
fn mixed_at_either_end(p: &Parameters) -> Held {
    p.on_each_stagger_that_reaches_all(|stagger, run| {
        let held = p.held(stagger);
        let spread = |at: fn(&Range<u64>) -> u64| {
            let seconds: Vec<u64> = held.iter().map(at).collect();
            seconds.iter().max().zip(seconds.iter().min()).map_or(0, |(last, first)| last - first)
        };
        let (on, off) = (spread(|held| held.start), spread(|held| held.end));
        let windows = u64::from(on > 0) + u64::from(off > 0);
        Held::all([
            Held::equal(format!("mixed seconds, stagger {stagger}"), run.mixed_s, on + off),
            Held::equal(format!("mixed windows, stagger {stagger}"), run.mixed_windows, windows),
            Held::at_most(format!("mixed seconds, stagger {stagger}"), run.mixed_s, 2 * (p.refresh_s - 1)),
            Held::provided(stagger % p.refresh_s == 0, || Held::equal("mixed without a stagger", run.mixed_s, 0)),
        ])
    })
}

/// The first replica is not staggered. Sums over seconds are rounded in other places.
fn staged_is_one_replica(p: &Parameters) -> Held {
    let all = p.spread(Rollout::AllAtOnce, 0);
    Held::all(p.staggers_s.iter().map(|&stagger| {
        let staged = p.spread(Rollout::Staged, stagger);
        let seconds = p.held(0)[0].clone().count() as u64;
        let mixed = if p.replicas > 1 { seconds } else { 0 };
        let seen = |run: &Counts| (run.first_seen, run.last_seen, run.propagation_s);
        Held::all([
            Held::close(
                "faulty, times the replicas",
                staged.faulty_responses * p.replicas as f64,
                all.faulty_responses,
            ),
            Held::equal("first and last seen, and propagation", seen(&staged), seen(&all)),
            Held::equal("mixed seconds", staged.mixed_s, mixed),
        ])
    }))
}

fn longer_refresh_more_faulty(p: &Parameters) -> Held {
    let longer = Parameters { refresh_s: p.refresh_s + 1, ..p.clone() };
    Held::all(p.staggers_s.iter().map(|&stagger| {
        let faulty = |p: &Parameters| p.spread(Rollout::AllAtOnce, stagger).faulty_responses;
        Held::at_most(format!("faulty responses, stagger {stagger}"), faulty(p), faulty(&longer))
    }))
}

/// However long a replica refreshes: less than an interval after the withdrawal. Sums over seconds are rounded.
fn faulty_below_ceiling(p: &Parameters) -> Held {
    let seconds = p.detection_s + p.refresh_s - 1;
    let ceiling = p.requests(p.replicas as u64 * seconds) * (1.0 + 1e-9);
    p.on_each_stagger(|stagger, run| {
        let begun = (p.replicas as u64 - 1) * stagger <= p.withdrawn_at_s();
        let over = run.last_seen.is_some_and(|last| last >= p.withdrawn_at_s() + p.refresh_s - 1);
        Held::provided(begun, || {
            Held::all([
                Held::at_most(format!("faulty responses, stagger {stagger}"), run.faulty_responses, ceiling),
                Held::equal(format!("seen an interval after the withdrawal, stagger {stagger}"), over, false),
                Held::provided(p.detection_s == 0, || {
                    Held::equal("seen although never wrong", (run.first_seen, run.mixed_s), (None, 0))
                }),
            ])
        })
    })
}

fn last_known_good_drops_nothing(p: &Parameters) -> Held {
    let [good, required] = [Restart::FromDisk, Restart::NeedsStore].map(|restart| p.outage(restart));
    let calm = Parameters { outage: Outage { length_s: 0, ..p.outage }, ..p.clone() };
    let without = calm.outage(Restart::NeedsStore);
    Held::all([
        Held::equal("dropped", good.dropped_requests, 0.0),
        Held::equal("failed reads", good.failed_reads, required.failed_reads),
        Held::equal("without an outage", (without.dropped_requests, without.failed_reads), (0.0, 0)),
    ])
}

/// From its restart to the outage's end, if it restarts in it. A sum over seconds beside a product.
fn store_required_waits_for_the_store(p: &Parameters) -> Held {
    let Outage { start_s, restart_at_s, .. } = p.outage;
    let end = p.outage.end_s().min(p.duration_s);
    let waits = if restart_at_s < start_s { 0 } else { end.saturating_sub(restart_at_s) };
    Held::close("dropped", p.outage(Restart::NeedsStore).dropped_requests, p.requests(waits))
}

/// Reads up to a second are counted by division.
fn a_read_each_interval(p: &Parameters) -> Held {
    let Outage { start_s, stagger_s, .. } = p.outage;
    let end = p.outage.end_s().min(p.duration_s);
    let before = |replica: u64, second: u64| second.saturating_sub(replica * stagger_s).div_ceil(p.refresh_s);
    let failed = (0..p.replicas as u64).map(|k| before(k, end.max(start_s)) - before(k, start_s)).sum::<u64>();
    Held::all([
        Held::equal("failed reads", p.outage(Restart::FromDisk).failed_reads, failed),
        Held::close("reads an interval", p.store_reads(p.refresh_s) * p.refresh_s as f64, p.replicas as f64),
    ])
}
