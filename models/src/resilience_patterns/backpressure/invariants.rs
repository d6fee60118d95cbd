//! What the argument about the signal's depth rests on, at any parameters.

use super::{Outcome, Parameters, Setting, Source};
use crate::arrivals::Carry;
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-event-ends-once", check: every_event_ends_once },
        Invariant { id: "room-for-the-peak-costs-nothing", check: room_for_the_peak_costs_nothing },
        Invariant { id: "steady-source-never-turned-away", check: steady_source_never_turned_away },
        Invariant { id: "slowest-link-bounds-completed", check: slowest_link_bounds_completed },
        Invariant { id: "unlimited-buffers-make-stale", check: unlimited_buffers_make_stale },
        Invariant { id: "limit-only-relabels-the-last-loss", check: limit_only_relabels_the_last_loss },
        Invariant { id: "signal-moves-loss-behind-it", check: signal_moves_loss_behind_it },
        Invariant { id: "partial-signal-rescues-nothing", check: partial_signal_rescues_nothing },
        Invariant { id: "deeper-signal-completes-no-fewer", check: deeper_signal_completes_no_fewer },
        Invariant { id: "wide-gap-leaves-what-waits", check: wide_gap_leaves_what_waits },
        Invariant { id: "wider-gap-gains-no-more", check: wider_gap_gains_no_more },
        Invariant { id: "nothing-without-source-or-consumer", check: nothing_without_source_or_consumer },
    ]
}

const SOURCES: [Source; 2] = [Source::Steady, Source::Oscillating];

impl Parameters {
    fn to_the_limit(&self) -> Setting {
        Setting::Depth(self.link_count())
    }

    /// The consumer's rates that the lesson compares, the fastest first.
    fn consumptions(&self) -> Vec<u64> {
        let mut rates = vec![self.consumer.usual_rate, self.consumer.slow_rate];
        rates.extend(&self.consumer.rates_swept);
        rates.sort_unstable();
        rates.dedup();
        rates.reverse();
        rates
    }

    fn at_each_consumption(&self, check: impl Fn(u64) -> Held) -> Held {
        Held::all(self.consumptions().into_iter().map(check))
    }

    fn on_each_run(&self, check: impl Fn(&str, u64, Source, &Outcome) -> Held) -> Held {
        self.at_each_consumption(|consumption| {
            let settings = self.settings();
            let runs = settings.iter().flat_map(|setting| SOURCES.map(|source| (*setting, source)));
            Held::all(runs.map(|(setting, source)| {
                let outcome = self.run(setting, consumption, source);
                check(&format!("{setting:?}, {source:?}, consumption {consumption}"), consumption, source, &outcome)
            }))
        })
    }

    fn oscillating(&self, setting: Setting, consumption: u64) -> Outcome {
        self.run(setting, consumption, Source::Oscillating)
    }

    /// What arrives in each round, without a chain.
    fn arrivals(&self, source: Source) -> Vec<u64> {
        let mut carry = Carry::default();
        let rhythm = self.oscillation.iter().cycle().take(self.rounds() as usize);
        let multipliers = rhythm.map(|multiplier| if source == Source::Oscillating { *multiplier } else { 1.0 });
        multipliers.map(|multiplier| carry.arrivals(self.source_rate * multiplier)).collect()
    }

    /// The least that one round can pass from a link to the next.
    fn slowest_rate(&self, consumption: u64) -> u64 {
        self.links.iter().map(|link| link.rate).fold(consumption, u64::min)
    }

    fn buffers(&self) -> impl Iterator<Item = u64> {
        self.links.iter().map(|link| link.capacity).chain([self.consumer.capacity])
    }

    /// An event passes one link a round, from the round after it arrived on.
    fn working_rounds(&self) -> u64 {
        self.rounds().saturating_sub(self.link_count() as u64)
    }
}

impl Outcome {
    fn turned_away(&self) -> u64 {
        self.total_lost() + self.rejected
    }
}

fn every_event_ends_once(p: &Parameters) -> Held {
    let arrived = SOURCES.map(|source| p.arrivals(source).iter().sum::<u64>());
    p.on_each_run(|run, _, source, o| {
        let arrived = arrived[usize::from(source == Source::Oscillating)];
        Held::equal(format!("events, {run}"), o.completed + o.rejected + o.total_lost() + o.backlog, arrived)
    })
}

