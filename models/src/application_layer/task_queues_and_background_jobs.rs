//! Task Queues and Background Jobs: what does a long job cost the short requests behind it, and what does a queue of
//! its own change?
//!
//! One replica during the morning window. Tracking queries and period reports wait in arrival order for a slot; in
//! the separate design the reports wait for workers of their own. A tick is the time that scanning one record takes.
//! Left out: the hand-over between the two queues, failures, and a replica's other work.

use crate::figures::{Block, Report};
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
        let (jobs, fewer_reports) = (self.arrivals(self.asking_share), self.arrivals(self.lower_asking_share));
        let (workers, replicas) = (self.workers, self.replicas);

        let mut block = Block::new("pool");
        block.plain("parameters.tick_ms", self.tick_ms);
        block.plain("parameters.window_minutes", self.window_minutes);
        block.plain("window.ticks", self.window_ticks());
        block.plain("parameters.replicas", replicas);
        block.fixed("replica.tracking_rate", self.tracking_rate(), 2);
        block.plain("parameters.asking_share", self.asking_share);
        block.plain("replica.expected_reports", self.expected_reports(self.asking_share));
        block.plain("parameters.report_records", self.report_records);
        block.fixed("report.seconds", self.report_seconds(), 2);

        block.plain("parameters.late_ms", self.late_ms);
        let mut rows = Vec::new();
        for (i, slots) in self.shared_slots.iter().enumerate() {
            block.plain(format!("parameters.shared_slots.{i}"), *slots);
            let name = format!("shared.slots_{slots}");
            rows.push(self.row(&mut block, name, Design::Shared { slots: *slots }, &jobs));
        }
        for (i, slots) in self.lower_share_slots.iter().enumerate() {
            block.plain(format!("parameters.lower_share_slots.{i}"), *slots);
            block.plain("parameters.lower_asking_share", self.lower_asking_share);
            let name = format!("lower_share.slots_{slots}");
            rows.push(self.row(&mut block, name, Design::Shared { slots: *slots }, &fewer_reports));
        }
        for (i, slots) in self.separate_slots.iter().enumerate() {
            block.plain(format!("parameters.separate_slots.{i}"), *slots);
            block.plain("parameters.workers", workers);
            let name = format!("separate.slots_{slots}");
            rows.push(self.row(&mut block, name, Design::Separate { slots: *slots, workers }, &jobs));
        }

        let fewest_shared = self.fewest_slots(&jobs, |slots| Design::Shared { slots });
        let fewest_separate = self.fewest_slots(&jobs, |slots| Design::Separate { slots, workers });
        block.plain("parameters.late_ms", self.late_ms);
        block.plain("fewest_slots.shared", fewest_shared);
        block.plain("fewest_slots.separate", fewest_separate);
        block.plain("system.slots_shared", fewest_shared * replicas);
        block.plain("system.slots_separate", fewest_separate * replicas);
        let system_reports = self.expected_reports(self.asking_share) * replicas as f64;
        let worker_seconds = system_reports * self.report_seconds();
        block.fixed("system.worker_seconds", worker_seconds, 0);
        block.plain("window.seconds", self.window_seconds());
        block.fixed("system.workers", worker_seconds / self.window_seconds() / self.sizing_utilization, 2);
        block.fixed("parameters.sizing_utilization", self.sizing_utilization, 2);

        let mut report = Report::new([block]);
        let shipments_of_a_seller = self.daily_shipments / self.sellers;
        report.fact("derived.daily_shipments_of_a_seller", shipments_of_a_seller);
        report.fact("derived.report_records", shipments_of_a_seller * self.period_days);
        report.fact("derived.tick_ms", 1000.0 / self.scan_rate);
        report.fact("report.ticks_per_tracking", self.report_records as f64 / self.tracking_records as f64);
        report.fact("arrivals.tracking", count(&jobs, Kind::Tracking));
        report.fact("arrivals.reports", count(&jobs, Kind::Report));
        // What the arrivals ask of one server: 0.125 keeps an eighth of it busy.
        report.fact("load.tracking_servers", self.tracking_probability() * self.tracking_records as f64);
        report.fact("system.reports", system_reports);
        for row in &rows {
            self.facts(&mut report, row);
        }
        report
    }
}

/// A line of the table, as far as the facts need it.
struct Row<'a> {
    name: String,
    design: Design,
    jobs: &'a [Job],
}

