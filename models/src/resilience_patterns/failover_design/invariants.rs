//! What a threshold, a failback policy and a shallow check come to, under any failure schedule.

use super::{Counts, Failback, Parameters, Replica};
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;
use crate::schedule::{Schedule, Span};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-round-ends-once", check: every_round_ends_once },
        Invariant { id: "responding-replica-costs-nothing", check: responding_replica_costs_nothing },
        Invariant { id: "outage-has-its-price", check: outage_has_its_price },
        Invariant { id: "failover-drops-no-more", check: failover_drops_no_more },
        Invariant { id: "failover-adds-its-windows", check: failover_adds_its_windows },
        Invariant { id: "permanent-drops-no-more", check: permanent_drops_no_more },
        Invariant { id: "higher-threshold-fewer-false-failovers", check: higher_threshold_fewer_false_failovers },
        Invariant { id: "higher-threshold-fewer-failovers", check: higher_threshold_fewer_failovers },
        Invariant { id: "same-silent-loss-at-any-threshold", check: same_silent_loss_at_any_threshold },
        Invariant { id: "failover-adds-no-silent-loss", check: failover_adds_no_silent_loss },
        Invariant { id: "half-failure-unseen", check: half_failure_unseen },
        Invariant { id: "lasting-stop-costs-one-window", check: lasting_stop_costs_one_window },
        Invariant { id: "gain-is-recovery-by-window", check: gain_is_recovery_by_window },
        Invariant { id: "month-charges-the-pauses", check: month_charges_the_pauses },
        Invariant { id: "month-charges-the-longest-pause", check: month_charges_the_longest_pause },
    ]
}

const POLICIES: [Failback; 2] = [Failback::Automatic, Failback::Permanent];

fn never() -> Schedule {
    Vec::new().into()
}

fn first(rounds: u64) -> Schedule {
    vec![Span { first: 1, last: rounds.max(1) }].into()
}

impl Parameters {
    fn runs(&self) -> impl Iterator<Item = (u64, Failback, Counts)> {
        let settings = self.thresholds.iter().flat_map(|&threshold| POLICIES.map(|failback| (threshold, failback)));
        settings.map(|(threshold, failback)| (threshold, failback, self.run(threshold, failback)))
    }

    /// The run's rounds without an answer, joined where they follow each other.
    fn outages(&self) -> Vec<Span> {
        let mut outages: Vec<Span> = Vec::new();
        for round in (1..=self.rounds).filter(|round| !self.replica_a.responds(*round)) {
            match outages.last_mut() {
                Some(outage) if outage.last + 1 == round => outage.last = round,
                _ => outages.push(Span { first: round, last: round }),
            }
        }
        outages
    }

    /// Responses of A that are enough for it to be active again, whenever promotion had begun.
    fn recovery(&self) -> u64 {
        2 * self.promotion_rounds + self.failback_responses
    }

    /// Each outage finds A active, and is over with all that follows from it before the next one and the run's end.
    fn outages_apart(&self) -> bool {
        let outages = self.outages();
        let starts = outages.iter().skip(1).map(|outage| outage.first);
        let apart = |(outage, next): (&Span, u64)| next > outage.last + self.recovery();
        self.failback_responses > 0 && outages.iter().zip(starts.chain([self.rounds + 1])).all(apart)
    }

    /// The same replica with one pause and no other failure, seen until it is active again.
    fn one_pause(&self, rounds: u64, threshold: u64) -> Counts {
        let replica_a = Replica { paused: first(rounds), stopped: never(), half_failed: never() };
        let rounds = rounds + threshold + self.recovery();
        Parameters { replica_a, rounds, ..self.clone() }.run(threshold, Failback::Automatic)
    }

    /// Seconds without an active replica that a failover on a pause costs; a pause that triggers none costs none.
    fn pause_seconds(&self, rounds: u64, threshold: u64) -> f64 {
        let counts = self.one_pause(rounds, threshold);
        if counts.failovers == 0 { 0.0 } else { counts.writes.dropped as f64 * self.round_seconds }
    }
}

impl Counts {
    fn transitions(&self) -> u64 {
        self.failovers + self.failbacks
    }
}

