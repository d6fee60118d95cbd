//! What an interval, a lag and an objective come to, at any rates.

use super::{Interval, Parameters};
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "each-event-in-one-interval", check: each_event_in_one_interval },
        Invariant { id: "interval-in-any-unit", check: interval_in_any_unit },
        Invariant { id: "storage-ignores-the-interval", check: storage_ignores_the_interval },
        Invariant { id: "lag-is-its-share-of-an-interval", check: lag_is_its_share_of_an_interval },
        Invariant { id: "lag-is-its-share-at-peak", check: lag_is_its_share_at_peak },
        Invariant { id: "no-stop-no-loss", check: no_stop_no_loss },
        Invariant { id: "synchronous-rejects-more", check: synchronous_rejects_more },
        Invariant { id: "trade-is-window-by-lag", check: trade_is_window_by_lag },
        Invariant { id: "failures-fill-the-share", check: failures_fill_the_share },
        Invariant { id: "objective-bounds-the-month", check: objective_bounds_the_month },
    ]
}

impl Parameters {
    fn intervals(&self) -> impl Iterator<Item = Interval> {
        self.backup_intervals.iter().chain(&self.operation_intervals).copied()
    }

    /// Published figures whose names begin and end so.
    fn figures(&self, begin: &str, end: &str) -> Vec<f64> {
        let report = self.report();
        let named = report.figures().filter(|figure| figure.name.starts_with(begin) && figure.name.ends_with(end));
        named.filter_map(|figure| figure.value.as_f64()).collect()
    }
}

/// A day's backups lose, each the one before it, all of the day's events.
fn each_event_in_one_interval(p: &Parameters) -> Held {
    Held::all(p.intervals().map(|interval| {
        let lost = interval.backups_a_day() * p.lost_events(interval);
        // By the second and back.
        Held::close("events between a day's backups", lost, p.events_a_day as f64)
    }))
}

fn interval_in_any_unit(p: &Parameters) -> Held {
    Held::all(p.intervals().map(|interval| {
        let other = match interval {
            Interval::Hours(hours) => Interval::Minutes(60.0 * hours),
            Interval::Minutes(minutes) => Interval::Hours(minutes / 60.0),
        };
        // One factor more.
        Held::all([
            Held::close("lost events", p.lost_events(other), p.lost_events(interval)),
            Held::close("backups a day", other.backups_a_day(), interval.backups_a_day()),
        ])
    }))
}

/// Backups add up to the growth of the period, and their number is all that the interval changes.
fn storage_ignores_the_interval(p: &Parameters) -> Held {
    let stored = ["incremental_gb", "full_gb"].map(|name| p.figures("operations.", name));
    let same = stored.iter().map(|all| Held::all(all.windows(2).map(|pair| Held::equal("GB", pair[1], pair[0]))));
    let backups = p.figures("operations.", ".backups");
    let growth = p.operation_intervals.iter().zip(backups).zip(&stored[0]).map(|((interval, backups), stored)| {
        let each = p.growth_gb_a_day * interval.seconds() / 86_400.0;
        // Backup by backup here, day by day there.
        Held::close("GB of all backups", backups * each, *stored)
    });
    Held::all(same.chain(growth).collect::<Vec<_>>())
}

/// Of the loss of a tabled interval, a lag loses the part that it is of its time.
fn lag_share(p: &Parameters, lost: &[f64]) -> Held {
    let lags = p.figures("replication.", "lost_events");
    let pairs =
        p.lags.iter().zip(lags).flat_map(|lag| p.backup_intervals.iter().zip(lost).map(move |other| (lag, other)));
    Held::all(pairs.map(|((lag, events), (interval, lost))| {
        // Whole events are tabled: the share of half an event is too little to tell.
        let expected = lost * lag / interval.seconds();
        let rounding = 0.5 * lag / interval.seconds() + 1e-9 * expected;
        Held::that((events - expected).abs() <= rounding, || {
            format!("a lag of {lag} seconds: found {events}, expected about {expected} of {interval:?}")
        })
    }))
}

fn lag_is_its_share_of_an_interval(p: &Parameters) -> Held {
    lag_share(p, &p.figures("backup.", "lost_events"))
}

fn lag_is_its_share_at_peak(p: &Parameters) -> Held {
    lag_share(p, &p.figures("backup.", "lost_events_at_peak"))
}

fn no_stop_no_loss(p: &Parameters) -> Held {
    let [no_stop, no_lag, no_write] = [(); 3].map(|()| p.clone());
    let no_stop = Parameters { stops_a_month: 0.0, ..no_stop };
    let no_lag = Parameters { lag_seconds: 0.0, ..no_lag };
    let no_write = Parameters { peak_write: 0.0, ..no_write };
    Held::all([
        Held::equal("without a stop", [no_stop.rejected_a_month(), no_stop.lost_a_month()], [0.0; 2]),
        Held::equal("without a write", [no_write.rejected_a_month(), no_write.lost_a_month()], [0.0; 2]),
        Held::equal("lost without a lag", no_lag.lost_a_month(), 0.0),
        Held::equal("rejected without a lag", no_lag.rejected_a_month(), p.rejected_a_month()),
    ])
}

/// Than it saves.
fn synchronous_rejects_more(p: &Parameters) -> Held {
    Held::at_most("lost without it", p.lost_a_month(), p.rejected_a_month())
}

/// Neither stops nor writes move it.
fn trade_is_window_by_lag(p: &Parameters) -> Held {
    Held::provided(p.lost_a_month() > 1e-9, || {
        let ratio = p.figures("synchronous.rejected_per_lost", "");
        // Both are products of the same two numbers.
        Held::all(ratio.into_iter().map(|ratio| Held::close("ratio", ratio, p.failover_seconds / p.lag_seconds)))
    })
}

impl Parameters {
    fn all_objectives(&self) -> Vec<f64> {
        let all = self.objectives.iter().copied();
        let mut all: Vec<f64> = all.chain([self.failover_seconds / 60.0, self.recovery_minutes]).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Taken one by one: as many failures as fit leave less than one more would take; a shorter objective fits more.
fn failures_fill_the_share(p: &Parameters) -> Held {
    let objectives = p.all_objectives();
    let fill = objectives.iter().map(|minutes| {
        let fit = p.failures_in_share(*minutes).floor();
        // A quotient is multiplied again.
        let rounding = 1e-9 * p.failure_share_minutes;
        Held::all([
            Held::at_most("minutes of those that fit", fit * minutes, p.failure_share_minutes + rounding),
            Held::at_most("the share", p.failure_share_minutes, (fit + 1.0) * minutes + rounding),
        ])
    });
    let fewer = objectives
        .windows(2)
        .map(|pair| Held::at_most("that fit", p.failures_in_share(pair[1]), p.failures_in_share(pair[0])));
    Held::all(fill.chain(fewer))
}

/// One failure breaks the month's target exactly if its share is above a hundred percent; requests go by its minutes.
fn objective_bounds_the_month(p: &Parameters) -> Held {
    let shares = p.figures("objective.minutes_", "budget_share");
    let requests = p.figures("objective.minutes_", "dropped_edge_requests");
    Held::all(p.objectives.iter().zip(shares).zip(requests).map(|((minutes, share), requests)| {
        let seconds = minutes * 60.0;
        Held::all([
            Held::equal("breaks the target", share > 100.0, *minutes > p.outage_budget_minutes),
            // Whole requests are tabled.
            Held::at_most(
                "requests, off by",
                (requests / seconds - p.peak_edge).abs(),
                0.5 / seconds + 1e-9 * p.peak_edge,
            ),
        ])
    }))
}
