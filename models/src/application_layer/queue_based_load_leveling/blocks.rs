//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{Buffer, Design, HOUR, Outcome, Parameters, Profile, Spike};
use crate::figures::{Block, Figure, Mark, Report, segment};
use std::ops::Range;

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
        let profile = self.profile();
        let seconds = |window: &Range<u64>| window.end - window.start;
        let (outage, extra_stream) = (seconds(&profile.outage), seconds(&profile.extra_stream));
        let mut block = Block::new("spike");
        block.fixed("peak", profile.peak, 2);
        block.plain("outage_seconds", outage);
        block.fixed("resent", profile.peak * outage as f64, 0);
        block.plain("extra_stream_seconds", extra_stream);
        block.fixed("extra_stream_rate", profile.peak, 2);
        block.fixed("added", profile.peak * extra_stream as f64, 0);

        for spike in [Spike::None, Spike::Resend(self.unbuffered_resend), Spike::Volume] {
            if spike == Spike::Resend(self.unbuffered_resend) {
                block.plain("parameters.unbuffered_resend", self.unbuffered_resend);
            }
            let design = Design { capacity: profile.peak, buffer: Buffer::None, spike };
            profile.publish(&mut block, "unbuffered", design);
        }
        let expected = self.queue_rows(&mut block);
        self.limits(&mut block, expected);

        let mut report = Report::new([block]);
        report.fact("off_peak", profile.off_peak);
        for spike in self.limit_spikes() {
            // At its highest the queue holds what is left after a second, and what the consumer took in it.
            let design = self.queued(spike, Buffer::Unbounded);
            let needed = profile.run(design).highest + design.capacity;
            report.fact(format!("limit.{}.without_tolerance", spike.name()), needed);
        }
        report
    }
}

impl Profile {
    fn publish(&self, block: &mut Block, design_name: &str, design: Design) -> Outcome {
        let outcome = self.run(design);
        let row = format!("{design_name}.{}", design.spike.name());
        let arrival = design.spike.arrival_ratio() * self.peak;
        let hours = |seconds: f64| seconds / HOUR as f64;
        block.fixed(format!("{row}.arrival_rate"), arrival, 0);
        block.fixed(format!("{row}.capacity"), design.capacity, 2);
        block.fixed(format!("{row}.dropped"), outcome.dropped, 0);
        block.fixed(format!("{row}.backlog"), outcome.highest, 0);
        block.fixed(format!("{row}.wait_hours"), hours(outcome.highest / design.capacity), 2);
        block.fixed(format!("{row}.drain_hours"), outcome.drain.map(|seconds| hours(seconds as f64)), 2);
        block.fixed(format!("{row}.leveling"), arrival / design.capacity, 2);
        outcome
    }
}

impl Parameters {
    /// The highest backlog of a day without a spike, as printed.
    fn queue_rows(&self, block: &mut Block) -> f64 {
        let profile = self.profile();
        let ratio = || Figure::plain("parameters.capacity_ratio", self.capacity_ratio).marked(Mark::Times);
        let mut publish = |spike, label: Option<Figure>| {
            block.push(ratio());
            label.into_iter().for_each(|label| block.push(label));
            profile.publish(block, "queue", self.queued(spike, Buffer::Unbounded))
        };
        let expected = publish(Spike::None, None);
        for (i, &resend) in self.resends.iter().enumerate() {
            publish(Spike::Resend(resend), Some(Figure::plain(format!("parameters.resends.{i}"), resend)));
        }
        publish(Spike::Volume, None);
        block.push(ratio());
        expected.highest.round()
    }

    /// The smallest limits, and what the limit that suits a day without a spike drops.
    fn limits(&self, block: &mut Block, expected: f64) {
        let profile = self.profile();
        for spike in self.limit_spikes() {
            self.label(block, spike);
            block.fixed(format!("limit.{}.smallest", spike.name()), self.smallest_limit(spike), 0);
        }
        block.plain("limit.chosen", expected);
        for spike in self.limit_spikes().into_iter().filter(|spike| *spike != Spike::None) {
            let dropped = profile.run(self.queued(spike, Buffer::holding(expected))).dropped;
            self.label(block, spike);
            block.fixed(format!("limit.{}.dropped", spike.name()), dropped, 0);
        }
    }

    fn limit_spikes(&self) -> Vec<Spike> {
        let resends = self.limit_resends.iter().copied().map(Spike::Resend);
        [Spike::None].into_iter().chain(resends).chain([Spike::Volume]).collect()
    }

    fn label(&self, block: &mut Block, spike: Spike) {
        let i = self.limit_resends.iter().position(|resend| spike == Spike::Resend(*resend));
        if let (Some(i), Spike::Resend(resend)) = (i, spike) {
            block.plain(format!("parameters.limit_resends.{i}"), resend);
        }
    }
}

impl Spike {
    fn name(self) -> String {
        match self {
            Self::None => "no_event".to_owned(),
            Self::Resend(resend) => format!("resend_{}", segment(resend)),
            Self::Volume => "volume".to_owned(),
        }
    }

    /// In peaks, while the spike lasts.
    fn arrival_ratio(self) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Resend(resend) => resend,
            Self::Volume => 2.0,
        }
    }
}
