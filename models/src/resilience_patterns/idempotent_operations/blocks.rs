//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Day, Parameters, Scope};
use crate::figures::{Block, Figure, Mark, Report};
use std::collections::HashSet;

const HOURS_A_DAY: f64 = 24.0;

/// The month that the course counts with.
const DAYS_A_MONTH: u64 = 30;

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let window = self.day(&self.sources);
        let mut report = Report::new([self.measure(&window), self.cost(&window)]);
        let probabilities = || self.sources.iter().map(|source| source.probability);
        report.fact("duplication.expected_copies", probabilities().sum::<f64>());
        report.fact("duplication.probability", 1.0 - probabilities().map(|p| 1.0 - p).product::<f64>());
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
        self.day(&[]).publish(&mut block, "failure_free");
        window.publish(&mut block, "window");
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

        // Each write looks its key up, and writes the key's row beside its own.
        let writes = self.peak_write * 2.0;
        let reads = self.store_read + self.peak_write;
        block.plain("rows.write", self.peak_write);
        block.fixed("rows.keyed_write", writes, 2);
        block.push(Figure::fixed("rows.write_growth", writes / self.peak_write, 2).marked(Mark::Times));
        block.plain("parameters.store_read", self.store_read);
        block.fixed("rows.keyed_read", reads, 2);
        block.push(Figure::fixed("rows.read_growth", reads / self.store_read, 2).marked(Mark::Times));
        block.plain("parameters.write_read_ratio", self.write_read_ratio);
        block.fixed("rows.keyed_ratio", writes / reads, 2);

        let prevented = window.prevented(Scope::Event);
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
        let records = (self.keyed_writes() * hours) as f64 / HOURS_A_DAY;
        let megabytes = records * record_bytes as f64 / 1e6;
        block.plain(format!("{row}.hours"), hours);
        block.plain(format!("{row}.record_bytes"), record_bytes);
        block.grouped(format!("{row}.records"), records.round());
        block.fixed(format!("{row}.megabytes"), megabytes, 2);
        let percent = 100.0 * megabytes / self.daily_growth_mb;
        block.push(Figure::fixed(format!("{row}.of_daily_growth"), percent, 2).marked(Mark::Percent));
    }
}

impl Day<'_> {
    fn publish(&self, block: &mut Block, day: &str) {
        block.plain(format!("{day}.deliveries"), self.deliveries.events.len());
        block.plain(format!("{day}.none.side_effects"), self.none.side_effects);
        for (scope, handled) in Scope::ALL.into_iter().zip(&self.scopes) {
            let row = format!("{day}.{}", scope.name());
            block.plain(format!("{row}.processed"), handled.processed);
            block.plain(format!("{row}.suppressed"), handled.suppressed);
            block.plain(format!("{row}.side_effects"), handled.side_effects);
            block.plain(format!("{row}.prevented"), self.prevented(scope));
            block.plain(format!("{row}.ledger"), handled.ledger);
        }
    }
}
