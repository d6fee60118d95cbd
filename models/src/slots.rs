//! A pool of slots: how many calls a component can hold at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A fixed number of slots, each held by one call until the round in which it is free again.
///
/// Rounds never go back: a slot that was seen free in some round is not held in an earlier one.
#[derive(Debug, Clone)]
pub struct SlotPool {
    slots: usize,
    /// When each held slot is free again, the next one on top.
    held_until: BinaryHeap<Reverse<u64>>,
}

impl SlotPool {
    /// A pool with every slot free.
    pub fn new(slots: usize) -> Self {
        Self { slots, held_until: BinaryHeap::new() }
    }

    /// Holds a free slot from round `now` for `rounds`; false where none is free.
    pub fn acquire(&mut self, now: u64, rounds: u64) -> bool {
        let free = self.idle(now) > 0;
        if free {
            self.held_until.push(Reverse(now + rounds));
        }
        free
    }

    /// Slots that nobody holds in round `now`.
    pub fn idle(&mut self, now: u64) -> usize {
        self.slots - self.busy(now)
    }

    /// Slots that are held in round `now`.
    pub fn busy(&mut self, now: u64) -> usize {
        while self.held_until.peek().is_some_and(|Reverse(free_from)| *free_from <= now) {
            self.held_until.pop();
        }
        self.held_until.len()
    }
}
