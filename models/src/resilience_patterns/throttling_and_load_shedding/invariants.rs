//! What the argument about the two checks of a gate rests on, at any parameters.

use super::{Day, Flow, FlowOfRequests, Flows, Gate, Outcome, Parameters};
use crate::arrivals::Carry;
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-request-ends-once", check: every_request_ends_once },
        Invariant { id: "shedding-costs-nothing-with-room", check: shedding_costs_nothing_with_room },
        Invariant { id: "usual-rate-never-throttled", check: usual_rate_never_throttled },
        Invariant { id: "whole-ceiling-never-throttles", check: whole_ceiling_never_throttles },
        Invariant { id: "capacity-loss-throttles-nothing", check: capacity_loss_throttles_nothing },
        Invariant { id: "throttling-blind-to-capacity", check: throttling_blind_to_capacity },
        Invariant { id: "overrun-pinned-at-the-ceiling", check: overrun_pinned_at_the_ceiling },
        Invariant { id: "ungated-backlog-exact", check: ungated_backlog_exact },
        Invariant { id: "shed-queue-within-limit", check: shed_queue_within_limit },
        Invariant { id: "shed-delay-below-queue-rounds", check: shed_delay_below_queue_rounds },
        Invariant { id: "shed-delay-bounded", check: shed_delay_bounded },
        Invariant { id: "lower-class-exhausted-first", check: lower_class_exhausted_first },
        Invariant { id: "first-class-kept", check: first_class_kept },
        Invariant { id: "both-wait-no-longer", check: both_wait_no_longer },
        Invariant { id: "closed-gate-accepts-nothing", check: closed_gate_accepts_nothing },
    ]
}

impl Parameters {
    fn node_loss(&self) -> Day {
        self.with_capacity(self.capacity_left)
    }

    fn steady(&self, day: Day) -> Day {
        Day { oscillates: false, ..day }
    }

    fn days(&self) -> Vec<Day> {
        let rates = self.batch_rates_swept.iter().map(|rate| self.with_batch_rate(*rate));
        let capacities = self.capacities_swept.iter().map(|capacity| self.with_capacity(*capacity));
        let named = [self.failure_free(), self.with_batch_rate(self.batch_rate_overrun), self.node_loss()];
        named.into_iter().chain([self.steady(self.failure_free())]).chain(rates).chain(capacities).collect()
    }

    fn on_each_day(&self, check: impl Fn(Day) -> Held) -> Held {
        Held::all(self.days().into_iter().map(check))
    }

    fn limit(&self, day: Day) -> u64 {
        self.queue_rounds * day.capacity
    }

    /// What arrives of a flow in each round, without a gate.
    fn arrivals(&self, flow: Flow, day: Day) -> Vec<u64> {
        let mut carry = Carry::default();
        let rhythm = self.oscillation.iter().cycle().take(self.rounds as usize);
        rhythm.map(|multiplier| carry.arrivals(self.rate(flow, day, *multiplier))).collect()
    }

    fn largest_request(&self) -> u64 {
        Flow::ALL.iter().map(|flow| self.flows.of(*flow).units).max().unwrap_or(0)
    }

    /// The least that a round with work enough gets done: what is left may be less than the next request takes.
    fn sure_work(&self, day: Day) -> u64 {
        (day.capacity + 1).saturating_sub(self.largest_request())
    }
}

impl Outcome {
    fn throttled(&self) -> [u64; 3] {
        self.tallies.map(|tally| tally.throttled)
    }

    fn shed(&self) -> [u64; 3] {
        self.tallies.map(|tally| tally.shed)
    }

    fn accepted(&self) -> [u64; 3] {
        self.tallies.map(|tally| tally.accepted)
    }
}

/// What is accepted has been worked on or waits, and no round works on more than its capacity.
fn every_request_ends_once(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        let arrived = Flow::ALL.map(|flow| p.arrivals(flow, day).iter().sum::<u64>());
        Held::all(Gate::ALL.map(|gate| {
            let o = p.run(gate, day);
            let ends = o.tallies.map(|tally| tally.accepted + tally.throttled + tally.shed);
            let units = Flow::ALL.map(|flow| o.of(flow).accepted * p.flows.of(flow).units).iter().sum::<u64>();
            let run = format!("{}, {day:?}", gate.name);
            Held::all([
                Held::equal(format!("requests, {run}"), ends, arrived),
                Held::at_most(format!("units that wait, {run}"), o.backlog, units),
                Held::at_most(format!("units worked on, {run}"), units - o.backlog, day.capacity * p.rounds),
                Held::at_most(
                    format!("throttled without a ceiling, {run}"),
                    u64::from(!gate.throttles) * sum(o.throttled()),
                    0,
                ),
                Held::at_most(format!("shed without a limit, {run}"), u64::from(!gate.sheds) * sum(o.shed()), 0),
            ])
        }))
    })
}

