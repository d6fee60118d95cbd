//! What the circuit breaker's argument rests on, at any parameters.

use super::breaker::{Rule, WindowRatio};
use super::{Counts, Mode, Modes, Parameters};
use crate::arrivals::Carry;
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-arrival-ends-once", check: every_arrival_ends_once },
        Invariant { id: "unopened-costs-nothing", check: unopened_costs_nothing },
        Invariant { id: "no-failure-no-opening", check: no_failure_no_opening },
        Invariant { id: "failing-day-calls-bounded", check: failing_day_calls_bounded },
        Invariant { id: "neighbour-untouched", check: neighbour_untouched },
        Invariant { id: "neighbour-loses-no-more", check: neighbour_loses_no_more },
        Invariant { id: "slow-as-good-as-down", check: slow_as_good_as_down },
        Invariant { id: "slow-as-good-as-down-with-room", check: slow_as_good_as_down_with_room },
        Invariant { id: "own-flow-gains-nothing", check: own_flow_gains_nothing },
        Invariant { id: "certain-failure-leaves-own-flow", check: certain_failure_leaves_own_flow },
        Invariant { id: "longer-open-no-more-calls", check: longer_open_no_more_calls },
        Invariant { id: "longer-open-no-more-calls-with-room", check: longer_open_no_more_calls_with_room },
        Invariant { id: "nothing-without-slots-or-events", check: nothing_without_slots_or_events },
    ]
}

const FAILING: [Mode; 2] = [Mode::Slowdown, Mode::Down];

impl Parameters {
    fn chosen(&self) -> Rule {
        Rule::Ratio(self.rule)
    }

    fn all_rules(&self) -> Vec<Rule> {
        [self.chosen()].into_iter().chain(self.rules.iter().map(|rule| rule.opens_on)).collect()
    }

    /// The longer of two open times, as the lesson compares them.
    fn longer_rule(&self) -> Rule {
        self.chosen().with_open_rounds(self.longer_open_rounds.max(self.rule.open_rounds))
    }

    fn certainly_fails(&self, mode: Mode) -> bool {
        self.modes.of(mode).failure_probability >= 1.0
    }

    /// No call fails before the failure begins, all do after it.
    fn fails_all_at_once(&self, mode: Mode) -> bool {
        self.modes.healthy.failure_probability <= 0.0 && self.certainly_fails(mode)
    }

    /// At a threshold of zero the breaker opens on successes as well.
    fn opens_on_failures_only(&self) -> bool {
        self.rule.threshold > 0.0
    }

    fn failing_rounds(&self) -> u64 {
        self.rounds - self.failure_start
    }

    /// The most requests of a flow that arrive in one round.
    fn peak(&self, rate: f64) -> u64 {
        (rate / self.rounds_per_second()).ceil() as u64
    }
}

impl Rule {
    /// A closed breaker takes at most so many failures in a row.
    fn failures_to_open(self) -> u64 {
        match self {
            Self::Ratio(WindowRatio { window, .. }) => window as u64,
            Self::Consecutive(rule) => rule.failures,
        }
    }
}

impl Counts {
    fn nobody_found_the_pool_full(&self) -> bool {
        self.tracking_no_slot + self.event_no_slot == 0
    }

    fn calls_after_failure(&self) -> u64 {
        self.calls - self.at_failure.calls
    }
}

/// The arrivals are counted a second time here, without a pool.
fn every_arrival_ends_once(p: &Parameters) -> Held {
    let arrivals = |rate: f64| {
        let mut carry = Carry::default();
        (0..p.rounds).map(|_| carry.arrivals(rate / p.rounds_per_second())).sum::<u64>()
    };
    let (tracking, events) = (arrivals(p.tracking_rate), arrivals(p.event_rate));
    let rules = std::iter::once(None).chain(p.all_rules().into_iter().map(Some));
    Held::all(rules.flat_map(|rule| Mode::ALL.map(|mode| (rule, mode))).map(|(rule, mode)| {
        let c = p.run(mode, rule);
        let day = format!("{} with {rule:?}", mode.name());
        Held::all([
            Held::equal(format!("tracking, {day}"), c.tracking_responses + c.tracking_no_slot, tracking),
            Held::equal(format!("calls, {day}"), c.event_responses + c.event_errors, c.calls),
            Held::equal(format!("events, {day}"), c.calls + c.event_rejected + c.event_no_slot, events),
        ])
    }))
}

fn unopened_costs_nothing(p: &Parameters) -> Held {
    Held::all(Mode::ALL.map(|mode| {
        let breaker = p.run(mode, Some(p.chosen()));
        Held::provided(breaker.opens == 0, || Held::equal(mode.name(), breaker, p.run(mode, None)))
    }))
}

fn no_failure_no_opening(p: &Parameters) -> Held {
    Held::provided(p.opens_on_failures_only(), || {
        let mut never = p.clone();
        never.modes.healthy.failure_probability = 0.0;
        Held::equal("openings", never.run(Mode::Healthy, Some(p.chosen())).opens, 0)
    })
}

/// Until it opens it lets a window of failures through; from then on one call each open time.
fn failing_day_calls_bounded(p: &Parameters) -> Held {
    Held::all(FAILING.map(|mode| {
        Held::provided(p.certainly_fails(mode), || {
            Held::all(p.all_rules().into_iter().map(|rule| {
                let bound = rule.failures_to_open() - 1 + p.failing_rounds().div_ceil(rule.open_rounds());
                let c = p.run(mode, Some(rule));
                Held::at_most(format!("calls, {} with {rule:?}", mode.name()), c.calls_after_failure(), bound)
            }))
        })
    }))
}

