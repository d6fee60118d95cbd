//! What a recovery leaves behind, for any workflow and any window, and what a drill costs.

use super::{Counts, Delivery, Parameters, Workflow};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-workflow-accounted-for", check: every_workflow_accounted_for },
        Invariant { id: "delivery-changes-no-interruption", check: delivery_changes_no_interruption },
        Invariant { id: "damage-of-those-under-way", check: damage_of_those_under_way },
        Invariant { id: "shorter-window-less-damage", check: shorter_window_less_damage },
        Invariant { id: "window-changes-no-damage", check: window_changes_no_damage },
        Invariant { id: "window-delays-starts-and-ends", check: window_delays_starts_and_ends },
        Invariant { id: "completed-from-the-rounds-left", check: completed_from_the_rounds_left },
        Invariant { id: "at-least-once-completes-all", check: at_least_once_completes_all },
        Invariant { id: "without-failover-no-damage", check: without_failover_no_damage },
        Invariant { id: "without-side-effects-no-damage", check: without_side_effects_no_damage },
        Invariant { id: "drills-cost-their-rounds", check: drills_cost_their_rounds },
        Invariant { id: "ratio-needs-no-seconds", check: ratio_needs_no_seconds },
    ]
}

impl Parameters {
    fn windows(&self) -> [u64; 3] {
        [0, self.planned_rounds(), self.measured_rounds()]
    }

    fn on_each_run(&self, mut check: impl FnMut(Delivery, u64, Counts) -> Held) -> Held {
        Held::all(self.windows().into_iter().flat_map(|window| Delivery::ALL.map(|delivery| (delivery, window))).map(
            |(delivery, window)| match check(delivery, window, self.run(delivery, window)) {
                Held::Broken(message) => Held::Broken(format!("{}, window {window}: {message}", delivery.name())),
                held => held,
            },
        ))
    }

    /// Rounds in which workflows start.
    fn starts(&self, window: u64) -> impl Iterator<Item = u64> {
        let (failover, end) = (self.failover_round, self.failover_round + window);
        (1..=self.rounds.min(self.start_until)).filter(move |round| *round < failover || *round >= end)
    }

    /// Steps done by each cohort that is under way when the failover comes: one more for each round before.
    fn under_way(&self) -> Vec<usize> {
        let happens = (1..=self.rounds).contains(&self.failover_round);
        let started = 1..=self.start_until.min(self.failover_round.saturating_sub(2));
        let done = started.map(|round| (self.failover_round - 1 - round) as usize);
        done.filter(|done| happens && *done < self.workflow.steps()).collect()
    }

    /// Rounds of the run in which nothing moves.
    fn frozen(&self, window: u64) -> u64 {
        let end = (self.failover_round + window).min(self.rounds + 1);
        end.saturating_sub(self.failover_round.max(1))
    }
}

impl Counts {
    fn damage(&self) -> [u64; 4] {
        [self.restarted, self.discarded, self.duplicated_side_effects, self.orphaned]
    }
}

/// A workflow without a step is never completed and never under way: the lesson has none.
fn every_workflow_accounted_for(p: &Parameters) -> Held {
    Held::provided(p.workflow.steps() > 0, || {
        p.on_each_run(|_, window, counts| {
            let starts = p.starts(window).count() as u64;
            let ended = counts.completed + counts.discarded + counts.unfinished;
            Held::all([
                Held::equal("started workflows", counts.total, starts * p.workflows_a_round),
                Held::equal("completed, discarded and unfinished", ended, counts.total),
                Held::at_most("orphaned", counts.orphaned, counts.discarded),
            ])
        })
    })
}

fn delivery_changes_no_interruption(p: &Parameters) -> Held {
    Held::all(p.windows().map(|window| {
        let [least, most] = Delivery::ALL.map(|delivery| p.run(delivery, window));
        Held::all([
            Held::equal("interrupted", least.restarted, most.discarded),
            Held::equal("workflows", least.total, most.total),
            Held::equal("restarted at most once", (most.restarted, most.duplicated_side_effects), (0, 0)),
            Held::equal("discarded at least once", (least.discarded, least.orphaned), (0, 0)),
            Held::at_most("orphans, beside doubled side effects", most.orphaned, least.duplicated_side_effects),
            Held::at_most("completed at most once", most.completed, least.completed + least.restarted),
        ])
    }))
}

/// Counted from the rounds in which they started.
fn damage_of_those_under_way(p: &Parameters) -> Held {
    let under_way = p.under_way();
    let size = p.workflows_a_round;
    let interrupted = size * under_way.len() as u64;
    let effects = |done: &usize| p.workflow.0[..*done].iter().filter(|step| step.side_effect).count() as u64;
    let doubled = size * under_way.iter().map(effects).sum::<u64>();
    let orphaned = size * under_way.iter().filter(|done| effects(done) > 0).count() as u64;
    p.on_each_run(|delivery, _, counts| {
        let expected = match delivery {
            Delivery::AtLeastOnce => [interrupted, 0, doubled, 0],
            Delivery::AtMostOnce => [0, interrupted, 0, orphaned],
        };
        Held::equal("restarted, discarded, doubled and orphaned", counts.damage(), expected)
    })
}

fn shorter_window_less_damage(p: &Parameters) -> Held {
    let (planned, measured) = (p.planned_rounds(), p.measured_rounds());
    Held::provided(planned < measured, || {
        let interrupted = |window| p.run(Delivery::AtLeastOnce, window).restarted;
        let (shorter, longer) = (interrupted(planned), interrupted(measured));
        Held::that(shorter < longer, || format!("{shorter} interrupted in the shorter window, {longer} in the longer"))
    })
}

