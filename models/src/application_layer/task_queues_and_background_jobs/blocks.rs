//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Design, Job, Kind, Parameters, count, serve};
use crate::figures::{Block, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
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
