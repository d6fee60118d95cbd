//! What each question of a health endpoint and the interval of asking come to, under any failure schedule.

use super::{Counts, Depth, Parameters, Replica};
use crate::invariants::{Held, Invariant};
use crate::schedule::Schedule;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-request-ends-once", check: every_request_ends_once },
        Invariant { id: "healthy-day-costs-checks", check: healthy_day_costs_checks },
        Invariant { id: "check-load-is-counted", check: check_load_is_counted },
        Invariant { id: "out-of-pool-is-what-fails", check: out_of_pool_is_what_fails },
        Invariant { id: "deeper-takes-out-no-fewer", check: deeper_takes_out_no_fewer },
        Invariant { id: "empty-pool-rejects-all", check: empty_pool_rejects_all },
        Invariant { id: "local-check-wastes-nothing", check: local_check_wastes_nothing },
        Invariant { id: "readiness-drops-no-more-reads", check: readiness_drops_no_more_reads },
        Invariant { id: "readiness-loses-no-more", check: readiness_loses_no_more },
        Invariant { id: "local-check-ends-silent-loss", check: local_check_ends_silent_loss },
        Invariant { id: "no-depth-rescues-writes", check: no_depth_rescues_writes },
        Invariant { id: "store-that-is-up-is-free", check: store_that_is_up_is_free },
        Invariant { id: "detection-delay-exact", check: detection_delay_exact },
        Invariant { id: "longer-interval-detects-no-earlier", check: longer_interval_detects_no_earlier },
        Invariant { id: "longer-interval-evicts-no-more", check: longer_interval_evicts_no_more },
        Invariant { id: "false-evictions-at-most-pauses", check: false_evictions_at_most_pauses },
        Invariant { id: "month-has-the-schedules-share", check: month_has_the_schedules_share },
    ]
}

impl Parameters {
    /// Those of the sweep, and a check each round.
    fn all_intervals(&self) -> impl Iterator<Item = u64> {
        [1].into_iter().chain(self.intervals.iter().copied().filter(|interval| *interval > 1))
    }

    fn runs(&self) -> impl Iterator<Item = (Depth, u64, Counts)> {
        let settings = self.all_intervals().flat_map(|interval| Depth::ALL.map(|depth| (depth, interval)));
        settings.map(|(depth, interval)| (depth, interval, self.run(depth, interval)))
    }

    fn count(&self, is: impl Fn(u64) -> bool) -> u64 {
        (1..=self.rounds).filter(|round| is(*round)).count() as u64
    }

    fn with_sound_replicas(&self) -> Self {
        let [half_failed, warming, paused, stopped] = [(); 4].map(|()| never());
        let sound = Replica { name: String::new(), half_failed, warming, paused, stopped };
        let replicas = self.replicas.iter().map(|replica| Replica { name: replica.name.clone(), ..sound.clone() });
        Parameters { replicas: replicas.collect(), ..self.clone() }
    }

    fn with_stores_up(&self) -> Self {
        Parameters { state_store_down: never(), billing_store_down: never(), ..self.clone() }
    }

    /// True in the rounds in which the answer to one of the questions is no.
    fn fails(&self, depth: Depth, replica: &Replica, round: u64) -> bool {
        let Replica { half_failed, warming, paused, stopped, .. } = replica;
        let own: &[&Schedule] = match depth {
            Depth::Shallow => &[paused, stopped],
            Depth::Readiness => &[paused, stopped, warming],
            Depth::Local => &[paused, stopped, warming, half_failed],
            Depth::Shared => &[paused, stopped, warming, half_failed, &self.state_store_down],
            Depth::All => &[paused, stopped, warming, half_failed, &self.state_store_down, &self.billing_store_down],
        };
        own.iter().any(|schedule| schedule.includes(round))
    }

    fn some_serves(&self, round: u64) -> bool {
        self.replicas.iter().any(|replica| !self.fails(Depth::Readiness, replica, round))
    }
}

fn never() -> Schedule {
    Vec::new().into()
}

impl Counts {
    fn dropped(&self) -> u64 {
        self.dropped_reads + self.dropped_writes + self.dropped_batch
    }
}

/// Answered, dropped or lost; what names a part of the dropped reads is no more than those.
fn every_request_ends_once(p: &Parameters) -> Held {
    let requests = &p.requests;
    Held::all(p.runs().map(|(_, _, counts)| {
        let ended = counts.answered + counts.dropped() + counts.silently_lost;
        Held::all([
            Held::equal("requests", ended, (requests.reads + requests.writes + requests.batch) * p.rounds),
            Held::at_most("dropped reads", counts.dropped_reads, requests.reads * p.rounds),
            Held::at_most("dropped batch", counts.dropped_batch, requests.batch * p.rounds),
            Held::at_most("writes", counts.dropped_writes + counts.silently_lost, requests.writes * p.rounds),
            Held::at_most(
                "wasted, or sent to the stopped replica",
                counts.wasted_rejections + counts.reads_to_stopped,
                counts.dropped_reads,
            ),
        ])
    }))
}