fn sum(counts: [u64; 3]) -> u64 {
    counts.iter().sum()
}

/// It changes nothing where the queue without it stays within the limit, and only there.
fn shedding_costs_nothing_with_room(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        let (open, shedding) = (p.run(Gate::NEITHER, day), p.run(Gate::SHEDDING, day));
        if open.fullest <= p.limit(day) {
            Held::equal(format!("with shedding, {day:?}"), shedding, open)
        } else {
            Held::that(sum(shedding.shed()) > 0, || format!("nothing shed at {} units, {day:?}", open.fullest))
        }
    })
}

fn usual_rate_never_throttled(p: &Parameters) -> Held {
    Held::provided(p.ceiling_ratio >= 1.0, || {
        let steady = p.run(Gate::THROTTLING, p.steady(p.failure_free()));
        Held::equal("throttled at the usual rates", steady.throttled(), [0; 3])
    })
}

/// Only whole requests pass, so the whole part of the ceiling is what counts.
fn whole_ceiling_never_throttles(p: &Parameters) -> Held {
    Held::all([p.failure_free(), p.steady(p.failure_free())].map(|day| {
        let o = p.run(Gate::THROTTLING, day);
        Held::all(Flow::ALL.map(|flow| {
            let peak = p.arrivals(flow, day).into_iter().max().unwrap_or(0);
            let what = format!("throttled of {}, {day:?}", flow.name());
            if peak <= p.ceiling(flow) as u64 {
                Held::equal(what, o.of(flow).throttled, 0)
            } else {
                Held::that(o.of(flow).throttled > 0, || format!("{what}: none of a peak of {peak}"))
            }
        }))
    }))
}

fn capacity_loss_throttles_nothing(p: &Parameters) -> Held {
    Held::equal("throttled when capacity is lost", p.run(Gate::THROTTLING, p.node_loss()).throttled(), [0; 3])
}

/// What is throttled follows from the rates alone: not from the capacity, and not from what is shed behind it.
fn throttling_blind_to_capacity(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        let throttled = p.run(Gate::THROTTLING, day).throttled();
        let elsewhere = Day { capacity: p.capacity_left, ..day };
        Held::all([
            Held::equal(
                format!("throttled at another capacity, {day:?}"),
                p.run(Gate::THROTTLING, elsewhere).throttled(),
                throttled,
            ),
            Held::equal(format!("throttled beside shedding, {day:?}"), p.run(Gate::BOTH, day).throttled(), throttled),
        ])
    })
}

/// Every round passes the whole ceiling of an overrunning flow, and nobody behind the gate learns by how much it overran.
fn overrun_pinned_at_the_ceiling(p: &Parameters) -> Held {
    let ceiling = p.ceiling(Flow::Batch) as u64;
    let rate = p.batch_rate_overrun;
    Held::provided(rate >= ceiling as f64, || {
        let [once, twice] = [rate, 2.0 * rate].map(|rate| p.run(Gate::BOTH, p.with_batch_rate(rate)));
        let batch = once.of(Flow::Batch);
        let same = |o: &Outcome| (o.accepted(), o.shed(), o.oldest_age, o.backlog, o.pending_age, o.fullest);
        Held::all([
            Held::equal("batch requests that pass the ceiling", batch.arrived - batch.throttled, ceiling * p.rounds),
            Held::equal("behind the gate, at twice the overrun", same(&twice), same(&once)),
        ])
    })
}

