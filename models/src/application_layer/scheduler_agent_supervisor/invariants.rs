//! What a supervisor settles, how late and at what price, for any jobs that stall or fail for good.

use super::{Job, Parameters, Run, State, Trouble};
use crate::invariants::{Held, Invariant};
use crate::parameters::Lesson;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "event-by-event-agrees", check: event_by_event_agrees },
        Invariant { id: "effects-once-if-idempotent", check: effects_once_if_idempotent },
        Invariant { id: "given-up-leaves-nothing", check: given_up_leaves_nothing },
        Invariant { id: "second-runs-are-the-reached-stalls", check: second_runs_are_the_reached_stalls },
        Invariant { id: "wasted-are-second-runs", check: wasted_are_second_runs },
        Invariant { id: "wasted-hit-every-step", check: wasted_hit_every_step },
        Invariant { id: "every-start-ends-once", check: every_start_ends_once },
        Invariant { id: "redriven-are-driven-again", check: redriven_are_driven_again },
        Invariant { id: "steps-run-count-the-wasted", check: steps_run_count_the_wasted },
        Invariant { id: "no-trouble-no-cost", check: no_trouble_no_cost },
        Invariant { id: "unsupervised-troubled-never-end", check: unsupervised_troubled_never_end },
        Invariant { id: "half-finished-add-up", check: half_finished_add_up },
        Invariant { id: "half-finished-are-workflows", check: half_finished_are_workflows },
        Invariant { id: "half-finished-bound-any-luck", check: half_finished_bound_any_luck },
        Invariant { id: "every-job-is-settled", check: every_job_is_settled },
        Invariant { id: "stalled-job-is-recovered", check: stalled_job_is_recovered },
        Invariant { id: "interval-changes-when-not-what", check: interval_changes_when_not_what },
        Invariant { id: "recovery-bounded-by-lease-and-interval", check: recovery_bounded_by_lease_and_interval },
        Invariant { id: "longer-interval-never-sooner", check: longer_interval_never_sooner },
        Invariant { id: "doubled-interval-never-sooner", check: doubled_interval_never_sooner },
        Invariant { id: "doubled-interval-halves-reads", check: doubled_interval_halves_reads },
    ]
}

/// A run that would look at a job more often is not extended until all jobs are settled.
const MOST_LOOKS: u64 = 200_000;

impl Parameters {
    /// No result is waited for in the round of its start.
    fn lease_or_one(&self) -> u64 {
        self.lease.max(1)
    }

    /// The run at a scan interval with rounds for every job to be settled: each expired lease takes one and an interval.
    fn settled(&self, scan: u64) -> Option<Run> {
        let expiry = self.lease_or_one() + scan;
        let rounds = self.steps.len() as u64 + 1 + (self.attempts + 1) * expiry;
        let quick = self.attempts > 0 && rounds.saturating_mul(self.jobs as u64) <= MOST_LOOKS;
        quick.then(|| Self { rounds, ..self.clone() }.run(Some(scan)))
    }

    fn when_settled(&self, check: impl FnOnce(&Run) -> Held) -> Held {
        self.settled(self.scan).map_or(Held::Vacuous, |run| check(&run))
    }

    fn at_intervals(&self, scans: [u64; 2], check: impl FnOnce(&Run, &Run) -> Held) -> Held {
        match scans.map(|scan| self.settled(scan)) {
            [Some(one), Some(other)] => check(&one, &other),
            _ => Held::Vacuous,
        }
    }

    fn jobs_of(troubles: &[Trouble]) -> BTreeSet<usize> {
        troubles.iter().map(|trouble| trouble.job).collect()
    }

    fn place(&self, trouble: &Trouble) -> Option<usize> {
        self.steps.iter().position(|step| *step == trouble.step)
    }

    /// Jobs that stall, each with the place of the step, unless they fail for good there or before.
    fn reached_stalls(&self) -> Vec<(usize, usize)> {
        let fails_at = |job| self.persistent.iter().find(|failing| failing.job == job).and_then(|f| self.place(f));
        let stalls = self.stalled.iter().filter_map(|trouble| Some((trouble.job, self.place(trouble)?)));
        stalls.filter(|(job, place)| fails_at(*job).is_none_or(|failing| *place < failing)).collect()
    }
}

