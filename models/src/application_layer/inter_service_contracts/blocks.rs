//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Parameters, Step, broken};
use crate::figures::{Block, Fact, Figure, Mark, Report, segment};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let (v1, v2) = (self.v1(), self.v2());
        let transition = v1.with(&v2);
        let (readers, migrated) = (self.readers(), self.migrated());
        let consumers = self.consumers.len();

        let mut block = Block::new("measure");
        block.plain("fields.v1", v1.0.len());
        block.plain("fields.transition", transition.0.len());
        block.plain("fields.v2", v2.0.len());
        block.plain("consumers", consumers);
        let counts = self.readers_by_field();
        for (place, (_, count)) in (1..).zip(counts.iter().take(self.most_read)) {
            block.plain(format!("most_read.place_{place}"), *count);
        }

        let broken_at_once = broken(&readers, &v2);
        block.plain("at_once.broken", broken_at_once.len());
        block.plain("at_once.consumers", consumers);
        block.plain("at_once.units", broken_at_once.len() + 1);

        let [expand, migrate, contract] = self.release_units();
        let steps = [
            Step { name: "expand", schema: &transition, readers: &readers, units: expand },
            Step { name: "migrate", schema: &transition, readers: &migrated, units: migrate },
            Step { name: "contract", schema: &v2, readers: &migrated, units: contract },
        ];
        for (number, step) in (1u64..).zip(&steps) {
            let row = format!("steps.{}", step.name);
            block.plain(format!("{row}.number"), number);
            block.plain(format!("{row}.fields"), step.schema.0.len());
            block.plain(format!("{row}.broken"), step.broken());
            block.plain(format!("{row}.consumers"), consumers);
            block.plain(format!("{row}.units"), step.units);
            block.plain(format!("{row}.record_bytes"), step.schema.record_bytes());
        }
        block.plain("sequence.steps", steps.len());
        block.plain("sequence.units", steps.iter().map(|step| step.units).sum::<usize>());
        block.plain("sequence.broken", steps.iter().map(Step::broken).sum::<usize>());

        for (name, schema) in [("v1", &v1), ("transition", &transition), ("v2", &v2)] {
            let bytes = schema.record_bytes();
            block.plain(format!("records.{name}.bytes"), bytes);
            block.fixed(format!("records.{name}.mbit"), self.mbit(bytes), 3);
            block.fixed(format!("records.{name}.to_read_egress"), self.mbit(bytes) / self.read_egress_mbit, 2);
        }
        let (before, during) = (v1.record_bytes(), transition.record_bytes());
        block.plain("transition_cost.bytes", during as i64 - before as i64);
        block.fixed("transition_cost.mbit", self.mbit(during) - self.mbit(before), 3);
        block.push(Figure::fixed("transition_cost.growth", during as f64 / before as f64, 2).marked(Mark::Times));

        let mut report = Report::new([block]);
        let unbroken = readers.iter().filter(|reader| !reader.breaks_on(&v2));
        report.fact("at_once.broken_names", broken_at_once);
        report.fact("at_once.unbroken_names", unbroken.map(|reader| reader.name).collect::<Vec<_>>());
        report.fact("changed_fields", self.changes.len());
        report.fact("most_read.names", counts.iter().take(self.most_read).map(|(name, _)| *name).collect::<Vec<_>>());
        for (name, count) in &counts {
            report.fact(format!("readers.{}", segment(name)), Fact::from(*count));
        }
        report
    }
}
