//! What a failover must leave behind, at any window, in any workflow; and what a drill says of a plan.

use super::{Counts, Delivery, Parameters};
use crate::figures::{Fact, segment};
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-workflow-accounted-for", check: every_workflow_accounted_for },
        Invariant { id: "no-failover-no-damage", check: no_failover_no_damage },
        Invariant { id: "longer-window-more-half-done", check: longer_window_more_half_done },
        Invariant { id: "damage-falls-with-the-first-round", check: damage_falls_with_the_first_round },
        Invariant { id: "repeated-or-given-up", check: repeated_or_given_up },
        Invariant { id: "no-side-effects-no-damage", check: no_side_effects_no_damage },
        Invariant { id: "slower-steps-only-break-objectives", check: slower_steps_only_break_objectives },
    ]
}

impl Parameters {
    fn windows(&self) -> [u64; 2] {
        [self.planned_rounds(), self.measured_rounds()]
    }

    /// Workflows that start: some in each round up to the last, but none while the recovery lasts.
    fn started(&self, window: u64) -> u64 {
        let last = self.start_until.min(self.rounds);
        let recovery = self.failover_round..self.failover_round + window;
        (1..=last).filter(|round| !recovery.contains(round)).count() as u64 * self.workflows_a_round
    }

    /// Everything that starts, or starts again, has rounds enough to end.
    fn has_rounds_enough(&self, window: u64) -> bool {
        let quiet_from = self.start_until.max(self.failover_round + window);
        self.workflow.steps() > 0 && self.rounds >= quiet_from + self.workflow.steps() as u64
    }

    /// For each cohort that the failover finds half done, the steps that it has done by then: those that started in
    /// the last rounds before it, the latest of them in the round before the last.
    fn half_done(&self) -> Vec<usize> {
        let strikes = (1..=self.rounds).contains(&self.failover_round);
        let steps = (1..self.workflow.steps()).take_while(|_| strikes);
        let started = |done: &usize| (self.failover_round - 1).checked_sub(*done as u64).unwrap_or(0);
        steps.filter(|done| (1..=self.start_until).contains(&started(done))).collect()
    }
}

impl Counts {
    /// Restarted or discarded, duplicated side effects, orphaned.
    fn damage(&self) -> [u64; 3] {
        [self.restarted + self.discarded, self.duplicated_side_effects, self.orphaned]
    }
}

fn every_workflow_accounted_for(p: &Parameters) -> Held {
    Held::all(p.windows().into_iter().flat_map(|window| Delivery::ALL.map(|delivery| (window, delivery))).map(
        |(window, delivery)| {
            let counts = p.run(delivery, window);
            let what = |what: &str| format!("{what}, {} in {window} rounds", delivery.name());
            Held::all([
                Held::equal(what("started"), counts.total, p.started(window)),
                Held::at_most(what("ended"), counts.completed + counts.discarded, counts.total),
                Held::provided(p.has_rounds_enough(window), || {
                    Held::equal(what("ended"), counts.completed + counts.discarded, counts.total)
                }),
            ])
        },
    ))
}

fn no_failover_no_damage(p: &Parameters) -> Held {
    let calm = Parameters { failover_round: p.rounds + 1, ..p.clone() };
    let every_step = calm.workflow.steps() as u64;
    // What starts in the last rounds does not end in them.
    let ending = calm.start_until.min(calm.rounds.saturating_sub(every_step));
    Held::all(Delivery::ALL.map(|delivery| {
        let counts = calm.run(delivery, calm.measured_rounds());
        Held::all([
            Held::equal(delivery.name(), counts.damage(), [0; 3]),
            Held::provided(every_step > 0, || {
                Held::equal("completed", counts.completed, ending * calm.workflows_a_round)
            }),
        ])
    }))
}