/// The transitions take turns, and each takes its promotion but the one that the run's end may cut short.
fn every_round_ends_once(p: &Parameters) -> Held {
    let without = p.without_failover();
    let sum = without.stored + without.dropped + without.silently_lost;
    let runs = p.runs().map(|(threshold, _, counts)| {
        let (writes, transitions) = (counts.writes, counts.transitions());
        let failed_checks = writes.dropped.saturating_sub(counts.transition_rounds);
        let in_transition = transitions * p.promotion_rounds;
        Held::all([
            Held::equal("rounds", writes.stored + writes.dropped + writes.silently_lost, p.rounds),
            Held::at_most("transition rounds", counts.transition_rounds, in_transition),
            Held::at_most("promotions", in_transition, counts.transition_rounds + p.promotion_rounds),
            Held::at_most("failed checks that triggered", counts.failovers * threshold, failed_checks),
            Held::at_most("failbacks", counts.failbacks, counts.failovers),
            Held::at_most("failovers", counts.failovers, counts.failbacks + 1),
            Held::at_most("false failovers", counts.false_failovers, counts.failovers),
        ])
    });
    Held::all(std::iter::once(Held::equal("rounds without failover", sum, p.rounds)).chain(runs))
}

/// The day without failure: the standby's idle capacity is all that it costs.
fn responding_replica_costs_nothing(p: &Parameters) -> Held {
    let replica_a = Replica { paused: never(), stopped: never(), ..p.replica_a.clone() };
    let p = Parameters { replica_a, ..p.clone() };
    Held::all(p.runs().map(|(_, _, counts)| {
        Held::all([
            Held::equal("transitions, and their rounds", (counts.transitions(), counts.transition_rounds), (0, 0)),
            Held::equal("writes", counts.writes, p.without_failover()),
            Held::equal("dropped", counts.writes.dropped, 0),
        ])
    }))
}

/// Outages that do not meet are counted one by one: too short a one costs itself, any other the same.
fn outage_has_its_price(p: &Parameters) -> Held {
    Held::provided(p.outages_apart(), || {
        let outages = p.outages();
        Held::all(p.thresholds.iter().map(|&threshold| {
            let counts = p.run(threshold, Failback::Automatic);
            let found = (counts.failovers, counts.false_failovers, counts.failbacks, counts.writes.dropped);
            let (mut failovers, mut false_ones, mut dropped) = (0, 0, 0);
            for outage in outages.iter().map(|outage| outage.rounds()) {
                failovers += u64::from(outage >= threshold);
                false_ones += u64::from(outage >= threshold && outage <= threshold + p.promotion_rounds);
                dropped += if outage < threshold { outage } else { threshold + 2 * p.promotion_rounds };
            }
            let expected = (failovers, false_ones, failovers, dropped);
            Held::equal("failovers, false ones, failbacks, dropped rounds", found, expected)
        }))
    })
}

fn failover_drops_no_more(p: &Parameters) -> Held {
    let without = p.without_failover().dropped;
    Held::all(p.runs().map(|(threshold, _, counts)| {
        Held::at_most(format!("dropped rounds at threshold {threshold}"), counts.writes.dropped, without)
    }))
}

/// What is dropped beyond the windows would have been dropped anyway; under either policy.
fn failover_adds_its_windows(p: &Parameters) -> Held {
    let without = p.without_failover().dropped;
    Held::all(p.runs().map(|(threshold, failback, counts)| {
        let windows = if failback == Failback::Permanent { p.promotion_rounds } else { counts.transition_rounds };
        Held::at_most(format!("dropped rounds at threshold {threshold}"), counts.writes.dropped, without + windows)
    }))
}

/// Nothing is dropped once the standby is active for good, so that the single failover is all that it costs.
fn permanent_drops_no_more(p: &Parameters) -> Held {
    Held::all(p.thresholds.iter().map(|&threshold| {
        let [automatic, permanent] = POLICIES.map(|failback| p.run(threshold, failback));
        let as_automatic =
            (permanent.writes, permanent.transition_rounds) == (automatic.writes, automatic.transition_rounds);
        Held::all([
            Held::equal("failovers", permanent.failovers, automatic.failovers.min(1)),
            Held::equal("failbacks", permanent.failbacks, 0),
            Held::at_most("dropped rounds", permanent.writes.dropped, automatic.writes.dropped),
            Held::at_most("silently lost rounds", permanent.writes.silently_lost, automatic.writes.silently_lost),
            Held::provided(automatic.failbacks == 0, || Held::equal("the same run", as_automatic, true)),
        ])
    }))
}

impl Parameters {
    /// A count of the automatic runs that never rises from a threshold to the next higher one.
    fn never_rises(&self, what: &str, count: fn(&Counts) -> u64) -> Held {
        let mut thresholds = self.thresholds.clone();
        thresholds.sort_unstable();
        let counts: Vec<(u64, u64)> =
            thresholds.iter().map(|&threshold| (threshold, count(&self.run(threshold, Failback::Automatic)))).collect();
        Held::all(counts.windows(2).map(|pair| {
            let [(low, more), (high, fewer)] = [pair[0], pair[1]];
            Held::at_most(format!("{what} at threshold {high}, beside {low}"), fewer, more)
        }))
    }
}

