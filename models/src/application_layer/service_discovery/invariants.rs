//! How long a silent replica is called, for any intervals, wherever in them it goes silent.

use super::{Outcome, Parameters, Placement};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-request-goes-once", check: every_request_goes_once },
        Invariant { id: "lists-follow-heartbeats", check: lists_follow_heartbeats },
        Invariant { id: "static-never-notices", check: static_never_notices },
        Invariant { id: "graceful-costs-nothing", check: graceful_costs_nothing },
        Invariant { id: "window-nearly-ttl", check: window_nearly_ttl },
        Invariant { id: "window-counts-from-last-beat", check: window_counts_from_last_beat },
        Invariant { id: "window-ends-within-two-rounds", check: window_ends_within_two_rounds },
        Invariant { id: "cache-never-narrows", check: cache_never_narrows },
        Invariant { id: "cache-adds-at-most-itself", check: cache_adds_at_most_itself },
        Invariant { id: "longer-ttl-never-fewer-lost", check: longer_ttl_never_fewer_lost },
        Invariant { id: "lower-ttl-closes-earlier", check: lower_ttl_closes_earlier },
        Invariant { id: "lower-ttl-closes-earlier-alone", check: lower_ttl_closes_earlier_alone },
        Invariant { id: "lost-are-window-times-rate", check: lost_by_rate },
        Invariant { id: "lost-are-window-times-rate-among-old", check: lost_are_window_times_rate_among_old },
    ]
}

const REGISTRY: Placement = Placement::Registry { cache_ms: 0, graceful_shutdown: false };

impl Parameters {
    fn cached(&self) -> Placement {
        Placement::Registry { cache_ms: self.cache_ms, graceful_shutdown: false }
    }

    /// The first tick that is not before a time.
    fn tick_from(&self, ms: u64) -> u64 {
        ms.next_multiple_of(self.step_ms)
    }

    /// How often a caller resolves: at the first request after its cache has run out.
    fn refresh_ms(&self, cache_ms: u64) -> u64 {
        self.tick_from(cache_ms).max(self.step_ms)
    }

    fn last_beat(&self) -> u64 {
        self.failure_ms - self.failure_ms % self.heartbeat_ms
    }

    /// A live replica never drops out of the list.
    fn beats_in_time(&self) -> bool {
        self.heartbeat_ms <= self.ttl_ms
    }

    /// Nobody but the silent replica: every request shows whether it is still in the list.
    fn alone(&self) -> Self {
        Self { replicas: 1, failing_replica: 1, new_ms: self.end_ms + 1, ..self.clone() }
    }

    /// Whether a list that was resolved then has a replica, by the times of the heartbeats alone.
    fn is_listed(&self, replica: usize, resolved: u64, graceful_shutdown: bool) -> bool {
        let silent = replica == self.failing();
        let comes_up = if replica == self.replicas { self.new_ms } else { 0 };
        let heard = if silent { self.failure_ms.min(resolved) } else { resolved };
        let beat = heard - heard % self.heartbeat_ms;
        beat >= comes_up && resolved - beat < self.ttl_ms && !(silent && graceful_shutdown)
    }

    /// The requests by their lists, without a registry: to each replica, and to nobody.
    fn by_lists(&self, cache_ms: u64, graceful_shutdown: bool) -> (Vec<u64>, u64) {
        let (mut to, mut to_nobody) = (vec![0; self.replicas + 1], 0);
        for (turn, now) in (self.start_ms..=self.end_ms).step_by(self.step_ms as usize).enumerate() {
            let resolved = now - (now - self.start_ms) % self.refresh_ms(cache_ms);
            let list: Vec<usize> =
                (0..=self.replicas).filter(|replica| self.is_listed(*replica, resolved, graceful_shutdown)).collect();
            match list.len() {
                0 => to_nobody += 1,
                listed => to[list[turn % listed]] += 1,
            }
        }
        (to, to_nobody)
    }