fn window_changes_no_damage(p: &Parameters) -> Held {
    Held::all(Delivery::ALL.map(|delivery| {
        let [none, planned, measured] = p.windows().map(|window| p.run(delivery, window).damage());
        Held::all([
            Held::equal(format!("damage in the planned window, {}", delivery.name()), planned, none),
            Held::equal(format!("damage in the measured window, {}", delivery.name()), measured, none),
        ])
    }))
}

/// A longer window is a run that ends so much sooner, if all workflows have started by the failover.
fn window_delays_starts_and_ends(p: &Parameters) -> Held {
    Held::provided(p.start_until < p.failover_round, || {
        p.on_each_run(|delivery, window, counts| {
            let frozen = p.frozen(window);
            let without = Parameters { rounds: p.rounds - frozen, ..p.clone() };
            Held::provided(p.failover_round <= without.rounds, || {
                Held::equal("counts", counts, without.run(delivery, 0))
            })
        })
    })
}

/// What starts before the failover is done by then, or has the rounds behind the window for all of its steps; these are
/// no use to what was under way and is given up.
fn completed_from_the_rounds_left(p: &Parameters) -> Held {
    let steps = p.workflow.steps() as u64;
    let interrupts = p.failover_round <= p.rounds;
    Held::provided(steps > 0, || {
        p.on_each_run(|delivery, window, counts| {
            let completes = |start: &u64| {
                let before = p.rounds.min(p.failover_round.saturating_sub(1)).saturating_sub(*start);
                let behind = (p.rounds + 1).saturating_sub((p.failover_round + window).max(start + 1));
                let given_up = interrupts && before > 0 && delivery == Delivery::AtMostOnce;
                before >= steps || (behind >= steps && !given_up)
            };
            let completed = p.starts(window).filter(completes).count() as u64;
            Held::equal("completed", counts.completed, completed * p.workflows_a_round)
        })
    })
}

/// Enough rounds are those that the last workflow needs, and one that the failover sets back.
fn at_least_once_completes_all(p: &Parameters) -> Held {
    Held::all(p.windows().map(|window| {
        let needed = p.start_until.max(p.failover_round) + window + p.workflow.steps() as u64;
        Held::provided(p.workflow.steps() > 0 && p.rounds >= needed, || {
            let [least, most] = Delivery::ALL.map(|delivery| p.run(delivery, window));
            Held::all([
                Held::equal("completed", least.completed, least.total),
                Held::equal("completed at most once", most.completed, most.total - most.discarded),
            ])
        })
    }))
}

fn without_failover_no_damage(p: &Parameters) -> Held {
    Held::all([0, p.rounds + 1].map(|failover_round| {
        let calm = Parameters { failover_round, ..p.clone() };
        Held::all(Delivery::ALL.map(|delivery| {
            let counts = calm.run(delivery, 0);
            let starts = p.rounds.min(p.start_until);
            let ends = starts.min(p.rounds.saturating_sub(p.workflow.steps() as u64));
            let completed = if p.workflow.steps() > 0 { ends * p.workflows_a_round } else { 0 };
            Held::all([
                Held::equal("damage", counts.damage(), [0; 4]),
                Held::equal("workflows", counts.total, starts * p.workflows_a_round),
                Held::equal("completed", counts.completed, completed),
            ])
        }))
    }))
}

/// And where each step has one, every interrupted workflow that has done a step is an orphan: all are.
fn without_side_effects_no_damage(p: &Parameters) -> Held {
    let with = |side_effect: bool| {
        let mut steps = p.workflow.0.clone();
        steps.iter_mut().for_each(|step| step.side_effect = side_effect);
        Parameters { workflow: Workflow(steps), ..p.clone() }
    };
    let (none, all) = (with(false), with(true));
    Held::all([
        none.on_each_run(|_, _, counts| {
            Held::equal("doubled and orphaned", (counts.duplicated_side_effects, counts.orphaned), (0, 0))
        }),
        all.on_each_run(|_, _, counts| {
            Held::equal("orphans, where each step has one", counts.orphaned, counts.discarded)
        }),
    ])
}

/// Products of the same numbers in another order.
fn drills_cost_their_rounds(p: &Parameters) -> Held {
    Held::all(p.frequencies.iter().map(|frequency| {
        let drills = frequency.drills as f64 * p.seconds(p.measured_rounds());
        let minutes = p.minutes_a_month(frequency);
        Held::all([
            Held::close("minutes in all its months", 60.0 * minutes * frequency.months as f64, drills),
            Held::provided(frequency.drills == 0, || Held::equal("without a drill", minutes, 0.0)),
        ])
    }))
}

/// An objective between plan and drill holds by the plan alone. Quotients are rounded in other places.
fn ratio_needs_no_seconds(p: &Parameters) -> Held {
    let (planned, measured) = (p.planned_rounds(), p.measured_rounds());
    let deviations: i64 = p.steps.iter().map(|step| step.measured as i64 - step.planned as i64).sum();
    let seconds = p.seconds(measured) / p.seconds(planned);
    Held::all([
        Held::equal("deviation", measured as i64 - planned as i64, deviations),
        Held::provided(planned > 0, || Held::close("ratio", seconds, measured as f64 / planned as f64)),
        Held::provided(planned < measured, || {
            let between = (p.seconds(planned) + p.seconds(measured)) / 2.0;
            Held::equal(
                "an objective in between holds by plan, by drill",
                [planned, measured].map(|rounds| p.meets(rounds, between)),
                [true, false],
            )
        }),
    ])
}