impl Parameters {
    fn row<'a>(&self, block: &mut Block, row: String, design: Design, jobs: &'a [Job]) -> Row<'a> {
        let mut served = serve(design, jobs, self.durations());
        let (tracking, late) = (served.waits.len(), self.late(&served));
        let ms = |ticks: Option<u64>| ticks.map(|ticks| ticks as f64 * self.tick_ms);
        block.plain(format!("{row}.tracking"), tracking);
        block.fixed(format!("{row}.p50_ms"), ms(served.percentile(50.0)), 2);
        block.fixed(format!("{row}.p99_ms"), ms(served.percentile(99.0)), 2);
        block.fixed(format!("{row}.longest_ms"), ms(served.waits.iter().copied().max()), 0);
        block.plain(format!("{row}.late"), late);
        block.fixed(format!("{row}.late_share"), late as f64 / tracking as f64, 4);
        block.plain(format!("{row}.reports_done"), served.report_ticks.len());
        block.plain(format!("{row}.reports_arrived"), count(jobs, Kind::Report));
        block.fixed(format!("{row}.report_seconds"), served.mean_report_ticks() * self.tick_ms / 1000.0, 2);
        Row { name: row, design, jobs }
    }

    /// How much of the slots' time the arrivals ask for, by kind.
    fn facts(&self, report: &mut Report, Row { name, design, jobs }: &Row) {
        let (slots, in_slots): (u64, &[Kind]) = match design {
            Design::Shared { slots } => (*slots, &[Kind::Tracking, Kind::Report]),
            Design::Separate { slots, .. } => (*slots, &[Kind::Tracking]),
        };
        let available = slots as f64 * self.window_seconds();
        let asked = |kind| {
            let duration = if in_slots.contains(&kind) { self.durations().of(kind) } else { 0 };
            count(jobs, kind) as f64 * duration as f64 * self.tick_ms / 1000.0
        };
        let (tracking, reports) = (asked(Kind::Tracking), asked(Kind::Report));
        report.fact(format!("{name}.slot_seconds"), available);
        report.fact(format!("{name}.tracking_slot_seconds"), tracking);
        report.fact(format!("{name}.report_slot_seconds"), reports);
        report.fact(format!("{name}.tracking_utilization"), tracking / available);
        report.fact(format!("{name}.report_utilization"), reports / available);
        report.fact(format!("{name}.utilization"), (tracking + reports) / available);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    use std::collections::VecDeque;

    /// A server of the course's own form: it counts down the ticks that its job still takes.
    #[derive(Clone, Default)]
    struct Ticking {
        left: u64,
    }

    /// The same designs tick by tick.
    fn serve_tick_by_tick(design: Design, jobs: &[Job], durations: Durations) -> Served {
        let (slots, workers) = match design {
            Design::Shared { slots } => (slots, 0),
            Design::Separate { slots, workers } => (slots, workers),
        };
        let mut pools = [slots, workers].map(|count| (vec![Ticking::default(); count as usize], VecDeque::new()));
        let mut served = Served::default();
        for now in 0..durations.window {
            for job in jobs.iter().filter(|job| job.arrival == now) {
                let own_queue = matches!((design, job.kind), (Design::Separate { .. }, Kind::Report));
                pools[usize::from(own_queue)].1.push_back(*job);
            }
            for (servers, queue) in &mut pools {
                for server in servers {
                    server.left = server.left.saturating_sub(1);
                    if server.left > 0 {
                        continue;
                    }
                    let Some(Job { arrival, kind }) = queue.pop_front() else { continue };
                    server.left = durations.of(kind);
                    match kind {
                        Kind::Tracking => served.waits.push(now - arrival),
                        Kind::Report => served.report_ticks.push(now - arrival + server.left),
                    }
                }
            }
        }
        served
    }

    fn jobs(window: u64) -> impl Strategy<Value = Vec<Job>> {
        let tick = (any::<bool>(), proptest::bool::weighted(0.2));
        proptest::collection::vec(tick, window as usize).prop_map(|ticks| {
            let in_tick = |(arrival, (tracking, report)): (usize, (bool, bool))| {
                let arrival = arrival as u64;
                let tracking = tracking.then_some(Job { arrival, kind: Kind::Tracking });
                tracking.into_iter().chain(report.then_some(Job { arrival, kind: Kind::Report }))
            };
            ticks.into_iter().enumerate().flat_map(in_tick).collect()
        })
    }

    fn designs() -> impl Strategy<Value = Design> {
        let shared = (0..6u64).prop_map(|slots| Design::Shared { slots });
        let separate = (0..4u64, 0..4u64).prop_map(|(slots, workers)| Design::Separate { slots, workers });
        prop_oneof![shared, separate]
    }

    #[test]
    fn next_free_ticks_serve_as_a_walk_through_every_tick_does() {
        let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let window = 80;
        let settings = (designs(), jobs(window), 0..4u64, 0..30u64);
        let agree = |(design, jobs, tracking, report): (Design, Vec<Job>, u64, u64)| {
            let durations = Durations { tracking, report, window };
            prop_assert_eq!(serve(design, &jobs, durations), serve_tick_by_tick(design, &jobs, durations));
            Ok(())
        };
        assert_eq!(runner.run(&settings, agree).map_err(|error| error.to_string()), Ok(()));
    }

    #[test]
    fn the_index_of_a_percentile_is_cut_off_not_rounded() {
        let mut served = Served { waits: (0..11).rev().collect(), ..Served::default() };
        assert_eq!([0.0, 50.0, 99.0, 100.0].map(|percent| served.percentile(percent)), [0, 5, 10, 10].map(Some));
        assert_eq!(Served::default().percentile(50.0), None);
    }
}
