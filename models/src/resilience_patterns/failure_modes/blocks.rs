//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Mode, Parameters, Signature};
use crate::figures::{Block, Figure, Mark, Report, segment};
use crate::random::Lehmer;
use std::collections::BTreeSet;

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let mut random = Lehmer::new(self.seed);
        let signatures = Mode::ALL.map(|mode| (mode, self.signature(mode, &mut random)));
        let mut report = Report::new([self.signature_block(&signatures), self.blast_radius_block()]);
        self.state_pairs(&signatures, &mut report);
        self.state_holds(&mut report);
        self.state_saturation(&mut report);
        report.fact("down_share", self.down_share());
        report
    }

    fn signature_block(&self, signatures: &[(Mode, Signature)]) -> Block {
        let mut block = Block::new("signature");
        block.plain("parameters.calls", self.calls);
        block.plain("parameters.usual_rounds", self.usual_rounds);
        block.plain("parameters.timeout_rounds", self.timeout_rounds);
        block.plain("parameters.seed", self.seed);
        for (mode, signature) in signatures {
            let row = format!("signatures.{}", mode.name());
            block.fixed(format!("{row}.response"), signature.response, 3);
            block.fixed(format!("{row}.error"), signature.error, 3);
            block.fixed(format!("{row}.timeout"), signature.timeout, 3);
            block.fixed(format!("{row}.slot_rounds"), signature.slot_rounds, 2);
            block.fixed(format!("{row}.fresh"), signature.fresh, 3);
        }

        let window_rounds = self.naming_window as f64 / (self.event_rate / self.rounds_per_second());
        block.plain("parameters.stamp_bytes", self.stamp_bytes);
        block.fixed("cost.stamp_bytes_per_second", self.stamp_bytes as f64 * self.edge_rate, 2);
        block.plain("parameters.edge_rate", self.edge_rate);
        block.plain("parameters.naming_window", self.naming_window);
        block.fixed("cost.naming_rounds", window_rounds, 1);
        block.plain("parameters.event_rate", self.event_rate);
        block.fixed("cost.naming_ms", window_rounds * 1000.0 / self.rounds_per_second(), 0);

        let usual = self.usual_rounds as f64;
        let expected = usual + self.timeout_share_tried * (self.timeout_rounds as f64 - usual);
        block.fixed("parameters.timeout_share_tried", self.timeout_share_tried, 3);
        block.fixed("sensitivity.expected_slot_rounds", expected, 2);
        let healthy = signatures.iter().find(|(mode, _)| *mode == Mode::Healthy);
        block.fixed("sensitivity.slot_rounds", healthy.map(|(_, signature)| signature.slot_rounds), 2);
        block
    }

    fn blast_radius_block(&self) -> Block {
        let [usual, down, slowdown] = self.cases(&self.compared).map(|(_, breakdown)| self.blast_radius(breakdown));
        let slots = self.slots as f64;

        let mut block = Block::new("blast_radius");
        block.plain("components", usual.loads.len());
        block.plain("flows", self.flows.len());
        block.plain("parameters.slots", self.slots);
        block.plain("timeout_rounds", self.timeout_rounds);
        // "1 round = 10 ms": the 1 is the unit, whatever a round lasts.
        block.plain("one_round", 1);
        block.plain("parameters.round_ms", self.round_ms);
        for load in &usual.loads {
            block.fixed(format!("usual.{}.utilization", segment(load.component)), load.slots / slots, 3);
        }

        for component in &self.broken {
            for (mode, breakdown) in &self.cases(component)[1..] {
                let row = format!("broken.{}.{mode}", segment(component));
                let radius = self.blast_radius(*breakdown);
                block.plain(format!("{row}.hit"), radius.hit);
                block.plain(format!("{row}.flows"), radius.flows);
                block.plain(format!("{row}.flows_of"), self.flows.len());
                block.fixed(format!("{row}.affected_rate"), radius.rate, 2);
            }
        }

        block.fixed("compared.down.affected_rate", down.rate, 2);
        block.plain("compared.down.hit", down.hit);
        block.fixed("compared.slowdown.affected_rate", slowdown.rate, 2);
        block.plain("compared.slowdown.hit", slowdown.hit);
        block.push(Figure::fixed("compared.times", slowdown.rate / down.rate, 2).marked(Mark::TimesBefore));
        for (case, radius) in [("usual", &usual), ("down", &down), ("slowdown", &slowdown)] {
            block.fixed(format!("entry.{case}.utilization"), radius.slots_in_use(&self.entry) / slots, 3);
        }

        let in_use = slowdown.slots_in_use(&self.entry);
        block.plain("parameters.slots_tried", self.slots_tried);
        block.fixed("sensitivity.utilization_slots", in_use / self.slots_tried as f64, 3);
        block.plain("parameters.round_ms_tried", self.round_ms_tried);
        block.fixed("sensitivity.utilization_round", self.round_ms_tried / self.round_ms * in_use / slots, 3);

        let times = self.slowdowns_a_month as f64;
        let minutes = times * self.slowdown_minutes;
        let percent = |each: f64| 100.0 * times * each / self.failure_share_minutes;
        let requests = |rate: f64| minutes * 60.0 * rate;
        block.plain("parameters.slowdowns_a_month", self.slowdowns_a_month);
        block.plain("parameters.slowdown_minutes", self.slowdown_minutes);
        block.plain("month.minutes", minutes);
        block.push(Figure::fixed("month.failure_share", percent(self.slowdown_minutes), 1).marked(Mark::Percent));
        block.plain("parameters.failure_share_minutes", self.failure_share_minutes);
        block.plain("parameters.slowdown_minutes_tried", self.slowdown_minutes_tried);
        let tried = percent(self.slowdown_minutes_tried);
        block.push(Figure::fixed("month.failure_share_tried", tried, 1).marked(Mark::Percent));
        block.plain("month.same_minutes", minutes);
        block.fixed("month.requests_down", requests(down.rate), 0);
        block.fixed("month.requests_slowdown", requests(slowdown.rate), 0);
        block.fixed("month.requests_difference", requests(slowdown.rate - down.rate), 0);
        block
    }

    /// Pairs of modes whose class shares look the same, and those among them that freshness does not separate either.
    fn state_pairs(&self, signatures: &[(Mode, Signature)], report: &mut Report) {
        let (mut same_classes, mut inseparable) = (Vec::new(), Vec::new());
        for (at, (mode, signature)) in signatures.iter().enumerate() {
            for (other_mode, other) in &signatures[at + 1..] {
                if signature.same_classes(other, self.tolerance) {
                    let pair = format!("{} = {}", mode.name(), other_mode.name());
                    if signature.same_content(other, self.tolerance) {
                        inseparable.push(pair.clone());
                    }
                    same_classes.push(pair);
                }
            }
        }
        report.fact("pairs.same_classes", texts(&same_classes));
        report.fact("pairs.inseparable", texts(&inseparable));
    }

    /// How long each component on a flow's way holds its caller's slot: usually, and with the compared one broken.
    fn state_holds(&self, report: &mut Report) {
        for flow in &self.flows {
            let mut seen = BTreeSet::new();
            for part in flow.tree.components().into_iter().filter(|part| seen.insert(&part.component)) {
                for (case, breakdown) in self.cases(&self.compared) {
                    let name = format!("holds.{}.{}.{case}", segment(&flow.name), segment(&part.component));
                    report.fact(name, part.hold(self, breakdown).rounds);
                }
            }
        }
    }

    fn state_saturation(&self, report: &mut Report) {
        report.fact("usual.saturated", texts(&self.blast_radius(None).saturated));
        for component in &self.broken {
            for (mode, breakdown) in &self.cases(component)[1..] {
                let name = format!("broken.{}.{mode}.saturated", segment(component));
                report.fact(name, texts(&self.blast_radius(*breakdown).saturated));
            }
        }
    }
}

fn texts(names: &[impl AsRef<str>]) -> Vec<&str> {
    names.iter().map(AsRef::as_ref).collect()
}