fn higher_threshold_fewer_false_failovers(p: &Parameters) -> Held {
    p.never_rises("false failovers", |counts| counts.false_failovers)
}

/// The lower threshold is through each cycle no later, and sees whatever the higher one sees from then on.
fn higher_threshold_fewer_failovers(p: &Parameters) -> Held {
    p.never_rises("failovers", |counts| counts.failovers)
}

fn same_silent_loss_at_any_threshold(p: &Parameters) -> Held {
    let lost = |threshold: u64| p.run(threshold, Failback::Automatic).writes.silently_lost;
    Held::all(p.thresholds.windows(2).map(|pair| {
        Held::equal(format!("lost at threshold {}, beside {}", pair[1], pair[0]), lost(pair[1]), lost(pair[0]))
    }))
}

fn failover_adds_no_silent_loss(p: &Parameters) -> Held {
    let without = p.without_failover().silently_lost;
    Held::all(p.runs().map(|(_, _, counts)| Held::at_most("lost rounds", counts.writes.silently_lost, without)))
}

/// A replica that responds is never taken over from, whatever it does with its writes.
fn half_failure_unseen(p: &Parameters) -> Held {
    let replica_a = Replica { paused: never(), stopped: never(), half_failed: first(p.rounds) };
    let p = Parameters { replica_a, ..p.clone() };
    Held::all(p.runs().map(|(_, _, counts)| {
        let found = (counts.failovers, counts.writes.silently_lost);
        Held::equal("failovers, lost rounds", found, (0, p.rounds))
    }))
}

/// A stop without end costs a threshold and a promotion, which is the budget's window.
fn lasting_stop_costs_one_window(p: &Parameters) -> Held {
    let p = Parameters { replica_a: Replica { stopped: first(p.rounds), ..p.replica_a.clone() }, ..p.clone() };
    Held::all(p.runs().map(|(threshold, failback, counts)| {
        Held::provided(failback == Failback::Permanent || p.failback_responses > 0, || {
            let whole = threshold + p.promotion_rounds <= p.rounds;
            let seconds = counts.writes.dropped as f64 * p.round_seconds;
            Held::all([
                Held::provided(whole, || Held::equal("seconds", seconds, p.window_seconds(threshold))),
                Held::provided(!whole, || Held::equal("dropped rounds", counts.writes.dropped, p.rounds)),
                Held::equal("dropped rounds without failover", p.without_failover().dropped, p.rounds),
            ])
        })
    }))
}

/// What failover saves on a month's stops: neither their number nor the load moves it.
fn gain_is_recovery_by_window(p: &Parameters) -> Held {
    Held::provided(p.stops_a_month > 0.0, || {
        let report = p.report();
        let gain = report.figures().find(|figure| figure.name == "stops.times_shorter");
        let gain = gain.and_then(|figure| figure.value.as_f64()).unwrap_or(f64::NAN);
        // The budget divides seconds of all stops.
        Held::close("times shorter", gain, p.recovery_minutes * 60.0 / p.window_seconds(p.threshold))
    })
}

/// The month's pauses are those of the schedule, each as often as the others.
fn month_charges_the_pauses(p: &Parameters) -> Held {
    let pauses = p.replica_a.paused.spans();
    Held::provided(!pauses.is_empty(), || {
        Held::all(p.thresholds.iter().map(|&threshold| {
            let seconds: f64 = pauses.iter().map(|pause| p.pause_seconds(pause.rounds(), threshold)).sum();
            let expected = p.pauses_a_month * seconds / pauses.len() as f64;
            // The budget adds seconds of two windows, the run counts rounds.
            let what = format!("seconds of false failovers at threshold {threshold}");
            Held::close(what, p.false_failover_seconds(threshold), expected)
        }))
    })
}

fn month_charges_the_longest_pause(p: &Parameters) -> Held {
    let longest = p.replica_a.paused.longest();
    Held::provided(longest > 0 && p.failback_responses > 0, || {
        Held::all(p.thresholds.iter().map(|&threshold| {
            let expected = p.pauses_a_month * p.pause_seconds(longest, threshold);
            // The budget adds seconds of two windows, the run counts rounds.
            let what = format!("seconds of false failovers at threshold {threshold}");
            Held::close(what, p.false_failover_seconds(threshold), expected)
        }))
    })
}
