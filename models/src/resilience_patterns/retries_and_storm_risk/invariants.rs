//! What the storm's argument rests on, at any parameters.

use super::{ALL_LAYERS, Counts, Parameters, Policy, Window};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-request-ends-once", check: every_request_ends_once },
        Invariant { id: "no-failure-no-retry", check: no_failure_no_retry },
        Invariant { id: "allowance-unseen-while-well", check: allowance_unseen_while_well },
        Invariant { id: "unused-allowance-changes-nothing", check: unused_allowance_changes_nothing },
        Invariant { id: "layers-multiply", check: layers_multiply },
        Invariant { id: "total-failure-uses-all", check: total_failure_uses_all },
        Invariant { id: "storm-grows-with-layers", check: storm_grows_with_layers },
        Invariant { id: "storm-within-bound", check: storm_within_bound },
        Invariant { id: "capacity-bounds-answers", check: capacity_bounds_answers },
        Invariant { id: "tries-beyond-the-window-rescue", check: tries_beyond_the_window_rescue },
        Invariant { id: "budget-caps-retries", check: budget_caps_retries },
        Invariant { id: "budget-caps-retries-but-for-those-due", check: budget_caps_retries_but_for_those_due },
        Invariant { id: "window-at-usual-capacity-is-none", check: window_at_usual_capacity_is_none },
    ]
}

/// None retries, then one more each.
const LAYERS: std::ops::RangeInclusive<u32> = 0..=ALL_LAYERS;

fn retrying(retrying_layers: u32) -> Policy {
    Policy { name: "retrying", retrying_layers, budget: None }
}

impl Parameters {
    fn budgets(&self) -> [Policy; 2] {
        [self.budget, self.budget_narrow].map(|budget| Policy { budget: Some(budget), ..retrying(ALL_LAYERS) })
    }

    fn policies(&self) -> impl Iterator<Item = Policy> {
        LAYERS.map(retrying).chain(self.budgets())
    }

    fn windows(&self) -> [Window; 2] {
        [self.outage, self.degradation]
    }

    fn days(&self) -> [Option<Window>; 3] {
        [None, Some(self.outage), Some(self.degradation)]
    }

    fn counts(&self, policy: Policy, day: Option<Window>) -> Counts {
        self.run(policy, day).counts
    }

    fn on_each_run(&self, check: impl Fn(&str, Policy, Option<Window>, Counts) -> Held) -> Held {
        let runs = self.days().into_iter().flat_map(|day| self.policies().map(move |policy| (policy, day)));
        Held::all(
            runs.map(|(policy, day)| check(&format!("{policy:?}, {day:?}"), policy, day, self.counts(policy, day))),
        )
    }

    /// No call ever succeeds.
    fn all_failing(&self) -> Self {
        Self { usual_capacity: 0, ..self.clone() }
    }

    /// Rounds of a window that the run sees.
    fn seen(&self, window: Window) -> u64 {
        window.duration.min(self.rounds.saturating_sub(self.failure_start))
    }
}

/// What waits for its next try is counted where it waits, and each request makes its first call in its own round.
fn every_request_ends_once(p: &Parameters) -> Held {
    p.on_each_run(|run, _, _, c| {
        Held::all([
            Held::equal(format!("requests, {run}"), c.successful + c.dropped + c.unfinished, c.requests),
            Held::equal(format!("first calls, {run}"), c.first_calls, c.requests),
            Held::equal(format!("calls, {run}"), c.first_calls + c.extra_calls, c.calls),
        ])
    })
}

fn no_failure_no_retry(p: &Parameters) -> Held {
    let well = Parameters { rare_failures: 0.0, usual_capacity: u64::MAX, ..p.clone() };
    let none = well.counts(retrying(0), None);
    Held::all(p.policies().map(|policy| {
        let counts = well.counts(policy, None);
        Held::all([
            Held::equal(
                format!("calls and answers, {policy:?}"),
                [counts.calls, counts.successful],
                [none.requests; 2],
            ),
            Held::equal(format!("counts beside no retries, {policy:?}"), counts, none),
        ])
    }))
}

fn allowance_unseen_while_well(p: &Parameters) -> Held {
    let [none, three] = [0, ALL_LAYERS].map(|layers| p.counts(retrying(layers), None).calls);
    Held::equal("calls of a day without a window, three layers beside none", three, none)
}

/// Where a smaller allowance drops nobody, nobody notices a larger one; nor a budget that was never refused.
fn unused_allowance_changes_nothing(p: &Parameters) -> Held {
    Held::all(p.days().map(|day| {
        let more = |policy: Policy, layers: u32| {
            let counts = p.counts(policy, day);
            Held::provided(counts.dropped == 0, || {
                let larger = p.counts(retrying(layers), day);
                Held::equal(format!("{layers} layers beside {policy:?}, {day:?}"), larger, counts)
            })
        };
        let layers = (0..ALL_LAYERS).map(|layers| more(retrying(layers), layers + 1));
        Held::all(layers.chain(p.budgets().into_iter().map(|policy| more(policy, ALL_LAYERS))))
    }))
}

