//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Counts, Day, Days, Layout, Parameters};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let shared = self.days(Layout::Shared);
        let split = self.days(Layout::Split { tracking: self.tracking_slots });
        let event_slots = self.slots - self.tracking_slots;

        let mut block = Block::new("run");
        block.plain("parameters.rounds", self.rounds);
        block.plain("seconds", self.rounds as f64 / self.rounds_per_second());
        block.plain("parameters.failure_start", self.failure_start);
        block.plain("parameters.slots", self.slots);
        block.plain("parameters.seed", self.seed);
        block.fixed("arrivals.tracking", self.tracking_mean(), 4);
        block.fixed("arrivals.event", self.event_mean(), 4);

        for (day, counts) in [("healthy", &shared.healthy), ("slowdown", &shared.slowdown)] {
            block.plain(format!("runs.shared.{day}.slots"), self.slots);
            self.publish_run(&mut block, &format!("runs.shared.{day}"), counts);
        }
        for (day, counts) in [("healthy", &split.healthy), ("slowdown", &split.slowdown)] {
            block.plain(format!("runs.split.{day}.tracking_slots"), self.tracking_slots);
            block.plain(format!("runs.split.{day}.event_slots"), event_slots);
            self.publish_run(&mut block, &format!("runs.split.{day}"), counts);
        }
        self.publish_cost(&mut block, &shared.healthy, &split.healthy);
        self.publish_gain(&mut block, &shared.slowdown, &split.slowdown);

        block.plain("sweep.shared.slots", self.slots);
        shared.publish_dropped(&mut block, "sweep.shared");
        for &tracking in &self.tracking_slots_swept {
            let row = format!("sweep.tracking_{tracking}");
            block.plain(format!("{row}.tracking_slots"), tracking);
            block.plain(format!("{row}.event_slots"), self.slots - tracking);
            self.days(Layout::Split { tracking }).publish_dropped(&mut block, &row);
        }

        let wider = self.run(Layout::Split { tracking: self.tracking_slots_wider }, Day::Healthy);
        let narrower_event_slots = self.slots - self.tracking_slots_wider;
        let load = self.event_mean() * self.event_hold as f64;
        block.plain("parameters.tracking_slots_wider", self.tracking_slots_wider);
        block.plain("sensitivity.event_slots", narrower_event_slots);
        block.plain("parameters.tracking_slots", self.tracking_slots);
        block.plain("sensitivity.chosen.event_slots", event_slots);
        block.plain("sensitivity.chosen.tracking_dropped", split.healthy.tracking.dropped);
        block.plain("sensitivity.tracking_dropped", wider.tracking.dropped);
        block.plain("sensitivity.chosen.event_dropped", split.healthy.event.dropped);
        block.plain("sensitivity.event_dropped", wider.event.dropped);
        block.fixed("sensitivity.chosen.event_utilization", load / event_slots as f64, 3);
        block.plain("sensitivity.chosen.event_pool", event_slots);
        block.fixed("sensitivity.event_utilization", load / narrower_event_slots as f64, 3);
        block.plain("sensitivity.event_pool", narrower_event_slots);

        let mut report = Report::new([block]);
        report.fact("event_load_slots", load);
        report.fact("runs.split.healthy.dropped_beside_idle", split.healthy.dropped_beside_idle);
        report.fact("runs.split.slowdown.dropped_beside_idle", split.slowdown.dropped_beside_idle);
        report
    }

    fn average_busy(&self, counts: &Counts) -> f64 {
        counts.busy_rounds as f64 / self.rounds as f64
    }

    fn publish_run(&self, block: &mut Block, row: &str, counts: &Counts) {
        block.plain(format!("{row}.tracking_responses"), counts.tracking.responses);
        block.plain(format!("{row}.tracking_dropped"), counts.tracking.dropped);
        block.plain(format!("{row}.event_responses"), counts.event.responses);
        block.plain(format!("{row}.event_dropped"), counts.event.dropped);
        block.plain(format!("{row}.idle_slots"), counts.idle_slots);
        block.fixed(format!("{row}.average_busy"), self.average_busy(counts), 2);
    }

    /// What the split costs on the day without a failure.
    fn publish_cost(&self, block: &mut Block, shared: &Counts, split: &Counts) {
        let layouts = [("shared", shared), ("split", split)];
        for (layout, counts) in layouts {
            block.plain(format!("cost.tracking_dropped.{layout}"), counts.tracking.dropped);
        }
        for (layout, counts) in layouts {
            block.plain(format!("cost.event_dropped.{layout}"), counts.event.dropped);
        }
        for (layout, counts) in layouts {
            block.fixed(format!("cost.average_busy.{layout}"), self.average_busy(counts), 2);
        }
        for (layout, counts) in layouts {
            let utilization = self.average_busy(counts) / self.slots as f64;
            block.fixed(format!("cost.utilization.{layout}"), utilization, 3);
        }
        for (layout, counts) in layouts {
            block.plain(format!("cost.idle_slots.{layout}"), counts.idle_slots);
        }
    }

    /// What the split saves on the failing day.
    fn publish_gain(&self, block: &mut Block, shared: &Counts, split: &Counts) {
        let rescued = shared.tracking.dropped as f64 - split.tracking.dropped as f64;
        let saved = 100.0 * rescued / shared.tracking.dropped as f64;
        let scale = self.failure_minutes * 60.0 * self.rounds_per_second() / (self.rounds - self.failure_start) as f64;
        block.plain("gain.tracking_dropped.shared", shared.tracking.dropped);
        block.plain("gain.tracking_dropped.split", split.tracking.dropped);
        block.push(Figure::fixed("gain.tracking_saved", saved, 1).marked(Mark::Percent));
        block.plain("gain.event_dropped.shared", shared.event.dropped);
        block.plain("gain.event_dropped.split", split.event.dropped);
        block.plain("parameters.failure_minutes", self.failure_minutes);
        block.fixed("gain.tracking_rescued", rescued * scale, 0);
    }
}

impl Days {
    fn publish_dropped(&self, block: &mut Block, row: &str) {
        for (day, counts) in [("healthy", &self.healthy), ("slowdown", &self.slowdown)] {
            block.plain(format!("{row}.{day}.tracking_dropped"), counts.tracking.dropped);
            block.plain(format!("{row}.{day}.event_dropped"), counts.event.dropped);
        }
    }
}