/// No round brings more than every buffer holds and every link passes on: then no setting differs from another.
fn room_for_the_peak_costs_nothing(p: &Parameters) -> Held {
    let peak = SOURCES.map(|source| p.arrivals(source).into_iter().max().unwrap_or(0));
    p.on_each_run(|run, consumption, source, o| {
        let peak = peak[usize::from(source == Source::Oscillating)];
        let roomy = p.buffers().chain([p.slowest_rate(consumption)]).all(|room| peak <= room);
        Held::provided(roomy, || {
            Held::all([
                Held::equal(format!("turned away, {run}"), o.turned_away(), 0),
                Held::equal(
                    format!("against unlimited buffers, {run}"),
                    o,
                    &p.run(Setting::UnlimitedBuffers, consumption, source),
                ),
            ])
        })
    })
}

fn steady_source_never_turned_away(p: &Parameters) -> Held {
    let usual = p.consumer.usual_rate;
    Held::provided(p.source_rate <= p.slowest_rate(usual) as f64, || {
        let outcome = p.run(p.to_the_limit(), usual, Source::Steady);
        Held::equal("rejected without oscillation", outcome.rejected, 0)
    })
}

fn slowest_link_bounds_completed(p: &Parameters) -> Held {
    p.on_each_run(|run, consumption, _, o| {
        let most = p.slowest_rate(consumption) * p.working_rounds();
        Held::all([
            Held::at_most(format!("completed, {run}"), o.completed, most),
            Held::provided(o.completed > 0, || {
                Held::at_most(
                    format!("rounds that an event takes at least, {run}"),
                    p.link_count() as u64,
                    o.finished_age,
                )
            }),
        ])
    })
}

/// A chain of links is one server of the slowest rate, as many rounds later as there are links: what it has completed is
/// the least, over all rounds, of what had arrived by then and what the server can do since. The oldest event that
/// waits is the first one behind.
fn unlimited_buffers_make_stale(p: &Parameters) -> Held {
    Held::all(SOURCES.map(|source| {
        let arrivals = p.arrivals(source);
        p.at_each_consumption(|consumption| {
            let o = p.run(Setting::UnlimitedBuffers, consumption, source);
            let (rounds, rate) = (p.working_rounds(), p.slowest_rate(consumption));
            let (mut arrived, mut completed) = (0, rate * rounds);
            for (round, arrivals) in (1..=rounds).zip(&arrivals) {
                arrived += arrivals;
                completed = completed.min(arrived + rate * (rounds - round));
            }
            let mut arrived = 0;
            let next = arrivals.iter().position(|arrivals| {
                arrived += arrivals;
                arrived > completed
            });
            let age = next.map_or(0, |place| p.rounds() - (place as u64 + 1));
            let run = format!("{source:?}, consumption {consumption}");
            Held::all([
                Held::equal(format!("completed, {run}"), o.completed, completed),
                Held::equal(format!("age of the oldest that waits, {run}"), o.pending_age, age),
                Held::equal(format!("turned away, {run}"), o.turned_away(), 0),
            ])
        })
    }))
}

/// What the entry loses while all behind it heed the signal is what it rejects once its source hears of it.
fn limit_only_relabels_the_last_loss(p: &Parameters) -> Held {
    p.at_each_consumption(|consumption| {
        let lossy = p.oscillating(Setting::Depth(p.link_count() - 1), consumption);
        let told = p.oscillating(p.to_the_limit(), consumption);
        let relabelled = Outcome { rejected: lossy.total_lost(), lost: vec![0; p.link_count()], ..lossy };
        Held::equal(format!("consumption {consumption}"), told, relabelled)
    })
}