/// Where every request takes one unit, the queue without a gate is the greatest surplus of any stretch up to the end.
fn ungated_backlog_exact(p: &Parameters) -> Held {
    let unit = |flow: &FlowOfRequests| FlowOfRequests { units: 1, ..flow.clone() };
    let Flows { event, tracking, batch } = &p.flows;
    let units =
        Parameters { flows: Flows { event: unit(event), tracking: unit(tracking), batch: unit(batch) }, ..p.clone() };
    units.on_each_day(|day| {
        let [event, tracking, batch] = Flow::ALL.map(|flow| units.arrivals(flow, day));
        let demand = event.iter().zip(&tracking).zip(&batch).map(|((event, tracking), batch)| event + tracking + batch);
        let (mut surplus, mut greatest) = (0_i64, 0_i64);
        for demand in demand.rev() {
            surplus += demand as i64 - day.capacity as i64;
            greatest = greatest.max(surplus);
        }
        Held::equal(format!("backlog, {day:?}"), units.run(Gate::NEITHER, day).backlog, greatest as u64)
    })
}

fn shed_queue_within_limit(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        Held::all([Gate::SHEDDING, Gate::BOTH].map(|gate| {
            let o = p.run(gate, day);
            Held::at_most(format!("fullest queue, {}, {day:?}", gate.name), o.fullest, p.limit(day))
        }))
    })
}

/// The oldest of what has left the queue and of what is in it.
fn longest_wait(p: &Parameters, day: Day) -> u64 {
    let o = p.run(Gate::SHEDDING, day);
    o.oldest_age.max(o.pending_age)
}

fn shed_delay_below_queue_rounds(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        Held::at_most(format!("rounds waited, {day:?}"), longest_wait(p, day), p.queue_rounds.saturating_sub(1))
    })
}

/// A full queue is gone after as many rounds as it takes at the work that is sure in each.
fn shed_delay_bounded(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        let work = p.sure_work(day);
        Held::provided(work > 0, || {
            let most = p.limit(day).div_ceil(work).saturating_sub(1);
            Held::at_most(format!("rounds waited, {day:?}"), longest_wait(p, day), most)
        })
    })
}

fn lower_class_exhausted_first(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        let o = p.run(Gate::SHEDDING, day);
        let [_, second, third] = p.flows.by_importance().map(|flow| o.of(flow));
        Held::provided(second.shed > 0, || {
            Held::equal(format!("accepted of the last class, {day:?}"), third.accepted, 0)
        })
    })
}

/// Every round's work makes room for so much, before anybody else is let in.
fn first_class_kept(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        let Some(first) = Flow::ALL.into_iter().min_by_key(|flow| p.flows.of(*flow).tier) else { return Held::Vacuous };
        let peak = p.arrivals(first, day).into_iter().max().unwrap_or(0);
        let fits = peak * p.flows.of(first).units <= p.sure_work(day) && p.queue_rounds > 0;
        Held::provided(fits, || {
            let shed = p.run(Gate::SHEDDING, day).of(first).shed;
            Held::equal(format!("shed of {}, {day:?}", first.name()), shed, 0)
        })
    })
}

fn both_wait_no_longer(p: &Parameters) -> Held {
    p.on_each_day(|day| {
        let both = p.run(Gate::BOTH, day);
        Held::all([Gate::THROTTLING, Gate::SHEDDING].map(|gate| {
            let alone = p.run(gate, day);
            let what = format!("beside {} alone, {day:?}", gate.name);
            Held::all([
                Held::at_most(format!("oldest age, {what}"), both.oldest_age, alone.oldest_age),
                Held::at_most(format!("backlog, {what}"), both.backlog, alone.backlog),
            ])
        }))
    })
}

fn closed_gate_accepts_nothing(p: &Parameters) -> Held {
    let no_ceiling = Parameters { ceiling_ratio: 0.0, ..p.clone() };
    let no_queue = Parameters { queue_rounds: 0, ..p.clone() };
    let accepted = |p: &Parameters, gate, day| sum(p.run(gate, day).accepted());
    p.on_each_day(|day| {
        let dark = Day { capacity: 0, ..day };
        let found = [
            accepted(&no_ceiling, Gate::THROTTLING, day),
            accepted(&no_queue, Gate::SHEDDING, day),
            accepted(p, Gate::SHEDDING, dark),
        ];
        let worked = p.run(Gate::NEITHER, dark);
        let waiting = Flow::ALL.map(|flow| worked.of(flow).arrived * p.flows.of(flow).units).iter().sum::<u64>();
        Held::all([
            Held::equal(format!("accepted without ceiling, queue, capacity, {day:?}"), found, [0; 3]),
            Held::equal(format!("backlog without capacity, {day:?}"), worked.backlog, waiting),
        ])
    })
}
