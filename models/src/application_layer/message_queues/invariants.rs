//! What capacity below the peak costs and what an outage costs, for any daily profile.

use super::{DAY_S, Days, Outcome, Parameters, Profile, Scenario, arrived, lost, sum_by_second};
use crate::calendar::SECONDS_A_DAY;
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "days-hold-the-daily-events", check: days_hold_the_daily_events },
        Invariant { id: "carried-or-lost", check: carried_or_lost },
        Invariant { id: "peak-capacity-costs-nothing", check: peak_capacity_costs_nothing },
        Invariant { id: "seconds-agree-with-phases", check: seconds_agree_with_phases },
        Invariant { id: "less-capacity-never-pays-less", check: less_capacity_never_pays_less },
        Invariant { id: "each-part-adds-more-backlog", check: each_part_adds_more_backlog },
        Invariant { id: "backlog-linear-in-capacity", check: backlog_linear_in_capacity },
        Invariant { id: "each-part-adds-more-wait", check: each_part_adds_more_wait },
        Invariant { id: "longer-peak-in-proportion", check: longer_peak_in_proportion },
        Invariant { id: "average-is-the-limit", check: average_is_the_limit },
        Invariant { id: "outage-lost-without-a-queue", check: outage_lost_without_a_queue },
        Invariant { id: "outage-adds-its-length", check: outage_adds_its_length },
        Invariant { id: "outage-adds-its-length-with-recovery", check: outage_adds_its_length_with_recovery },
    ]
}

/// Apart by more than the rounding of a day's sums.
fn is_above(capacity: f64, rate: f64) -> bool {
    capacity > rate * (1.0 + 1e-9)
}

impl Parameters {
    fn usual_peak(&self) -> Profile {
        self.profile(self.peak_hours)
    }

    fn usual_day(&self, profile: &Profile, capacity: f64, days: Days) -> Outcome {
        self.run(&self.day(profile, capacity, None), capacity, days)
    }

    fn capacities(&self) -> Vec<f64> {
        self.capacity_ratios.iter().map(|ratio| self.usual_peak().peak * ratio).collect()
    }

    fn outage_capacities(&self) -> Vec<f64> {
        self.outage_ratios.iter().map(|ratio| self.usual_peak().peak * ratio).collect()
    }

    /// Those that the lesson weighs up: below the peak rate, and above the average one.
    fn chosen_capacities(&self) -> Vec<f64> {
        let Profile { average, peak, .. } = self.usual_peak();
        let is_chosen = |capacity: &f64| *capacity <= peak && is_above(*capacity, average);
        self.capacities().into_iter().filter(is_chosen).collect()
    }

    /// Some measure of the queue after none, half and all of the way from the peak rate down to a capacity.
    fn on_the_way_down(&self, capacity: f64, of: impl Fn(&Outcome, f64) -> f64) -> [f64; 3] {
        let profile = self.usual_peak();
        let half = f64::midpoint(profile.peak, capacity);
        [profile.peak, half, capacity]
            .map(|capacity| of(&self.usual_day(&profile, capacity, self.spread_days), capacity))
    }
}

/// Added up second by second, the rates make the daily events: another order than the parameter's.
fn days_hold_the_daily_events(p: &Parameters) -> Held {
    Held::all([p.peak_hours, p.more_peak_hours].map(|hours| {
        let profile = p.profile(hours);
        Held::close("events of a day", arrived(&p.day(&profile, profile.peak, None)), p.daily_events)
    }))
}

/// What a design without a queue carries is the lower of the two rates, counted here on its own.
fn carried_or_lost(p: &Parameters) -> Held {
    Held::all(p.outage_capacities().into_iter().flat_map(|capacity| {
        [None, Some(p.outage())].map(|outage| {
            let day = p.day(&p.usual_peak(), capacity, outage);
            let carried = sum_by_second(day.iter(), |phase| phase.arriving.min(phase.capacity));
            // Three sums over the seconds of a day.
            Held::close(format!("events at {capacity} a second"), carried + lost(&day), arrived(&day))
        })
    }))
}

fn peak_capacity_costs_nothing(p: &Parameters) -> Held {
    let Profile { peak, off_peak, .. } = p.usual_peak();
    Held::all(p.capacities().into_iter().filter(|capacity| *capacity >= peak.max(off_peak)).map(|capacity| {
        let day = p.day(&p.usual_peak(), capacity, None);
        Held::all([
            Held::equal("queue", p.run(&day, capacity, p.spread_days), Outcome::NO_QUEUE),
            Held::equal("lost without one", lost(&day), 0.0),
        ])
    }))
}

fn seconds_agree_with_phases(p: &Parameters) -> Held {
    let days = p.capacities().into_iter().map(|capacity| (capacity, None, p.spread_days));
    let outages = p.outage_capacities().into_iter().map(|capacity| (capacity, Some(p.outage()), p.outage_days));
    Held::all(days.chain(outages).map(|(capacity, outage, days)| {
        let (peak_start_s, delayed_after_s) = (p.peak_start_s(), p.delayed_after_s);
        let day = p.day(&p.usual_peak(), capacity, outage);
        Scenario { day: &day, peak_start_s, capacity, delayed_after_s, days }.agrees_with_phases()
    }))
}