/// As the lesson argues, from a window of 19 rounds to the plan's of 6.
fn longer_window_more_half_done(p: &Parameters) -> Held {
    let [shorter, longer] = p.windows();
    let half_done = |window| p.run(Delivery::AtLeastOnce, window).restarted;
    Held::provided(shorter < longer && half_done(longer) > 0, || {
        let (shorter, longer) = (half_done(shorter), half_done(longer));
        Held::that(shorter < longer, || format!("half done in the shorter window {shorter}, in the longer {longer}"))
    })
}

/// Whatever the window: what is under way when it begins, and no more.
fn damage_falls_with_the_first_round(p: &Parameters) -> Held {
    let size = p.workflows_a_round;
    let half_done = p.half_done();
    let effects: Vec<u64> = half_done.iter().map(|done| p.workflow.side_effects(*done)).collect();
    let interrupted = size * half_done.len() as u64;
    let duplicated = size * effects.iter().sum::<u64>();
    let orphaned = size * effects.iter().filter(|effects| **effects > 0).count() as u64;
    Held::all([0, 1].into_iter().chain(p.windows()).map(|window| {
        let damage = Delivery::ALL.map(|delivery| p.run(delivery, window).damage());
        let expected = [[interrupted, duplicated, 0], [interrupted, 0, orphaned]];
        Held::equal(format!("interrupted, duplicated, orphaned in {window} rounds"), damage, expected)
    }))
}

/// At least once discards nothing, at most once repeats nothing, and what one repeats the other gives up.
fn repeated_or_given_up(p: &Parameters) -> Held {
    Held::all(p.windows().map(|window| {
        let [least, most] = Delivery::ALL.map(|delivery| p.run(delivery, window));
        Held::all([
            Held::equal("given up at least once", (least.discarded, least.orphaned), (0, 0)),
            Held::equal("repeated at most once", (most.restarted, most.duplicated_side_effects), (0, 0)),
            Held::equal("started", most.total, least.total),
            Held::equal("given up where the other repeats", most.discarded, least.restarted),
            Held::at_most("orphaned, beside duplicated side effects", most.orphaned, least.duplicated_side_effects),
            Held::at_most("orphaned, beside discarded", most.orphaned, most.discarded),
        ])
    }))
}

/// Workflows that leave nothing behind can be repeated or given up; those of one step are never half done.
fn no_side_effects_no_damage(p: &Parameters) -> Held {
    let mut harmless = p.clone();
    harmless.workflow.0.iter_mut().for_each(|step| step.side_effect = false);
    let mut single = p.clone();
    single.workflow.0.truncate(1);
    Held::all(Delivery::ALL.map(|delivery| {
        let [_, duplicated, orphaned] = harmless.run(delivery, p.measured_rounds()).damage();
        Held::all([
            Held::equal("duplicated and orphaned without side effects", [duplicated, orphaned], [0; 2]),
            Held::equal("damage to single steps", single.run(delivery, p.measured_rounds()).damage(), [0; 3]),
        ])
    }))
}

/// Where no step is faster than planned, the drill can only break an objective, and a longer one never before a
/// shorter one.
fn slower_steps_only_break_objectives(p: &Parameters) -> Held {
    Held::provided(p.steps.iter().all(|step| step.measured >= step.planned), || {
        let report = p.report();
        let holds = |by: &str| -> Vec<f64> {
            let holds = |seconds: &&f64| {
                let name = format!("objective.seconds_{}.holds_by_{by}", segment(**seconds));
                report.facts.iter().any(|(fact, value)| *fact == name && *value == Fact::Flag(true))
            };
            p.objectives.iter().filter(holds).copied().collect()
        };
        let (by_plan, by_drill) = (holds("plan"), holds("drill"));
        let broken_by_plan = by_drill.iter().find(|seconds| !by_plan.contains(seconds));
        let shortest = by_drill.iter().copied().fold(f64::INFINITY, f64::min);
        let broken = p.objectives.iter().find(|seconds| **seconds > shortest && !by_drill.contains(seconds));
        Held::all([
            Held::equal("an objective that holds by drill and breaks by plan", broken_by_plan, None),
            Held::equal("one that breaks although a shorter one holds", broken, None),
        ])
    })
}
