//! What limits on time and calls guarantee, whatever the calls take.

use super::{Limits, Outcome, Parameters, Regime};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-request-ends-once", check: every_request_ends_once },
        Invariant { id: "no-slow-call-no-cost", check: no_slow_call_no_cost },
        Invariant { id: "no-budget-worst-case", check: no_budget_worst_case },
        Invariant { id: "deadline-keeps-the-threshold", check: deadline_keeps_the_threshold },
        Invariant { id: "deadline-drops-what-is-late", check: deadline_drops_what_is_late },
        Invariant { id: "deadline-drops-what-is-late-alone", check: deadline_drops_what_is_late_alone },
        Invariant { id: "allocated-chain-keeps-its-time", check: with_and_without_a_cut },
        Invariant { id: "allocated-chain-keeps-its-time-unrounded", check: allocated_chain_keeps_its_time_unrounded },
        Invariant { id: "isolated-slowness-absorbed", check: isolated_slowness_absorbed },
        Invariant { id: "short-timeout-makes-no-fewer-calls", check: short_timeout_makes_no_fewer_calls },
        Invariant { id: "nothing-answers", check: nothing_answers },
        Invariant { id: "retry-budget-bounds-the-multiplier", check: retry_budget_bounds_the_multiplier },
        Invariant { id: "retry-budget-exceeded-by-less-than-one", check: retry_budget_exceeded_by_less_than_one },
        Invariant { id: "unreached-retry-budget-changes-nothing", check: unreached_retry_budget_changes_nothing },
        Invariant { id: "retry-budget-for-every-try-or-none", check: retry_budget_for_every_try_or_none },
        Invariant { id: "deepest-chain-is-the-deepest", check: deepest_chain_is_the_deepest },
    ]
}

impl Parameters {
    fn limits(&self) -> [Limits; 4] {
        self.configurations().map(|(_, limits)| limits)
    }

    /// The timeout that the budget allots, as the runs take it.
    fn printed_timeout_ms(&self) -> f64 {
        let [.., allocated, _] = self.limits();
        allocated.timeout_ms
    }

    /// What a chain takes in which every try of every step runs out.
    fn longest_chain_ms(&self) -> f64 {
        self.printed_timeout_ms() * (self.depth * self.tries) as f64
    }

    /// Calls that a step needs if each is answered at once, in all requests.
    fn step_calls(&self) -> u64 {
        self.requests as u64 * self.steps()
    }

    fn each_regime(&self, check: impl Fn(&Regime) -> Held) -> Held {
        Held::all(self.regimes.iter().map(check))
    }

    /// Calls that take so long, whatever the cycle.
    fn regime(cycle_ms: Vec<f64>) -> Regime {
        Regime { name: "constructed".to_owned(), cycle_ms }
    }

    /// No call of it is answered in time by anyone.
    fn silence(&self) -> Regime {
        Self::regime(vec![2.0 * self.threshold_ms])
    }
}

impl Outcome {
    fn ends(&self) -> [u64; 3] {
        [self.within_threshold, self.outside_threshold, self.dropped]
    }

    fn counts(&self) -> [u64; 5] {
        [self.within_threshold, self.outside_threshold, self.dropped, self.first_calls, self.retries]
    }
}

fn every_request_ends_once(p: &Parameters) -> Held {
    p.each_regime(|regime| {
        Held::all(p.limits().into_iter().map(|limits| {
            let outcome = p.run(&limits, regime);
            let retries_a_step = limits.tries - 1;
            Held::all([
                Held::equal("within, outside and dropped", outcome.ends().iter().sum(), p.requests as u64),
                Held::at_most("first calls", outcome.first_calls, p.step_calls()),
                Held::at_most("retries", outcome.retries, retries_a_step * outcome.first_calls),
                Held::provided(outcome.dropped == 0, || {
                    Held::equal("first calls where all is answered", outcome.first_calls, p.step_calls())
                }),
            ])
        }))
    })
}

