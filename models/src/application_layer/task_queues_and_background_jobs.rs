//! Task Queues and Background Jobs: what does a long job cost the short requests behind it, and what does a queue of
//! its own change?
//!
//! One replica during the morning window. Tracking queries and period reports wait in arrival order for a slot; in
//! the separate design the reports wait for workers of their own. A tick is the time that scanning one record takes.
//! Left out: the hand-over between the two queues, failures, and a replica's other work.

mod blocks;
mod invariants;
#[cfg(test)]
mod tests;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::random::{SplitMix32, Uniform};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the lesson's program holds in constants, and what its text derives them from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Tracking queries arrive by this seed, reports by the next.
    seed: u64,
    tick_ms: f64,
    /// Requests per second, over all replicas.
    peak_read: f64,
    replicas: u64,
    sellers: f64,
    report_records: u64,
    tracking_records: u64,
    /// K2.
    window_minutes: f64,
    /// Share of the sellers that ask for a report in the window (K3), and its sensitivity.
    asking_share: f64,
    lower_asking_share: f64,
    /// A tracking query that waits longer is late.
    late_ms: f64,
    shared_slots: Vec<u64>,
    lower_share_slots: Vec<u64>,
    separate_slots: Vec<u64>,
    /// Report workers of one replica in the separate design.
    workers: u64,
    /// The search for the fewest slots gives up beyond it.
    most_slots: u64,
    /// Utilization for which the system's report workers are counted.
    sizing_utilization: f64,
    daily_shipments: f64,
    period_days: f64,
    /// Records per second.
    scan_rate: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Tracking,
    Report,
}

#[derive(Debug, Clone, Copy)]
struct Job {
    /// In ticks, as everything here.
    arrival: u64,
    kind: Kind,
}

/// Slots or workers that take jobs from one queue, first come, first served.
struct Servers {
    free_from: BinaryHeap<Reverse<u64>>,
}

impl Servers {
    fn new(count: u64) -> Self {
        Self { free_from: (0..count).map(|_| Reverse(0)).collect() }
    }

    /// Queues a job, not earlier than the one before, and tells when it starts; never where there are no servers.
    fn start(&mut self, arrival: u64, duration: u64) -> Option<u64> {
        let mut server = self.free_from.peek_mut()?;
        let start = arrival.max(server.0);
        // A server takes at most one job a tick, even one that lasts no time.
        server.0 = start + duration.max(1);
        Some(start)
    }
}

#[derive(Debug, Clone, Copy)]
enum Design {
    /// Reports run in the slots, among the tracking queries.
    Shared { slots: u64 },
    /// Reports run in workers of their own.
    Separate { slots: u64, workers: u64 },
}

/// The jobs that started within the window, in the order in which they started.
#[derive(Debug, Default, PartialEq)]
struct Served {
    /// Ticks that each tracking query waited.
    waits: Vec<u64>,
    /// Ticks from each report's request to its end.
    report_ticks: Vec<u64>,
}

/// How long each kind of job holds its server, and when the window closes.
#[derive(Debug, Clone, Copy)]
struct Durations {
    tracking: u64,
    report: u64,
    window: u64,
}

impl Durations {
    fn of(self, kind: Kind) -> u64 {
        match kind {
            Kind::Tracking => self.tracking,
            Kind::Report => self.report,
        }
    }
}

/// Runs the jobs, which are in order of arrival, through a design; each that starts within the window, and when.
fn starts(design: Design, jobs: &[Job], durations: Durations) -> impl Iterator<Item = (Job, u64)> {
    let (mut slots, mut workers) = match design {
        Design::Shared { slots } => (Servers::new(slots), None),
        Design::Separate { slots, workers } => (Servers::new(slots), Some(Servers::new(workers))),
    };
    jobs.iter().filter_map(move |job| {
        let servers = match (job.kind, &mut workers) {
            (Kind::Report, Some(workers)) => workers,
            _ => &mut slots,
        };
        let start = servers.start(job.arrival, durations.of(job.kind))?;
        (start < durations.window).then_some((*job, start))
    })
}

fn serve(design: Design, jobs: &[Job], durations: Durations) -> Served {
    let mut served = Served::default();
    for (job, start) in starts(design, jobs, durations) {
        let wait = start - job.arrival;
        match job.kind {
            Kind::Tracking => served.waits.push(wait),
            Kind::Report => served.report_ticks.push(wait + durations.report),
        }
    }
    served
}

impl Parameters {
    fn window_ticks(&self) -> u64 {
        (self.window_minutes * 60.0 * 1000.0 / self.tick_ms).round() as u64
    }

    fn window_seconds(&self) -> f64 {
        self.window_minutes * 60.0
    }

    fn durations(&self) -> Durations {
        Durations { tracking: self.tracking_records, report: self.report_records, window: self.window_ticks() }
    }

