//! What the vocabulary of failures and the blast radius rest on, at any parameters.

use super::blast_radius::BlastRadius;
use super::{CallTree, Mode, Parameters, Signature};
use crate::invariants::{Held, Invariant};
use crate::random::Lehmer;
use std::collections::BTreeSet;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-call-has-one-outcome", check: every_call_has_one_outcome },
        Invariant { id: "partition-looks-like-slowdown", check: partition_looks_like_slowdown },
        Invariant { id: "stale-looks-healthy", check: stale_looks_healthy },
        Invariant { id: "stale-looks-like-no-timeouts", check: stale_looks_like_no_timeouts },
        Invariant { id: "shares-at-their-limits", check: shares_at_their_limits },
        Invariant { id: "partial-holds-between", check: partial_holds_between },
        Invariant { id: "usual-hold-counts-the-tree", check: usual_hold_counts_the_tree },
        Invariant { id: "slowdown-costs-more", check: slowdown_costs_more },
        Invariant { id: "slowdown-costs-no-less", check: slowdown_costs_no_less },
        Invariant { id: "down-relieves", check: down_relieves },
        Invariant { id: "quick-error-relieves", check: quick_error_relieves },
        Invariant { id: "load-changes-above-only", check: load_changes_above_only },
        Invariant { id: "load-linear-in-timeout", check: load_linear_in_timeout },
        Invariant { id: "pool-against-round", check: pool_against_round },
        Invariant { id: "affected-are-the-flows-through", check: affected_are_the_flows_through },
        Invariant { id: "more-slots-hit-no-more", check: more_slots_hit_no_more },
    ]
}

impl Parameters {
    fn seen(&self, mode: Mode) -> Signature {
        self.signature(mode, &mut Lehmer::new(self.seed))
    }

    fn parts(&self) -> Vec<&CallTree> {
        self.flows.iter().flat_map(|flow| flow.tree.components()).collect()
    }

    fn on_each_component(&self, check: impl Fn(&str) -> Held) -> Held {
        let components: BTreeSet<&str> = self.parts().iter().map(|part| part.component.as_str()).collect();
        Held::all(components.into_iter().map(check))
    }

    /// Usual, down and slow.
    fn radii<'a>(&'a self, component: &'a str) -> [BlastRadius<'a>; 3] {
        self.cases(component).map(|(_, breakdown)| self.blast_radius(breakdown))
    }

    fn with_timeout(&self, timeout_rounds: u64) -> Self {
        Self { timeout_rounds, ..self.clone() }
    }
}

impl CallTree {
    fn contains(&self, component: &str) -> bool {
        self.components().iter().any(|part| part.component == component)
    }
}

impl BlastRadius<'_> {
    fn reach(&self) -> (usize, usize, f64) {
        (self.hit, self.flows, self.rate)
    }
}

/// Shares add up in another order than counts, hence close.
fn every_call_has_one_outcome(p: &Parameters) -> Held {
    Held::all(Mode::ALL.map(|mode| {
        let s = p.seen(mode);
        let held = [(s.response, p.usual_rounds), (s.error, p.error_rounds), (s.timeout, p.timeout_rounds)];
        let rounds = held.map(|(share, rounds)| share * rounds as f64).iter().sum();
        Held::all([
            Held::close(format!("shares of {}", mode.name()), s.response + s.error + s.timeout, 1.0),
            Held::close(format!("rounds held in {}", mode.name()), s.slot_rounds, rounds),
            Held::equal(
                format!("freshness without a response in {}", mode.name()),
                s.fresh.is_none(),
                s.response <= 0.0,
            ),
        ])
    }))
}

fn partition_looks_like_slowdown(p: &Parameters) -> Held {
    Held::equal("the signature of a partition", p.seen(Mode::Partition), p.seen(Mode::Slowdown))
}

fn stale_looks_healthy(p: &Parameters) -> Held {
    let [stale, healthy] = [Mode::Stale, Mode::Healthy].map(|mode| p.seen(mode));
    Held::that(healthy.same_classes(&stale, p.tolerance), || format!("{healthy:?} beside {stale:?}"))
}

