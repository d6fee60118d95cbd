//! The breaker itself: what it opens on, and how one state becomes the next.

use crate::parameters::Declaration;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Opens once a share of the last calls failed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowRatio {
    pub(super) window: usize,
    pub(super) threshold: f64,
    pub(super) open_rounds: u64,
}

/// Opens once so many calls in a row failed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConsecutiveFailures {
    pub(super) failures: u64,
    pub(super) open_rounds: u64,
}

/// What the breaker opens on, and for how long.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rule {
    Ratio(WindowRatio),
    Consecutive(ConsecutiveFailures),
}

impl Rule {
    pub(super) fn open_rounds(self) -> u64 {
        match self {
            Self::Ratio(rule) => rule.open_rounds,
            Self::Consecutive(rule) => rule.open_rounds,
        }
    }

    pub(super) fn with_open_rounds(self, open_rounds: u64) -> Self {
        match self {
            Self::Ratio(rule) => Self::Ratio(WindowRatio { open_rounds, ..rule }),
            Self::Consecutive(rule) => Self::Consecutive(ConsecutiveFailures { open_rounds, ..rule }),
        }
    }

    pub(super) fn declare(&self, d: &mut Declaration) {
        match self {
            Self::Ratio(rule) => d.group("ratio", |d| rule.declare(d)),
            Self::Consecutive(rule) => d.group("consecutive", |d| {
                d.integer("failures", rule.failures, 1..=10_000);
                d.integer("open_rounds", rule.open_rounds, 1..=1_000_000);
            }),
        }
    }
}

/// Closed lets calls through, open rejects them, half-open lets one through and decides by its outcome.
enum State {
    Closed,
    Open { until: u64 },
    HalfOpen,
}

pub(super) struct Breaker {
    rule: Rule,
    state: State,
    consecutive: u64,
    window: VecDeque<bool>,
}

impl Breaker {
    pub(super) fn new(rule: Rule) -> Self {
        Self { rule, state: State::Closed, consecutive: 0, window: VecDeque::new() }
    }

    pub(super) fn start_round(&mut self, now: u64) {
        if matches!(self.state, State::Open { until } if now >= until) {
            self.state = State::HalfOpen;
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    /// Takes the outcome of one call; true if it opens the breaker.
    pub(super) fn observe(&mut self, now: u64, failed: bool) -> bool {
        let opens = match self.state {
            State::HalfOpen => failed,
            _ => self.reaches_threshold(failed),
        };
        if opens {
            self.forget();
            self.state = State::Open { until: now + self.rule.open_rounds() };
        } else if matches!(self.state, State::HalfOpen) {
            self.forget();
            self.state = State::Closed;
        }
        opens
    }

    fn reaches_threshold(&mut self, failed: bool) -> bool {
        match self.rule {
            Rule::Consecutive(rule) => {
                self.consecutive = if failed { self.consecutive + 1 } else { 0 };
                self.consecutive >= rule.failures
            }
            Rule::Ratio(rule) => {
                self.window.push_back(failed);
                if self.window.len() > rule.window {
                    self.window.pop_front();
                }
                let failures = self.window.iter().filter(|failed| **failed).count();
                self.window.len() == rule.window && failures as f64 / rule.window as f64 >= rule.threshold
            }
        }
    }

    fn forget(&mut self) {
        self.consecutive = 0;
        self.window.clear();
    }
}

impl WindowRatio {
    pub(super) fn declare(&self, d: &mut Declaration) {
        d.integer("window", self.window, 1..=10_000);
        d.real("threshold", self.threshold, 0.0..=1.0);
        d.integer("open_rounds", self.open_rounds, 1..=1_000_000);
    }
}
