//! How often a client asks and how late it sees the result, for any job and any way of asking.

use super::{Backoff, Parameters, Polling, Strategy};
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "fixed-polls-are-the-ceiling", check: fixed_polls_are_the_ceiling },
        Invariant { id: "fixed-polls-are-the-ceiling-between-polls", check: fixed_polls_are_the_ceiling_between_polls },
        Invariant { id: "seen-within-an-interval", check: seen_within_an_interval },
        Invariant { id: "job-within-the-first-interval", check: job_within_the_first_interval },
        Invariant { id: "longer-interval-never-sooner", check: longer_interval_never_sooner },
        Invariant { id: "longer-interval-never-more-polls", check: longer_interval_never_more_polls },
        Invariant { id: "times-the-interval-a-fraction-of-polls", check: times_the_interval_a_fraction_of_polls },
        Invariant { id: "times-the-interval-the-ceiling-of-polls", check: times_the_interval_the_ceiling_of_polls },
        Invariant { id: "backoff-sees-as-soon-as-its-first-interval", check: backoff_sees_as_soon },
        Invariant { id: "backoff-late-by-its-growth", check: backoff_late_by_its_growth },
        Invariant { id: "backoff-asks-no-more-than-its-first-interval", check: backoff_asks_no_more },
        Invariant { id: "backoff-between-first-interval-and-cap", check: backoff_between_first_interval_and_cap },
        Invariant { id: "backoff-without-cap-is-geometric", check: backoff_without_cap_is_geometric },
        Invariant { id: "load-is-linear-and-never-free", check: load_is_linear_and_never_free },
        Invariant { id: "open-connections-are-rate-times-seconds", check: open_connections_are_rate_times_seconds },
    ]
}

/// An interval whose multiple is this close to the job's end, in intervals: a million roundings of a sum move a poll less.
const ON_THE_END: f64 = 1e-3;

impl Parameters {
    fn fixed(&self, interval: f64) -> Polling {
        self.poll(Strategy::Fixed(interval))
    }

    fn exponential(&self, backoff: Backoff) -> Polling {
        self.poll(Strategy::Exponential(backoff))
    }

    /// No poll comes as the job ends, where a rounding decides whether it finds it done.
    fn ends_between_polls(&self, interval: f64) -> bool {
        let intervals = self.job_seconds / interval;
        (intervals - intervals.round()).abs() > ON_THE_END
    }

    fn each_interval(&self, check: impl FnMut(f64) -> Held) -> Held {
        Held::all(self.fixed_intervals_s.iter().copied().map(check))
    }

    /// The shorter and the longer of each two fixed intervals.
    fn each_pair(&self, mut check: impl FnMut(f64, f64) -> Held) -> Held {
        let mut intervals = self.fixed_intervals_s.clone();
        intervals.sort_by(f64::total_cmp);
        Held::all(intervals.windows(2).map(|pair| check(pair[0], pair[1])))
    }
}

fn ceiling(p: &Parameters, interval: f64) -> Held {
    let expected = (p.job_seconds / interval).ceil().max(1.0) as u64;
    Held::equal(format!("polls every {interval} s"), p.fixed(interval).polls, expected)
}

fn fixed_polls_are_the_ceiling(p: &Parameters) -> Held {
    p.each_interval(|interval| ceiling(p, interval))
}

/// The clock of the model is a sum of intervals, a product here: close, not equal.
fn fixed_polls_are_the_ceiling_between_polls(p: &Parameters) -> Held {
    p.each_interval(|interval| {
        Held::provided(p.ends_between_polls(interval), || {
            let polling = p.fixed(interval);
            let product = polling.polls as f64 * interval;
            Held::all([ceiling(p, interval), Held::close("seen", polling.seen_s, product)])
        })
    })
}

/// A rounded sum never falls as what is added grows, so that these hold exactly.
fn seen_within_an_interval(p: &Parameters) -> Held {
    Held::all(p.strategies().into_iter().map(|strategy| {
        let longest = match strategy {
            Strategy::Fixed(interval) => interval,
            Strategy::Exponential(backoff) => backoff.first_s.max(backoff.cap_s),
        };
        let polling = p.poll(strategy);
        Held::all([
            Held::at_most(format!("the job's end, {strategy:?}"), p.job_seconds, polling.seen_s),
            Held::at_most(format!("seen, {strategy:?}"), polling.seen_s, p.job_seconds + longest),
        ])
    }))
}

fn job_within_the_first_interval(p: &Parameters) -> Held {
    Held::all(p.strategies().into_iter().flat_map(|strategy| {
        [0.0, strategy.first_interval()].map(|job_seconds| {
            let polling = Parameters { job_seconds, ..p.clone() }.poll(strategy);
            let found = (polling.empty(), polling.requests(), polling.seen_s.to_bits());
            Held::equal(
                format!("empty, requests, seen, {strategy:?}"),
                found,
                (0, 2, strategy.first_interval().to_bits()),
            )
        })
    }))
}

fn longer_interval_never_sooner(p: &Parameters) -> Held {
    p.each_pair(|shorter, longer| {
        Held::at_most(
            format!("seen every {shorter} s, and {longer} s"),
            p.fixed(shorter).seen_s,
            p.fixed(longer).seen_s,
        )
    })
}

fn longer_interval_never_more_polls(p: &Parameters) -> Held {
    p.each_pair(|shorter, longer| {
        Held::at_most(format!("polls every {longer} s, and {shorter} s"), p.fixed(longer).polls, p.fixed(shorter).polls)
    })
}