/// All but the freshness, which separates them at any tolerance.
fn stale_looks_like_no_timeouts(p: &Parameters) -> Held {
    let p = Parameters { timeout_share: 0.0, ..p.clone() };
    let [stale, healthy] = [Mode::Stale, Mode::Healthy].map(|mode| p.seen(mode));
    Held::all([
        Held::equal("fresh content", (healthy.fresh, stale.fresh), (Some(1.0), Some(0.0))),
        Held::equal("all but fresh content", Signature { fresh: healthy.fresh, ..stale }, healthy),
        Held::that(!healthy.same_content(&stale, p.tolerance), || "the content does not separate them".to_owned()),
    ])
}

/// Nothing and everything failing are modes of their own.
fn shares_at_their_limits(p: &Parameters) -> Held {
    let never = Parameters { timeout_share: 0.0, down_shards: 0, ..p.clone() };
    let always = Parameters { timeout_share: 1.0, down_shards: p.shards, ..p.clone() };
    Held::all([
        Held::equal("no shard down", never.seen(Mode::Partial), never.seen(Mode::Healthy)),
        Held::equal("every shard down", always.seen(Mode::Partial), always.seen(Mode::Down)),
        Held::equal("every call timing out", always.seen(Mode::Healthy), always.seen(Mode::Slowdown)),
    ])
}

fn partial_holds_between(p: &Parameters) -> Held {
    let partial = p.seen(Mode::Partial).slot_rounds;
    let ends = [p.seen(Mode::Down).slot_rounds, p.seen(Mode::Stale).slot_rounds];
    Held::all([
        Held::at_most("the quicker of error and response", ends[0].min(ends[1]), partial),
        Held::at_most("rounds a call in a partial failure", partial, ends[0].max(ends[1])),
    ])
}

/// A component that calls nobody takes the usual rounds, each other one forwards.
fn usual_hold_counts_the_tree(p: &Parameters) -> Held {
    Held::all(p.parts().into_iter().map(|part| {
        let below = part.components();
        let leaves = below.iter().filter(|part| part.calls.is_empty()).count() as u64;
        let expected = leaves * p.usual_rounds + (below.len() as u64 - leaves) * p.forwarding_rounds;
        let hold = part.hold(p, None);
        Held::equal(format!("usual hold of {}", part.component), (hold.rounds, hold.answered), (expected, true))
    }))
}

fn slowdown_costs_more(p: &Parameters) -> Held {
    Held::provided(p.timeout_rounds > p.error_rounds, || {
        let [_, down, slow] = p.radii(&p.compared);
        Held::that(down.rate < slow.rate, || {
            format!("{} affects {} a second if down and {} if slow", p.compared, down.rate, slow.rate)
        })
    })
}

/// Every component holds at least as many slots, so that no flow is spared.
fn slowdown_costs_no_less(p: &Parameters) -> Held {
    Held::provided(p.timeout_rounds >= p.error_rounds, || {
        p.on_each_component(|component| {
            let [_, down, slow] = p.radii(component);
            let less = down.loads.iter().zip(&slow.loads).find(|(down, slow)| down.slots > slow.slots);
            let less = less.map(|(load, _)| load.component);
            // The rates of more flows may be added in another order.
            let rounding = 1e-9 * slow.rate;
            Held::all([
                Held::equal(format!("holds fewer slots beside a slow {component}"), less, None),
                Held::at_most(format!("hit if {component} is down"), down.hit, slow.hit),
                Held::at_most(format!("flows if {component} is down"), down.flows, slow.flows),
                Held::at_most(format!("requests if {component} is down"), down.rate, slow.rate + rounding),
            ])
        })
    })
}

/// No component holds more slots than usual.
fn relieved(p: &Parameters, component: &str) -> Held {
    let [usual, down, _] = p.radii(component);
    let more = usual.loads.iter().zip(&down.loads).find(|(usual, down)| down.slots > usual.slots);
    Held::equal(format!("holds more slots while {component} is down"), more.map(|(load, _)| load.component), None)
}

