//! Where sessions are found, kept and lost, for any number of replicas and requests.

use super::{Mode, Outcome, Parameters, session_bytes};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "store-serves-every-request", check: store_serves_every_request },
        Invariant { id: "memory-splits-the-list", check: memory_splits_the_list },
        Invariant { id: "memory-keeps-the-first-replicas", check: memory_keeps_the_first_replicas },
        Invariant { id: "restart-loses-memory-only", check: restart_loses_memory_only },
        Invariant { id: "replicas-are-equals", check: replicas_are_equals },
        Invariant { id: "one-replica-needs-no-store", check: one_replica_needs_no_store },
        Invariant { id: "one-read-one-write", check: one_read_one_write },
        Invariant { id: "stored-as-it-would-travel", check: stored_as_it_would_travel },
        Invariant { id: "fewest-replicas-that-suffice", check: fewest_replicas_that_suffice },
        Invariant { id: "even-load-needs-no-more", check: even_load_needs_no_more },
    ]
}

impl Parameters {
    /// Shipments that the session has if all its requests are answered.
    fn all_watched(&self) -> usize {
        if self.writes_back { self.requests } else { 0 }
    }

    /// The turns of the replica that opened the session.
    fn first_replicas_turns(&self) -> usize {
        (0..self.requests).step_by(self.replicas).count()
    }
}

impl Outcome {
    /// All but how many replicas tell it.
    fn seen(&self) -> (usize, Option<usize>, [f64; 2], Option<usize>) {
        (self.found, self.after_restart, [self.reads_per_request, self.writes_per_request], self.stored_bytes)
    }
}

fn store_serves_every_request(p: &Parameters) -> Held {
    let outcome = p.run(Mode::External);
    Held::all([
        Held::equal("found", outcome.found, p.requests),
        Held::equal("counted by each replica", outcome.summary, vec![Some(p.all_watched()); p.replicas]),
    ])
}

fn memory_splits_the_list(p: &Parameters) -> Held {
    let watched: usize = p.run(Mode::Memory).summary.into_iter().flatten().sum();
    Held::equal("shipments in the memories together", watched, p.all_watched())
}

fn memory_keeps_the_first_replicas(p: &Parameters) -> Held {
    let outcome = p.run(Mode::Memory);
    let turns = p.first_replicas_turns();
    let watched = if p.writes_back { turns } else { 0 };
    let expected: Vec<Option<usize>> = (0..p.replicas).map(|replica| (replica == 0).then_some(watched)).collect();
    Held::all([
        Held::equal("found", outcome.found, turns),
        Held::equal("counted by each replica", outcome.summary, expected),
    ])
}

fn restart_loses_memory_only(p: &Parameters) -> Held {
    let (memory, external) = (p.run(Mode::Memory), p.run(Mode::External));
    Held::all([
        Held::equal("counted from memory", memory.after_restart, None),
        Held::equal("counted from the store", external.after_restart, external.summary[p.restarted_replica - 1]),
    ])
}

fn replicas_are_equals(p: &Parameters) -> Held {
    let one = Parameters { replicas: 1, restarted_replica: 1, ..p.clone() };
    let (one, all) = (one.run(Mode::External), p.run(Mode::External));
    Held::equal("what the client and the store see", all.seen(), one.seen())
}

fn one_replica_needs_no_store(p: &Parameters) -> Held {
    let one = Parameters { replicas: 1, restarted_replica: 1, ..p.clone() };
    let [memory, external] = [Mode::Memory, Mode::External].map(|mode| one.run(mode));
    Held::equal("found and counted", (memory.found, memory.summary), (external.found, external.summary))
}

fn one_read_one_write(p: &Parameters) -> Held {
    let a_request = |mode| {
        let outcome = p.run(mode);
        [outcome.reads_per_request, outcome.writes_per_request]
    };
    Held::all([
        Held::equal("with a store", a_request(Mode::External), [1.0, if p.writes_back { 1.0 } else { 0.0 }]),
        Held::equal("without", a_request(Mode::Memory), [0.0, 0.0]),
    ])
}

/// Counted character by character: quotes around each name and `TR-` before its number, commas between, brackets around.
fn stored_as_it_would_travel(p: &Parameters) -> Held {
    let bytes = |length: u64| {
        let digits = |i: u64| (p.first_shipment + i).to_string().len() as u64;
        (0..length).map(|i| digits(i) + 5).sum::<u64>() + length.saturating_sub(1) + 2
    };
    let travelling = p
        .list_lengths
        .iter()
        .map(|&length| Held::equal("bytes that travel", session_bytes(&p.shipments(length)) as u64, bytes(length)));
    let stored = p.run(Mode::External).stored_bytes.map(|bytes| bytes as u64);
    let stored = Held::equal("bytes that are stored", stored, Some(bytes(p.all_watched() as u64)));
    Held::all([stored].into_iter().chain(travelling))
}

fn fewest_replicas_that_suffice(p: &Parameters) -> Held {
    let safe_rate = p.saturation * p.target_utilization;
    Held::all(p.sticky.iter().map(|spread| spread.imbalance).chain([1.0]).map(|imbalance| {
        let needed = p.needed(imbalance) as u64;
        // At the limit itself rounding decides.
        Held::provided((1..1 << 40).contains(&needed), || {
            let busiest = |replicas| p.busiest_rate(imbalance, replicas);
            Held::all([
                Held::at_most("busiest replica", busiest(needed), safe_rate * (1.0 + 1e-9)),
                Held::provided(needed > 1, || {
                    Held::at_most("safe rate", safe_rate * (1.0 - 1e-9), busiest(needed - 1))
                }),
            ])
        })
    }))
}

fn even_load_needs_no_more(p: &Parameters) -> Held {
    Held::all(p.sticky.iter().map(|spread| {
        let even = p.busiest_rate(1.0, spread.replicas);
        let sticky = p.busiest_rate(spread.imbalance, spread.replicas);
        Held::all([
            Held::at_most("replicas needed", p.needed(1.0), p.needed(spread.imbalance)),
            Held::at_most("busiest replica", even, sticky),
            // Every replica has the same; multiplied again.
            Held::close("load of all replicas", even * spread.replicas as f64, p.peak_edge),
        ])
    }))
}
