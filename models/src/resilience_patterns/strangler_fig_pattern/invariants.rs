//! What every order of moving routes has in common, and what tells the better from the worse.

use super::{Budget, Elapsed, Migration, Order, Parameters, Route, SECONDS_A_DAY, Split};
use crate::invariants::{Held, Invariant};
use crate::random::{SplitMix32, Uniform};
use std::collections::BTreeSet;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "split-from-first-to-last-user", check: split_from_first_to_last_user },
        Invariant { id: "every-route-moves-once", check: every_route_moves_once },
        Invariant { id: "dual-writes-at-most-double", check: dual_writes_at_most_double },
        Invariant { id: "unshared-state-never-splits", check: unshared_state_never_splits },
        Invariant { id: "reversed-order-same-dual-writes", check: reversed_order_same_dual_writes },
        Invariant { id: "volume-order-soonest", check: volume_order_soonest },
        Invariant { id: "state-order-starts-without", check: state_order_starts_without },
        Invariant { id: "state-order-least-at-each-step", check: state_order_least_at_each_step },
        Invariant { id: "state-order-below-volume-order", check: state_order_below_volume_order },
        Invariant { id: "traffic-costs-dual-writes", check: traffic_costs_dual_writes },
        Invariant { id: "least-order-below-all", check: least_order_below_all },
        Invariant { id: "facade-cuts-drops", check: facade_cuts_drops },
        Invariant { id: "backfill-grows-from-nothing", check: backfill_grows_from_nothing },
        Invariant { id: "facade-narrows-every-share-alike", check: facade_narrows_every_share_alike },
    ]
}

/// So many orders beside the lesson's.
const SHUFFLED: u64 = 8;

type Routes<'a> = Vec<&'a Route>;

impl Parameters {
    /// The orders that the lesson speaks of, some of no plan at all, and each of them backwards.
    fn any_orders(&self) -> Vec<Routes<'_>> {
        let mut orders: Vec<Routes<'_>> = Order::ALL.map(|order| self.order(order)).into();
        orders.push(self.least_dual_writes());
        orders.extend((0..SHUFFLED).map(|seed| {
            let mut routes: Routes<'_> = self.routes.iter().collect();
            SplitMix32::new(seed).shuffle(&mut routes);
            routes
        }));
        orders.iter().map(reversed).collect::<Vec<_>>().into_iter().chain(orders).collect()
    }

    fn on_any_order(&self, mut check: impl FnMut(&Routes<'_>) -> Held) -> Held {
        Held::all(self.any_orders().iter().map(|order| match check(order) {
            Held::Broken(message) => Held::Broken(format!("{:?}: {message}", names(order))),
            held => held,
        }))
    }

    /// What is split after each step.
    fn splits(&self, order: &Routes<'_>) -> Vec<Split> {
        (1..=order.len()).map(|step| self.split(&order[..step], &order[step..])).collect()
    }

    /// Dual writes over the steps, in writes a day.
    fn dual_writes(&self, order: &Routes<'_>) -> u64 {
        self.splits(order).iter().map(|split| split.daily_dual_writes).sum()
    }
}

fn reversed<'a>(order: &Routes<'a>) -> Routes<'a> {
    order.iter().rev().copied().collect()
}

fn names<'a>(order: &Routes<'a>) -> Vec<&'a str> {
    order.iter().map(|route| route.name.as_str()).collect()
}

/// Moved requests over the steps, in requests a day.
fn traffic(order: &Routes<'_>) -> u64 {
    (1..=order.len()).map(|step| order[..step].iter().map(|route| route.daily_requests).sum::<u64>()).sum()
}

/// An entity is split from the step of the first route that touches it to that of the last.
fn split_from_first_to_last_user(p: &Parameters) -> Held {
    p.on_any_order(|order| {
        let spans: Vec<(usize, usize, u64)> = p
            .entities
            .iter()
            .filter_map(|entity| {
                let users = |route: &&Route| route.touches().any(|touched| *touched == entity.name);
                Some((order.iter().position(users)?, order.iter().rposition(users)?, entity.daily_writes))
            })
            .collect();
        let area: u64 = spans.iter().map(|(first, last, writes)| (last - first) as u64 * writes).sum();
        let migration = p.migrate(order);
        let entities: Vec<usize> = migration.steps.iter().map(|step| step.split_entities).collect();
        let spanning = |step| spans.iter().filter(|(first, last, _)| (*first..*last).contains(&step)).count();
        Held::all([
            Held::equal("split entities", entities, (0..order.len()).map(spanning).collect()),
            Held::equal("dual writes", p.dual_writes(order), area),
            // The lesson divides each step by the seconds of a day.
            Held::close("dual-write area", migration.dual_write_area, area as f64 / SECONDS_A_DAY),
        ])
    })
}

