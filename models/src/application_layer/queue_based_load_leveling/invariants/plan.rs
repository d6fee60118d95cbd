//! What follows from a profile and a capacity without a walk through the day.

use crate::application_layer::queue_based_load_leveling::{
    Buffer, DAY, Design, ONE_EVENT, Outcome, Parameters, Profile, Spike,
};
use std::ops::Range;

fn seconds(window: &Range<u64>) -> f64 {
    (window.end - window.start) as f64
}

/// A lesson's design, with what follows from it without a walk through the day.
pub(super) struct Plan {
    pub(super) profile: Profile,
    pub(super) capacity: f64,
    pub(super) peak_seconds: f64,
    /// From the peak's start to the spike's.
    pub(super) delay: f64,
    pub(super) outage: f64,
    pub(super) extra_stream: f64,
}

impl Plan {
    pub(super) fn of(p: &Parameters) -> Self {
        let profile = p.profile();
        let peak_start = profile.peak_window.start;
        Self {
            capacity: p.queued(Spike::None, Buffer::Unbounded).capacity,
            peak_seconds: seconds(&profile.peak_window),
            delay: (profile.outage.start - peak_start) as f64,
            outage: seconds(&profile.outage),
            extra_stream: seconds(&profile.extra_stream),
            profile,
        }
    }

    pub(super) fn run(&self, spike: Spike, buffer: Buffer) -> Outcome {
        self.profile.run(Design { capacity: self.capacity, buffer, spike })
    }

    /// The peak's events that the consumer does not get to, with those that a spike adds.
    pub(super) fn unprocessed(&self, spike: Spike) -> f64 {
        let Profile { peak, .. } = self.profile;
        let volume = if spike == Spike::Volume { self.extra_stream } else { 0.0 };
        if self.capacity <= peak {
            (peak - self.capacity) * self.peak_seconds + peak * volume
        } else {
            (2.0 * peak - self.capacity).max(0.0) * volume
        }
    }

    /// The peak is one, and the rest of the day suffices for what it leaves.
    pub(super) fn recovers(&self, spike: Spike) -> bool {
        let Profile { peak, off_peak, .. } = self.profile;
        let rest = (self.capacity - off_peak) * (DAY as f64 - self.peak_seconds);
        off_peak <= peak && off_peak < self.capacity && self.unprocessed(spike) <= rest
    }

    /// The producer sends all that it has kept before the peak ends.
    pub(super) fn resends_within_peak(&self, resend: f64) -> bool {
        (self.outage / (resend - 1.0)).ceil() <= self.peak_seconds - self.delay - self.outage
    }

    /// The producer sends all that it has kept before it is cut off the next day.
    pub(super) fn resends_within_a_day(&self, resend: f64) -> bool {
        (self.outage / (resend - 1.0)).ceil() <= DAY as f64 - self.outage
    }

    /// What waits when the producer is cut off lasts until it returns, in a queue that holds so many.
    pub(super) fn is_busy_through_outage(&self, held: f64) -> bool {
        let waiting = held.min((self.profile.peak - self.capacity) * self.delay);
        waiting >= self.capacity * self.outage + ONE_EVENT
    }
}
