//! Failure schedules: the rounds in which something is down, slow or otherwise not itself.

use crate::parameters::Declaration;
use serde::{Deserialize, Serialize};

/// Consecutive rounds, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The first round.
    pub first: u64,
    /// The last round, not before the first.
    pub last: u64,
}

impl Span {
    /// How many rounds it has.
    pub fn rounds(self) -> u64 {
        self.last - self.first + 1
    }

    fn includes(self, round: u64) -> bool {
        (self.first..=self.last).contains(&round)
    }
}

/// When something is the case, as spans of rounds in any order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule(Vec<Span>);

impl From<Vec<Span>> for Schedule {
    fn from(spans: Vec<Span>) -> Self {
        Self(spans)
    }
}

impl Schedule {
    /// True in the rounds of any span.
    pub fn includes(&self, round: u64) -> bool {
        self.0.iter().any(|span| span.includes(round))
    }

    /// The spans, as listed.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// The rounds of all spans together.
    pub fn rounds(&self) -> u64 {
        self.0.iter().map(|span| span.rounds()).sum()
    }

    /// The rounds of the longest span.
    pub fn longest(&self) -> u64 {
        self.0.iter().map(|span| span.rounds()).max().unwrap_or(0)
    }

    /// Declares the schedule as the parameter `name`.
    pub fn declare(&self, d: &mut Declaration, name: &str) {
        d.list(name, &self.0, 0..=100, |d, i, span| {
            d.group(i, |d| {
                d.integer("first", span.first, 1..=1_000_000);
                d.integer("last", span.last, 1..=1_000_000);
                d.require("last", span.first <= span.last, "a round not before `first`");
            });
        });
    }
}
