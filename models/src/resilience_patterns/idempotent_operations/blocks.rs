//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Day, Parameters, RowRates, Scope};
use crate::figures::{Block, Figure, Mark, Report};
use std::collections::HashSet;

/// The month that the course counts with.
const DAYS_A_MONTH: u64 = 30;

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let window = self.day(&self.sources);
        let mut report = Report::new([self.measure(&window), self.cost(&window)]);
        report.fact("duplication.expected_copies", self.expected_copies());
        report.fact("duplication.probability", self.duplication());
        report
    }

    fn measure(&self, window: &Day<'_>) -> Block {
        let shipments = self.shipments();
        let distinct = shipments * self.states.len() as u64;

        let mut block = Block::new("measure");
        block.plain("shipments", shipments);
        block.plain("events_per_shipment", self.states.len());
        block.plain("distinct_events", distinct);
        block.plain("parameters.peak_write", self.peak_write);
        block.plain("parameters.window_s", self.window_s);
        self.publish_day(&mut block, "failure_free", &self.day(&[]));
        self.publish_day(&mut block, "window", window);
        for (source, added) in self.sources.iter().zip(&window.deliveries.added) {
            block.plain(format!("window.sources.{}", source.name), *added);
        }
        let twice_delivered = window.duplicates_of(&self.delivered, shipments);
        block.plain("window.duplicates", window.duplicates(distinct));
        block.plain("window.duplicate_deliveries", twice_delivered);
        block.plain("window.duplicate_invoice_lines", twice_delivered);
        block.plain("window.duplicate_notifications", twice_delivered);
        block
    }

    fn cost(&self, window: &Day<'_>) -> Block {
        let mut block = Block::new("cost");
        block.grouped("keyed_writes", self.keyed_writes());
        block.grouped("parameters.daily_events", self.daily_events);
        block.grouped("parameters.daily_shipments", self.daily_shipments);

        self.publish_ledger(&mut block, "ledger.assumed", self.ledger_hours, self.record_bytes);
        self.publish_ledger(&mut block, "ledger.other_record", self.ledger_hours, self.other_record_bytes);
        for &hours in &self.other_ledger_hours {
            self.publish_ledger(&mut block, &format!("ledger.hours_{hours}"), hours, self.record_bytes);
        }

        let RowRates { writes, reads } = self.keyed_rows();
        block.plain("rows.write", self.peak_write);
        block.fixed("rows.keyed_write", writes, 2);
        block.push(Figure::fixed("rows.write_growth", writes / self.peak_write, 2).marked(Mark::Times));
        block.plain("parameters.store_read", self.store_read);
        block.fixed("rows.keyed_read", reads, 2);
        block.push(Figure::fixed("rows.read_growth", reads / self.store_read, 2).marked(Mark::Times));
        block.plain("parameters.write_read_ratio", self.write_read_ratio);
        block.fixed("rows.keyed_ratio", writes / reads, 2);

        let prevented = self.prevented(window, Scope::Event);
        let invoice_lines = window.duplicates_of(&self.delivered, self.shipments());
        for (name, windows) in [("assumed", self.windows_a_month), ("other", self.other_windows_a_month)] {
            let row = format!("month.{name}");
            block.plain(format!("{row}.windows"), windows);
            block.grouped(format!("{row}.prevented"), windows * prevented);
            block.grouped(format!("{row}.duplicate_invoice_lines"), windows * invoice_lines);
            let percent = (100 * windows * invoice_lines) as f64 / (self.daily_shipments * DAYS_A_MONTH) as f64;
            block.push(Figure::fixed(format!("{row}.of_lines"), percent, 5).marked(Mark::Percent));
        }

        // Of a shipment's events, a narrow key lets one through, a wider one as many as there are states.
        let events = self.states.len();
        let states = self.states.iter().collect::<HashSet<_>>().len();
        let suppressed = |dropped: usize| (self.daily_events * dropped as u64) as f64 / events as f64;
        block.grouped("daily.state.suppressed", suppressed(events - states));
        block.grouped("daily.tracking.suppressed", suppressed(events - 1));
        block
    }

    fn publish_ledger(&self, block: &mut Block, row: &str, hours: u64, record_bytes: u64) {
        let records = self.ledger_records(hours);
        let megabytes = self.ledger_megabytes(hours, record_bytes);
        block.plain(format!("{row}.hours"), hours);
        block.plain(format!("{row}.record_bytes"), record_bytes);
        block.grouped(format!("{row}.records"), records.round());
        block.fixed(format!("{row}.megabytes"), megabytes, 2);
        let percent = 100.0 * megabytes / self.daily_growth_mb;
        block.push(Figure::fixed(format!("{row}.of_daily_growth"), percent, 2).marked(Mark::Percent));
    }

    fn publish_day(&self, block: &mut Block, name: &str, day: &Day<'_>) {
        block.plain(format!("{name}.deliveries"), day.deliveries.stream.len());
        block.plain(format!("{name}.none.side_effects"), self.side_effects_of(&day.none));
        for (scope, handled) in Scope::ALL.into_iter().zip(&day.scopes) {
            let row = format!("{name}.{}", scope.name());
            block.plain(format!("{row}.processed"), handled.processed.len());
            block.plain(format!("{row}.suppressed"), handled.suppressed);
            block.plain(format!("{row}.side_effects"), self.side_effects_of(handled));
            block.plain(format!("{row}.prevented"), self.prevented(day, scope));
            block.plain(format!("{row}.ledger"), handled.ledger);
        }
    }
}