    /// Requests that such a window lets through.
    fn requests_in(&self, window_ms: u64) -> u64 {
        (self.failure_ms + window_ms).saturating_sub(self.start_ms) / self.step_ms
    }
}

fn every_request_goes_once(p: &Parameters) -> Held {
    Held::all(p.placements().map(|(name, placement)| {
        let Outcome { to, to_nobody, .. } = p.run(placement);
        Held::equal(format!("requests, {name}"), to.iter().sum::<u64>() + to_nobody, p.requests())
    }))
}

fn lists_follow_heartbeats(p: &Parameters) -> Held {
    Held::all(p.placements().map(|(name, placement)| match placement {
        Placement::Static => Held::Vacuous,
        Placement::Registry { cache_ms, graceful_shutdown } => {
            let Outcome { to, to_nobody, .. } = p.run(placement);
            Held::equal(format!("requests to each, {name}"), (to, to_nobody), p.by_lists(cache_ms, graceful_shutdown))
        }
    }))
}

/// Each replica of the list has its share to the end, the silent one included.
fn static_never_notices(p: &Parameters) -> Held {
    let Outcome { to, to_nobody, window_ms } = p.run(Placement::Static);
    let (rounds, rest) = (p.requests() / p.replicas as u64, p.requests() % p.replicas as u64);
    let share = |replica: usize| rounds + u64::from((replica as u64) < rest);
    let expected: Vec<u64> = (0..p.replicas).map(share).chain([0]).collect();
    Held::all([
        Held::equal("requests to each", to, expected),
        Held::equal("to nobody", to_nobody, 0),
        Held::equal("window", window_ms, None),
    ])
}

fn graceful_costs_nothing(p: &Parameters) -> Held {
    Held::all([0, p.cache_ms].map(|cache_ms| {
        let outcome = p.run(Placement::Registry { cache_ms, graceful_shutdown: true });
        Held::equal("requests and window", (p.to_dead(&outcome), outcome.window_ms), (0, Some(0)))
    }))
}

/// Up to the turn of the silent replica, once in a round of the list.
fn window_nearly_ttl(p: &Parameters) -> Held {
    let window_ms = p.run(REGISTRY).window_ms;
    let round_ms = p.step_ms * (p.replicas as u64 + 1);
    Held::provided(p.beats_in_time() && p.start_ms == p.failure_ms, || match window_ms {
        None => Held::Vacuous,
        Some(window_ms) => Held::at_most("time to live without a round", p.ttl_ms.saturating_sub(round_ms), window_ms),
    })
}

/// The window of a lone replica is that of the list, to the tick, whatever the cache.
fn window_counts_from_last_beat(p: &Parameters) -> Held {
    let alone = p.alone();
    Held::all([0, p.cache_ms].map(|cache_ms| {
        let refresh_ms = p.refresh_ms(cache_ms);
        let drops_out = p.last_beat() + p.ttl_ms;
        let listed_until = p.start_ms + drops_out.saturating_sub(p.start_ms).next_multiple_of(refresh_ms);
        let window_ms = if listed_until == p.start_ms { 0 } else { listed_until - p.failure_ms };
        let expected = (listed_until <= p.end_ms).then_some(window_ms);
        let found = alone.run(Placement::Registry { cache_ms, graceful_shutdown: false }).window_ms;
        Held::equal(format!("window with a cache of {cache_ms} ms"), found, expected)
    }))
}

/// Among others the silent one still has its turn in the last two rounds of the list: it may grow in between.
fn window_ends_within_two_rounds(p: &Parameters) -> Held {
    let drops_out = p.tick_from(p.last_beat() + p.ttl_ms);
    let two_rounds_ms = 2 * (p.replicas as u64 + 1) * p.step_ms;
    Held::all([
        p.run(REGISTRY)
            .window_ms
            .map_or(Held::Vacuous, |window_ms| Held::at_most("window", window_ms, p.tick_from(p.ttl_ms))),
        Held::provided(p.beats_in_time() && p.start_ms + two_rounds_ms <= drops_out && drops_out <= p.end_ms, || {
            let until = p.run(REGISTRY).window_ms.map(|window_ms| p.failure_ms + window_ms);
            let in_time = until.is_some_and(|until| drops_out - two_rounds_ms < until && until <= drops_out);
            Held::that(in_time, || format!("called until {until:?}, listed until {drops_out}"))
        }),
    ])
}