    fn tracking_rate(&self) -> f64 {
        self.peak_read / self.replicas as f64
    }

    /// Tracking queries a tick, of one replica.
    fn tracking_probability(&self) -> f64 {
        self.tracking_rate() * (self.tick_ms / 1000.0)
    }

    /// Reports that one replica expects in the window.
    fn expected_reports(&self, asking_share: f64) -> f64 {
        self.sellers * asking_share / self.replicas as f64
    }

    fn report_seconds(&self) -> f64 {
        self.report_records as f64 * self.tick_ms / 1000.0
    }

    /// The window's jobs, the same for every design: in each tick at most one query, then at most one report.
    fn arrivals(&self, asking_share: f64) -> Vec<Job> {
        let tracking_probability = self.tracking_probability();
        let report_probability = self.expected_reports(asking_share) / self.window_ticks() as f64;
        let (mut tracking, mut reports) = (SplitMix32::new(self.seed), SplitMix32::new(self.seed + 1));
        let mut jobs = Vec::new();
        for arrival in 0..self.window_ticks() {
            if tracking.chance(tracking_probability) {
                jobs.push(Job { arrival, kind: Kind::Tracking });
            }
            if reports.chance(report_probability) {
                jobs.push(Job { arrival, kind: Kind::Report });
            }
        }
        jobs
    }

    fn is_late(&self, wait: u64) -> bool {
        wait as f64 * self.tick_ms > self.late_ms
    }

    fn late(&self, served: &Served) -> usize {
        served.waits.iter().filter(|wait| self.is_late(**wait)).count()
    }

    /// The fewest slots with which no tracking query is late; 0, as the course prints it, where none suffice.
    fn fewest_slots(&self, jobs: &[Job], design: impl Fn(u64) -> Design) -> u64 {
        let is_late = |(job, start): (Job, u64)| job.kind == Kind::Tracking && self.is_late(start - job.arrival);
        let suffice = |slots: &u64| !starts(design(*slots), jobs, self.durations()).any(is_late);
        (1..=self.most_slots).find(suffice).unwrap_or(0)
    }
}

impl Served {
    /// The wait that the given share of the tracking queries does not exceed. Reorders the waits.
    fn percentile(&mut self, percent: f64) -> Option<u64> {
        let last = self.waits.len().checked_sub(1)?;
        let index = (percent / 100.0 * self.waits.len() as f64).floor() as usize;
        Some(*self.waits.select_nth_unstable(index.min(last)).1)
    }

    /// Not-a-number where no report started.
    fn mean_report_ticks(&self) -> f64 {
        self.report_ticks.iter().sum::<u64>() as f64 / self.report_ticks.len() as f64
    }
}

fn count(jobs: &[Job], kind: Kind) -> usize {
    jobs.iter().filter(|job| job.kind == kind).count()
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.real("tick_ms", self.tick_ms, 0.01..=60_000.0);
        d.real("peak_read", self.peak_read, 0.0..=1e6);
        d.integer("replicas", self.replicas, 1..=10_000);
        d.real("sellers", self.sellers, 1.0..=1e9);
        d.integer("report_records", self.report_records, 0..=10_000_000);
        d.integer("tracking_records", self.tracking_records, 0..=10_000_000);
        d.real("window_minutes", self.window_minutes, 0.0..=10_000.0);
        d.real("asking_share", self.asking_share, 0.0..=1.0);
        d.real("lower_asking_share", self.lower_asking_share, 0.0..=1.0);
        d.real("late_ms", self.late_ms, 0.0..=1e9);
        let slots = |d: &mut Declaration, i: &str, slots: &u64| d.integer(i, *slots, 0..=1_000);
        let lists = [
            ("shared_slots", &self.shared_slots),
            ("lower_share_slots", &self.lower_share_slots),
            ("separate_slots", &self.separate_slots),
        ];
        for (name, list) in lists {
            d.list(name, list, 0..=50, slots);
            d.distinct(name, list);
        }
        d.integer("workers", self.workers, 0..=1_000);
        d.integer("most_slots", self.most_slots, 0..=100);
        d.real("sizing_utilization", self.sizing_utilization, 0.01..=1.0);
        d.real("daily_shipments", self.daily_shipments, 0.0..=1e9);
        d.real("period_days", self.period_days, 0.0..=10_000.0);
        d.real("scan_rate", self.scan_rate, 0.001..=1e9);

        let ticks = self.window_ticks() as f64;
        let share = self.asking_share.max(self.lower_asking_share);
        let jobs = ticks * self.tracking_probability().min(1.0) + ticks.min(self.expected_reports(share));
        let rows = lists.iter().map(|(_, list)| list.len() as f64).sum::<f64>();
        d.steps("window_minutes", 4.0 * ticks + jobs * (3.0 * rows + 4.0 * self.most_slots as f64));
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