/// Shares are added up step by step, and here route by route.
fn every_route_moves_once(p: &Parameters) -> Held {
    let all: BTreeSet<&str> = p.routes.iter().map(|route| route.name.as_str()).collect();
    p.on_any_order(|order| {
        let migration = p.migrate(order);
        let moved: Vec<&str> = migration.steps.iter().map(|step| step.route.name.as_str()).collect();
        let last = migration.steps.last().map(|step| (step.moved_traffic, step.split_entities));
        let falls = migration.steps.windows(2).any(|pair| pair[0].moved_traffic > pair[1].moved_traffic);
        Held::all([
            Held::equal("steps", moved.len(), all.len()),
            Held::equal("moved routes", moved.into_iter().collect(), all.clone()),
            Held::equal("traffic and split entities at last", last, Some((1.0, 0))),
            Held::equal("traffic moves back", falls, false),
            Held::close("traffic area", migration.traffic_area, traffic(order) as f64 / p.daily_requests() as f64),
        ])
    })
}

/// Twice what is shared, and only while all of that is split.
fn dual_writes_at_most_double(p: &Parameters) -> Held {
    let shared = p.entities.iter().filter(|entity| p.users(entity).count_ones() > 1);
    let (entities, writes) = shared.fold((0, 0), |(n, writes), entity| (n + 1, writes + entity.daily_writes));
    p.on_any_order(|order| {
        Held::all(p.splits(order).iter().map(|split| {
            Held::all([
                Held::at_most("dual writes a day", split.daily_dual_writes, writes),
                Held::provided(split.entities == entities, || {
                    Held::equal("dual writes with all that is shared split", split.daily_dual_writes, writes)
                }),
            ])
        }))
    })
}

/// Each kind of state is left to the first route that touches it.
fn unshared_state_never_splits(p: &Parameters) -> Held {
    let mut unshared = p.clone();
    let mut taken = BTreeSet::new();
    for route in &mut unshared.routes {
        let own = |name: &String| !taken.contains(name);
        route.reads.retain(own);
        route.writes.retain(own);
        taken.extend(route.touches().cloned());
    }
    unshared.on_any_order(|order| {
        let migration = unshared.migrate(order);
        let split: usize = migration.steps.iter().map(|step| step.split_entities).sum();
        Held::equal("split entities and dual writes", (split, migration.dual_write_area), (0, 0.0))
    })
}

/// What has moved and what remains change places: no step splits anything else. Sums in another order are close.
fn reversed_order_same_dual_writes(p: &Parameters) -> Held {
    let steps_and_one = (p.routes.len() + 1) as f64;
    p.on_any_order(|order| {
        let back = reversed(order);
        let (there, backwards) = (p.migrate(order), p.migrate(&back));
        let inner = |m: &Migration<'_>| -> Vec<(usize, u64)> {
            m.steps.iter().rev().skip(1).rev().map(|step| (step.split_entities, step.dual_writes.to_bits())).collect()
        };
        Held::all([
            Held::equal("steps", inner(&backwards), inner(&there).into_iter().rev().collect()),
            Held::equal("dual writes", p.dual_writes(&back), p.dual_writes(order)),
            Held::close("sum of the traffic areas", there.traffic_area + backwards.traffic_area, steps_and_one),
        ])
    })
}

fn volume_order_soonest(p: &Parameters) -> Held {
    let volume = traffic(&p.order(Order::Volume));
    p.on_any_order(|order| Held::at_most("moved requests", traffic(order), volume))
}

/// All but the last two steps, as the lesson says it of its eight.
fn state_order_starts_without(p: &Parameters) -> Held {
    let splits = p.splits(&p.order(Order::State));
    let early = splits.iter().take(p.routes.len().saturating_sub(2)).map(|split| split.daily_dual_writes).max();
    Held::provided(p.routes.len() > 2, || Held::equal("most dual writes a day of these steps", early, Some(0)))
}

fn state_order_least_at_each_step(p: &Parameters) -> Held {
    let order = p.order(Order::State);
    Held::all((0..order.len()).map(|step| {
        let (moved, remaining) = order.split_at(step);
        let after = |next: &Route| {
            let is_next = |route: &&&Route| route.name == next.name;
            let moved: Routes<'_> = moved.iter().chain(remaining.iter().filter(is_next)).copied().collect();
            let left: Routes<'_> = remaining.iter().filter(|route| !is_next(route)).copied().collect();
            p.split(&moved, &left).daily_dual_writes
        };
        let least = remaining.iter().map(|route| after(route)).min();
        Held::equal(format!("dual writes a day of step {}", step + 1), Some(after(order[step])), least)
    }))
}

