//! A pool of slots: how many calls a component can hold at once.

use std::collections::VecDeque;

/// A fixed number of slots, each held by one call until the round in which it is free again.
///
/// Rounds never go back. Nobody asks which slot a call holds, so the pool only counts how many become free when.
#[derive(Debug, Clone)]
pub struct SlotPool {
    slots: usize,
    busy: usize,
    now: u64,
    /// How many slots become free in each of the rounds after `now`.
    freed: VecDeque<usize>,
}

impl SlotPool {
    /// A pool with every slot free.
    pub fn new(slots: usize) -> Self {
        Self { slots, busy: 0, now: 0, freed: VecDeque::new() }
    }

    /// Holds a free slot from round `now` for `rounds`; false where none is free.
    pub fn acquire(&mut self, now: u64, rounds: u64) -> bool {
        let free = self.idle(now) > 0;
        if free && let Some(last) = (rounds as usize).checked_sub(1) {
            if last >= self.freed.len() {
                self.freed.resize(last + 1, 0);
            }
            self.freed[last] += 1;
            self.busy += 1;
        }
        free
    }

    /// Slots that nobody holds in round `now`.
    pub fn idle(&mut self, now: u64) -> usize {
        self.slots - self.busy(now)
    }

    /// Slots that are held in round `now`.
    pub fn busy(&mut self, now: u64) -> usize {
        while self.now < now {
            match self.freed.pop_front() {
                Some(slots) => {
                    self.busy -= slots;
                    self.now += 1;
                }
                None => self.now = now,
            }
        }
        self.busy
    }
}