/// Where nothing fails every depth answers all; the checks are the price.
fn healthy_day_costs_checks(p: &Parameters) -> Held {
    let p = p.with_stores_up().with_sound_replicas();
    let answered = (p.requests.reads + p.requests.writes + p.requests.batch) * p.rounds;
    Held::all(p.runs().map(|(_, interval, counts)| {
        let checks = p.replicas.len() * p.rounds.div_ceil(interval) as usize;
        Held::equal("counts", counts, Counts { answered, checks, ..Counts::default() })
    }))
}

/// The checks of some whole intervals, by the second, beside the bill; it grows with replicas and not with requests.
fn check_load_is_counted(p: &Parameters) -> Held {
    Held::all(p.check_load.intervals.iter().filter(|interval| **interval <= 1_000).map(|&interval| {
        let p = Parameters { rounds: 3 * interval, ..p.clone() };
        let counted = p.run(Depth::Local, interval).checks as f64 / (p.rounds as f64 * p.round_seconds);
        let replicas = p.replicas.len() as u64;
        // Rounds are multiplied before the division here, intervals there.
        Held::all([
            Held::close("checks a second", counted, p.checks_a_second(replicas, interval)),
            Held::close("with four times of both", counted, p.checks_a_second(4 * replicas, 4 * interval)),
        ])
    }))
}

/// At each check whatever fails leaves until the next one, and nothing else does.
fn out_of_pool_is_what_fails(p: &Parameters) -> Held {
    Held::all(p.runs().map(|(depth, interval, counts)| {
        let checked = |round: u64| round - (round - 1) % interval;
        let expected = p.replicas.iter().map(|replica| p.count(|round| p.fails(depth, replica, checked(round))));
        Held::equal(
            format!("replica-rounds out of the pool, {depth:?} each {interval}"),
            counts.out_of_pool as u64,
            expected.sum(),
        )
    }))
}

fn deeper_takes_out_no_fewer(p: &Parameters) -> Held {
    Held::all(p.all_intervals().flat_map(|interval| {
        let out = Depth::ALL.map(|depth| p.run(depth, interval).out_of_pool);
        [0, 1, 2, 3].map(|i| Held::at_most("replica-rounds out of the pool", out[i], out[i + 1]))
    }))
}

/// From readiness on, with a check each round: a read is dropped only where the pool is empty, and then each is. That
/// is wasted if a replica serves.
fn empty_pool_rejects_all(p: &Parameters) -> Held {
    Held::all(Depth::ALL.into_iter().filter(|depth| *depth >= Depth::Readiness).map(|depth| {
        let counts = p.run(depth, 1);
        let empty = |round| p.replicas.iter().all(|replica| p.fails(depth, replica, round));
        let wasted = p.requests.reads * p.count(|round| empty(round) && p.some_serves(round));
        Held::all([
            Held::equal(format!("dropped reads, {depth:?}"), counts.dropped_reads, p.requests.reads * p.count(empty)),
            Held::equal(format!("wasted rejections, {depth:?}"), counts.wasted_rejections, wasted),
        ])
    }))
}

fn local_check_wastes_nothing(p: &Parameters) -> Held {
    let wasted = |depth| p.run(depth, 1).wasted_rejections;
    Held::equal("wasted rejections", [Depth::Shallow, Depth::Readiness, Depth::Local].map(wasted), [0; 3])
}

fn readiness_drops_no_more_reads(p: &Parameters) -> Held {
    let [shallow, ready] = [Depth::Shallow, Depth::Readiness].map(|depth| p.run(depth, 1));
    Held::at_most("dropped reads", ready.dropped_reads, shallow.dropped_reads)
}

fn readiness_loses_no_more(p: &Parameters) -> Held {
    let [shallow, ready] = [Depth::Shallow, Depth::Readiness].map(|depth| p.run(depth, 1));
    Held::at_most("silently lost writes", ready.silently_lost, shallow.silently_lost)
}

/// With a check each round; with fewer, at most until the next one.
fn local_check_ends_silent_loss(p: &Parameters) -> Held {
    let half_failed = |round: u64| p.replicas.iter().any(|replica| replica.half_failed.includes(round));
    Held::all(p.runs().filter(|(depth, ..)| *depth >= Depth::Local).map(|(_, interval, counts)| {
        let unseen = p.count(|round| !(round - 1).is_multiple_of(interval) && half_failed(round));
        Held::at_most(format!("silently lost each {interval}"), counts.silently_lost, p.requests.writes * unseen)
    }))
}

