//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Arrangement, Outcome, Parameters};
use crate::figures::{Block, Fact, Figure, Mark, Report};

/// A number taken from a run.
type Count = fn(&Outcome) -> u64;

/// The four arrangements, by name.
type Runs<'a> = [(&'static str, Outcome<'a>); 4];

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let runs = Arrangement::ALL.map(|arrangement| (arrangement.name(), self.run(arrangement, self.consumers)));
        let mut report = Report::new([self.measure(&runs), self.cost(&runs)]);
        for (name, run) in &runs {
            report.fact(format!("runs.{name}.wrong_shipments"), run.wrong.clone());
            report.fact(format!("runs.{name}.starts"), run.slots.iter().map(|s| s.start).collect::<Vec<u64>>());
            report.fact(format!("runs.{name}.finishes"), run.slots.iter().map(|s| s.finish).collect::<Vec<u64>>());
            let lanes = run.lanes.keys().map(|lane| Fact::from(*lane)).collect();
            report.fact(format!("runs.{name}.lane_names"), Fact::List(lanes));
            report.fact(format!("runs.{name}.lane_loads"), run.lanes.values().copied().collect::<Vec<u64>>());
        }
        report
    }
}

impl Parameters {
    fn measure(&self, runs: &Runs) -> Block {
        let [(_, free), (_, convoy), (_, line), (_, stamp)] = runs;
        let mut block = Block::new("measure");
        block.plain("events", self.events.len());
        block.plain("shipments", self.shipments());
        block.plain("parameters.consumers", self.consumers);
        block.plain("workload", free.workload);
        let measures: [(&str, Count); 6] = [
            ("backward_writes", |run| run.backward_writes as u64),
            ("wrong_final", |run| run.wrong.len() as u64),
            ("skipped", |run| run.skipped as u64),
            ("ticks", |run| run.ticks),
            ("lanes", |run| run.lanes.len() as u64),
            ("busiest_lane", |run| run.busiest_lane()),
        ];
        for (measure, of) in measures {
            for (name, run) in runs {
                block.plain(format!("runs.{name}.{measure}"), of(run));
            }
        }
        block.fixed("convoy_by_free", convoy.ticks as f64 / free.ticks as f64, 3);
        block.fixed("line_convoy_by_free", line.ticks as f64 / free.ticks as f64, 3);
        for (name, run) in &runs[..3] {
            block.fixed(format!("runs.{name}.concurrency"), run.concurrency(), 2);
        }
        block.plain("missing_from_history", stamp.skipped);
        for (i, &consumers) in self.consumer_counts.iter().enumerate() {
            block.plain(format!("parameters.consumer_counts.{i}"), consumers);
            for arrangement in Arrangement::PACES {
                let name = format!("sweep.consumers_{consumers}.{}.ticks", arrangement.name());
                block.plain(name, self.run(arrangement, consumers).ticks);
            }
        }
        block
    }

    /// How many more consumers the peak of the writes needs, if only the constrained events go through the convoy.
    fn cost(&self, runs: &Runs) -> Block {
        let [(_, free), (_, convoy), (_, line), _] = runs;
        let costs = [("convoy", convoy), ("line_convoy", line)]
            .map(|(name, run)| (name, free.concurrency() / run.concurrency()));
        let mut block = Block::new("cost");
        for &events in &self.constrained_events {
            let share = events as f64 / self.events_per_shipment as f64;
            let constrained = self.peak_write * share;
            let row = format!("cost.constrained_{events}");
            block.fixed(format!("{row}.share"), share, 3);
            block.fixed(format!("{row}.constrained_rate"), constrained, 2);
            block.fixed(format!("{row}.unconstrained_rate"), self.peak_write - constrained, 2);
            for (name, cost) in costs {
                block.fixed(format!("{row}.{name}"), share * cost + (1.0 - share), 3);
            }
        }
        for (name, cost) in costs {
            block.push(Figure::fixed(format!("cost.all.{name}"), cost, 3).marked(Mark::TimesBefore));
        }
        block.plain("parameters.ceiling_consumers", self.ceiling_consumers);
        for arrangement in [Arrangement::CONVOY, Arrangement::LINE_CONVOY, Arrangement::Free] {
            let ticks = self.run(arrangement, self.ceiling_consumers).ticks;
            block.plain(format!("ceiling.{}.ticks", arrangement.name()), ticks);
        }
        block
    }
}
