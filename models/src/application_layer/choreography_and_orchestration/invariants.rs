//! What two ways of driving a workflow have in common, what they cost, and what compensation leaves behind.

use super::{CHOREOGRAPHY, Failure, Fate, Outcome, Parameters, Step, Style};
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;
use std::slice::from_ref;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "effects-once-or-accounted-for", check: effects_once_or_accounted_for },
        Invariant { id: "complete-chain-leaves-all-or-nothing", check: complete_chain_leaves_all_or_nothing },
        Invariant { id: "all-or-nothing-exactly-if", check: all_or_nothing_exactly_if },
        Invariant { id: "last-step-undone-first", check: last_step_undone_first },
        Invariant { id: "styles-leave-the-same", check: styles_leave_the_same },
        Invariant { id: "every-step-counted-once", check: every_step_counted_once },
        Invariant { id: "missing-subscriptions-exact", check: missing_subscriptions_exact },
        Invariant { id: "missing-subscription-spoils-every-failed-job", check: missing_subscription_spoils_all },
        Invariant { id: "every-compensating-unit-can-gap", check: every_compensating_unit_can_gap },
        Invariant { id: "compensating-units-but-the-last-can-gap", check: compensating_units_but_the_last_can_gap },
        Invariant { id: "orchestration-always-more-messages", check: orchestration_always_more_messages },
        Invariant { id: "orchestration-doubles-all-but-the-start", check: orchestration_doubles_all_but_the_start },
        Invariant { id: "no-failure-no-compensation", check: no_failure_no_compensation },
        Invariant { id: "appended-step-costs-completed-jobs", check: appended_step_costs_completed_jobs },
        Invariant { id: "failures-scale-linearly", check: failures_scale_linearly },
        Invariant { id: "excess-is-the-printed-share", check: excess_is_the_printed_share },
        Invariant { id: "excess-is-less-than-half", check: excess_is_less_than_half },
    ]
}

/// Each subset of so many services is tried; of a longer workflow, those of its first ones.
const MOST_SUBSET_SERVICES: usize = 6;

impl Parameters {
    /// Services without a subscription to cancellations, in every combination.
    fn missing_sets(&self) -> Vec<Vec<String>> {
        let services: Vec<&String> = self.steps.iter().map(|step| &step.service).take(MOST_SUBSET_SERVICES).collect();
        let chosen = |set: usize| services.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1);
        (0..1 << services.len()).map(|set| chosen(set).map(|(_, service)| (*service).clone()).collect()).collect()
    }

    /// A check in orchestration, and in choreography with every combination of missing subscriptions.
    fn each_style(&self, mut check: impl FnMut(Style<'_>) -> Held) -> Held {
        let missing_sets = self.missing_sets();
        let choreographies = missing_sets.iter().map(|missing| Style::Choreography { missing_subscribers: missing });
        Held::all(choreographies.chain([Style::Orchestration]).map(&mut check))
    }

    /// The workflow with a single job, which fails at a step, or at none.
    fn single_job(&self, fails_at: Option<&Step>) -> Self {
        let job = "single".to_owned();
        let failure = fails_at.map(|step| Failure { job: job.clone(), step: step.name.clone() });
        Self { jobs: vec![job], failures: failure.into_iter().collect(), ..self.clone() }
    }

    /// A single job that fails at the first step, one that fails at the second, and so on.
    fn failing_at_each(&self) -> Vec<Self> {
        self.steps.iter().map(|step| self.single_job(Some(step))).collect()
    }

    /// For each failing job, how many steps it commits.
    fn committed_by_failing(&self) -> Vec<usize> {
        let place = |failure: &Failure| self.steps.iter().position(|step| step.name == failure.step);
        self.failures.iter().filter_map(place).collect()
    }

    /// A compensable step whose service does not listen.
    fn is_gap(step: &Step, style: Style) -> bool {
        step.compensable && !style.reaches(step)
    }
}

