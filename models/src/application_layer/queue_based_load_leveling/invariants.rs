//! What a queue in front of a consumer absorbs, for any profile, spike and capacity.

mod plan;

use super::{Buffer, DAY, Design, ONE_EVENT, Parameters, Profile, Spike};
use crate::invariants::{Held, Invariant};
use plan::Plan;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-event-accounted-for", check: every_event_accounted_for },
        Invariant { id: "backlog-is-unprocessed-volume", check: backlog_is_unprocessed_volume },
        Invariant { id: "drain-time-exact", check: drain_time_exact },
        Invariant { id: "resend-rate-leaves-backlog", check: resend_rate_leaves_backlog },
        Invariant { id: "resend-adds-nothing", check: resend_adds_nothing },
        Invariant { id: "resend-adds-nothing-to-a-busy-peak", check: resend_adds_nothing_to_a_busy_peak },
        Invariant { id: "resend-adds-at-most-what-was-kept", check: resend_adds_at_most_what_was_kept },
        Invariant { id: "unbuffered-drops-whatever-the-rate", check: unbuffered_drops_whatever_the_rate },
        Invariant { id: "unbuffered-drops-what-the-peak-resends", check: unbuffered_drops_what_the_peak_resends },
        Invariant { id: "smallest-limit-exact", check: smallest_limit_exact },
        Invariant { id: "short-limit-drops-the-rest", check: short_limit_drops_the_rest },
        Invariant { id: "more-room-or-capacity-never-worse", check: more_room_or_capacity_never_worse },
        Invariant { id: "no-spike-no-cost", check: no_spike_no_cost },
    ]
}

/// Sums of a day's rates, and products of a rate and the seconds: they round differently.
fn at_most(what: String, found: f64, bound: f64) -> Held {
    Held::at_most(what, found, bound + 1e-9 * (bound.abs() + ONE_EVENT))
}

impl Parameters {
    fn all_resends(&self) -> Vec<f64> {
        let mut resends = vec![self.unbuffered_resend];
        resends.extend(self.resends.iter().chain(&self.limit_resends));
        resends
    }

    fn all_spikes(&self) -> Vec<Spike> {
        let resends = self.all_resends().into_iter().map(Spike::Resend);
        [Spike::None, Spike::Volume].into_iter().chain(resends).collect()
    }
}

/// Those of the spikes that leave no more behind than the day can take, and hide in its peak.
fn regular_spikes<'a>(p: &Parameters, plan: &'a Plan, held: f64) -> impl Iterator<Item = Spike> + 'a {
    p.all_spikes().into_iter().filter(move |spike| {
        let hides = |resend| plan.resends_within_peak(resend) && plan.is_busy_through_outage(held);
        plan.recovers(*spike) && !matches!(spike, Spike::Resend(resend) if !hides(*resend))
    })
}

fn every_event_accounted_for(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let limits = [Buffer::None, Buffer::Limit(plan.unprocessed(Spike::None) / 2.0 + 1.0), Buffer::Unbounded];
    let runs = p.all_spikes().into_iter().flat_map(|spike| limits.map(|buffer| (spike, buffer)));
    Held::all(runs.map(|(spike, buffer)| {
        let outcome = plan.run(spike, buffer);
        let day = format!("{spike:?}, {buffer:?}");
        let added = if spike == Spike::Volume { plan.profile.peak * plan.extra_stream } else { 0.0 };
        let sent_in_a_day = match spike {
            Spike::Resend(resend) => plan.resends_within_a_day(resend),
            Spike::None | Spike::Volume => true,
        };
        Held::all([
            // Summed leg by leg, and as a product.
            Held::provided(sent_in_a_day, || {
                Held::close(format!("arrived, {day}"), outcome.arrived, p.daily_events + added)
            }),
            Held::close(
                format!("processed, dropped and left waiting, {day}"),
                outcome.processed + outcome.dropped + outcome.left_waiting + DAY as f64,
                outcome.arrived + DAY as f64,
            ),
            at_most(format!("processed, {day}"), outcome.processed, plan.capacity * DAY as f64),
        ])
    }))
}