/// Exact, since rounding keeps the order of two sums.
fn less_capacity_never_pays_less(p: &Parameters) -> Held {
    let profile = p.usual_peak();
    Held::all(p.capacities().into_iter().map(|capacity| {
        let [more, less] = [1.0, 0.875].map(|part| p.usual_day(&profile, capacity * part, p.spread_days));
        let drained = |outcome: &Outcome| outcome.drained_after_s.unwrap_or(u64::MAX);
        Held::all([
            Held::at_most("highest backlog", more.highest_backlog, less.highest_backlog),
            Held::at_most("delayed", more.delayed, less.delayed),
            Held::at_most("drained after", drained(&more), drained(&less)),
        ])
    }))
}

fn each_part_adds_more_backlog(p: &Parameters) -> Held {
    Held::all(p.chosen_capacities().into_iter().map(|capacity| {
        let [none, half, all] = p.on_the_way_down(capacity, |outcome, _| outcome.highest_backlog);
        Held::that(is_above(all - half, half - none), || {
            format!("down to {capacity}: the first half adds {}, the second {}", half - none, all - half)
        })
    }))
}

/// Events of the peak window that capacity leaves.
fn backlog_linear_in_capacity(p: &Parameters) -> Held {
    let profile = p.usual_peak();
    Held::all(p.chosen_capacities().into_iter().map(|capacity| {
        let highest = p.usual_day(&profile, capacity, p.spread_days).highest_backlog;
        // Added up second by second there.
        Held::close("highest backlog", highest, (profile.peak - capacity) * profile.peak_s)
    }))
}

fn each_part_adds_more_wait(p: &Parameters) -> Held {
    let Profile { peak, peak_s, .. } = p.usual_peak();
    Held::all(p.chosen_capacities().into_iter().filter(|capacity| *capacity < peak && peak_s > 0.0).map(|capacity| {
        let [none, half, all] = p.on_the_way_down(capacity, |outcome, capacity| outcome.highest_backlog / capacity);
        Held::that(all - half > half - none, || {
            format!("down to {capacity}: the first half adds {} s, the second {} s", half - none, all - half)
        })
    }))
}

fn longer_peak_in_proportion(p: &Parameters) -> Held {
    Held::all(p.chosen_capacities().into_iter().map(|capacity| {
        let [usual, longer] = [p.peak_hours, p.more_peak_hours]
            .map(|hours| p.usual_day(&p.profile(hours), capacity, p.spread_days).highest_backlog);
        // Sums of different length.
        Held::close("highest backlog", longer * p.peak_hours, usual * p.more_peak_hours)
    }))
}

/// Above the average rate a day is like the day before and ends empty; below it each day leaves more, for good.
fn average_is_the_limit(p: &Parameters) -> Held {
    let profile = p.usual_peak();
    let warm_up = p.spread_days.warm_up;
    let from = |warm_up| Days { warm_up, run: warm_up + 2 };
    Held::all(p.capacities().into_iter().map(|capacity| {
        let measured = || p.usual_day(&profile, capacity, from(warm_up));
        let left_each_day = (profile.average - capacity) * SECONDS_A_DAY;
        if is_above(capacity, profile.average) {
            let measured = measured();
            let second = p.usual_day(&profile, capacity, from(1)).highest_backlog;
            let periodic = || Held::close("highest backlog, later", measured.highest_backlog, second);
            Held::all([
                Held::at_most("drained after", measured.drained_after_s.unwrap_or(u64::MAX), DAY_S),
                // Each day begins with the rounding of the one before.
                Held::provided(warm_up > 0, periodic),
            ])
        } else if is_above(profile.average, capacity) && left_each_day > 2.0 && warm_up > 0 {
            let measured = measured();
            let left = left_each_day * (warm_up + 1) as f64;
            Held::all([
                Held::at_most("left by now", left * (1.0 - 1e-9), measured.highest_backlog),
                Held::equal("drained after", measured.drained_after_s, None),
            ])
        } else {
            Held::Vacuous
        }
    }))
}

fn outage_lost_without_a_queue(p: &Parameters) -> Held {
    let profile = p.usual_peak();
    Held::provided(profile.off_peak <= profile.peak, || {
        let [usual, outage] = [None, Some(p.outage())].map(|outage| lost(&p.day(&profile, profile.peak, outage)));
        Held::all([
            Held::equal("lost on a usual day", usual, 0.0),
            // Added up second by second there.
            Held::close("lost in the outage", outage, profile.peak * p.outage_s as f64),
        ])
    })
}

/// The longest wait with the outage, beside the one without it and the outage.
fn wait_with_outage(p: &Parameters, capacity: f64) -> Held {
    let [usual, outage] = [None, Some(p.outage())].map(|outage| {
        let day = p.day(&p.usual_peak(), capacity, outage);
        p.run(&day, capacity, p.outage_days).highest_backlog / capacity
    });
    // Sums of different phases.
    Held::close(format!("longest wait at {capacity}"), outage, usual + p.outage_s as f64)
}

fn outage_adds_its_length(p: &Parameters) -> Held {
    let Profile { average, peak, .. } = p.usual_peak();
    Held::all(p.outage_capacities().into_iter().map(|capacity| {
        Held::provided(capacity <= peak && is_above(capacity, average), || wait_with_outage(p, capacity))
    }))
}

/// The outage comes back each day: what it adds has to be gone by then.
fn outage_adds_its_length_with_recovery(p: &Parameters) -> Held {
    let Profile { peak, off_peak, .. } = p.usual_peak();
    let working_s = (DAY_S - p.outage_s) as f64;
    Held::all(p.outage_capacities().into_iter().map(|capacity| {
        let recovers = is_above(capacity * working_s, p.daily_events) && off_peak <= capacity;
        Held::provided(capacity <= peak && recovers, || wait_with_outage(p, capacity))
    }))
}