impl Outcome<'_> {
    /// All that a run leaves behind, but for its messages.
    fn left(&self) -> (u64, u64, u64, u64, u64, &[u64]) {
        (self.completed, self.steps, self.compensated, self.uncompensated, self.half_finished(), &self.writes)
    }
}

/// A ledger of one job: each step's write is 0 or 1, and says with the fates which of the three it is.
fn effects_once_or_accounted_for(p: &Parameters) -> Held {
    let (completed, failing) = (p.single_job(None), p.failing_at_each());
    p.each_style(|style| {
        let fails = failing.iter().enumerate().map(|(committed, failing)| {
            let run = failing.run(style);
            let mut expected = vec![0; p.steps.len()];
            let mut left_open = 0;
            for (step, fate) in failing.undo_each(style, committed) {
                expected[step] = u64::from(fate != Fate::Undone);
                left_open += u64::from(fate == Fate::LeftOpen);
            }
            Held::all([
                Held::equal(format!("writes after a failure behind {committed}"), &run.writes, &expected),
                Held::equal("left open, as reported", run.uncompensated, left_open),
            ])
        });
        let kept = Held::equal("writes of a completed job", completed.run(style).writes, vec![1; p.steps.len()]);
        Held::all(fails.chain([kept]))
    })
}

/// Some failing step leaves a write of a job that did not complete.
fn leaves_a_write(failing_at_each: &[Parameters], style: Style) -> bool {
    failing_at_each.iter().any(|failing| failing.run(style).writes.iter().any(|writes| *writes > 0))
}

fn complete_chain_leaves_all_or_nothing(p: &Parameters) -> Held {
    let failing = p.failing_at_each();
    Held::all([CHOREOGRAPHY, Style::Orchestration].map(|style| {
        Held::equal(format!("a failed job leaves a write, {style:?}"), leaves_a_write(&failing, style), false)
    }))
}

/// Behind the last step nothing can fail any more.
fn all_or_nothing_exactly_if(p: &Parameters) -> Held {
    let failing = p.failing_at_each();
    p.each_style(|style| {
        let may_stay = |step: &Step| !step.compensable || Parameters::is_gap(step, style);
        let expected = p.steps.iter().rev().skip(1).any(may_stay);
        Held::equal(format!("a failed job leaves a write, {style:?}"), leaves_a_write(&failing, style), expected)
    })
}

fn last_step_undone_first(p: &Parameters) -> Held {
    p.each_style(|style| {
        Held::all((0..=p.steps.len()).map(|committed| {
            let order: Vec<usize> = p.undo_each(style, committed).map(|(step, _)| step).collect();
            let increasing = order.windows(2).find(|pair| pair[0] <= pair[1]);
            Held::all([
                Held::equal("steps of which a rollback decides", order.len(), committed),
                Held::equal("a step before a later one", increasing, None),
            ])
        }))
    })
}

fn styles_leave_the_same(p: &Parameters) -> Held {
    let (choreography, orchestration) = (p.run(CHOREOGRAPHY), p.run(Style::Orchestration));
    Held::equal("all but the messages", choreography.left(), orchestration.left())
}

/// Jobs and committed steps against the writes that stand, service by service.
fn every_step_counted_once(p: &Parameters) -> Held {
    let committed = p.committed_by_failing();
    let completed = p.jobs.len() - committed.len();
    let steps = completed * p.steps.len() + committed.iter().sum::<usize>();
    p.each_style(|style| {
        let run = p.run(style);
        let irreversible = |committed: &usize| p.steps[..*committed].iter().filter(|step| !step.compensable).count();
        let stay = committed.iter().map(irreversible).sum::<usize>() as u64;
        Held::all([
            Held::equal("completed jobs", run.completed, completed as u64),
            Held::equal("committed steps", run.steps, steps as u64),
            Held::equal("steps less the compensated", run.writes.iter().sum(), run.steps - run.compensated),
            Held::equal(
                "writes of completed jobs, left open, and irreversible",
                run.writes.iter().sum(),
                run.completed * p.steps.len() as u64 + run.uncompensated + stay,
            ),
        ])
    })
}