fn backlog_is_unprocessed_volume(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    Held::all([Spike::None, Spike::Volume].map(|spike| {
        Held::provided(plan.recovers(spike), || {
            let highest = plan.run(spike, Buffer::Unbounded).highest;
            // The walk adds up rates, this multiplies them.
            Held::close(format!("highest backlog, {spike:?}"), highest, plan.unprocessed(spike))
        })
    }))
}

/// To the second; rounding may move it by one.
fn drain_time_exact(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let Profile { peak, off_peak, .. } = plan.profile;
    Held::all([Spike::None, Spike::Volume].map(|spike| {
        let builds_up = 2.0 * (peak - plan.capacity) > ONE_EVENT;
        Held::provided(plan.recovers(spike) && builds_up, || {
            let after_peak = ((plan.unprocessed(spike) - ONE_EVENT) / (plan.capacity - off_peak)).floor();
            let expected = (plan.peak_seconds + after_peak) as u64;
            let found = plan.run(spike, Buffer::Unbounded).drain.unwrap_or_default();
            Held::at_most(format!("seconds between {found} and {expected}, {spike:?}"), found.abs_diff(expected), 1)
        })
    }))
}

fn highest_with(plan: &Plan, resend: f64) -> f64 {
    plan.run(Spike::Resend(resend), Buffer::Unbounded).highest
}

fn resend_rate_leaves_backlog(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let highest: Vec<f64> = p.resends.iter().map(|resend| highest_with(&plan, *resend)).collect();
    // Other rates, added up in another order.
    Held::all(highest.windows(2).map(|pair| Held::close(format!("highest {highest:?}"), pair[1], pair[0])))
}

fn resend_adds_nothing(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let quiet = plan.run(Spike::None, Buffer::Unbounded).highest;
    Held::all(p.resends.iter().map(|resend| {
        // Other rates, added up in another order.
        Held::close(format!("highest backlog, {resend} peaks"), highest_with(&plan, *resend), quiet)
    }))
}

fn resend_adds_nothing_to_a_busy_peak(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let quiet = plan.run(Spike::None, Buffer::Unbounded);
    Held::all(regular_spikes(p, &plan, f64::INFINITY).filter(|spike| matches!(spike, Spike::Resend(_))).map(|spike| {
        let resent = plan.run(spike, Buffer::Unbounded);
        let drains = [quiet, resent].map(|outcome| outcome.drain.unwrap_or_default());
        Held::all([
            // Other rates, added up in another order; of the seconds it may move one.
            Held::close(format!("highest backlog, {spike:?}"), resent.highest, quiet.highest),
            Held::at_most(format!("seconds between drains {drains:?}, {spike:?}"), drains[0].abs_diff(drains[1]), 1),
        ])
    }))
}

fn resend_adds_at_most_what_was_kept(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let quiet = plan.run(Spike::None, Buffer::Unbounded).highest;
    Held::all(p.all_resends().into_iter().map(|resend| {
        Held::provided(plan.resends_within_a_day(resend), || {
            let bound = quiet + plan.profile.peak * plan.outage;
            at_most(format!("highest backlog, {resend} peaks"), highest_with(&plan, resend), bound)
        })
    }))
}

fn unbuffered(plan: &Plan, spike: Spike) -> f64 {
    plan.profile.run(Design { capacity: plan.profile.peak, buffer: Buffer::None, spike }).dropped
}

fn unbuffered_drops_whatever_the_rate(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let dropped = unbuffered(&plan, Spike::Resend(p.unbuffered_resend));
    // The walk adds up rates, this multiplies them.
    Held::close("dropped", dropped, plan.profile.peak * plan.outage)
}

fn unbuffered_drops_what_the_peak_resends(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let Profile { peak, off_peak, .. } = plan.profile;
    let spikes = p.all_spikes().into_iter().map(|spike| match spike {
        Spike::None => (spike, off_peak <= peak, 0.0),
        Spike::Volume => (spike, off_peak <= peak, peak * plan.extra_stream),
        Spike::Resend(resend) => (spike, off_peak <= peak && plan.resends_within_peak(resend), peak * plan.outage),
    });
    // The walk adds up rates, this multiplies them.
    Held::all(spikes.map(|(spike, applies, expected)| {
        Held::provided(applies, || Held::close(format!("dropped, {spike:?}"), unbuffered(&plan, spike), expected))
    }))
}

