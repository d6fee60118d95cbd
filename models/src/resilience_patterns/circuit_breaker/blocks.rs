//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::breaker::{Rule, WindowRatio};
use super::{Counts, Mode, NamedRule, Parameters};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let chosen = Rule::Ratio(self.rule);
        let runs =
            Mode::ALL.map(|mode| Pair { mode, plain: self.run(mode, None), breaker: self.run(mode, Some(chosen)) });
        let [healthy, partial, slowdown, down] = &runs;

        let mut block = Block::new("run");
        block.plain("parameters.rounds", self.rounds);
        block.plain("seconds", self.rounds as f64 / self.rounds_per_second());
        block.plain("parameters.failure_start", self.failure_start);
        block.plain("parameters.slots", self.slots);
        block.plain("parameters.rule.threshold", self.rule.threshold);
        block.plain("parameters.rule.window", self.rule.window);
        block.plain("parameters.rule.open_rounds", self.rule.open_rounds);
        for run in &runs {
            run.plain.publish(&mut block, &format!("runs.{}.none", run.mode.name()));
            run.breaker.publish(&mut block, &format!("runs.{}.breaker", run.mode.name()));
        }

        block.plain("cost.calls", healthy.breaker.calls);
        block.plain("cost.window", self.rule.window);
        block.plain("cost.false_opens", healthy.breaker.opens);
        block.plain("cost.rejected", healthy.breaker.event_rejected);
        block.plain("cost.partial.opens", partial.breaker.opens);
        block.plain("cost.partial.responses_none", partial.plain.event_responses);
        block.plain("cost.partial.responses_breaker", partial.breaker.event_responses);
        block.plain("cost.partial.lost", partial.lost_responses(&partial.breaker));

        slowdown.publish_gain(&mut block, true);
        down.publish_gain(&mut block, false);

        let scale = self.failure_minutes * 60.0 * self.rounds_per_second() / (self.rounds - self.failure_start) as f64;
        let saved = difference(slowdown.plain.calls, slowdown.breaker.calls) as f64;
        let rescued = difference(slowdown.plain.tracking_no_slot, slowdown.breaker.tracking_no_slot) as f64;
        block.plain("parameters.failure_minutes", self.failure_minutes);
        block.fixed("scaled.calls_saved", saved * scale, 0);
        block.fixed("scaled.tracking_rescued", rescued * scale, 0);

        let mut report = Report::default();
        report.fact("calls_before_failure", slowdown.plain.at_failure.calls);
        for (row, run) in (1..).step_by(2).zip(&runs) {
            report.fact(format!("rows.{}.none", run.mode.name()), row);
            report.fact(format!("rows.{}.breaker", run.mode.name()), row + 1);
            report.fact(format!("rejection_slot_rounds.{}", run.mode.name()), run.breaker.rejection_slot_rounds);
        }

        for NamedRule { name, opens_on } in &self.rules {
            for mode in Mode::ALL {
                let row = format!("rules.{name}.{}", mode.name());
                let run = self.run(mode, Some(*opens_on));
                match opens_on {
                    Rule::Ratio(rule) => {
                        block.fixed(format!("{row}.threshold"), rule.threshold, 2);
                        block.plain(format!("{row}.window"), rule.window);
                    }
                    Rule::Consecutive(rule) => block.plain(format!("{row}.threshold"), rule.failures),
                }
                let detection = run.detection.as_ref();
                block.plain(format!("{row}.detection_round"), detection.map(|d| d.round));
                block.plain(format!("{row}.detection_slot_rounds"), detection.map(|d| d.slot_rounds));
                block.plain(format!("{row}.opens"), run.opens);
                let lost = match mode {
                    Mode::Healthy => Some(difference(run.event_rejected, 0)),
                    Mode::Partial => Some(partial.lost_responses(&run)),
                    Mode::Slowdown | Mode::Down => None,
                };
                block.plain(format!("{row}.rejected_valid"), lost);
                report.fact(format!("{row}.rejected"), run.event_rejected);
                report.fact(format!("{row}.rejects_at_failure"), run.at_failure.is_open);
            }
        }

        let longer = self.longer_open_rounds;
        block.plain("parameters.longer_open_rounds", longer);
        block.plain("sensitivity.open_rounds", self.rule.open_rounds);
        block.plain("sensitivity.calls", slowdown.breaker.calls);
        block.plain("sensitivity.calls_longer", self.run(Mode::Slowdown, Some(chosen.with_open_rounds(longer))).calls);
        if let Some(NamedRule { opens_on: low @ Rule::Ratio(WindowRatio { threshold, .. }), .. }) = self.rules.last() {
            let rejected = |rule| self.run(Mode::Healthy, Some(rule)).event_rejected;
            block.fixed("sensitivity.threshold", *threshold, 2);
            block.plain("sensitivity.rejected", rejected(*low));
            block.plain("sensitivity.rejected_longer", rejected(low.with_open_rounds(longer)));
        }
        report.blocks.push(block);
        report
    }
}

/// The same day without and with the breaker.
struct Pair {
    mode: Mode,
    plain: Counts,
    breaker: Counts,
}

impl Pair {
    /// Events that were answered without a breaker and are not with one.
    fn lost_responses(&self, with_breaker: &Counts) -> i64 {
        difference(self.plain.event_responses, with_breaker.event_responses)
    }

    fn publish_gain(&self, block: &mut Block, with_percentage: bool) {
        let Self { mode, plain, breaker } = self;
        let row = format!("gain.{}", mode.name());
        block.plain(format!("{row}.tracking_no_slot_none"), plain.tracking_no_slot);
        block.plain(format!("{row}.tracking_no_slot_breaker"), breaker.tracking_no_slot);
        block.plain(format!("{row}.slot_rounds_none"), plain.event_slot_rounds);
        block.plain(format!("{row}.slot_rounds_breaker"), breaker.event_slot_rounds);
        if with_percentage {
            let saved = difference(plain.event_slot_rounds, breaker.event_slot_rounds) as f64;
            let percent = 100.0 * saved / plain.event_slot_rounds as f64;
            block.push(Figure::fixed(format!("{row}.slot_rounds_saved"), percent, 2).marked(Mark::Percent));
        }
        block.plain(format!("{row}.calls_none"), plain.calls);
        block.plain(format!("{row}.calls_breaker"), breaker.calls);
    }
}

impl Counts {
    fn publish(&self, block: &mut Block, row: &str) {
        block.plain(format!("{row}.tracking_responses"), self.tracking_responses);
        block.plain(format!("{row}.tracking_no_slot"), self.tracking_no_slot);
        block.plain(format!("{row}.event_responses"), self.event_responses);
        block.plain(format!("{row}.event_rejected"), self.event_rejected);
        block.plain(format!("{row}.event_errors"), self.event_errors);
        block.plain(format!("{row}.calls"), self.calls);
        block.plain(format!("{row}.event_slot_rounds"), self.event_slot_rounds);
    }
}

/// How many fewer; negative where there are more.
fn difference(before: u64, after: u64) -> i64 {
    before as i64 - after as i64
}