/// What gaps change against the complete chain, from the places of the failures alone.
fn missing_subscriptions_exact(p: &Parameters) -> Held {
    let complete = p.run(CHOREOGRAPHY);
    let committed = p.committed_by_failing();
    p.each_style(|style| {
        let Style::Choreography { .. } = style else { return Held::Vacuous };
        let run = p.run(style);
        let gaps = |committed: &usize| p.steps[..*committed].iter().filter(|s| Parameters::is_gap(s, style)).count();
        let open = committed.iter().map(gaps).sum::<usize>() as u64;
        let spoiled = committed.iter().filter(|committed| gaps(committed) > 0).count() as u64;
        let past = |place: usize| committed.iter().filter(|committed| **committed > place).count() as u64;
        let extra = |(i, step)| if Parameters::is_gap(step, style) { past(i) } else { 0 };
        let writes: Vec<u64> =
            p.steps.iter().enumerate().zip(&complete.writes).map(|(step, writes)| writes + extra(step)).collect();
        Held::all([
            Held::equal("uncompensated steps", run.uncompensated, open),
            Held::equal("half-finished jobs", run.half_finished(), spoiled),
            Held::equal("compensated and not", run.compensated + run.uncompensated, complete.compensated),
            Held::equal("messages, with those not sent", run.messages + open, complete.messages),
            Held::equal("completed, steps", (run.completed, run.steps), (complete.completed, complete.steps)),
            Held::equal("writes that stand", run.writes, writes),
        ])
    })
}

/// As the lesson scales it: one missing subscription, and as many half-finished jobs as failed ones.
fn missing_subscription_spoils_all(p: &Parameters) -> Held {
    let [_, (_, missing), _] = p.styles().map(|(name, style)| (name, p.run(style)));
    Held::equal("half-finished jobs", missing.half_finished(), p.failures.len() as u64)
}

/// Services whose missing subscription alone leaves some failing job half-finished.
fn gaps(p: &Parameters) -> usize {
    let failing = p.failing_at_each();
    let spoils = |step: &&Step| {
        let style = Style::Choreography { missing_subscribers: from_ref(&step.service) };
        failing.iter().any(|failing| failing.run(style).half_finished() > 0)
    };
    p.steps.iter().filter(spoils).count()
}

fn compensating_units(p: &Parameters) -> usize {
    p.structure(CHOREOGRAPHY).into_iter().find(|(name, _)| *name == "compensation_units").map_or(0, |(_, units)| units)
}

fn every_compensating_unit_can_gap(p: &Parameters) -> Held {
    Held::equal("services that can leave a job half-finished", gaps(p), compensating_units(p))
}

fn compensating_units_but_the_last_can_gap(p: &Parameters) -> Held {
    let last = p.steps.last().filter(|step| step.compensable).iter().count();
    Held::equal("services that can leave a job half-finished", gaps(p), compensating_units(p) - last)
}

fn orchestration_always_more_messages(p: &Parameters) -> Held {
    let (choreography, orchestration) = (p.run(CHOREOGRAPHY).messages, p.run(Style::Orchestration).messages);
    Held::that(orchestration > choreography, || format!("orchestration {orchestration}, choreography {choreography}"))
}

/// So fewer messages never, and as many where no job commits a step that another one follows.
fn orchestration_doubles_all_but_the_start(p: &Parameters) -> Held {
    let (choreography, orchestration) = (p.run(CHOREOGRAPHY).messages, p.run(Style::Orchestration).messages);
    let all_end_at_once = p.steps.len() == 1 || p.run(CHOREOGRAPHY).steps == 0;
    Held::all([
        Held::equal("messages of orchestration", orchestration, 2 * (choreography - p.jobs.len() as u64)),
        Held::at_most("messages of choreography", choreography, orchestration),
        Held::equal("as many messages", choreography == orchestration, all_end_at_once),
    ])
}

