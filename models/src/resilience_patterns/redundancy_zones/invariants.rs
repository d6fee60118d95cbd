//! What the loss of a unit takes with it, wherever the replicas stand and however long a copy travels.

use super::{Counts, Failing, Failure, Parameters, Place, Plan, Propagation, UnitLoss};
use crate::invariants::{Held, Invariant};
use crate::random::{SplitMix32, Uniform};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "lost-are-the-last-rounds", check: lost_are_the_last_rounds },
        Invariant { id: "owners-are-counted", check: owners_are_counted },
        Invariant { id: "dropped-only-without-survivors", check: dropped_only_without_survivors },
        Invariant { id: "no-failure-no-cost", check: no_failure_no_cost },
        Invariant { id: "larger-unit-loses-no-less", check: larger_unit_loses_no_less },
        Invariant { id: "longer-way-loses-no-less", check: longer_way_loses_no_less },
        Invariant { id: "spread-replicas-lose-no-less", check: spread_replicas_lose_no_less },
        Invariant { id: "doubled-way-doubles-the-loss", check: doubled_way_doubles_the_loss },
        Invariant { id: "conversion-is-the-run", check: conversion_is_the_run },
        Invariant { id: "conversion-of-a-round-less-is-the-run", check: conversion_of_a_round_less_is_the_run },
        Invariant { id: "ratio-is-that-of-the-distances", check: ratio_is_that_of_the_distances },
        Invariant { id: "provisioned-carries-the-peak", check: provisioned_carries_the_peak },
    ]
}

impl Parameters {
    /// The lesson's plans, and replicas anywhere in two regions.
    fn all_plans(&self) -> Vec<Plan> {
        let mut random = SplitMix32::new(self.rounds + 31 * self.failure_round + 961 * self.writes_a_round);
        let anywhere = (0..4).map(|plan| {
            let replicas = 1 + (random.next() * 7.0) as u64;
            let mut either = |lost: &str| if random.chance(0.5) { lost.to_owned() } else { format!("not-{lost}") };
            let mut place = || Place { region: either(&self.failing.region), zone: either(&self.failing.zone) };
            Plan { name: format!("anywhere-{plan}"), replicas: (0..replicas).map(|_| place()).collect() }
        });
        let anywhere: Vec<Plan> = anywhere.collect();
        self.plans.iter().cloned().chain(anywhere).collect()
    }

    fn each_run(&self, mut check: impl FnMut(&Plan, Failure, Counts) -> Held) -> Held {
        let mut all = Vec::new();
        for plan in self.all_plans() {
            for failure in Failure::ALL {
                all.push(check(&plan, failure, self.run(&plan, failure)));
            }
        }
        Held::all(all)
    }

    fn happens(&self) -> bool {
        self.failure_round <= self.rounds
    }

    /// Rounds in which a replica of all accepts writes; a failure in round 0 leaves none.
    fn rounds_before(&self) -> u64 {
        self.failure_round.saturating_sub(1)
    }
}

impl Plan {
    fn failing(&self, failing: &Failing, failure: Failure) -> Vec<usize> {
        (0..self.replicas.len()).filter(|&replica| failing.takes(failure, replica, &self.replicas[replica])).collect()
    }

    /// How far it is from a replica to the nearest one that survives.
    fn way_out(&self, p: &Parameters, failure: Failure, replica: usize) -> Option<u64> {
        let failing = self.failing(&p.failing, failure);
        let survivors = (0..self.replicas.len()).filter(|other| !failing.contains(other));
        survivors.map(|to| p.propagation.rounds(&self.replicas[replica], &self.replicas[to])).min()
    }

    /// Of so many writes in turn, those that a replica accepts.
    fn share(&self, writes: u64, replica: usize) -> u64 {
        let replicas = self.replicas.len() as u64;
        (writes + replicas - 1 - replica as u64) / replicas
    }
}

/// Each replica that fails loses what it accepted in the rounds before the failure that are one fewer than its way out,
/// or all, where there is none. Taking turns makes that a division.
fn lost_are_the_last_rounds(p: &Parameters) -> Held {
    Held::provided(p.happens(), || {
        p.each_run(|plan, failure, counts| {
            let lost = plan.failing(&p.failing, failure).into_iter().map(|replica| {
                let accepted = |rounds: u64| plan.share(rounds * p.writes_a_round, replica);
                let safe = plan.way_out(p, failure, replica).map_or(0, |way| p.failure_round.saturating_sub(way));
                accepted(p.rounds_before()) - accepted(safe)
            });
            Held::equal(format!("lost, {} without a {failure:?}", plan.name), counts.lost, lost.sum())
        })
    })
}

