//! The best of all orders, beside which the lesson's two can be judged.

use super::{Entity, Parameters, Route};
use std::cmp::Reverse;

impl Parameters {
    /// The order with the least dual writes of all orders, and among equals the one that moves traffic sooner: a set of
    /// moved routes is reached in the best way from the best of the sets that lack one of them.
    pub(super) fn least_dual_writes(&self) -> Vec<&Route> {
        struct Best {
            dual_writes: u64,
            requests: Reverse<u64>,
            last: usize,
        }
        let users: Vec<usize> = self.entities.iter().map(|entity| self.users(entity)).collect();
        let members = |set: usize| (0..self.routes.len()).filter(move |route| set & (1 << route) != 0);
        let mut best = vec![Best { dual_writes: 0, requests: Reverse(0), last: 0 }];
        for set in 1usize..1 << self.routes.len() {
            let split = self.entities.iter().zip(&users).filter(|(_, users)| **users & set != 0 && **users & !set != 0);
            let dual_writes: u64 = split.map(|(entity, _)| entity.daily_writes).sum();
            let requests: u64 = members(set).map(|route| self.routes[route].daily_requests).sum();
            let before = |last: usize| &best[set & !(1 << last)];
            let last = members(set).min_by_key(|&last| (before(last).dual_writes, before(last).requests));
            let last = last.unwrap_or_default();
            best.push(Best {
                dual_writes: before(last).dual_writes + dual_writes,
                requests: Reverse(before(last).requests.0 + requests),
                last,
            });
        }
        let mut moved = Vec::new();
        let mut set = best.len() - 1;
        while set != 0 {
            let last = best[set].last;
            moved.push(&self.routes[last]);
            set &= !(1 << last);
        }
        moved.reverse();
        moved
    }

    /// The routes that touch an entity, one bit each.
    pub(super) fn users(&self, entity: &Entity) -> usize {
        let touching = self.routes.iter().enumerate().filter(|(_, route)| route.touches().any(|t| *t == entity.name));
        touching.fold(0, |users, (route, _)| users | 1 << route)
    }
}
