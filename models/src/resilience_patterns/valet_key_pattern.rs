//! Valet Key Pattern: what does a service gain when clients fetch large objects from the store themselves, and how wide
//! a door does the key open that lets them in?
//!
//! By proxy every transfer holds one of the service's slots until the store answers, so that a slow store fills the
//! pool; with a valet key the service signs a short answer and is done. Left out: clients that retry, leaks other
//! than by chance, and how a key is verified.

mod blocks;
mod invariants;

use crate::calendar::SECONDS_A_DAY;
use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's two programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    proof_bytes: u64,
    /// The service's answer that carries a key.
    key_bytes: u64,
    daily_shipments: u64,
    /// Peak rate over the day's average.
    peak_factor: f64,
    /// Share of the proofs that somebody looks at.
    view_rate: f64,
    round_s: f64,
    rounds: u64,
    pool_slots: usize,
    store: ProofStore,
    sellers: u64,
    retention_days: u64,
    /// Requests a second at the edge.
    peak_edge: f64,
    key_s: u64,
    leak_probability: f64,
    key_sweep_s: Vec<u64>,
}

/// How many rounds the store takes to answer, and when it slows down.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofStore {
    healthy_rounds: u64,
    slow_rounds: u64,
    slowdown_start: u64,
    /// How many rounds the slowdown lasts.
    slowdown_length: u64,
}

impl ProofStore {
    fn answer_rounds(&self, now: u64) -> u64 {
        let slow = (self.slowdown_start..self.slowdown_start + self.slowdown_length).contains(&now);
        if slow { self.slow_rounds } else { self.healthy_rounds }
    }

    fn never_slow(self) -> Self {
        Self { slowdown_length: 0, ..self }
    }
}

/// How a proof gets from the client to the store, and back.
#[derive(Debug, Clone, Copy)]
enum Path {
    /// Through the service, which receives each byte and sends it on.
    Proxy,
    /// Around it, with a key that it signed.
    Valet,
}

/// What one run counted.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    accepted: u64,
    rejected: u64,
    peak_slots: usize,
    slot_rounds: u64,
    service_bytes: u64,
}

/// What one key opens.
#[derive(Debug, Clone, Copy)]
enum Scope {
    SingleObject,
    /// All that a seller shipped in a day.
    SellerDay,
    /// All that is kept of a seller.
    SellerBucket,
}

impl Scope {
    const ALL: [Self; 3] = [Self::SingleObject, Self::SellerDay, Self::SellerBucket];

    fn name(self) -> &'static str {
        match self {
            Self::SingleObject => "single_object",
            Self::SellerDay => "seller_day",
            Self::SellerBucket => "seller_bucket",
        }
    }
}

impl Parameters {
    /// Bytes that a transfer takes through the service.
    fn service_bytes(&self, path: Path) -> u64 {
        match path {
            Path::Proxy => self.proof_bytes * 2,
            Path::Valet => self.key_bytes,
        }
    }

    fn peak_rate(&self, a_day: f64) -> f64 {
        a_day / SECONDS_A_DAY * self.peak_factor
    }

    fn upload_rate(&self) -> f64 {
        self.peak_rate(self.daily_shipments as f64)
    }

    fn view_rate(&self) -> f64 {
        self.peak_rate(self.daily_shipments as f64 * self.view_rate)
    }

    fn arrivals_a_round(&self) -> f64 {
        (self.upload_rate() + self.view_rate()) * self.round_s
    }

    fn run(&self, path: Path, store: ProofStore) -> Counts {
        let mut counts = Counts::default();
        // For each slot that is held, the round in which it is free again.
        let mut held: Vec<u64> = Vec::new();
        let mut due = 0.0;
        for now in 0..self.rounds {
            held.retain(|&free_from| free_from > now);
            due += self.arrivals_a_round();
            let arrivals = due.floor();
            due -= arrivals;
            for _ in 0..arrivals as u64 {
                match path {
                    Path::Proxy if held.len() >= self.pool_slots => {
                        counts.rejected += 1;
                        continue;
                    }
                    Path::Proxy => held.push(now + store.answer_rounds(now)),
                    Path::Valet => {}
                }
                counts.accepted += 1;
                counts.service_bytes += self.service_bytes(path);
            }
            counts.peak_slots = counts.peak_slots.max(held.len());
            counts.slot_rounds += held.len() as u64;
        }
        counts
    }

    fn shipments_a_seller(&self) -> f64 {
        self.daily_shipments as f64 / self.sellers as f64
    }

    /// Keys signed a day.
    fn issued(&self, scope: Scope) -> u64 {
        match scope {
            Scope::SingleObject => self.daily_shipments,
            Scope::SellerDay | Scope::SellerBucket => self.sellers,
        }
    }

    /// Objects that one key opens.
    fn surface(&self, scope: Scope) -> f64 {
        match scope {
            Scope::SingleObject => 1.0,
            Scope::SellerDay => self.shipments_a_seller(),
            Scope::SellerBucket => self.shipments_a_seller() * self.retention_days as f64,
        }
    }

    /// Keys that are valid at the same time, at the peak.
    fn open_keys(&self, scope: Scope, key_s: u64) -> f64 {
        self.peak_rate(self.issued(scope) as f64) * key_s as f64
    }

    /// Object-seconds a day that leaked keys lay open, on average.
    fn exposure(&self, scope: Scope) -> f64 {
        self.issued(scope) as f64 * self.leak_probability * self.surface(scope) * self.key_s as f64
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("proof_bytes", self.proof_bytes, 0..=1_000_000_000);
        d.integer("key_bytes", self.key_bytes, 0..=1_000_000_000);
        d.integer("daily_shipments", self.daily_shipments, 0..=1_000_000_000);
        d.real("peak_factor", self.peak_factor, 0.0..=1_000.0);
        d.real("view_rate", self.view_rate, 0.0..=1_000.0);
        d.real("round_s", self.round_s, 0.0..=3_600.0);
        d.integer("rounds", self.rounds, 1..=1_000_000);
        d.integer("pool_slots", self.pool_slots, 0..=100_000);
        d.group("store", |d| {
            d.integer("healthy_rounds", self.store.healthy_rounds, 0..=1_000_000);
            d.integer("slow_rounds", self.store.slow_rounds, 0..=1_000_000);
            d.integer("slowdown_start", self.store.slowdown_start, 0..=1_000_000);
            d.integer("slowdown_length", self.store.slowdown_length, 0..=1_000_000);
        });
        d.integer("sellers", self.sellers, 1..=1_000_000_000);
        d.integer("retention_days", self.retention_days, 0..=1_000_000);
        d.real("peak_edge", self.peak_edge, 0.0..=1e6);
        d.integer("key_s", self.key_s, 0..=100_000_000);
        d.real("leak_probability", self.leak_probability, 0.0..=1.0);
        d.list("key_sweep_s", &self.key_sweep_s, 0..=20, |d, i, key_s| d.integer(i, *key_s, 0..=100_000_000));
        d.distinct("key_sweep_s", &self.key_sweep_s);

        // Four runs; a round visits each arrival and each held slot.
        d.steps("rounds", 4.0 * self.rounds as f64 * (1.0 + self.arrivals_a_round() + self.pool_slots as f64));
    }

    fn report(&self) -> Report {
        Report::new([self.measure(), self.scope()])
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
