//! A pool of slots: how many calls a component can hold at once.

/// A fixed number of slots, each held by one call until the round in which it is free again.
#[derive(Debug, Clone)]
pub struct SlotPool {
    free_from: Vec<u64>,
}

impl SlotPool {
    /// A pool with every slot free.
    pub fn new(slots: usize) -> Self {
        Self { free_from: vec![0; slots] }
    }

    /// Holds a free slot from round `now` for `rounds`; false where none is free.
    pub fn acquire(&mut self, now: u64, rounds: u64) -> bool {
        match self.free_from.iter_mut().find(|free_from| **free_from <= now) {
            Some(free_from) => {
                *free_from = now + rounds;
                true
            }
            None => false,
        }
    }
}