/// Where a link heeds the signal, the buffer behind it loses nothing; in front of the first such link nothing changes.
fn signal_moves_loss_behind_it(p: &Parameters) -> Held {
    p.at_each_consumption(|consumption| {
        let unsignalled = p.oscillating(Setting::Depth(0), consumption).lost;
        Held::all((0..=p.link_count()).map(|depth| {
            let lost = p.oscillating(Setting::Depth(depth), consumption).lost;
            let first = p.link_count() - depth;
            let (before, behind) = lost.split_at(first);
            let untouched = first.saturating_sub(1);
            let run = format!("depth {depth}, consumption {consumption}");
            Held::all([
                Held::equal(format!("lost where the signal is heeded, {run}"), behind, &vec![0; depth]),
                Held::equal(format!("lost before it, {run}"), &before[..untouched], &unsignalled[..untouched]),
            ])
        }))
    })
}

fn partial_signal_rescues_nothing(p: &Parameters) -> Held {
    let completed = |depth| p.oscillating(Setting::Depth(depth), p.consumer.slow_rate).completed;
    let unsignalled = completed(0);
    Held::all((1..=p.link_count()).map(|depth| {
        Held::equal(format!("completed at depth {depth}, beside no signal"), completed(depth), unsignalled)
    }))
}

fn deeper_signal_completes_no_fewer(p: &Parameters) -> Held {
    p.at_each_consumption(|consumption| {
        let bounded = (0..=p.link_count()).map(Setting::Depth).chain([Setting::UnlimitedBuffers]);
        let completed: Vec<u64> = bounded.map(|setting| p.oscillating(setting, consumption).completed).collect();
        let turned_away =
            [Setting::Depth(0), p.to_the_limit()].map(|setting| p.oscillating(setting, consumption).turned_away());
        Held::all([
            Held::that(completed.is_sorted(), || {
                format!("completed at consumption {consumption}, by depth and then unlimited: {completed:?}")
            }),
            Held::at_most(format!("turned away, consumption {consumption}"), turned_away[1], turned_away[0]),
        ])
    })
}

/// If the consumer does all it could do anyway, a signal of any depth rescues no more than what the buffers then hold.
fn wide_gap_leaves_what_waits(p: &Parameters) -> Held {
    let room: u64 = p.buffers().sum();
    p.at_each_consumption(|consumption| {
        let unsignalled = p.oscillating(Setting::Depth(0), consumption);
        let unlimited = p.oscillating(Setting::UnlimitedBuffers, consumption);
        Held::provided(unsignalled.completed == unlimited.completed, || {
            Held::all((1..=p.link_count()).map(|depth| {
                let o = p.oscillating(Setting::Depth(depth), consumption);
                let run = format!("depth {depth}, consumption {consumption}");
                Held::all([
                    Held::equal(format!("completed, {run}"), o.completed, unsignalled.completed),
                    Held::at_most(
                        format!("lost without a signal, {run}"),
                        unsignalled.total_lost(),
                        o.turned_away() + room,
                    ),
                ])
            }))
        })
    })
}

fn wider_gap_gains_no_more(p: &Parameters) -> Held {
    let turned_away = |consumption: &u64| {
        let of = |setting| p.oscillating(setting, *consumption).turned_away();
        (*consumption, of(Setting::Depth(0)), of(p.to_the_limit()))
    };
    let gains: Vec<(u64, u64, u64)> = p.consumptions().iter().map(turned_away).collect();
    // Ratios, lost to rejected, multiplied out.
    let grows = gains.windows(2).find(|pair| pair[1].1 * pair[0].2 > pair[0].1 * pair[1].2);
    Held::that(grows.is_none(), || format!("consumption, lost without a signal, rejected with it: {grows:?}"))
}

fn nothing_without_source_or_consumer(p: &Parameters) -> Held {
    let silent = Parameters { source_rate: 0.0, ..p.clone() };
    let nothing = |o: &Outcome| [o.produced, o.completed, o.turned_away(), o.backlog, o.pending_age];
    let silent = silent.on_each_run(|run, _, _, o| Held::equal(format!("without a source, {run}"), nothing(o), [0; 5]));
    let stopped = p.settings().into_iter().map(|setting| {
        let o = p.oscillating(setting, 0);
        let most = if setting == Setting::UnlimitedBuffers { u64::MAX } else { p.buffers().sum() };
        Held::all([
            Held::equal(format!("completed without a consumer, {setting:?}"), o.completed, 0),
            Held::at_most(format!("backlog without a consumer, {setting:?}"), o.backlog, most.min(o.produced)),
        ])
    });
    Held::all(stopped.chain([silent]))
}