/// How a job ends, found from one event to the next: no round in which nothing happens is looked at.
fn follow(p: &Parameters, number: usize, scan: Option<u64>, recovery: &mut Vec<u64>) -> Job {
    let mut job = Job { number, done: 0, sent_back: 0, state: State::Waiting };
    let mut now = 1;
    while now <= p.rounds {
        if job.done == p.steps.len() || job.sent_back >= p.attempts {
            job.state = if job.done == p.steps.len() { State::Done } else { State::Compensated };
            break;
        }
        job.state = State::Running { since: now };
        let fails = p.is_in(&p.persistent, &job) || (p.is_in(&p.stalled, &job) && job.sent_back == 0);
        now = match scan {
            _ if !fails => now + 1,
            Some(interval) => (now + p.lease_or_one()).next_multiple_of(interval),
            None => break,
        };
        if now > p.rounds {
            break;
        }
        if let (true, State::Running { since }) = (fails, job.state) {
            recovery.push(now - since - 1);
            job.sent_back += 1;
        } else {
            job = Job { done: job.done + 1, sent_back: 0, ..job };
        }
    }
    job
}

fn event_by_event_agrees(p: &Parameters) -> Held {
    Held::all([None, Some(p.scan), Some(p.scan + 1)].map(|scan| {
        let run = p.run(scan);
        let mut recovery = Vec::new();
        let jobs: Vec<Job> = (1..=p.jobs).map(|number| follow(p, number, scan, &mut recovery)).collect();
        let settled = p.rounds > 0 && jobs.iter().all(|job| job.state.is_settled());
        let last = if settled { run.last_round } else { p.rounds };
        let reads = scan.map_or(0, |interval| last / interval * p.jobs as u64);
        let mut found = run.recovery.clone();
        found.sort_unstable();
        recovery.sort_unstable();
        Held::all([
            Held::equal(format!("the record, {scan:?}"), &run.jobs, &jobs),
            Held::equal("rounds to recovery", found, recovery),
            Held::equal("records read", run.records_read, reads),
        ])
    }))
}

/// A ledger of what the agent did and compensation undid: applications of each job's step, and whether it was undone.
fn ledger(run: &Run) -> BTreeMap<(usize, usize), (u64, bool)> {
    let mut ledger: BTreeMap<(usize, usize), (u64, bool)> = BTreeMap::new();
    for job in &run.jobs {
        (0..job.done).for_each(|step| {
            ledger.insert((job.number, step), (1, job.state == State::Compensated));
        });
    }
    run.unrecorded.iter().for_each(|effect| ledger.entry(*effect).or_default().0 += 1);
    ledger
}

/// A job that is done leaves the effects of all its steps, however often each was applied; any other leaves none.
fn all_or_nothing(p: &Parameters, run: &Run) -> Held {
    let mut standing: BTreeMap<usize, usize> = BTreeMap::new();
    for ((number, _), _) in ledger(run).into_iter().filter(|(_, (_, undone))| !undone) {
        *standing.entry(number).or_default() += 1;
    }
    Held::all(run.jobs.iter().map(|job| {
        let expected = if job.state == State::Done { p.steps.len() } else { 0 };
        let found = standing.get(&job.number).copied().unwrap_or(0);
        Held::equal(format!("standing effects of {job:?}"), found, expected)
    }))
}

fn effects_once_if_idempotent(p: &Parameters) -> Held {
    Held::provided(p.attempts >= 2 && p.jobs > 0, || {
        p.when_settled(|run| {
            let undone = ledger(run).values().filter(|(_, undone)| *undone).count() as u64;
            Held::all([all_or_nothing(p, run), Held::equal("compensated steps", run.compensated_steps, undone)])
        })
    })
}

fn given_up_leaves_nothing(p: &Parameters) -> Held {
    p.when_settled(|run| all_or_nothing(p, run))
}

/// Jobs and steps that were done twice; none is done more often.
fn second_runs(run: &Run) -> Vec<(usize, usize)> {
    let effects = ledger(run).into_iter();
    effects.flat_map(|(effect, (times, _))| (1..times).map(move |_| effect)).collect()
}

fn second_runs_are_the_reached_stalls(p: &Parameters) -> Held {
    Held::provided(p.attempts >= 2, || {
        p.when_settled(|run| {
            let mut expected = p.reached_stalls();
            expected.sort_unstable();
            let failing: BTreeSet<(usize, Option<usize>)> = p.persistent.iter().map(|t| (t.job, p.place(t))).collect();
            let apart = p.stalled.iter().all(|trouble| !failing.contains(&(trouble.job, p.place(trouble))));
            Held::all([
                Held::equal("steps done a second time", second_runs(run), expected.clone()),
                Held::provided(apart, || Held::equal("wasted", run.wasted, expected.len() as u64)),
            ])
        })
    })
}

fn wasted_are_second_runs(p: &Parameters) -> Held {
    p.when_settled(|run| Held::equal("wasted", run.wasted, second_runs(run).len() as u64))
}

/// The lesson expects a second effect of one step from each wasted run.
fn wasted_hit_every_step(p: &Parameters) -> Held {
    p.when_settled(|run| {
        Held::all(p.steps.iter().enumerate().map(|(place, step)| {
            let extra = second_runs(run).iter().filter(|(_, step)| *step == place).count() as u64;
            Held::equal(format!("second runs of {step}"), extra, run.wasted)
        }))
    })
}

