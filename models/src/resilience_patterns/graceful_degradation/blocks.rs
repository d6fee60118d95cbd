//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Outcome, Parameters, Policy};
use crate::figures::{Block, Figure, Mark, Report, segment};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut block = Block::new("run");
        block.plain("failure_rounds", self.failure_rounds());
        block.plain("parameters.warmup", self.warmup);
        block.plain("parameters.staleness_bound", self.staleness_bound);
        for (i, field) in self.fields.iter().enumerate() {
            block.plain(format!("parameters.fields.{i}.bytes"), field.bytes);
        }
        block.plain("field_bytes", self.fields.iter().map(|field| field.bytes).sum::<u64>());
        block.plain("parameters.response_bytes", self.response_bytes);

        let days = [
            ("failure_free", None),
            ("optional_down", Some(self.optional_failure.as_str())),
            ("core_down", Some(self.core_failure.as_str())),
        ]
        .map(|(name, down)| (name, Policy::ALL.map(|policy| (policy, self.run(policy, down)))));
        for (day, outcomes) in &days {
            publish_day(&mut block, day, outcomes);
        }
        let [(_, failure_free), failing @ ..] = &days;
        self.publish_cost(&mut block, failure_free);
        self.publish_downtime(&mut block, failing);
        for source in &self.isolated_sources {
            let outcome = self.run(Policy::StaleFallback, Some(source));
            let row = format!("isolation.{}", segment(source));
            block.plain(format!("{row}.responses"), outcome.responses());
            block.fixed(format!("{row}.average_bytes"), outcome.average_bytes(), 1);
            block.plain(format!("{row}.last_response"), outcome.last_response);
        }

        let mut report = Report::new([block]);
        for (day, outcomes) in &days {
            for (policy, outcome) in outcomes {
                for (field, served) in self.fields.iter().zip(&outcome.served) {
                    let row = format!("{day}.{}.of.{}", policy.name(), segment(&field.name));
                    report.fact(format!("{row}.stale"), served.stale);
                    report.fact(format!("{row}.missing"), served.missing);
                }
            }
        }
        report
    }
}

fn publish_day(block: &mut Block, day: &str, outcomes: &[(Policy, Outcome)]) {
    for (policy, outcome) in outcomes {
        let row = format!("{day}.{}", policy.name());
        block.plain(format!("{row}.responses"), outcome.responses());
        block.plain(format!("{row}.full"), outcome.full);
        block.plain(format!("{row}.reduced"), outcome.reduced);
        block.plain(format!("{row}.dropped"), outcome.dropped);
        block.plain(format!("{row}.fresh_fields"), outcome.total(|served| served.fresh));
        block.plain(format!("{row}.stale_fields"), outcome.total(|served| served.stale));
        block.plain(format!("{row}.missing_fields"), outcome.total(|served| served.missing));
        block.fixed(format!("{row}.average_bytes"), outcome.average_bytes(), 1);
        block.plain(format!("{row}.last_response"), outcome.last_response);
    }
}

impl Parameters {
    /// What the pattern costs, and the strict policy without it, on the day without a failure.
    fn publish_cost(&self, block: &mut Block, outcomes: &[(Policy, Outcome); 3]) {
        let [(_, strict), _, (_, fallback)] = outcomes;
        let fields = self.fields.len() as f64;
        let rounds = self.failure_rounds() as f64;
        let marker_bytes = self.marker_bytes as f64 * fields;
        let marker_share = marker_bytes / self.response_bytes * 100.0;
        let marker_kib = self.peak_read * self.marker_bytes as f64 * fields / 1024.0;
        block.plain("parameters.marker_bytes", self.marker_bytes);
        block.plain("cost.fields", self.fields.len());
        block.plain("cost.marker_bytes", marker_bytes);
        block.push(Figure::fixed("cost.marker_share", marker_share, 1).marked(Mark::Percent));
        block.fixed("cost.marker_kib_per_second", marker_kib, 2);

        let store_mib = self.fallback_records as f64 * self.response_bytes / 1024.0 / 1024.0;
        block.plain("parameters.fallback_records", self.fallback_records);
        block.plain("cost.record_bytes", self.response_bytes);
        block.fixed("cost.store_mib", store_mib, 2);
        block.fixed("cost.writes_per_second", self.peak_read * fields, 2);

        let stale = fallback.total(|served| served.stale);
        block.plain("cost.strict.dropped", strict.dropped);
        block.plain("cost.strict.requests", self.failure_rounds());
        block.fixed("cost.strict.dropped_per_second", self.peak_read * strict.dropped as f64 / rounds, 2);
        block.plain("cost.fallback.dropped", fallback.dropped);
        block.plain("cost.fallback.stale_fields", stale);
        let stale_share = stale as f64 / (rounds * fields) * 100.0;
        block.push(Figure::fixed("cost.fallback.stale_share", stale_share, 2).marked(Mark::Percent));
    }

    /// What the failing days take of the minutes that failures may take.
    fn publish_downtime(&self, block: &mut Block, days: &[(&str, [(Policy, Outcome); 3])]) {
        block.plain("parameters.failure_minutes", self.failure_minutes);
        block.plain("parameters.failure_share", self.failure_share);
        for (day, outcomes) in days {
            for (policy, outcome) in outcomes {
                let minutes = self.failure_minutes * (outcome.dropped as f64 / self.failure_rounds() as f64);
                let share = minutes / self.failure_share * 100.0;
                let row = format!("downtime.{day}.{}", policy.name());
                block.plain(format!("{row}.responses"), outcome.responses());
                block.fixed(format!("{row}.minutes"), minutes, 2);
                block.push(Figure::fixed(format!("{row}.of_failure_share"), share, 1).marked(Mark::Percent));
            }
        }
    }
}