/// The same regimes on a day on which every call is answered within the shortest timeout.
fn no_slow_call_no_cost(p: &Parameters) -> Held {
    let timeout_ms = p.printed_timeout_ms();
    let fits = timeout_ms > 0.0 && timeout_ms * (p.depth as f64) < p.available_ms() * (1.0 - 1e-9);
    p.each_regime(|regime| {
        Held::provided(fits, || {
            let quick = Parameters::regime(regime.cycle_ms.iter().map(|ms| ms.min(timeout_ms)).collect());
            let [none, others @ ..] = p.limits().map(|limits| p.run(&limits, &quick));
            let expected = [p.requests as u64, 0, 0, p.step_calls(), 0];
            let same = others.into_iter().map(|other| Held::equal("with limits", other, none));
            Held::all([Held::equal("without", none.counts(), expected)].into_iter().chain(same))
        })
    })
}

/// The bound, and a regime that reaches it: each step is answered at the very end of its last try.
fn no_budget_worst_case(p: &Parameters) -> Held {
    let [none, ..] = p.limits();
    let worst_ms = (p.depth * p.tries) as f64 * p.threshold_ms + p.gateway_share_ms;
    let silent = p.tries as usize - 1;
    let latest = [vec![2.0 * p.threshold_ms; silent], vec![p.threshold_ms]].concat();
    let bound = p.each_regime(|regime| Held::at_most("worst", p.run(&none, regime).worst_ms, worst_ms * (1.0 + 1e-9)));
    // A sum of timeouts there, a product here.
    let reached =
        Held::close("worst at the latest answers", p.run(&none, &Parameters::regime(latest)).worst_ms, worst_ms);
    Held::all([bound, reached])
}

fn deadline_keeps_the_threshold(p: &Parameters) -> Held {
    let [_, with_deadline @ ..] = p.limits();
    p.each_regime(|regime| {
        Held::all(with_deadline.into_iter().map(|limits| {
            let outcome = p.run(&limits, regime);
            Held::all([
                Held::equal("answers outside the threshold", outcome.outside_threshold, 0),
                Held::at_most("worst", outcome.worst_ms, p.threshold_ms),
            ])
        }))
    })
}

fn without_and_with_deadline(p: &Parameters, regime: &Regime) -> Held {
    let [none, deadline, ..] = p.limits();
    let [none, deadline] = [none, deadline].map(|limits| p.run(&limits, regime));
    let expected = [none.within_threshold, 0, none.outside_threshold + none.dropped];
    Held::equal("within, outside and dropped", deadline.ends(), expected)
}

fn deadline_drops_what_is_late(p: &Parameters) -> Held {
    p.each_regime(|regime| without_and_with_deadline(p, regime))
}

/// From so many places in a cycle.
const ROTATIONS: usize = 20;

fn deadline_drops_what_is_late_alone(p: &Parameters) -> Held {
    let alone = Parameters { requests: 1, arms: 1, ..p.clone() };
    p.each_regime(|regime| {
        Held::all((0..regime.cycle_ms.len().min(ROTATIONS)).map(|start| {
            let mut cycle_ms = regime.cycle_ms.clone();
            cycle_ms.rotate_left(start);
            without_and_with_deadline(&alone, &Parameters::regime(cycle_ms))
        }))
    })
}

/// With the allotted timeouts nothing is left for the deadline to cut.
fn with_and_without_a_cut(p: &Parameters) -> Held {
    let [.., allocated, _] = p.limits();
    p.each_regime(|regime| {
        let [cut, uncut] = [true, false].map(|deadline| p.run(&Limits { deadline, ..allocated }, regime));
        Held::equal("ends and calls with the deadline", cut.counts(), uncut.counts())
    })
}

fn allocated_chain_keeps_its_time_unrounded(p: &Parameters) -> Held {
    let applies = p.printed_timeout_ms() > 0.0 && p.longest_chain_ms() <= p.available_ms();
    Held::provided(applies, || with_and_without_a_cut(p))
}