/// The slots that are needed do not grow with the time that a failed call holds, once that is the open time.
fn neighbour_untouched(p: &Parameters) -> Held {
    Held::all(FAILING.map(|mode| {
        let Modes { healthy, .. } = &p.modes;
        let failing = p.modes.of(mode);
        let rejected_or_answered = healthy.answered_hold.max(super::REJECTION_HOLD);
        let failed = p.chosen().failures_to_open() + failing.failed_hold.div_ceil(p.rule.open_rounds);
        let needed = p.peak(p.tracking_rate) * p.tracking_hold + p.peak(p.event_rate) * rejected_or_answered + failed;
        let applies = p.fails_all_at_once(mode) && p.opens_on_failures_only() && p.slots as u64 >= needed;
        Held::provided(applies, || {
            let c = p.run(mode, Some(p.chosen()));
            Held::equal(format!("tracking without a slot, {}", mode.name()), c.tracking_no_slot, 0)
        })
    }))
}

fn neighbour_loses_no_more(p: &Parameters) -> Held {
    Held::all(FAILING.map(|mode| {
        let (plain, breaker) = (p.run(mode, None), p.run(mode, Some(p.chosen())));
        let what = format!("tracking without a slot, {}", mode.name());
        Held::at_most(what, breaker.tracking_no_slot, plain.tracking_no_slot)
    }))
}

/// All that is counted, without the slot-rounds.
fn but_slot_rounds(c: &Counts) -> [u64; 7] {
    [
        c.tracking_responses,
        c.tracking_no_slot,
        c.event_responses,
        c.event_rejected,
        c.event_errors,
        c.event_no_slot,
        c.calls,
    ]
}

fn slow_and_down(p: &Parameters) -> (Counts, Counts) {
    (p.run(Mode::Slowdown, Some(p.chosen())), p.run(Mode::Down, Some(p.chosen())))
}

fn slow_as_good_as_down(p: &Parameters) -> Held {
    let (slow, down) = slow_and_down(p);
    Held::equal("all but the slot-rounds", but_slot_rounds(&slow), but_slot_rounds(&down))
}

fn slow_as_good_as_down_with_room(p: &Parameters) -> Held {
    let (slow, down) = slow_and_down(p);
    let [a, b] = FAILING.map(|mode| p.modes.of(mode).failure_probability.to_bits());
    let applies = a == b && slow.nobody_found_the_pool_full() && down.nobody_found_the_pool_full();
    Held::provided(applies, || Held::equal("all but the slot-rounds", but_slot_rounds(&slow), but_slot_rounds(&down)))
}

fn own_flow_gains_nothing(p: &Parameters) -> Held {
    Held::all(Mode::ALL.map(|mode| {
        let (plain, breaker) = (p.run(mode, None), p.run(mode, Some(p.chosen())));
        let what = format!("answered events, {}", mode.name());
        Held::at_most(what, breaker.event_responses, plain.event_responses)
    }))
}

fn certain_failure_leaves_own_flow(p: &Parameters) -> Held {
    Held::all(FAILING.map(|mode| {
        Held::provided(p.fails_all_at_once(mode) && p.opens_on_failures_only(), || {
            let (plain, breaker) = (p.run(mode, None), p.run(mode, Some(p.chosen())));
            let what = format!("answered events, {}", mode.name());
            Held::equal(what, breaker.event_responses, plain.event_responses)
        })
    }))
}

fn shorter_and_longer(p: &Parameters, mode: Mode) -> (Counts, Counts) {
    (p.run(mode, Some(p.chosen())), p.run(mode, Some(p.longer_rule())))
}

fn longer_open_no_more_calls(p: &Parameters) -> Held {
    Held::all(FAILING.map(|mode| {
        let (shorter, longer) = shorter_and_longer(p, mode);
        Held::at_most(format!("calls, {}", mode.name()), longer.calls, shorter.calls)
    }))
}

fn longer_open_no_more_calls_with_room(p: &Parameters) -> Held {
    Held::all(FAILING.map(|mode| {
        Held::provided(p.fails_all_at_once(mode) && p.opens_on_failures_only(), || {
            let (shorter, longer) = shorter_and_longer(p, mode);
            let room = shorter.nobody_found_the_pool_full() && longer.nobody_found_the_pool_full();
            Held::provided(room, || Held::at_most(format!("calls, {}", mode.name()), longer.calls, shorter.calls))
        })
    }))
}

fn nothing_without_slots_or_events(p: &Parameters) -> Held {
    let without_slots = Parameters { slots: 0, ..p.clone() };
    let without_events = Parameters { event_rate: 0.0, ..p.clone() };
    Held::all(Mode::ALL.map(|mode| {
        let run = |p: &Parameters| p.run(mode, Some(p.chosen()));
        let closed = run(&without_slots);
        let quiet = run(&without_events);
        let served = [closed.tracking_responses, closed.calls, closed.event_rejected, closed.opens];
        Held::all([
            Held::equal(format!("without slots, {}", mode.name()), served, [0; 4]),
            Held::equal(format!("openings without events, {}", mode.name()), quiet.opens, 0),
            Held::equal(format!("without events, {}", mode.name()), quiet, without_events.run(Mode::Healthy, None)),
        ])
    }))
}
