//! What the lesson publishes: the figures of its block in order, and the facts.

use super::{CLASSES, EachClass, Parameters, Policy, Queue, remaining};
use crate::figures::{Block, Figure, Mark, Report, segment};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let share = self.weighted_share();
        let burst = Some(self.burst);
        let runs = [
            ("single_queue", Policy::SingleQueue, None),
            ("strict_priority", Policy::StrictPriority, None),
            ("weighted_share", share, None),
            ("strict_priority_burst", Policy::StrictPriority, burst),
            ("weighted_share_burst", share, burst),
        ];
        let required = self.required();
        let window = self.window_seconds();
        let mut block = Block::new("work_class");
        block.plain("window_seconds", window);
        block.plain("parameters.capacity", self.capacity);
        block.fixed("required_rate", required, 2);
        for (name, policy, burst) in runs {
            block.plain("parameters.capacity", self.capacity);
            publish(&mut block, &format!("runs.{name}"), &self.run(policy, self.capacity, burst));
        }

        block.fixed("shortfall.required_rate", required, 2);
        block.plain("parameters.capacity", self.capacity);
        block.plain("shortfall.window_seconds", window);
        block.fixed("shortfall.jobs", (required - self.capacity) * window as f64, 0);
        block.plain("parameters.capacity", self.capacity);
        block.fixed("closing.capacity", required, 2);
        block.push(Figure::fixed("closing.by_capacity", required / self.capacity, 3).marked(Mark::TimesBefore));
        block.fixed("parameters.window_hours", self.window_hours, 2);
        block.fixed("closing.window_hours", self.window_hours * required / self.capacity, 2);
        for (i, &capacity) in self.capacities.iter().enumerate() {
            block.plain(format!("parameters.capacities.{i}"), capacity);
            let name = format!("sensitivity.capacity_{}", segment(capacity));
            block.fixed(name, remaining(&self.run(share, capacity, None)), 0);
        }

        let mut report = Report::new([block]);
        report.fact("rates.state_event", self.event_rate());
        report.fact("rates.state_event_burst", self.event_rate() * self.burst.multiplier);
        report.fact("rates.state_event_share", self.capacity * self.shares.state_event);
        report.fact("burst.jobs", self.event_rate() * (self.burst.multiplier - 1.0) * self.burst.seconds as f64);
        report
    }
}

fn publish(block: &mut Block, run: &str, queues: &EachClass<Queue>) {
    for (class, queue) in CLASSES.into_iter().zip(queues) {
        let row = format!("{run}.{class}");
        block.fixed(format!("{row}.arrived"), queue.arrived, 0);
        block.fixed(format!("{row}.completed"), queue.completed, 0);
        block.fixed(format!("{row}.completed_share"), queue.completed / queue.arrived, 3);
        block.fixed(format!("{row}.mean_wait_minutes"), queue.total_wait / queue.completed.max(1.0) / 60.0, 1);
        block.fixed(format!("{row}.longest_wait_minutes"), queue.longest_wait as f64 / 60.0, 1);
        block.fixed(format!("{row}.remaining"), queue.remaining(), 0);
    }
    block.fixed(format!("{run}.remaining"), remaining(queues), 0);
}