fn cache_never_narrows(p: &Parameters) -> Held {
    let [registry, cached] = [REGISTRY, p.cached()].map(|placement| p.run(placement).window_ms);
    Held::at_most("window", registry.unwrap_or(u64::MAX), cached.unwrap_or(u64::MAX))
}

fn cache_adds_at_most_itself(p: &Parameters) -> Held {
    let alone = p.alone();
    match [REGISTRY, p.cached()].map(|placement| alone.run(placement).window_ms) {
        [Some(registry), Some(cached)] => Held::all([
            Held::at_most("window", registry, cached),
            Held::that(cached < registry + p.refresh_ms(p.cache_ms), || {
                format!("a cache of {} ms made {cached} ms of {registry} ms", p.cache_ms)
            }),
        ]),
        _ => Held::Vacuous,
    }
}

fn longer_ttl_never_fewer_lost(p: &Parameters) -> Held {
    let longer = Parameters { ttl_ms: p.ttl_ms + p.lower_ttl_ms, ..p.clone() };
    Held::provided(p.beats_in_time(), || {
        let [shorter, longer] = [p, &longer].map(|p| p.run(REGISTRY));
        Held::all([
            Held::at_most("lost", p.to_dead(&shorter), p.to_dead(&longer)),
            Held::at_most("window", shorter.window_ms.unwrap_or(u64::MAX), longer.window_ms.unwrap_or(u64::MAX)),
        ])
    })
}

/// The window with the usual time to live and the one with the lower, where both are closed.
fn closed_windows(p: &Parameters) -> Option<[u64; 2]> {
    let lower = Parameters { ttl_ms: p.lower_ttl_ms, ..p.clone() };
    let [usual, lower] = [p, &lower].map(|p| p.run(REGISTRY).window_ms.filter(|window_ms| *window_ms > 0));
    Some([usual?, lower?])
}

fn lower_ttl_closes_earlier(p: &Parameters) -> Held {
    let beats_in_time = p.heartbeat_ms <= p.lower_ttl_ms.min(p.ttl_ms);
    let windows = closed_windows(p).filter(|_| beats_in_time);
    windows.map_or(Held::Vacuous, |[usual, lower]| {
        Held::equal("windows and times to live", usual + p.lower_ttl_ms, lower + p.ttl_ms)
    })
}

fn lower_ttl_closes_earlier_alone(p: &Parameters) -> Held {
    closed_windows(&p.alone()).map_or(Held::Vacuous, |[usual, lower]| {
        let [ttl, lower_ttl] = [p.ttl_ms, p.lower_ttl_ms].map(|ms| p.tick_from(ms));
        Held::equal("windows and times to live", usual + lower_ttl, lower + ttl)
    })
}

/// An even share of the requests that the window lets through, to one round.
fn lost_by_rate(p: &Parameters) -> Held {
    let outcome = p.run(REGISTRY);
    outcome.window_ms.map_or(Held::Vacuous, |window_ms| {
        let (all, of_share) = (p.requests_in(window_ms), p.to_dead(&outcome) * p.replicas as u64);
        Held::that(all.abs_diff(of_share) < p.replicas as u64, || {
            format!("{} of {all} requests lost by one of {} replicas", p.to_dead(&outcome), p.replicas)
        })
    })
}

fn lost_are_window_times_rate_among_old(p: &Parameters) -> Held {
    Held::provided(p.beats_in_time() && p.new_ms >= p.last_beat() + p.ttl_ms, || lost_by_rate(p))
}