/// The most calls in a row, round and round, that are slower than a timeout; none if all are.
fn slow_in_a_row(cycle_ms: &[f64], timeout_ms: f64) -> Option<u64> {
    let start = cycle_ms.iter().position(|ms| *ms <= timeout_ms)?;
    let (mut longest, mut now) = (0, 0);
    for ms in cycle_ms.iter().cycle().skip(start).take(cycle_ms.len()) {
        now = if *ms > timeout_ms { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    Some(longest)
}

fn isolated_slowness_absorbed(p: &Parameters) -> Held {
    let [.., allocated, _] = p.limits();
    p.each_regime(|regime| {
        let slow = slow_in_a_row(&regime.cycle_ms, allocated.timeout_ms);
        let isolated = slow.is_some_and(|slow| slow < p.tries);
        let applies = isolated && allocated.timeout_ms > 0.0 && p.longest_chain_ms() <= p.available_ms();
        Held::provided(applies, || {
            let expected = [p.requests as u64, 0, 0];
            Held::equal("within, outside and dropped", p.run(&allocated, regime).ends(), expected)
        })
    })
}

fn short_timeout_makes_no_fewer_calls(p: &Parameters) -> Held {
    let [_, deadline, allocated, _] = p.limits();
    p.each_regime(|regime| {
        let [long, short] = [deadline, allocated].map(|limits| p.run(&limits, regime).calls());
        Held::at_most("calls with the long timeout", long, short)
    })
}

/// The end of widespread slowness: an arm's first step fails after all of its calls, whichever those are.
fn nothing_answers(p: &Parameters) -> Held {
    let applies = p.available_ms() > 0.0 && p.printed_timeout_ms() > 0.0 && p.longest_chain_ms() <= p.available_ms();
    Held::provided(applies, || {
        let [none, deadline, allocated, retry_budget] = p.limits().map(|limits| p.run(&limits, &p.silence()));
        let (requests, arms) = (p.requests as u64, p.requests as u64 * p.arms);
        let every_try = [0, 0, requests, arms, arms * (p.tries - 1)];
        Held::all([
            Held::equal("without a budget", none.counts(), every_try),
            Held::equal("with a deadline", deadline.counts(), [0, 0, requests, arms, 0]),
            Held::equal("with allotted timeouts", allocated.counts(), every_try),
            Held::equal("ends with a retry budget", retry_budget.ends(), [0, 0, requests]),
            Held::equal("first calls with a retry budget", retry_budget.first_calls, arms),
            Held::at_most("retries with a retry budget", retry_budget.retries, allocated.retries),
            Held::at_most("worst with a retry budget", retry_budget.worst_ms, allocated.worst_ms),
        ])
    })
}

fn retry_budget_bounds_the_multiplier(p: &Parameters) -> Held {
    let [.., last] = p.limits();
    p.each_regime(|regime| {
        let multiplier = p.multiplier(&p.run(&last, regime));
        Held::at_most("multiplier", multiplier, 1.0 + p.retry_budget)
    })
}

fn retry_budget_exceeded_by_less_than_one(p: &Parameters) -> Held {
    let [.., last] = p.limits();
    p.each_regime(|regime| {
        let outcome = p.run(&last, regime);
        let earned = p.retry_budget * outcome.first_calls as f64;
        Held::that((outcome.retries as f64) < earned + 1.0, || format!("{} retries, {earned} earned", outcome.retries))
    })
}

fn unreached_retry_budget_changes_nothing(p: &Parameters) -> Held {
    let [.., allocated, last] = p.limits();
    p.each_regime(|regime| {
        let without = p.run(&allocated, regime);
        let unreached = p.multiplier(&without) < 1.0 + p.retry_budget;
        Held::provided(unreached, || Held::equal("with the retry budget", p.run(&last, regime), without))
    })
}

fn retry_budget_for_every_try_or_none(p: &Parameters) -> Held {
    let [.., allocated, _] = p.limits();
    p.each_regime(|regime| {
        let with_budget = |retries: f64| p.run(&Limits { retry_budget: Some(retries), ..allocated }, regime);
        let single = p.run(&Limits { tries: 1, ..allocated }, regime);
        Held::all([
            Held::equal(
                "with a retry earned for each try",
                with_budget((p.tries - 1) as f64),
                p.run(&allocated, regime),
            ),
            Held::equal("with none earned", with_budget(0.0), single),
        ])
    })
}

/// As deep as it says, a step's timeout is still what a step usually takes; one deeper it is not.
fn deepest_chain_is_the_deepest(p: &Parameters) -> Held {
    let deepest = p.deepest_chain() as u64;
    let timeout_ms = |depth| Parameters::allocated_ms(p.available_ms(), depth, p.tries);
    // Divided in another order; at the limit itself either is right.
    let median_ms = |slack: f64| p.step_median_ms * (1.0 + slack);
    Held::provided(deepest < 1 << 40, || {
        Held::all([
            Held::provided(deepest > 0, || Held::at_most("median", median_ms(-1e-9), timeout_ms(deepest))),
            Held::at_most("timeout one deeper", timeout_ms(deepest + 1), median_ms(1e-9)),
        ])
    })
}