/// A ledger of who has each write in the round of the failure: the replica that accepted it, and whom a copy reached.
fn owners_are_counted(p: &Parameters) -> Held {
    // Each write has as many owners as there are replicas: a large run would say no more.
    let p = Parameters {
        rounds: p.rounds.min(60),
        failure_round: p.failure_round.min(60),
        writes_a_round: p.writes_a_round.min(7),
        ..p.clone()
    };
    Held::provided(p.happens(), || {
        p.each_run(|plan, failure, counts| {
            let failing = plan.failing(&p.failing, failure);
            let all = 0..plan.replicas.len();
            let (mut lost, mut kept) = (0, 0);
            let mut turns = all.clone().cycle();
            for round in 1..p.failure_round {
                for from in turns.by_ref().take(p.writes_a_round as usize) {
                    let reached = |to: usize| {
                        let way = p.propagation.rounds(&plan.replicas[from], &plan.replicas[to]);
                        to == from || round + way <= p.failure_round
                    };
                    let owners: Vec<usize> = all.clone().filter(|&replica| reached(replica)).collect();
                    let gone = owners.iter().all(|owner| failing.contains(owner));
                    *if gone { &mut lost } else { &mut kept } += 1;
                }
            }
            Held::all([
                Held::equal(format!("lost, {} without a {failure:?}", plan.name), counts.lost, lost),
                Held::equal("lost and kept", lost + kept, p.rounds_before() * p.writes_a_round),
            ])
        })
    })
}

fn dropped_only_without_survivors(p: &Parameters) -> Held {
    Held::provided(p.happens(), || {
        p.each_run(|plan, failure, counts| {
            let survivors = plan.replicas.len() - plan.failing(&p.failing, failure).len();
            let after = p.rounds - p.rounds_before().min(p.rounds);
            let dropped = if survivors == 0 { after * p.writes_a_round } else { 0 };
            Held::equal("survivors, dropped", (counts.survivors, counts.dropped), (survivors, dropped))
        })
    })
}

fn no_failure_no_cost(p: &Parameters) -> Held {
    let p = Parameters { failure_round: p.rounds + 1, ..p.clone() };
    p.each_run(|plan, _, counts| {
        let found = (counts.survivors, counts.dropped, counts.lost);
        Held::equal("survivors, dropped, lost", found, (plan.replicas.len(), 0, 0))
    })
}

/// A region takes its zone with it.
fn larger_unit_loses_no_less(p: &Parameters) -> Held {
    Held::all(p.all_plans().iter().map(|plan| {
        let [zone, region] = [Failure::Zone, Failure::Region].map(|failure| p.run(plan, failure));
        Held::all([
            Held::at_most("survivors of the region's loss", region.survivors, zone.survivors),
            Held::at_most("dropped at the zone's loss", zone.dropped, region.dropped),
            Held::at_most("lost with the zone", zone.lost, region.lost),
        ])
    }))
}

fn longer_way_loses_no_less(p: &Parameters) -> Held {
    let Propagation { same_zone, same_region, other_region } = p.propagation;
    let longer = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 3, 5)].map(|(zone, region, remote)| Propagation {
        same_zone: same_zone + zone,
        same_region: same_region + region,
        other_region: other_region + remote,
    });
    Held::all(longer.map(|propagation| {
        let longer = Parameters { propagation, ..p.clone() };
        p.each_run(|plan, failure, counts| Held::at_most("lost", counts.lost, longer.run(plan, failure).lost))
    }))
}

/// Of the machine: the other two are what spreading is for. All replicas in the place of the one that fails lose no more.
fn spread_replicas_lose_no_less(p: &Parameters) -> Held {
    let Propagation { same_zone, same_region, other_region } = p.propagation;
    Held::provided(same_zone <= same_region.min(other_region), || {
        Held::all(p.all_plans().iter().filter(|plan| plan.replicas.len() > 1).map(|plan| {
            let one_place = vec![plan.replicas[0].clone(); plan.replicas.len()];
            let together = Plan { name: plan.name.clone(), replicas: one_place };
            let [spread, together] = [plan, &together].map(|plan| p.run(plan, Failure::Machine));
            Held::all([
                Held::equal("survivors", spread.survivors, together.survivors),
                Held::equal("dropped", [spread.dropped, together.dropped], [0; 2]),
                Held::at_most("lost together", together.lost, spread.lost),
            ])
        }))
    })
}