fn each_run(p: &Parameters) -> impl Iterator<Item = Run> {
    [None, Some(p.scan)].into_iter().chain(p.scans.iter().copied().map(Some)).map(|scan| p.run(scan))
}

fn every_start_ends_once(p: &Parameters) -> Held {
    Held::provided(p.attempts > 0 && p.rounds > 0, || {
        Held::all(each_run(p).map(|run| {
            let half_finished = run.half_finished().len() as u64;
            let settled = run.completed() + run.compensated_jobs();
            let recorded: usize = run.jobs.iter().map(|job| job.done).sum();
            Held::all([
                Held::equal("recorded, expired and running", run.steps + run.redriven + half_finished, run.starts),
                Held::equal("driven again and given up", run.driven_again() + run.compensated_jobs(), run.redriven),
                Held::equal("steps in the record", recorded as u64, run.steps),
                Held::equal("jobs done, given up and running", settled + half_finished, p.jobs as u64),
                Held::equal("recoveries", run.recovery.len() as u64, run.redriven),
            ])
        }))
    })
}

fn redriven_are_driven_again(p: &Parameters) -> Held {
    p.when_settled(|run| Held::equal("steps driven again", run.driven_again(), run.redriven))
}

/// As the lesson reads the steps run: some of them are the wasted ones.
fn steps_run_count_the_wasted(p: &Parameters) -> Held {
    p.when_settled(|run| {
        let progress = run.jobs.iter().map(|job| job.done as u64).sum::<u64>();
        Held::equal("steps run beyond those recorded", run.steps - progress, run.wasted)
    })
}

/// Jobs without trouble end as if there were none: beside those of others, and with a supervisor or not.
fn no_trouble_no_cost(p: &Parameters) -> Held {
    let untroubled = Parameters { stalled: Vec::new(), persistent: Vec::new(), ..p.clone() };
    let (plain, supervised) = (untroubled.run(None), untroubled.run(Some(p.scan)));
    let troubled: BTreeSet<usize> =
        Parameters::jobs_of(&p.stalled).union(&Parameters::jobs_of(&p.persistent)).copied().collect();
    let counts = |run: &Run| [run.starts, run.steps, run.redriven, run.wasted, run.compensated_steps, run.last_round];
    let others = p.run(Some(p.scan)).jobs.into_iter().zip(&plain.jobs);
    let moved = others.filter(|(job, _)| !troubled.contains(&job.number)).find(|(job, plain)| job != *plain);
    let (steps, jobs) = (p.steps.len() as u64, p.jobs as u64);
    Held::all([
        Held::equal("counts with a supervisor", counts(&supervised), counts(&plain)),
        Held::equal("the record with a supervisor", &supervised.jobs, &plain.jobs),
        Held::equal("another job's trouble changes it", moved, None),
        Held::provided(p.attempts > 0 && jobs > 0 && p.rounds > steps, || {
            let expected = (jobs * steps, steps + 1, (steps + 1) / p.scan * jobs);
            Held::equal(
                "starts, last round, reads",
                (supervised.starts, supervised.last_round, supervised.records_read),
                expected,
            )
        }),
    ])
}

fn unsupervised_troubled_never_end(p: &Parameters) -> Held {
    Held::provided(p.attempts > 0 && p.rounds > p.steps.len() as u64, || {
        let troubled = &Parameters::jobs_of(&p.stalled) | &Parameters::jobs_of(&p.persistent);
        let run = p.run(None);
        Held::all([
            Held::equal("half-finished jobs", run.half_finished(), troubled.iter().copied().collect()),
            Held::equal("completed jobs", run.completed(), (p.jobs - troubled.len()) as u64),
            Held::equal("signs of it", [run.redriven, run.compensated_jobs(), run.records_read], [0; 3]),
        ])
    })
}

/// As the lesson scales them: those that stall, and those that fail for good.
fn half_finished_add_up(p: &Parameters) -> Held {
    Held::provided(p.attempts > 0 && p.rounds > p.steps.len() as u64, || {
        Held::equal("half-finished jobs", p.run(None).half_finished().len(), p.stalled.len() + p.persistent.len())
    })
}

/// The half-finished workflows a day that the lesson prints, for each share of stalling steps.
fn printed_half_finished(p: &Parameters) -> Vec<(f64, f64)> {
    let report = p.report();
    let printed =
        report.figures().filter(|figure| figure.name.ends_with(".half_finished") && figure.name.starts_with("cost."));
    p.stall_shares.iter().copied().zip(printed.filter_map(|figure| figure.value.as_f64())).collect()
}