fn down_relieves(p: &Parameters) -> Held {
    p.on_each_component(|component| relieved(p, component))
}

/// Where the error comes no later than the answer would.
fn quick_error_relieves(p: &Parameters) -> Held {
    p.on_each_component(|component| {
        let broken = p.parts().into_iter().filter(|part| part.component == component);
        let quick = broken.map(|part| part.hold(p, None).rounds).all(|usual| p.error_rounds <= usual);
        Held::provided(quick, || relieved(p, component))
    })
}

fn load_changes_above_only(p: &Parameters) -> Held {
    p.on_each_component(|component| {
        let [usual, broken @ ..] = p.radii(component);
        let touched: BTreeSet<&str> =
            p.parts().iter().filter(|part| part.contains(component)).map(|part| part.component.as_str()).collect();
        Held::all(broken.iter().flat_map(|radius| usual.loads.iter().zip(&radius.loads)).map(|(usual, load)| {
            Held::provided(!touched.contains(load.component), || {
                Held::equal(format!("slots of {} beside {component}", load.component), load.slots, usual.slots)
            })
        }))
    })
}

/// The same sum of products at three timeouts, hence close.
fn load_linear_in_timeout(p: &Parameters) -> Held {
    let [none, once, twice] = [0, 1, 2].map(|times| {
        let p = p.with_timeout(times * p.timeout_rounds);
        let [.., slow] = p.radii(&p.compared);
        slow.slots_in_use(&p.entry)
    });
    Held::close("slots at twice the timeout and at none, beside twice those at the timeout", twice + none, 2.0 * once)
}

/// A round twice as long is made up for by twice the slots, to the last bit.
fn pool_against_round(p: &Parameters) -> Held {
    let doubled = Parameters { round_ms: 2.0 * p.round_ms, slots: 2 * p.slots, ..p.clone() };
    p.on_each_component(|component| {
        Held::all(p.radii(component).into_iter().zip(doubled.radii(component)).map(|(once, twice)| {
            Held::all([
                Held::equal(format!("saturated beside {component}"), twice.saturated.clone(), once.saturated.clone()),
                Held::equal(format!("reach of {component}"), twice.reach(), once.reach()),
            ])
        }))
    })
}

/// Counted from the trees: a flow is affected if anything in it is saturated or broken. Its rates may be added in
/// another order, hence close.
fn affected_are_the_flows_through(p: &Parameters) -> Held {
    p.on_each_component(|component| {
        Held::all(p.radii(component).into_iter().zip([false, true, true]).map(|(radius, is_broken)| {
            let mut hit: BTreeSet<&str> = radius.saturated.iter().copied().collect();
            hit.extend(Some(component).filter(|_| is_broken));
            let affected = p.flows.iter().filter(|flow| hit.iter().any(|component| flow.tree.contains(component)));
            let rates: Vec<f64> = affected.map(|flow| flow.rate).collect();
            Held::all([
                Held::equal(format!("hit beside {component}"), radius.hit, hit.len()),
                Held::equal(format!("flows beside {component}"), radius.flows, rates.len()),
                Held::close(format!("requests beside {component}"), radius.rate, rates.iter().sum()),
            ])
        }))
    })
}

/// Without slots all are saturated.
fn more_slots_hit_no_more(p: &Parameters) -> Held {
    let (more, none) = (Parameters { slots: p.slots + 1, ..p.clone() }, Parameters { slots: 0, ..p.clone() });
    p.on_each_component(|component| {
        let radii = p.radii(component).into_iter().zip(more.radii(component)).zip(none.radii(component));
        Held::all(radii.map(|((radius, more), none)| {
            let beyond = more.saturated.iter().find(|component| !radius.saturated.contains(component));
            Held::all([
                Held::equal(format!("saturated with a slot more, beside {component}"), beyond, None),
                Held::at_most(format!("hit with a slot more, beside {component}"), more.hit, radius.hit),
                Held::equal(format!("hit without slots, beside {component}"), none.hit, none.loads.len()),
                Held::equal(format!("flows without slots, beside {component}"), none.flows, p.flows.len()),
            ])
        }))
    })
}
