//! What must hold of every rollback, for any workflow and any luck of the compensating calls.

use super::{Compensator, Fate, Parameters, Rollback, Step};
use crate::figures::Number;
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;
use crate::random::Congruential;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-effect-once", check: every_effect_once },
        Invariant { id: "dependents-undone-first", check: dependents_undone_first },
        Invariant { id: "completed-steps-accounted-for", check: completed_steps_accounted_for },
        Invariant { id: "orderings-keep-dependencies", check: orderings_keep_dependencies },
        Invariant { id: "position-alone-decides", check: position_alone_decides },
        Invariant { id: "irreversible-last-leaves-nothing", check: irreversible_last_leaves_nothing },
        Invariant { id: "irreversible-last-or-required", check: irreversible_last_or_required },
        Invariant { id: "more-attempts-fewer-stuck", check: more_attempts_fewer_stuck },
        Invariant { id: "attempts-bound-calls", check: attempts_bound_calls },
        Invariant { id: "certain-compensation", check: certain_compensation },
        Invariant { id: "no-failed-workflow-no-cost", check: no_failed_workflow_no_cost },
    ]
}

/// So many orderings are looked at; a workflow without dependencies has thousands that differ in nothing.
const ORDERINGS: usize = 60;

impl Parameters {
    /// Every rollback that can be asked for: each ordering, failing at each step, at each number of attempts.
    fn each_rollback(&self, mut check: impl FnMut(&[&Step], &mut Compensator<'_>) -> Held) -> Held {
        let mut random = Congruential::new(self.seed);
        let failure = self.compensation_failure;
        for ordering in self.orderings().iter().take(ORDERINGS) {
            for completed in 0..ordering.len() {
                for &attempts in &self.attempts {
                    let mut compensator = Compensator { failure, attempts, random: &mut random };
                    let held = check(&ordering[..completed], &mut compensator);
                    if let Held::Broken(_) = held {
                        return held;
                    }
                }
            }
        }
        Held::Holds
    }

    fn reversible(steps: &[&Step]) -> u64 {
        steps.iter().filter(|step| step.compensation.is_some()).count() as u64
    }
}

/// A ledger of effects: a completed step is 1, an undone one 0; what stays at 1 is reported as stuck or irreversible.
fn every_effect_once(p: &Parameters) -> Held {
    p.each_rollback(|completed, compensator| {
        let mut ledger: BTreeMap<&str, i64> = BTreeMap::new();
        for step in completed {
            *ledger.entry(&step.name).or_default() += 1;
        }
        let mut reported = Vec::new();
        for (step, fate, _) in compensator.undo_each(completed) {
            match fate {
                Fate::Undone => *ledger.entry(&step.name).or_default() -= 1,
                Fate::Stuck | Fate::Irreversible => reported.push((step.name.as_str(), 1)),
            }
        }
        reported.sort_unstable();
        let standing: Vec<(&str, i64)> = ledger.into_iter().filter(|(_, effect)| *effect != 0).collect();
        Held::equal("effects that stay, beside those that are reported", standing, reported)
    })
}

fn dependents_undone_first(p: &Parameters) -> Held {
    p.each_rollback(|completed, compensator| {
        let order: Vec<&Step> = compensator.undo_each(completed).map(|(step, ..)| step).collect();
        let too_early = order
            .iter()
            .enumerate()
            .find(|(i, step)| order.iter().skip(i + 1).any(|later| later.requires.contains(&step.name)));
        let too_early = too_early.map(|(_, step)| &step.name);
        Held::equal("rolled back before what requires it", too_early, None)
    })
}

/// Each completed step is undone, stuck or irreversible, and takes a round; each further attempt takes one more.
fn completed_steps_accounted_for(p: &Parameters) -> Held {
    p.each_rollback(|completed, compensator| {
        let rollback = compensator.roll_back(completed);
        let (reversible, calls) = (Parameters::reversible(completed), rollback.compensating_calls);
        let first_calls = if compensator.attempts == 0 { 0 } else { reversible };
        Held::all([
            Held::equal("irreversible steps", rollback.uncompensated, completed.len() as u64 - reversible),
            Held::at_most("stuck steps", rollback.stuck, reversible),
            Held::at_most("calls of stuck steps", rollback.stuck * compensator.attempts, calls),
            Held::at_most("first calls", first_calls, calls),
            Held::at_most("calls", calls, compensator.attempts * reversible),
            Held::equal("rounds", rollback.rounds, completed.len() as u64 + calls - first_calls),
        ])
    })
}

fn orderings_keep_dependencies(p: &Parameters) -> Held {
    let orderings: Vec<Vec<&str>> =
        p.orderings().iter().map(|ordering| ordering.iter().map(|step| step.name.as_str()).collect()).collect();
    let distinct: BTreeSet<&Vec<&str>> = orderings.iter().collect();
    let early = p.orderings().into_iter().find(|ordering| {
        let done = |i: usize, name: &String| ordering[..i].iter().any(|step| step.name == *name);
        ordering.iter().enumerate().any(|(i, step)| !step.requires.iter().all(|name| done(i, name)))
    });
    let early = early.map(|ordering| ordering.iter().map(|step| step.name.clone()).collect::<Vec<_>>());
    let all: usize = (1..=p.steps.len()).product();
    let free = p.steps.iter().all(|step| step.requires.is_empty());
    Held::all([
        Held::equal("an ordering with a step before what it requires", early, None),
        Held::equal("different orderings", distinct.len(), orderings.len()),
        Held::at_most("orderings", orderings.len(), all),
        Held::provided(free, || Held::equal("orderings without dependencies", orderings.len(), all)),
    ])
}

fn left_standing(p: &Parameters, ordering: &super::Ordering<'_>) -> u64 {
    p.failures_at_each_step(ordering).iter().map(|rollback: &Rollback| rollback.uncompensated).sum()
}

/// Failing once at each step, an irreversible step is left standing by every step behind it.
fn position_alone_decides(p: &Parameters) -> Held {
    Held::all(p.orderings().iter().take(ORDERINGS).map(|ordering| {
        let behind = (0..).zip(ordering.iter().rev()).filter(|(_, step)| step.compensation.is_none());
        let expected = behind.map(|(behind, _)| behind).sum::<u64>();
        Held::equal("effects left standing", left_standing(p, ordering), expected)
    }))
}

fn fewest(p: &Parameters) -> u64 {
    p.orderings().iter().map(|ordering| left_standing(p, ordering)).min().unwrap_or(0)
}

fn irreversible_last_leaves_nothing(p: &Parameters) -> Held {
    Held::equal("effects that the best ordering leaves standing", fewest(p), 0)
}

/// The best ordering leaves an effect standing only where a later step forces it: each irreversible step in it has
/// only such steps behind it as are irreversible themselves or come, directly or not, after an irreversible one.
fn irreversible_last_or_required(p: &Parameters) -> Held {
    let orderings = p.orderings();
    let Some(best) = orderings.iter().min_by_key(|ordering| left_standing(p, ordering)) else {
        return Held::Vacuous;
    };
    let mut forced: BTreeSet<&str> = BTreeSet::new();
    for step in best {
        if step.compensation.is_none() || step.requires.iter().any(|name| forced.contains(name.as_str())) {
            forced.insert(&step.name);
        }
    }
    let behind = best.iter().skip_while(|step| step.compensation.is_some());
    let needless: Vec<&str> = behind.map(|step| step.name.as_str()).filter(|name| !forced.contains(name)).collect();
    Held::equal("steps that needlessly stand behind an irreversible one", needless, Vec::new())
}

fn more_attempts_fewer_stuck(p: &Parameters) -> Held {
    let Some(ordering) = p.orderings().into_iter().next() else { return Held::Vacuous };
    let stuck = |attempts| p.measure(&ordering, attempts).stuck_jobs;
    Held::all(p.attempts.iter().map(|&attempts| {
        let (fewer, more) = (stuck(attempts), stuck(attempts + 1));
        Held::at_most(format!("stuck jobs at {} attempts, beside {attempts}", attempts + 1), more, fewer)
    }))
}

/// Whatever the luck: the measured calls, rounds and stuck jobs are bounded by the attempts.
fn attempts_bound_calls(p: &Parameters) -> Held {
    let Some(ordering) = p.orderings().into_iter().next() else { return Held::Vacuous };
    let sum = |count: fn(&[&Step]) -> u64| -> u64 {
        (0..p.runs as usize).map(|run| count(&ordering[..run % ordering.len()])).sum()
    };
    let (completed, reversible) = (sum(|steps| steps.len() as u64), sum(Parameters::reversible));
    let jobs_to_roll_back = sum(|steps| u64::from(Parameters::reversible(steps) > 0));
    Held::all(p.attempts.iter().map(|&attempts| {
        let measured = p.measure(&ordering, attempts);
        let (calls, first_calls) = (measured.compensating_calls, reversible * attempts.min(1));
        Held::all([
            Held::at_most("first calls", first_calls, calls),
            Held::at_most("calls", calls, reversible * attempts),
            Held::equal("rounds", measured.rounds, completed + calls - first_calls),
            Held::at_most("stuck jobs", measured.stuck_jobs, jobs_to_roll_back),
            Held::at_most("calls of stuck jobs", measured.stuck_jobs * attempts, calls),
        ])
    }))
}

/// Where no compensation fails, one call each and nothing stuck; where all do, every attempt and all stuck.
fn certain_compensation(p: &Parameters) -> Held {
    let never = Parameters { compensation_failure: 0.0, ..p.clone() };
    let always = Parameters { compensation_failure: 1.0, ..p.clone() };
    Held::all([
        never.each_rollback(|completed, compensator| {
            let (reversible, rollback) = (Parameters::reversible(completed), compensator.roll_back(completed));
            match compensator.attempts {
                0 => Held::equal(
                    "stuck without an attempt",
                    (rollback.stuck, rollback.compensating_calls),
                    (reversible, 0),
                ),
                _ => Held::equal("stuck, calls", (rollback.stuck, rollback.compensating_calls), (0, reversible)),
            }
        }),
        always.each_rollback(|completed, compensator| {
            let (reversible, rollback) = (Parameters::reversible(completed), compensator.roll_back(completed));
            let found = (rollback.stuck, rollback.compensating_calls);
            Held::equal("stuck, calls", found, (reversible, reversible * compensator.attempts))
        }),
    ])
}

/// What remains is having a compensation for every step of every workflow.
fn no_failed_workflow_no_cost(p: &Parameters) -> Held {
    let report = Parameters { workflow_failure: 0.0, ..p.clone() }.report();
    let yearly_or_daily = |name: &str| name.ends_with("_a_day") || name.ends_with("_a_year");
    let costs = report.figures().filter(|figure| yearly_or_daily(&figure.name));
    Held::all(costs.map(|figure| match (figure.name.as_str(), figure.value) {
        ("compensation_paths_a_day", Number::Integer(paths)) => {
            let all: Vec<&Step> = p.steps.iter().collect();
            Held::equal("compensation paths", paths as u64, p.invoice_lines * Parameters::reversible(&all))
        }
        (name, value) => Held::equal(name, value.as_f64(), Some(0.0)),
    }))
}