fn no_depth_rescues_writes(p: &Parameters) -> Held {
    let down = p.requests.writes * p.count(|round| p.state_store_down.includes(round));
    let runs = p.runs().map(|(_, _, counts)| {
        Held::at_most("writes of rounds without a store", down, counts.dropped_writes + counts.silently_lost)
    });
    let sound = Parameters { billing_store_down: never(), ..p.with_sound_replicas() };
    let sound = sound.runs().filter(|(depth, interval, _)| *depth <= Depth::Local || *interval == 1);
    let exactly =
        sound.map(|(_, _, counts)| Held::equal("dropped writes of sound replicas", counts.dropped_writes, down));
    Held::all(runs.chain(exactly.collect::<Vec<_>>()))
}

/// What a question about a store costs, it costs while the store is down.
fn store_that_is_up_is_free(p: &Parameters) -> Held {
    let up = p.with_stores_up();
    let billing_up = Parameters { billing_store_down: never(), ..p.clone() };
    Held::all(p.all_intervals().map(|interval| {
        Held::all([
            Held::equal("shared", up.run(Depth::Shared, interval), up.run(Depth::Local, interval)),
            Held::equal("all", up.run(Depth::All, interval), up.run(Depth::Local, interval)),
            Held::equal("all", billing_up.run(Depth::All, interval), billing_up.run(Depth::Shared, interval)),
        ])
    }))
}

impl Parameters {
    /// The sweep in order, each with its run.
    fn sweep(&self) -> Vec<(u64, Counts)> {
        let mut intervals = self.intervals.clone();
        intervals.sort_unstable();
        intervals.into_iter().map(|interval| (interval, self.run(Depth::Local, interval))).collect()
    }

    /// The stop that has to be detected, where it is the only one.
    fn stop(&self) -> Option<(u64, u64)> {
        let watched = self.replicas.iter().find(|replica| replica.name == self.watched)?;
        match watched.stopped.spans() {
            [stop] => Some((stop.first, stop.last)),
            _ => None,
        }
    }
}

/// The first check from the stop on sees it, if the stop still lasts then; so never more than an interval less one.
fn detection_delay_exact(p: &Parameters) -> Held {
    let Some((first, last)) = p.stop() else { return Held::Vacuous };
    Held::all(p.runs().map(|(_, interval, counts)| {
        let check = 1 + (first - 1).next_multiple_of(interval);
        let expected = (check <= last.min(p.rounds)).then(|| check - first);
        Held::all([
            Held::equal(format!("delay each {interval}"), counts.detection_delay, expected),
            Held::at_most("delay", counts.detection_delay.unwrap_or(0), interval - 1),
        ])
    }))
}

fn longer_interval_detects_no_earlier(p: &Parameters) -> Held {
    Held::all(p.sweep().windows(2).map(|pair| {
        let [(shorter, early), (longer, late)] = pair else { return Held::Vacuous };
        let what = format!("delay each {shorter} and each {longer}");
        Held::all(late.detection_delay.map(|late| Held::at_most(what, early.detection_delay, Some(late))))
    }))
}

fn longer_interval_evicts_no_more(p: &Parameters) -> Held {
    Held::all(p.sweep().windows(2).map(|pair| {
        let [(shorter, more), (longer, fewer)] = pair else { return Held::Vacuous };
        Held::at_most(format!("each {longer}, beside {shorter}"), fewer.false_evictions, more.false_evictions)
    }))
}

/// At any depth and interval; with a check each round, exactly once for each pause that finds its replica in the pool.
fn false_evictions_at_most_pauses(p: &Parameters) -> Held {
    Held::all(p.runs().map(|(depth, interval, counts)| {
        let evicted = p.replicas.iter().map(|replica| {
            let begins =
                |round: u64| replica.paused.includes(round) && (round == 1 || !p.fails(depth, replica, round - 1));
            p.count(begins)
        });
        Held::all([
            Held::at_most("false evictions", counts.false_evictions, p.pauses() as u64),
            Held::provided(interval == 1, || {
                Held::equal(format!("false evictions, {depth:?}"), counts.false_evictions, evicted.sum())
            }),
        ])
    }))
}

fn month_has_the_schedules_share(p: &Parameters) -> Held {
    Held::provided(p.pauses() > 0, || {
        Held::all(p.eviction_intervals.iter().map(|&interval| {
            let caught = p.run(Depth::Local, interval).false_evictions as f64 / p.pauses() as f64;
            // The month divides by the rounds of pauses before it multiplies.
            let what = format!("false evictions a month each {interval}");
            Held::close(what, p.false_evictions_a_month(interval), p.pauses_a_month * caught)
        }))
    })
}
