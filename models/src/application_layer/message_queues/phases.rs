//! A second way to the outcome of a day: phase by phase, in closed form.

use super::{DAY_S, Outcome, Phase, Scenario};
use crate::invariants::Held;
use std::cmp::Ordering;

/// A backlog that changes by the same each second, and is never below zero.
#[derive(Clone, Copy)]
struct Line {
    start: f64,
    a_second: f64,
}

impl Line {
    fn after(self, seconds: u64) -> f64 {
        (self.start + self.a_second * seconds as f64).max(0.0)
    }

    /// In how many of the first so many seconds it begins above a limit.
    fn seconds_above(self, limit: f64, seconds: u64) -> u64 {
        let crossing = (limit - self.start) / self.a_second;
        let all = seconds as f64;
        let above = match self.a_second.total_cmp(&0.0) {
            Ordering::Greater => all - (crossing.floor() + 1.0).max(0.0),
            Ordering::Less => crossing.ceil(),
            Ordering::Equal if self.start > limit => all,
            Ordering::Equal => 0.0,
        };
        above.clamp(0.0, all) as u64
    }
}

impl Scenario<'_> {
    /// The same day without its seconds: within a phase the backlog is a line, so that three numbers describe it.
    fn phase_by_phase(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let peak_start = self.days.warm_up * DAY_S + self.peak_start_s;
        let mut backlog = 0.0;
        for (today, Phase { seconds, arriving, capacity }) in
            (0..self.days.run).flat_map(|today| self.day.iter().map(move |phase| (today, phase)))
        {
            let (line, length) = (Line { start: backlog, a_second: arriving - capacity }, seconds.end - seconds.start);
            if length == 0 {
                continue;
            }
            backlog = line.after(length);
            if today == self.days.warm_up {
                outcome.highest_backlog = outcome.highest_backlog.max(line.after(1)).max(backlog);
                outcome.delayed += arriving * line.seconds_above(self.delayed_after_s * self.capacity, length) as f64;
            }
            let now = today * DAY_S + seconds.start;
            let asked_from = (peak_start + 1).saturating_sub(now);
            let emptying = if line.a_second < 0.0 { line.seconds_above(1.0, length + 1).saturating_sub(1) } else { 0 };
            let empty = asked_from.max(emptying);
            if empty < length && line.after(empty + 1) < 1.0 {
                outcome.drained_after_s.get_or_insert(now + empty - peak_start);
            }
        }
        outcome
    }

    /// The two ways agree, to the second in which the backlog crosses a limit.
    pub(super) fn agrees_with_phases(&self) -> Held {
        let (seconds, phases) = (self.run(), self.phase_by_phase());
        let crossings: f64 = self.day.iter().map(|phase| phase.arriving).sum();
        let drained = [&seconds, &phases].map(|outcome| outcome.drained_after_s);
        let is_near = match drained {
            [Some(seconds), Some(phases)] => seconds.abs_diff(phases) <= 1,
            [one, other] => one == other,
        };
        Held::all([
            // The seconds add up what a phase multiplies.
            Held::close("highest backlog", seconds.highest_backlog, phases.highest_backlog),
            Held::at_most("events delayed by one way only", (seconds.delayed - phases.delayed).abs(), crossings),
            Held::that(is_near, || format!("drained after seconds, by seconds and by phases: {drained:?}")),
        ])
    }
}
