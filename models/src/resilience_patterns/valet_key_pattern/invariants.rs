//! What a path around the service guarantees, and what its keys open.

use super::{Counts, Parameters, Path, ProofStore, Scope};
use crate::arrivals::Carry;
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-transfer-ends-once", check: every_transfer_ends_once },
        Invariant { id: "valet-apart-from-the-store", check: valet_apart_from_the_store },
        Invariant { id: "slots-are-rate-times-duration", check: slots_are_rate_times_duration },
        Invariant { id: "drops-exactly-beyond-the-pool", check: drops_exactly_beyond_the_pool },
        Invariant { id: "slowdown-drops-no-less", check: slowdown_drops_no_less },
        Invariant { id: "slower-drops-no-less", check: slower_drops_no_less },
        Invariant { id: "open-keys-are-rate-times-duration", check: open_keys_are_rate_times_duration },
        Invariant { id: "object-exposes-as-day", check: object_exposes_as_day },
        Invariant { id: "narrower-scope-more-keys", check: narrower_scope_more_keys },
        Invariant { id: "keys-in-ratio-of-shipments", check: keys_in_ratio_of_shipments },
        Invariant { id: "a-signing-for-each-transfer", check: a_signing_for_each_transfer },
        Invariant { id: "signings-miss-the-views", check: signings_miss_the_views },
    ]
}

const PATHS: [Path; 2] = [Path::Proxy, Path::Valet];

impl Parameters {
    fn stores(&self) -> [ProofStore; 2] {
        [self.store.never_slow(), self.store]
    }

    /// The arrivals of each round, counted a second time.
    fn arrivals(&self) -> Vec<u64> {
        let mut carry = Carry::default();
        (0..self.rounds).map(|_| carry.arrivals(self.arrivals_a_round())).collect()
    }

    /// The slots that each round would hold if there were enough. An answer within the round holds one for it as well.
    fn demand(&self, store: ProofStore) -> Vec<u64> {
        let mut demand = vec![0; self.rounds as usize];
        for (now, arrivals) in (0..self.rounds).zip(self.arrivals()) {
            let free_from = now + store.answer_rounds(now).max(1);
            demand[now as usize..free_from.min(self.rounds) as usize].iter_mut().for_each(|held| *held += arrivals);
        }
        demand
    }

    fn without_slowdown(&self) -> Counts {
        self.run(Path::Proxy, self.store.never_slow())
    }
}

fn every_transfer_ends_once(p: &Parameters) -> Held {
    let arrived: u64 = p.arrivals().iter().sum();
    Held::all(p.stores().into_iter().flat_map(|store| PATHS.map(|path| (store, path))).map(|(store, path)| {
        let run = p.run(path, store);
        let a_transfer = match path {
            Path::Proxy => 2 * p.proof_bytes,
            Path::Valet => p.key_bytes,
        };
        Held::all([
            Held::equal(format!("transfers, {path:?}"), run.accepted + run.rejected, arrived),
            Held::equal(format!("bytes, {path:?}"), run.service_bytes, run.accepted * a_transfer),
            Held::at_most(format!("slots, {path:?}"), run.peak_slots, p.pool_slots),
            Held::at_most(format!("slot-rounds, {path:?}"), run.slot_rounds, p.rounds * run.peak_slots as u64),
        ])
    }))
}

/// Whatever the store and the pool.
fn valet_apart_from_the_store(p: &Parameters) -> Held {
    let healthy = p.run(Path::Valet, p.store.never_slow());
    let closed = Parameters { pool_slots: 0, ..p.clone() };
    let slots = [healthy.rejected, healthy.peak_slots as u64, healthy.slot_rounds];
    Held::all([
        Held::equal("rejected, slots and slot-rounds", slots, [0; 3]),
        Held::equal("with a slow store", &p.run(Path::Valet, p.store), &healthy),
        Held::equal("without a pool", &closed.run(Path::Valet, p.store), &healthy),
        Held::equal("accepted by proxy without a pool", closed.run(Path::Proxy, p.store).accepted, 0),
    ])
}

fn slots_are_rate_times_duration(p: &Parameters) -> Held {
    Held::all(p.stores().map(|store| {
        let run = p.run(Path::Proxy, store);
        Held::provided(run.rejected == 0, || {
            let demand = p.demand(store);
            Held::all([
                Held::equal("slot-rounds", run.slot_rounds, demand.iter().sum()),
                Held::equal("peak slots", Some(run.peak_slots as u64), demand.into_iter().max()),
            ])
        })
    }))
}

