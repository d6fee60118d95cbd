//! Scheduler–Agent–Supervisor: what finds a step that nobody reports about, how late, and at what price?
//!
//! A scheduler starts a job's steps from a durable record, an agent runs them and records the result in the next round.
//! Some results never land there: the agent did the work but stalled, or the step fails for good. A supervisor scans
//! the record for steps whose lease has expired and has them driven again, until a job has used up its attempts. Left
//! out: what a second run of a step does, compensations that fail, and any real duration.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants. Lease and scans are in rounds; rounds and jobs count from 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    steps: Vec<String>,
    jobs: usize,
    /// The agent does the work of this step, but its first result does not land.
    stalled: Vec<Trouble>,
    /// No result of this step ever lands.
    persistent: Vec<Trouble>,
    rounds: u64,
    /// Rounds that a started step has to record its result.
    lease: u64,
    /// How often a step is driven before its job is given up and compensated.
    attempts: u64,
    /// Rounds between two scans of the record.
    scan: u64,
    scans: Vec<u64>,
    cost_scans: Vec<u64>,
    /// Workflows a day: one for each invoice line (K01).
    workflows_a_day: f64,
    /// KK2: workflows that fail for good.
    persistent_share: f64,
    /// KK3 and its sensitivity: steps that stall.
    stall_shares: Vec<f64>,
}

/// What goes wrong in one job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trouble {
    job: usize,
    step: String,
}

/// A job in the durable record.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Job {
    /// From 1.
    number: usize,
    /// Steps recorded as done: the place of the next one.
    done: usize,
    /// How often the supervisor has sent the current step back.
    sent_back: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// For the scheduler.
    Waiting,
    /// For the agent's record.
    Running {
        since: u64,
    },
    Done,
    Compensated,
}

impl State {
    /// Rounds since the step was started, where one runs.
    fn running_for(self, now: u64) -> Option<u64> {
        match self {
            Self::Running { since } => Some(now - since),
            _ => None,
        }
    }

    fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Compensated)
    }
}

/// What one run counted.
#[derive(Default)]
struct Run {
    /// Steps whose result was recorded.
    steps: u64,
    /// How often a step was started, recorded or not.
    starts: u64,
    /// Expired leases; also that of a job that is then given up, although nothing is driven again.
    redriven: u64,
    /// Expired leases of a step that had been done.
    wasted: u64,
    compensated_steps: u64,
    records_read: u64,
    /// For each expired lease, the rounds since its result should have been recorded.
    recovery: Vec<u64>,
    /// The last round in which a job was settled.
    last_round: u64,
    /// Jobs and places of the steps that the agent did without a result that landed.
    unrecorded: Vec<(usize, usize)>,
    /// The record at the end.
    jobs: Vec<Job>,
}

impl Run {
    fn completed(&self) -> u64 {
        self.jobs.iter().filter(|job| job.state == State::Done).count() as u64
    }

    fn compensated_jobs(&self) -> u64 {
        self.jobs.iter().filter(|job| job.state == State::Compensated).count() as u64
    }

    fn half_finished(&self) -> Vec<usize> {
        let running = self.jobs.iter().filter(|job| matches!(job.state, State::Running { .. }));
        running.map(|job| job.number).collect()
    }

    /// Every step is started once; what it is started beyond that, it is driven again.
    fn driven_again(&self) -> u64 {
        let first_starts = self.steps + self.compensated_jobs() + self.half_finished().len() as u64;
        self.starts.saturating_sub(first_starts)
    }

    fn mean_recovery(&self) -> f64 {
        match self.recovery.len() {
            0 => 0.0,
            leases => self.recovery.iter().sum::<u64>() as f64 / leases as f64,
        }
    }

    fn worst_recovery(&self) -> u64 {
        self.recovery.iter().copied().max().unwrap_or(0)
    }
}

impl Parameters {
    /// Without a scan interval there is no supervisor.
    fn run(&self, scan: Option<u64>) -> Run {
        let new = |number| Job { number, done: 0, sent_back: 0, state: State::Waiting };
        let mut jobs: Vec<Job> = (1..=self.jobs).map(new).collect();
        let mut run = Run::default();
        for now in 1..=self.rounds {
            for job in &mut jobs {
                self.agent(job, now, &mut run);
            }
            if scan.is_some_and(|interval| now.is_multiple_of(interval)) {
                run.records_read += jobs.len() as u64;
                for job in &mut jobs {
                    self.supervisor(job, now, &mut run);
                }
            }
            for job in jobs.iter_mut().filter(|job| job.state == State::Waiting) {
                self.scheduler(job, now, &mut run);
            }
            if jobs.iter().all(|job| job.state.is_settled()) {
                break;
            }
        }
        run.jobs = jobs;
        run
    }