/// The calls of one request that always fails, made one by one.
fn calls_one_by_one(tries: u64, layers: u32) -> u64 {
    match layers.checked_sub(1) {
        None => 1,
        Some(below) => (0..tries).map(|_| calls_one_by_one(tries, below)).sum(),
    }
}

fn layers_multiply(p: &Parameters) -> Held {
    Held::all(
        LAYERS.map(|layers| {
            Held::equal(format!("{layers} layers"), p.allowed(layers), calls_one_by_one(p.tries, layers))
        }),
    )
}

/// Requests older than the longest wait have made all their calls, and no request has made more.
fn total_failure_uses_all(p: &Parameters) -> Held {
    let failing = p.all_failing();
    Held::all(LAYERS.map(|layers| {
        let c = failing.counts(retrying(layers), None);
        let old = p.rounds.saturating_sub(p.longest_wait(layers));
        let old = Parameters { rounds: old, ..failing.clone() }.counts(retrying(layers), None).requests;
        let allowed = p.allowed(layers);
        Held::all([
            Held::equal(format!("answers, {layers} layers"), c.successful, 0),
            Held::at_most(format!("requests older than the longest wait, {layers} layers"), old, c.dropped),
            Held::at_most(format!("calls of dropped requests, {layers} layers"), allowed * c.dropped, c.calls),
            Held::at_most(format!("calls, {layers} layers"), c.calls, allowed * c.requests),
        ])
    }))
}

fn storm_grows_with_layers(p: &Parameters) -> Held {
    let calls: Vec<u64> = LAYERS.map(|layers| p.counts(retrying(layers), Some(p.outage)).window_calls).collect();
    Held::that(calls.is_sorted(), || format!("calls in the outage, by retrying layers: {calls:?}"))
}

/// Under any policy and at any time.
fn storm_within_bound(p: &Parameters) -> Held {
    p.on_each_run(|run, policy, _, c| {
        let allowed = p.allowed(policy.retrying_layers);
        Held::all([
            Held::at_most(format!("calls, {run}"), c.calls, allowed * c.requests),
            Held::at_most(format!("calls in the window, {run}"), c.window_calls, c.calls),
        ])
    })
}

/// A dependency that answers nothing in its window drops what calls it once, all of it and nothing else.
fn capacity_bounds_answers(p: &Parameters) -> Held {
    Held::all(p.windows().map(|window| {
        let inside = p.seen(window);
        let most = p.usual_capacity.saturating_mul(p.rounds - inside) + window.capacity * inside;
        let answered = p.policies().map(|policy| {
            Held::at_most(format!("answers, {policy:?}, {window:?}"), p.counts(policy, Some(window)).successful, most)
        });
        let down = Parameters { usual_capacity: u64::MAX, ..p.clone() };
        let down = down.counts(retrying(0), Some(Window { capacity: 0, ..window }));
        let dropped = [down.dropped, down.dropped_in_window];
        let lost = Held::equal("dropped where each calls once", dropped, [down.window_calls; 2]);
        Held::all(answered.chain([lost]))
    }))
}

/// Each try is a round later than the one before, so more of them than the window has rounds cannot all be in it.
fn tries_beyond_the_window_rescue(p: &Parameters) -> Held {
    Held::all(p.windows().into_iter().flat_map(|window| LAYERS.map(move |layers| (window, layers))).map(
        |(window, layers)| {
            Held::provided(p.allowed(layers) > window.duration, || {
                let c = p.counts(retrying(layers), Some(window));
                Held::provided(c.peak_outside <= p.usual_capacity, || {
                    Held::equal(format!("dropped, {layers} layers, {window:?}"), c.dropped, 0)
                })
            })
        },
    ))
}

/// Retries that the budget still allows, and those that were waiting when it was used up.
fn within_budgets(p: &Parameters, waiting: impl Fn(&Counts) -> u64) -> Held {
    Held::all(p.budgets().into_iter().flat_map(|policy| p.days().map(|day| (policy, day))).map(|(policy, day)| {
        let c = p.counts(policy, day);
        let most = policy.budget.unwrap_or_default() * c.first_calls as f64 + waiting(&c) as f64;
        Held::at_most(format!("extra calls, {policy:?}, {day:?}"), c.extra_calls as f64, most)
    }))
}

fn budget_caps_retries(p: &Parameters) -> Held {
    within_budgets(p, |_| 0)
}

/// A retry that is due later is not counted yet: the calls of the longest backoff may all come on top.
fn budget_caps_retries_but_for_those_due(p: &Parameters) -> Held {
    within_budgets(p, |counts| counts.peak * p.backoff_cap.max(1))
}

fn window_at_usual_capacity_is_none(p: &Parameters) -> Held {
    let later = Parameters { failure_start: p.rounds, ..p.clone() };
    Held::all(p.windows().into_iter().flat_map(|window| p.policies().map(move |policy| (policy, window))).map(
        |(policy, window)| {
            let usual = p.counts(policy, Some(Window { capacity: p.usual_capacity, ..window }));
            // Where a window is, is all that it may change.
            let elsewhere = Counts { window_calls: 0, dropped_in_window: 0, peak_outside: usual.peak, ..usual };
            Held::equal(format!("{policy:?}, {window:?}"), elsewhere, later.counts(policy, Some(window)))
        },
    ))
}
