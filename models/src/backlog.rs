//! A first-in, first-out backlog of work.

use std::collections::VecDeque;

/// A queue that keeps equal neighbours as one batch, so that a hundred thousand waiting events cost no more than the
/// rounds in which they arrived.
#[derive(Debug, Clone)]
pub struct Backlog<T> {
    batches: VecDeque<(T, u64)>,
    len: u64,
}

impl<T: Copy + PartialEq> Backlog<T> {
    /// Nothing waits.
    pub fn new() -> Self {
        Self { batches: VecDeque::new(), len: 0 }
    }

    /// How many wait.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The next batch: what it is, and how many of it.
    pub fn front(&self) -> Option<(T, u64)> {
        self.batches.front().copied()
    }

    /// That many join at the end.
    pub fn push(&mut self, item: T, count: u64) {
        if count == 0 {
            return;
        }
        self.len += count;
        match self.batches.back_mut() {
            Some((last, waiting)) if *last == item => *waiting += count,
            _ => self.batches.push_back((item, count)),
        }
    }

    /// That many leave from the front, or all if there are fewer; batch by batch, while the iterator is driven.
    pub fn take(&mut self, count: u64) -> impl Iterator<Item = (T, u64)> {
        let mut wanted = count;
        std::iter::from_fn(move || {
            let (item, waiting) = self.batches.front_mut()?;
            let leaving = wanted.min(*waiting);
            if leaving == 0 {
                return None;
            }
            let item = *item;
            *waiting -= leaving;
            if *waiting == 0 {
                self.batches.pop_front();
            }
            wanted -= leaving;
            self.len -= leaving;
            Some((item, leaving))
        })
    }
}

impl<T: Copy + PartialEq> Default for Backlog<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Lehmer, Uniform};

    #[test]
    fn batches_come_and_go_as_in_a_queue_of_single_items() {
        let mut random = Lehmer::new(1);
        let (mut backlog, mut queue) = (Backlog::new(), VecDeque::new());
        for round in 0..2_000 {
            let item = round / 2;
            let joining = random.poisson(3.0);
            backlog.push(item, joining);
            queue.extend((0..joining).map(|_| item));

            let leaving = random.poisson(2.9) as usize;
            let left: Vec<_> =
                backlog.take(leaving as u64).flat_map(|(item, count)| (0..count).map(move |_| item)).collect();
            assert_eq!(left, queue.drain(..leaving.min(queue.len())).collect::<Vec<_>>());
            assert_eq!(backlog.len(), queue.len() as u64);
            assert_eq!(backlog.is_empty(), queue.is_empty());
            assert_eq!(backlog.front().map(|(item, _)| item), queue.front().copied());
        }
    }
}