    /// A round after a step was started its result is recorded, or never.
    fn agent(&self, job: &mut Job, now: u64, run: &mut Run) {
        if job.state.running_for(now) != Some(1) {
            return;
        }
        if self.is_in(&self.persistent, job) {
            return;
        }
        if job.sent_back == 0 && self.is_in(&self.stalled, job) {
            run.unrecorded.push((job.number, job.done));
            return;
        }
        run.steps += 1;
        *job = Job { done: job.done + 1, sent_back: 0, state: State::Waiting, ..*job };
    }

    /// It sees that a lease has expired, but not why.
    fn supervisor(&self, job: &mut Job, now: u64, run: &mut Run) {
        let Some(running_for) = job.state.running_for(now).filter(|rounds| *rounds >= self.lease) else { return };
        run.redriven += 1;
        run.recovery.push(running_for - 1);
        run.wasted += u64::from(self.is_in(&self.stalled, job));
        job.sent_back += 1;
        job.state = State::Waiting;
    }

    fn scheduler(&self, job: &mut Job, now: u64, run: &mut Run) {
        job.state = if job.done == self.steps.len() {
            State::Done
        } else if job.sent_back >= self.attempts {
            run.compensated_steps += job.done as u64;
            State::Compensated
        } else {
            run.starts += 1;
            State::Running { since: now }
        };
        if job.state.is_settled() {
            run.last_round = now;
        }
    }

    /// The job's next step is in this trouble.
    fn is_in(&self, troubles: &[Trouble], job: &Job) -> bool {
        let step = self.steps.get(job.done);
        troubles.iter().any(|trouble| trouble.job == job.number && Some(&trouble.step) == step)
    }

    fn declare_troubles(&self, d: &mut Declaration, name: &str, troubles: &[Trouble]) {
        d.list(name, troubles, 0..=10_000, |d, i, trouble| {
            d.group(i, |d| {
                d.integer("job", trouble.job, 1..=MOST_JOBS);
                d.require("job", trouble.job <= self.jobs, "at most `jobs`");
                d.text("step", &trouble.step);
                d.require("step", self.steps.contains(&trouble.step), "one of `steps`");
            });
        });
        d.distinct(name, troubles.iter().map(|trouble| trouble.job));
    }
}

const MOST_JOBS: i64 = 100_000;
const MOST_ROUNDS: i64 = 1_000_000;

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.list("steps", &self.steps, 1..=100, |d, i, step| d.text(i, step));
        d.distinct("steps", &self.steps);
        d.integer("jobs", self.jobs, 0..=MOST_JOBS);
        self.declare_troubles(d, "stalled", &self.stalled);
        self.declare_troubles(d, "persistent", &self.persistent);
        d.integer("rounds", self.rounds, 0..=MOST_ROUNDS);
        d.integer("lease", self.lease, 0..=MOST_ROUNDS);
        d.integer("attempts", self.attempts, 0..=MOST_ROUNDS);
        d.integer("scan", self.scan, 1..=MOST_ROUNDS);
        for (name, scans) in [("scans", &self.scans), ("cost_scans", &self.cost_scans)] {
            d.list(name, scans, 0..=100, |d, i, scan| d.integer(i, *scan, 1..=MOST_ROUNDS));
            d.distinct(name, scans);
        }
        d.real("workflows_a_day", self.workflows_a_day, 0.0..=1e9);
        d.real("persistent_share", self.persistent_share, 0.0..=1.0);
        d.list("stall_shares", &self.stall_shares, 0..=100, |d, i, share| d.real(i, *share, 0.0..=1.0));
        d.distinct("stall_shares", &self.stall_shares);

        let runs = 2 + self.scans.len() + self.cost_scans.len();
        let troubles = 1 + self.stalled.len() + self.persistent.len();
        d.steps("rounds", (runs * troubles) as f64 * self.rounds as f64 * self.jobs as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