fn state_order_below_volume_order(p: &Parameters) -> Held {
    let [volume, state] = Order::ALL.map(|order| p.dual_writes(&p.order(order)));
    Held::at_most("dual writes of the state order", state, volume)
}

/// Of the orders at hand none moves traffic sooner than the state order without more dual writes.
fn traffic_costs_dual_writes(p: &Parameters) -> Held {
    let state = p.order(Order::State);
    p.on_any_order(|order| {
        let (sooner, dual_writes) = (traffic(order) > traffic(&state), p.dual_writes(order));
        Held::provided(sooner, || {
            let usual = p.dual_writes(&state);
            Held::that(dual_writes > usual, || format!("{dual_writes} dual writes, {usual} of the state order"))
        })
    })
}

/// Its reverse has as few and moves the other half of the traffic, so that it moves at least half as soon as can be.
fn least_order_below_all(p: &Parameters) -> Held {
    let least = p.least_dual_writes();
    let (dual_writes, moved) = (p.dual_writes(&least), traffic(&least));
    let half = (p.routes.len() as u64 + 1) * p.daily_requests();
    let others = p.on_any_order(|order| {
        let equals = p.dual_writes(order) == dual_writes;
        Held::all([
            Held::at_most("dual writes of the least order", dual_writes, p.dual_writes(order)),
            Held::provided(equals, || Held::at_most("moved requests with as few", traffic(order), moved)),
        ])
    });
    Held::all([others, Held::at_most("half of all traffic", half, 2 * moved)])
}

/// Products of the same numbers in another order.
fn facade_cuts_drops(p: &Parameters) -> Held {
    Held::all(Order::ALL.map(|order| {
        let migration = p.migrate(&p.order(order));
        let Some((number, step)) = migration.reaching(p.stop_share) else {
            return Held::Broken("no step at which the share has moved".to_owned());
        };
        let earlier = migration.steps.iter().take(number as usize - 1).find(|step| step.moved_traffic >= p.stop_share);
        let dropped = |seconds| p.dropped(step.moved_traffic, seconds);
        let (facade, entry) = (dropped(p.facade_revert_s), dropped(p.entry_lifetime_s));
        Held::all([
            Held::equal("an earlier step with the share", earlier.map(|step| &step.route.name), None),
            Held::at_most("dropped", facade.max(entry), p.peak_edge * p.facade_revert_s.max(p.entry_lifetime_s)),
            Held::close("in the ratio of the times", facade * p.entry_lifetime_s, entry * p.facade_revert_s),
            Held::equal("dropped by a revert in no time", dropped(0.0), 0.0),
            Held::provided(p.facade_revert_s <= p.entry_lifetime_s, || Held::at_most("with a facade", facade, entry)),
        ])
    }))
}

/// A day's records are a day's writes; sums of seconds and of products are rounded in other places.
fn backfill_grows_from_nothing(p: &Parameters) -> Held {
    Held::all(p.entities.iter().map(|entity| {
        let missed = |elapsed| p.missed(entity.daily_writes, elapsed);
        Held::all([
            Held::equal("while dual writes run", missed(Elapsed::Hours(0)), 0.0),
            Held::close("after a day", missed(Elapsed::Days(1)), entity.daily_writes as f64),
            Held::close("after 24 hours", missed(Elapsed::Hours(24)), missed(Elapsed::Days(1))),
            Held::all(p.stopped_since.iter().map(|elapsed| {
                let twice = match *elapsed {
                    Elapsed::Hours(hours) => Elapsed::Hours(2 * hours),
                    Elapsed::Days(days) => Elapsed::Days(2 * days),
                };
                Held::close(format!("after twice {elapsed:?}"), missed(twice), 2.0 * missed(*elapsed))
            })),
        ])
    }))
}

/// Quotients of the same numbers in another order.
fn facade_narrows_every_share_alike(p: &Parameters) -> Held {
    Held::provided(p.budget.threshold_ms > p.budget.gateway_ms, || {
        let percent = p.budget.facade_ms / (p.budget.threshold_ms - p.budget.gateway_ms) * 100.0;
        Held::all((1..=8).map(|calls| {
            let shares = Budget { calls, ..p.budget.clone() }.shares();
            let narrower = 100.0 * (shares.call_ms - shares.call_with_facade_ms) / shares.call_ms;
            Held::all([
                Held::close(format!("narrower share of {calls} calls"), narrower, percent),
                Held::close("published", shares.narrower_percent, percent),
                Held::close(
                    "given up by all calls",
                    (shares.call_ms - shares.call_with_facade_ms) * calls as f64,
                    p.budget.facade_ms,
                ),
            ])
        }))
    })
}