fn doubled_way_doubles_the_loss(p: &Parameters) -> Held {
    let other_region = 2 * p.propagation.other_region;
    let doubled = Parameters { propagation: Propagation { other_region, ..p.propagation.clone() }, ..p.clone() };
    Held::all(p.all_plans().iter().map(|plan| {
        let [once, twice] = [p, &doubled].map(|p| p.run(plan, Failure::Region));
        Held::provided(once.survivors > 0 && once.survivors < plan.replicas.len() && p.happens(), || {
            Held::equal(format!("lost, {}", plan.name), twice.lost, 2 * once.lost)
        })
    }))
}

impl Parameters {
    /// The unit's loss as a run has it, at the service's rate of writes.
    fn lost_at_peak(&self, plan: &Plan, failure: Failure) -> f64 {
        let rounds = self.run(plan, failure).lost as f64 / self.writes_a_round as f64;
        rounds * self.round_seconds * self.peak_write
    }

    /// The share of the replicas that fails, if some survive, all failing ones are as far from a survivor, and both
    /// share out the writes of a round evenly.
    fn even_units(&self, plan: &Plan, failure: Failure) -> Option<(u64, u64)> {
        let (failing, replicas) = (plan.failing(&self.failing, failure), plan.replicas.len());
        let ways: Vec<u64> = failing.iter().filter_map(|replica| plan.way_out(self, failure, *replica)).collect();
        let &way = ways.first()?;
        let even = replicas.is_multiple_of(failing.len()) && self.writes_a_round.is_multiple_of(replicas as u64);
        let shown = self.happens() && self.writes_a_round > 0 && way < self.failure_round;
        (even && shown && ways.iter().all(|other| *other == way)).then_some(((replicas / failing.len()) as u64, way))
    }
}

/// The two conversions, beside the plans in which a zone or a region is such a share of the replicas.
fn conversion_is_the_run(p: &Parameters) -> Held {
    let losses = [(&p.losses.zone, Failure::Zone), (&p.losses.region, Failure::Region)];
    Held::all(losses.into_iter().flat_map(|(loss, failure)| {
        let plans = p
            .plans
            .iter()
            .filter(move |plan| p.even_units(plan, failure).is_some_and(|(units, _)| units == loss.units));
        plans.map(move |plan| {
            let what = format!("writes at peak, {} without a {failure:?}", plan.name);
            // The run's rounds are a quotient of writes.
            Held::close(what, p.unpropagated(loss), p.lost_at_peak(plan, failure))
        })
    }))
}

fn conversion_of_a_round_less_is_the_run(p: &Parameters) -> Held {
    p.each_run(|plan, failure, _| match p.even_units(plan, failure) {
        Some((units, way)) => {
            let loss = UnitLoss { units, propagation_rounds: way - 1 };
            // The run's rounds are a quotient of writes.
            Held::close("writes at peak", p.unpropagated(&loss), p.lost_at_peak(plan, failure))
        }
        None => Held::Vacuous,
    })
}

/// A region's loss beside a zone's: the ways, times the units that share the writes.
fn ratio_is_that_of_the_distances(p: &Parameters) -> Held {
    let (zone, region) = (&p.losses.zone, &p.losses.region);
    let Propagation { same_region, other_region, .. } = p.propagation;
    Held::provided(p.peak_write > 0.0 && zone.propagation_rounds > 0, || {
        let expected = (other_region * zone.units) as f64 / (same_region * region.units) as f64;
        // The conversion multiplies by seconds and rates before it divides.
        Held::close("ratio of the conversions", p.unpropagated(region) / p.unpropagated(zone), expected)
    })
}

/// What is left of it after a zone's loss, as a run of so many zones has it; so the idle part is one of `zones - 1`.
fn provisioned_carries_the_peak(p: &Parameters) -> Held {
    Held::all(p.zone_counts.iter().filter(|zones| **zones <= 100).map(|&zones| {
        let place = |zone: u64| Place {
            region: p.failing.region.clone(),
            zone: if zone == 0 { p.failing.zone.clone() } else { zone.to_string() },
        };
        let spread = Plan { name: zones.to_string(), replicas: (0..zones).map(place).collect() };
        let names_differ = spread.failing(&p.failing, Failure::Zone).len() == 1;
        Held::provided(names_differ, || {
            let p = Parameters { rounds: 1, failure_round: 1, writes_a_round: 0, ..p.clone() };
            let left = p.run(&spread, Failure::Zone).survivors as f64 / zones as f64 * p.provisioned(zones);
            // A share of the product here, a quotient of the peak there.
            Held::all([
                Held::close("carried by the zones left", left, p.peak_edge),
                Held::close("provisioned", p.provisioned(zones), p.peak_edge * (1.0 + 1.0 / (zones - 1) as f64)),
            ])
        })
    }))
}