fn no_failure_no_compensation(p: &Parameters) -> Held {
    let p = Parameters { failures: Vec::new(), ..p.clone() };
    let (jobs, steps) = (p.jobs.len() as u64, p.steps.len() as u64);
    p.each_style(|style| {
        let run = p.run(style);
        let messages = match style {
            Style::Choreography { .. } => jobs * (steps + 1),
            Style::Orchestration => jobs * 2 * steps,
        };
        Held::all([
            Held::equal("messages", run.messages, messages),
            Held::equal("what is left", run.left(), (jobs, jobs * steps, 0, 0, 0, &vec![jobs; p.steps.len()][..])),
        ])
    })
}

/// A step behind the last: what failed before fails as before, and a completed job needs its messages.
fn appended_step_costs_completed_jobs(p: &Parameters) -> Held {
    let name = p.steps.iter().map(|step| format!("{}{}", step.name, step.service)).collect::<String>();
    let appended = Step { service: name.clone(), name, compensable: false };
    let longer = Parameters { steps: p.steps.iter().cloned().chain([appended]).collect(), ..p.clone() };
    p.each_style(|style| {
        let (before, after) = (p.run(style), longer.run(style));
        let changed = match style {
            Style::Choreography { .. } => 1,
            Style::Orchestration => 2,
        };
        let writes: Vec<u64> = before.writes.iter().copied().chain([before.completed]).collect();
        Held::all([
            Held::equal("messages", after.messages, before.messages + changed * before.completed),
            Held::equal(
                "compensated, not compensated, half-finished",
                (after.compensated, after.uncompensated, after.half_finished()),
                (before.compensated, before.uncompensated, before.half_finished()),
            ),
            Held::equal("writes that stand", after.writes, writes),
        ])
    })
}

/// Doubling is exact in binary: no sum is rounded another way.
fn failures_scale_linearly(p: &Parameters) -> Held {
    let rows = |share: f64| -> Vec<f64> {
        let report = Parameters { failure_shares: vec![share], ..p.clone() }.report();
        let figures = report.figures().filter(|figure| figure.name.starts_with("cost.kk2_"));
        figures.filter_map(|figure| figure.value.as_f64()).collect()
    };
    Held::provided(!p.failures.is_empty(), || {
        Held::all(p.failure_shares.iter().map(|share| {
            let doubled: Vec<f64> = rows(share / 2.0).into_iter().map(|number| 2.0 * number).collect();
            Held::equal(format!("a day's failures at {share}"), rows(*share), doubled)
        }))
    })
}

impl Parameters {
    fn flows(&self) -> [f64; 2] {
        [CHOREOGRAPHY, Style::Orchestration].map(|style| self.messages_a_second(&self.run(style)))
    }

    fn has_flow(&self) -> bool {
        self.workflows_a_day > 0.0 && self.peak_write > 0.0
    }
}

/// A difference of flows, and a share of it: close, not equal.
fn excess_is_the_printed_share(p: &Parameters) -> Held {
    Held::provided(p.has_flow(), || {
        let [choreography, orchestration] = p.flows();
        let printed = p.share_of_peak_write(orchestration);
        Held::close("percent of the peak", p.share_of_peak_write(orchestration - choreography), printed)
    })
}

/// One message a job less than half of orchestration's flow; from sums in another order, so close, not equal.
fn excess_is_less_than_half(p: &Parameters) -> Held {
    Held::provided(p.has_flow(), || {
        let [choreography, orchestration] = p.flows();
        let starts = p.workflows_a_day / p.window_seconds();
        Held::close("excess a second", orchestration - choreography, orchestration / 2.0 - starts)
    })
}