/// At its highest the queue holds what is left after a second, and what the consumer takes in it; less by one event
/// drops one. The search ends at most its tolerance above.
fn smallest_limit_exact(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    Held::all(regular_spikes(p, &plan, f64::INFINITY).map(|spike| {
        let needed = plan.unprocessed(spike) + plan.capacity;
        Held::provided(plan.capacity <= plan.profile.peak && needed <= p.search.highest, || {
            let found = p.smallest_limit(spike);
            Held::all([
                at_most(format!("needed without one event, {spike:?}"), needed - ONE_EVENT, found),
                at_most(format!("smallest limit, {spike:?}"), found, needed + p.search.tolerance),
            ])
        })
    }))
}

/// The highest backlog itself is a limit too small by one second's processing, and half of it by the other half too.
fn short_limit_drops_the_rest(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    Held::all([1.0, 0.5].map(|share| {
        let left = (share * plan.unprocessed(Spike::None) - plan.capacity).max(0.0);
        Held::all(regular_spikes(p, &plan, left).map(|spike| {
            let needed = plan.unprocessed(spike) + plan.capacity;
            Held::provided(left > 0.0 && plan.capacity <= plan.profile.peak, || {
                let limit = left + plan.capacity;
                // The walk adds up rates, this multiplies them.
                let dropped = plan.run(spike, Buffer::holding(limit)).dropped;
                Held::close(format!("dropped and held, {spike:?}, limit {limit}"), dropped + limit, needed)
            })
        }))
    }))
}

fn more_room_or_capacity_never_worse(p: &Parameters) -> Held {
    let plan = Plan::of(p);
    let wider = Plan { capacity: plan.capacity * 1.25, ..Plan::of(p) };
    let limit = plan.unprocessed(Spike::None) / 2.0 + 1.0;
    Held::all(p.all_spikes().into_iter().flat_map(|spike| {
        let limited = plan.run(spike, Buffer::Limit(limit));
        let roomier = plan.run(spike, Buffer::Limit(limit * 1.25));
        let faster = wider.run(spike, Buffer::Limit(limit));
        let unbounded = [&plan, &wider].map(|plan| plan.run(spike, Buffer::Unbounded));
        [
            at_most(format!("dropped with more room, {spike:?}"), roomier.dropped, limited.dropped),
            at_most(format!("dropped with more capacity, {spike:?}"), faster.dropped, limited.dropped),
            at_most(format!("backlog with more capacity, {spike:?}"), faster.highest, limited.highest),
            at_most(format!("unbounded backlog, {spike:?}"), unbounded[1].highest, unbounded[0].highest),
            Held::equal(format!("dropped without a limit, {spike:?}"), unbounded.map(|u| u.dropped), [0.0; 2]),
        ]
    }))
}

fn no_spike_no_cost(p: &Parameters) -> Held {
    let none = Plan::of(&Parameters { outage_minutes: 0, extra_stream_minutes: 0, ..p.clone() });
    let Profile { peak, off_peak, .. } = none.profile;
    let quiet = none.run(Spike::None, Buffer::Unbounded);
    let sized = Plan { capacity: peak.max(off_peak), ..Plan::of(p) };
    let idle = [Buffer::None, Buffer::Unbounded].map(|buffer| sized.run(Spike::None, buffer));
    let of_no_time = [Spike::Resend(p.unbuffered_resend), Spike::Volume].map(|spike| {
        let outcome = none.run(spike, Buffer::Unbounded);
        Held::all([
            // A spike of no time still parts the peak in two, which rounds differently.
            Held::close(format!("highest backlog, {spike:?}"), outcome.highest, quiet.highest),
            Held::close(format!("processed, {spike:?}"), outcome.processed, quiet.processed),
        ])
    });
    Held::all([
        Held::all(of_no_time),
        Held::equal("dropped at a capacity of the peak", idle.map(|outcome| outcome.dropped), [0.0; 2]),
        Held::equal("waiting at a capacity of the peak", idle.map(|outcome| outcome.highest), [0.0; 2]),
    ])
}
