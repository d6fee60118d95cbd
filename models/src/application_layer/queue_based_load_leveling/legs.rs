//! The backlog from one change of a rate to the next.

use super::{Buffer, Design, ONE_EVENT};
use std::ops::Range;

/// A number that changes by the same amount in each of some seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ramp {
    pub(super) start: f64,
    pub(super) change: f64,
}

impl Ramp {
    pub(super) fn after(self, seconds: u64) -> f64 {
        self.start + self.change * seconds as f64
    }

    /// The seconds, counted from 1, after which less than one event is left.
    pub(super) fn below_one_event(self, seconds: u64) -> Range<u64> {
        let crossing = (ONE_EVENT - self.start) / self.change;
        if self.change < 0.0 {
            (crossing.floor().max(0.0) as u64).saturating_add(1)..seconds + 1
        } else if self.start >= ONE_EVENT {
            0..0
        } else if self.change > 0.0 {
            1..(crossing.ceil().max(1.0) as u64).min(seconds + 1)
        } else {
            1..seconds + 1
        }
    }
}

/// Seconds in which events arrive, and the producer's kept events change, at one rate.
pub(super) struct Inflow {
    pub(super) seconds: u64,
    pub(super) arriving: f64,
    pub(super) kept: Ramp,
}

/// Seconds of an inflow in which the backlog changes, and events are dropped, at one rate.
pub(super) struct Leg {
    pub(super) seconds: u64,
    pub(super) backlog: Ramp,
    pub(super) arriving: f64,
    pub(super) processed: f64,
    pub(super) dropped: f64,
}

impl Design {
    /// The longest leg from this backlog on.
    pub(super) fn leg(self, backlog: f64, inflow: &Inflow) -> Leg {
        let arriving = inflow.arriving;
        let room = match self.buffer {
            Buffer::None => self.capacity,
            Buffer::Limit(limit) => (limit - backlog).max(0.0),
            Buffer::Unbounded => f64::INFINITY,
        };
        let accepted = arriving.min(room);
        let processed = self.capacity.min(backlog + accepted);
        let after = (backlog + accepted - self.capacity).max(0.0);
        let change = after - backlog;
        let dropped = arriving - accepted;
        // How many seconds go on like this one: until the room no longer suffices, or the backlog is empty.
        let lasts = if change == 0.0 {
            u64::MAX
        } else if dropped > 0.0 {
            1
        } else if change > 0.0 {
            ((room - arriving) / change) as u64
        } else {
            (backlog / -change) as u64
        };
        Leg {
            seconds: lasts.clamp(1, inflow.seconds),
            backlog: Ramp { start: backlog, change },
            arriving,
            processed,
            dropped,
        }
    }
}
