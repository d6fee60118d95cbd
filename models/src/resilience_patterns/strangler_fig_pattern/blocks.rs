//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Budget, Migration, Order, Parameters, Step};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let [volume, state] = Order::ALL.map(|order| self.migrate(&self.order(order)));
        let mut block = Block::new("measure");
        block.plain("routes", self.routes.len());
        block.plain("entities", self.entities.len());
        block.grouped("daily_requests", self.daily_requests());
        for (order, migration) in Order::ALL.into_iter().zip([&volume, &state]) {
            migration.publish(&mut block, order.name());
        }
        let dual_writes = volume.dual_write_area / state.dual_write_area;
        let traffic = volume.traffic_area / state.traffic_area;
        block.push(Figure::fixed("volume_over_state.dual_writes", dual_writes, 2).marked(Mark::Times));
        block.push(Figure::fixed("volume_over_state.traffic", traffic, 2).marked(Mark::Times));
        self.publish_backfill(&mut block);
        for (order, migration) in Order::ALL.into_iter().zip([&volume, &state]) {
            self.publish_revert(&mut block, order.name(), migration);
        }

        let mut report = Report::new([block]);
        volume.facts(&mut report, "volume");
        state.facts(&mut report, "state");
        let least = self.migrate(&self.least_dual_writes());
        least.facts(&mut report, "least");
        report.fact("least.dual_write_area", least.dual_write_area);
        report.fact("least.traffic_area", least.traffic_area);
        self.budget.facts(&mut report);
        report
    }
}

impl Migration<'_> {
    fn publish(&self, block: &mut Block, order: &str) {
        for (number, step) in (1u64..).zip(&self.steps) {
            let row = format!("{order}.step_{number}");
            block.plain(format!("{row}.step"), number);
            let percent = 100.0 * step.moved_traffic;
            block.push(Figure::fixed(format!("{row}.moved_traffic"), percent, 2).marked(Mark::Percent));
            block.plain(format!("{row}.split_entities"), step.split_entities);
            block.fixed(format!("{row}.dual_writes"), step.dual_writes, 2);
        }
        block.fixed(format!("{order}.dual_write_area"), self.dual_write_area, 2);
        block.fixed(format!("{order}.traffic_area"), self.traffic_area, 4);
    }

    fn facts(&self, report: &mut Report, order: &str) {
        let names: Vec<&str> = self.steps.iter().map(|step| step.route.name.as_str()).collect();
        report.fact(format!("{order}.order"), names);
        report.fact(format!("{order}.most_split_entities"), self.steps.iter().map(|step| step.split_entities).max());
        let most = self.steps.iter().map(|step| step.dual_writes).fold(0.0, f64::max);
        report.fact(format!("{order}.most_dual_writes"), most);
    }
}

impl Parameters {
    /// What the old system misses once dual writes have stopped.
    fn publish_backfill(&self, block: &mut Block) {
        let daily_writes = self.entities.iter().find(|entity| entity.name == self.backfilled).map(|e| e.daily_writes);
        for elapsed in &self.stopped_since {
            let row = format!("backfill.{}_{}", elapsed.unit(), elapsed.count());
            let records = self.missed(daily_writes.unwrap_or_default(), *elapsed);
            let seconds = records / self.scan_rate;
            block.plain(format!("{row}.stopped_since"), elapsed.count());
            block.grouped(format!("{row}.records"), records.round());
            block.fixed(format!("{row}.revert_s"), seconds, 2);
            let percent = self.of_failure_share(seconds);
            block.push(Figure::fixed(format!("{row}.of_failure_share"), percent, 2).marked(Mark::Percent));
        }
    }

    /// The new system stops; until the moved routes are reverted, their requests are dropped.
    fn publish_revert(&self, block: &mut Block, order: &str, migration: &Migration<'_>) {
        let Some((number, &Step { moved_traffic, .. })) = migration.reaching(self.stop_share) else { return };
        let row = format!("revert.{order}");
        let dropped = self.dropped(moved_traffic, self.entry_lifetime_s);
        let seconds = dropped / self.peak_edge;
        block.plain(format!("{row}.step"), number);
        let percent = 100.0 * moved_traffic;
        block.push(Figure::fixed(format!("{row}.moved_traffic"), percent, 2).marked(Mark::Percent));
        block.fixed(format!("{row}.facade_dropped"), self.dropped(moved_traffic, self.facade_revert_s), 0);
        block.fixed(format!("{row}.entry_dropped"), dropped, 0);
        block.fixed(format!("{row}.equivalent_s"), seconds, 2);
        let percent = 100.0 * dropped / self.peak_edge / (self.failure_share_minutes * 60.0);
        block.push(Figure::fixed(format!("{row}.of_failure_share"), percent, 2).marked(Mark::Percent));
    }
}

/// What the facade's share leaves to the calls behind it, in ms.
pub(super) struct Shares {
    remaining_ms: f64,
    remaining_with_facade_ms: f64,
    pub(super) call_ms: f64,
    pub(super) call_with_facade_ms: f64,
    pub(super) narrower_percent: f64,
}

impl Budget {
    pub(super) fn shares(&self) -> Shares {
        let without = self.threshold_ms - self.gateway_ms;
        let with = without - self.facade_ms;
        Shares {
            remaining_ms: without,
            remaining_with_facade_ms: with,
            call_ms: without / self.calls as f64,
            call_with_facade_ms: with / self.calls as f64,
            narrower_percent: 100.0 * (without - with) / without,
        }
    }

    fn facts(&self, report: &mut Report) {
        let shares = self.shares();
        report.fact("budget.remaining_ms", shares.remaining_ms);
        report.fact("budget.remaining_with_facade_ms", shares.remaining_with_facade_ms);
        report.fact("budget.call_ms", shares.call_ms);
        report.fact("budget.call_with_facade_ms", shares.call_with_facade_ms);
        report.fact("budget.narrower_percent", shares.narrower_percent);
    }
}