fn half_finished_are_workflows(p: &Parameters) -> Held {
    Held::all(printed_half_finished(p).into_iter().map(|(share, printed)| {
        Held::at_most(format!("half-finished of {} at {share}", p.workflows_a_day), printed, p.workflows_a_day)
    }))
}

/// Where troubles fall independently, some workflows have several. A thousandth of a workflow is left to rounding.
fn half_finished_bound_any_luck(p: &Parameters) -> Held {
    Held::all(printed_half_finished(p).into_iter().map(|(share, printed)| {
        let untroubled = p.steps.iter().fold(1.0 - p.persistent_share, |untroubled, _| untroubled * (1.0 - share));
        let expected = p.workflows_a_day * (1.0 - untroubled);
        Held::at_most(format!("expected half-finished at {share}"), expected, printed * (1.0 + 1e-12) + 1e-3)
    }))
}

/// With one attempt it cannot tell the two troubles apart.
fn every_job_is_settled(p: &Parameters) -> Held {
    p.when_settled(|run| {
        let (stalled, persistent) = (Parameters::jobs_of(&p.stalled), Parameters::jobs_of(&p.persistent));
        let given_up = if p.attempts == 1 { &stalled | &persistent } else { persistent };
        let compensated = run.jobs.iter().filter(|job| job.state == State::Compensated).map(|job| job.number);
        Held::all([
            Held::equal("half-finished jobs", run.half_finished(), Vec::new()),
            Held::equal("jobs given up", compensated.collect(), given_up.clone()),
            Held::equal("completed jobs", run.completed(), (p.jobs - given_up.len()) as u64),
        ])
    })
}

fn stalled_job_is_recovered(p: &Parameters) -> Held {
    p.when_settled(|run| Held::equal("jobs given up", run.compensated_jobs(), p.persistent.len() as u64))
}

fn interval_changes_when_not_what(p: &Parameters) -> Held {
    Held::all([p.scan + 1, 2 * p.scan].map(|longer| {
        p.at_intervals([p.scan, longer], |one, other| {
            let ends =
                |run: &Run| -> Vec<(usize, State)> { run.jobs.iter().map(|job| (job.done, job.state)).collect() };
            let counts = |run: &Run| [run.starts, run.steps, run.redriven, run.wasted, run.compensated_steps];
            Held::all([
                Held::equal(format!("counts at {longer}"), counts(other), counts(one)),
                Held::equal(format!("ends at {longer}"), ends(other), ends(one)),
            ])
        })
    }))
}

fn recovery_bounded_by_lease_and_interval(p: &Parameters) -> Held {
    p.when_settled(|run| {
        Held::all(run.recovery.iter().map(|rounds| {
            Held::all([
                Held::at_most("the lease less one", p.lease_or_one() - 1, *rounds),
                Held::at_most("rounds to recovery", *rounds, p.lease_or_one() + p.scan - 2),
            ])
        }))
    })
}

fn longer_interval_never_sooner(p: &Parameters) -> Held {
    p.at_intervals([p.scan, p.scan + 1], |shorter, longer| {
        Held::all([
            Held::at_most("worst recovery", shorter.worst_recovery(), longer.worst_recovery()),
            Held::at_most("last round", shorter.last_round, longer.last_round),
        ])
    })
}

/// Every second scan is where the others were: what it finds it finds later, by one of the shorter intervals at most.
fn doubled_interval_never_sooner(p: &Parameters) -> Held {
    p.at_intervals([p.scan, 2 * p.scan], |shorter, longer| {
        let scans = |run: &Run| run.last_round / p.scan;
        let rounds = |run: &Run| run.recovery.iter().sum::<u64>();
        let longer_scans = longer.last_round / (2 * p.scan);
        Held::all([
            Held::equal("expired leases", longer.redriven, shorter.redriven),
            Held::at_most("rounds to recovery", rounds(shorter), rounds(longer)),
            Held::at_most("their growth", rounds(longer), rounds(shorter) + shorter.redriven * p.scan),
            Held::at_most("worst recovery", shorter.worst_recovery(), longer.worst_recovery()),
            Held::at_most("its growth", longer.worst_recovery(), shorter.worst_recovery() + p.scan),
            Held::at_most("last round", shorter.last_round, longer.last_round),
            Held::at_most("half of the scans", scans(shorter) / 2, longer_scans),
            Held::at_most("scans", longer_scans, scans(shorter)),
            Held::equal("records read", longer.records_read, longer_scans * p.jobs as u64),
        ])
    })
}

fn doubled_interval_halves_reads(p: &Parameters) -> Held {
    p.at_intervals([p.scan, 2 * p.scan], |shorter, longer| {
        Held::equal("records read", 2 * longer.records_read, shorter.records_read)
    })
}