fn drops_exactly_beyond_the_pool(p: &Parameters) -> Held {
    Held::all(p.stores().map(|store| {
        let run = p.run(Path::Proxy, store);
        let beyond = p.demand(store).into_iter().max().unwrap_or_default() > p.pool_slots as u64;
        Held::all([
            Held::equal("drops", run.rejected > 0, beyond),
            Held::provided(beyond, || Held::equal("peak slots", run.peak_slots, p.pool_slots)),
        ])
    }))
}

fn slowdown_drops_no_less(p: &Parameters) -> Held {
    Held::provided(p.store.slow_rounds >= p.store.healthy_rounds, || {
        Held::at_most("drops of a healthy store", p.without_slowdown().rejected, p.run(Path::Proxy, p.store).rejected)
    })
}

fn slower_drops_no_less(p: &Parameters) -> Held {
    let slower = ProofStore { slow_rounds: p.store.slow_rounds + 1, ..p.store };
    let [usual, slower] = [p.store, slower].map(|store| p.run(Path::Proxy, store).rejected);
    Held::at_most("drops, beside those of a store a round slower", usual, slower)
}

/// So many seconds of signing are counted.
const COUNTED_S: u64 = 2_000;

/// Keys are signed one at a time, so that the count may be one off; durations are added up in another order.
fn open_keys_are_rate_times_duration(p: &Parameters) -> Held {
    Held::all(Scope::ALL.map(|scope| {
        let open = |key_s| p.open_keys(scope, key_s);
        let counted_s = p.key_s.min(COUNTED_S);
        let mut carry = Carry::default();
        let a_second = p.peak_rate(p.issued(scope) as f64);
        let signed: u64 = (0..counted_s).map(|_| carry.arrivals(a_second)).sum();
        let name = scope.name();
        Held::all([
            Held::at_most(format!("keys counted and computed, {name}"), (signed as f64 - open(counted_s)).abs(), 1.0),
            Held::equal(format!("keys of no duration, {name}"), open(0), 0.0),
            Held::close(format!("keys of three durations, {name}"), open(3 * p.key_s), 3.0 * open(p.key_s)),
        ])
    }))
}

/// What a key opens and how many there are cancel out. Products of the same numbers in another order.
fn object_exposes_as_day(p: &Parameters) -> Held {
    let [object, day, bucket] = Scope::ALL.map(|scope| p.exposure(scope));
    let once = Parameters { leak_probability: 1.0, key_s: 1, ..p.clone() }.exposure(Scope::SingleObject);
    Held::all([
        Held::close("exposure of the day's key", day, object),
        Held::close("exposure of the bucket's key", bucket, p.retention_days as f64 * day),
        Held::equal("object-seconds where each key leaks for one", once, p.daily_shipments as f64),
        Held::close("exposure", object, once * p.leak_probability * p.key_s as f64),
    ])
}

fn narrower_scope_more_keys(p: &Parameters) -> Held {
    let [object, day, bucket] = Scope::ALL.map(|scope| p.issued(scope));
    Held::all([Held::at_most("keys for buckets", bucket, day), Held::at_most("keys for days", day, object)])
}

/// A key's worst case times the keys is a day's, or a retention's, shipments. Products are rounded in other places.
fn keys_in_ratio_of_shipments(p: &Parameters) -> Held {
    let [object, day, bucket] = Scope::ALL.map(|scope| p.issued(scope) as f64 * p.surface(scope));
    let shipments = p.daily_shipments as f64;
    Held::all([
        Held::equal("objects that single keys open", object, shipments),
        Held::close("objects that the days' keys open", day, shipments),
        Held::close("objects that the buckets' keys open", bucket, shipments * p.retention_days as f64),
        Held::equal("keys for a bucket and for a day", p.issued(Scope::SellerBucket), p.issued(Scope::SellerDay)),
        Held::equal(
            "more keys for objects than for days",
            p.issued(Scope::SingleObject) > p.issued(Scope::SellerDay),
            p.shipments_a_seller() > 1.0,
        ),
    ])
}

/// Signings a second that single objects take, beside the transfers a second that the run has. Rates are rounded.
fn a_signing_for_each_transfer(p: &Parameters) -> Held {
    let signings = p.peak_rate(p.issued(Scope::SingleObject) as f64);
    Held::close("signings a second", signings, p.upload_rate() + p.view_rate())
}

/// Rates are rounded.
fn signings_miss_the_views(p: &Parameters) -> Held {
    let signings = p.peak_rate(p.issued(Scope::SingleObject) as f64);
    let views = Parameters { view_rate: 0.0, ..p.clone() };
    Held::all([
        Held::close("signings and views a second", signings + p.view_rate(), p.upload_rate() + p.view_rate()),
        Held::close("views a second", p.view_rate(), p.view_rate * signings),
        a_signing_for_each_transfer(&views),
    ])
}