fn each_multiple(p: &Parameters, check: impl Fn(f64, u64) -> Held) -> Held {
    p.each_interval(|interval| Held::all((2..=5).map(|times| check(interval, times))))
}

fn times_the_interval_a_fraction_of_polls(p: &Parameters) -> Held {
    each_multiple(p, |interval, times| {
        let polls = p.fixed(interval * times as f64).polls;
        Held::equal(format!("polls every {interval} s, and {times} times that"), times * polls, p.fixed(interval).polls)
    })
}

/// Every poll at the longer interval is one at the shorter.
fn times_the_interval_the_ceiling_of_polls(p: &Parameters) -> Held {
    each_multiple(p, |interval, times| {
        let longer = interval * times as f64;
        Held::provided(p.ends_between_polls(interval) && p.ends_between_polls(longer), || {
            let expected = p.fixed(interval).polls.div_ceil(times);
            Held::equal(format!("polls every {times} times {interval} s"), p.fixed(longer).polls, expected)
        })
    })
}

fn backoff_sees_as_soon(p: &Parameters) -> Held {
    let (backoff, first) = (p.exponential(p.backoff), p.fixed(p.backoff.first_s));
    Held::at_most("seen", backoff.seen_s, first.seen_s)
}

/// Each poll comes at the growth times the one before it, and the first interval, at the latest; but for rounding.
fn backoff_late_by_its_growth(p: &Parameters) -> Held {
    let Backoff { first_s, growth, cap_s } = p.backoff;
    Held::all([cap_s, f64::INFINITY].map(|cap_s| {
        let seen = p.exponential(Backoff { cap_s, ..p.backoff }).seen_s;
        Held::at_most(format!("seen, capped at {cap_s}"), seen, (growth * p.job_seconds + first_s) * (1.0 + 1e-9))
    }))
}

fn backoff_asks_no_more(p: &Parameters) -> Held {
    Held::at_most("polls", p.exponential(p.backoff).polls, p.fixed(p.backoff.first_s).polls)
}

fn backoff_between_first_interval_and_cap(p: &Parameters) -> Held {
    let Backoff { first_s, cap_s, .. } = p.backoff;
    Held::provided(first_s <= cap_s, || {
        let (first, cap) = (p.fixed(first_s), p.fixed(cap_s));
        let polls = p.exponential(p.backoff).polls;
        Held::all([
            Held::at_most("polls at the cap", cap.polls, polls),
            Held::at_most("polls", polls, first.polls),
            Held::equal("without growth", p.exponential(Backoff { growth: 1.0, ..p.backoff }), first),
            Held::equal("at the cap from the start", p.exponential(Backoff { first_s: cap_s, ..p.backoff }), cap),
        ])
    })
}

/// The clock of the model is a sum, a closed form here: close, not equal.
fn backoff_without_cap_is_geometric(p: &Parameters) -> Held {
    let Backoff { first_s, growth, .. } = p.backoff;
    Held::provided(growth > 1.0, || {
        let polling = p.exponential(Backoff { cap_s: f64::INFINITY, ..p.backoff });
        let power = (0..polling.polls).fold(1.0, |power, _| power * growth);
        Held::close("seen", polling.seen_s, first_s * (power - 1.0) / (growth - 1.0))
    })
}

fn load_figures(p: &Parameters, reports: f64, name: &str) -> Vec<f64> {
    let report = Parameters { reports_a_day: vec![reports], ..p.clone() }.report();
    let figures = report.figures().filter(|figure| figure.name.contains(".kk5_") && figure.name.ends_with(name));
    figures.filter_map(|figure| figure.value.as_f64()).collect()
}

const LOADS: [&str; 5] = [".reports", ".requests", ".peak_rate", ".share_of_edge", ".open_connections"];

/// Doubling is exact in binary: no number is rounded another way.
fn load_is_linear_and_never_free(p: &Parameters) -> Held {
    Held::all(p.reports_a_day.iter().map(|&reports| {
        Held::provided(p.peak_edge > 0.0, || {
            let twice = |name| load_figures(p, reports / 2.0, name).into_iter().map(|load| 2.0 * load).collect();
            let linear = LOADS
                .map(|name| Held::equal(format!("{name} of {reports}"), load_figures(p, reports, name), twice(name)));
            let asked = load_figures(p, reports, ".requests").into_iter().zip(load_figures(p, reports, ".reports"));
            let never_free =
                asked.map(|(requests, reports)| Held::at_most("two requests a report", 2.0 * reports, requests));
            Held::all(linear.into_iter().chain(never_free))
        })
    }))
}

/// What is open at a time is what comes a second times how long it stays; from products in another order, so close.
fn open_connections_are_rate_times_seconds(p: &Parameters) -> Held {
    let first = p.fixed_intervals_s.iter().copied().take(1).map(|interval| p.fixed(interval));
    let polled: Vec<Polling> = first.chain([p.exponential(p.backoff)]).collect();
    Held::all(p.reports_a_day.iter().map(|&reports| {
        let open: f64 = load_figures(p, reports, ".open_connections").iter().sum();
        Held::all(load_figures(p, reports, ".peak_rate").into_iter().zip(&polled).map(|(rate, polling)| {
            let synchronous_rate = rate / polling.requests() as f64;
            Held::close(format!("open connections at {reports}"), synchronous_rate * p.job_seconds, open)
        }))
    }))
}
