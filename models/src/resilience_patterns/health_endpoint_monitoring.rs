//! Health Endpoint Monitoring: how much should a health endpoint ask, how often, and what does asking cost?
//!
//! A pool of replicas answers reads, writes and batch requests in turn; the endpoint decides which replicas are in
//! the pool. Replicas fail one by one by a schedule, the stores that all of them share fail as a whole. Left out: what
//! a check costs the replica itself, consecutive checks (the failover lesson's threshold), and retries.

mod blocks;
mod invariants;

use crate::figures::Report;
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use crate::schedule::Schedule;
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    rounds: u64,
    replicas: Vec<Replica>,
    /// The replica whose stop has to be detected.
    watched: String,
    state_store_down: Schedule,
    /// Only batch requests need this store.
    billing_store_down: Schedule,
    /// In every round.
    requests: Requests,
    /// Rounds from one check to the next, as swept.
    intervals: Vec<u64>,
    /// The intervals among them of which the false evictions are converted to a month.
    eviction_intervals: Vec<u64>,
    check_load: CheckLoad,
    round_seconds: f64,
    pauses_a_month: f64,
    /// Requests per second that reach the store.
    store_requests: f64,
    /// Requests per second.
    peak_edge: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Requests {
    reads: u64,
    writes: u64,
    batch: u64,
}

/// The table of the checks' load: each pool size with each interval.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckLoad {
    replicas: Vec<u64>,
    intervals: Vec<u64>,
}

/// One replica and its failure schedule.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replica {
    name: String,
    /// Accepts writes, none of which reaches the store.
    half_failed: Schedule,
    /// Runs, but cannot serve yet.
    warming: Schedule,
    /// Does not respond, and recovers by itself.
    paused: Schedule,
    stopped: Schedule,
}

impl Replica {
    fn runs(&self, round: u64) -> bool {
        !self.stopped.includes(round) && !self.paused.includes(round)
    }

    fn serves(&self, round: u64) -> bool {
        self.runs(round) && !self.warming.includes(round)
    }

    /// Rounds since it stopped for the first time.
    fn since_stop(&self, now: u64) -> Option<u64> {
        self.stopped.spans().iter().map(|span| span.first).min().map(|stop| now - stop)
    }

    fn schedules(&self) -> [(&'static str, &Schedule); 4] {
        [
            ("half_failed", &self.half_failed),
            ("warming", &self.warming),
            ("paused", &self.paused),
            ("stopped", &self.stopped),
        ]
    }
}

/// What an endpoint asks; each depth asks everything that the ones before it ask.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Depth {
    /// Does the process run?
    Shallow,
    /// Can it serve?
    Readiness,
    /// Does its own path to the store work?
    Local,
    /// Is the store up that all replicas share?
    Shared,
    /// Is the store up that only one of the flows needs?
    All,
}

impl Depth {
    const ALL: [Self; 5] = [Self::Shallow, Self::Readiness, Self::Local, Self::Shared, Self::All];

    fn name(self) -> &'static str {
        match self {
            Self::Shallow => "shallow",
            Self::Readiness => "readiness",
            Self::Local => "deep_local",
            Self::Shared => "deep_shared",
            Self::All => "deep_all",
        }
    }
}

#[derive(Debug, PartialEq, Default)]
struct Counts {
    /// Requests of any kind.
    answered: u64,
    /// Replica-rounds outside the pool.
    out_of_pool: usize,
    dropped_reads: u64,
    dropped_writes: u64,
    dropped_batch: u64,
    silently_lost: u64,
    /// Reads rejected although some replica could have answered them.
    wasted_rejections: u64,
    checks: usize,
    /// Replicas that left the pool because of a pause.
    false_evictions: u64,
    /// Rounds from the watched replica's stop to the check that saw it.
    detection_delay: Option<u64>,
    /// Reads dropped because they went to the watched replica after its stop.
    reads_to_stopped: u64,
}

/// The replicas that requests go to, in turn.
struct Pool<'a> {
    members: Vec<&'a Replica>,
    turn: usize,
}

impl<'a> Pool<'a> {
    fn next(&mut self) -> Option<&'a Replica> {
        let replica = self.members.get(self.turn % self.members.len().max(1)).copied();
        self.turn += usize::from(replica.is_some());
        replica
    }
}

impl Parameters {
    fn healthy(&self, depth: Depth, replica: &Replica, round: u64) -> bool {
        let asks = |question| depth >= question;
        replica.runs(round)
            && (!asks(Depth::Readiness) || replica.serves(round))
            && (!asks(Depth::Local) || !replica.half_failed.includes(round))
            && (!asks(Depth::Shared) || !self.state_store_down.includes(round))
            && (!asks(Depth::All) || !self.billing_store_down.includes(round))
    }

    fn run(&self, depth: Depth, interval: u64) -> Counts {
        let mut counts = Counts::default();
        let mut pool = Pool { members: self.replicas.iter().collect(), turn: 0 };
        for now in 1..=self.rounds {
            if (now - 1).is_multiple_of(interval) {
                self.check(depth, now, &mut pool, &mut counts);
            }
            counts.out_of_pool += self.replicas.len() - pool.members.len();
            self.serve(now, &mut pool, &mut counts);
        }
        counts
    }

    /// Asks every replica, also those outside the pool, and fills the pool anew.
    fn check<'a>(&'a self, depth: Depth, now: u64, pool: &mut Pool<'a>, counts: &mut Counts) {
        counts.checks += self.replicas.len();
        let (healthy, unhealthy): (Vec<_>, Vec<_>) = self.replicas.iter().partition(|r| self.healthy(depth, r, now));
        for replica in unhealthy {
            let evicted = pool.members.iter().any(|member| member.name == replica.name);
            if evicted && replica.paused.includes(now) {
                counts.false_evictions += 1;
            }
            if self.has_stopped(replica, now) {
                counts.detection_delay = counts.detection_delay.or(replica.since_stop(now));
            }
        }
        pool.members = healthy;
    }

    fn serve(&self, now: u64, pool: &mut Pool, counts: &mut Counts) {
        for _ in 0..self.requests.reads {
            match pool.next() {
                Some(replica) if replica.serves(now) => {
                    counts.answered += 1;
                    continue;
                }
                Some(replica) => counts.reads_to_stopped += u64::from(self.has_stopped(replica, now)),
                None => counts.wasted_rejections += u64::from(self.replicas.iter().any(|r| r.serves(now))),
            }
            counts.dropped_reads += 1;
        }
        for _ in 0..self.requests.writes {
            match pool.next() {
                Some(replica) if replica.serves(now) && replica.half_failed.includes(now) => counts.silently_lost += 1,
                Some(replica) if replica.serves(now) && !self.state_store_down.includes(now) => counts.answered += 1,
                _ => counts.dropped_writes += 1,
            }
        }
        // A batch request needs any replica of the pool and the billing store; without the store it takes no turn.
        for _ in 0..self.requests.batch {
            if self.billing_store_down.includes(now) || pool.next().is_none() {
                counts.dropped_batch += 1;
            } else {
                counts.answered += 1;
            }
        }
    }

    /// True for the watched replica during a stop.
    fn has_stopped(&self, replica: &Replica, now: u64) -> bool {
        replica.name == self.watched && replica.stopped.includes(now)
    }

    fn checks_a_second(&self, replicas: u64, interval: u64) -> f64 {
        replicas as f64 / (interval as f64 * self.round_seconds)
    }

    /// Pauses in the schedule, counted in rounds as the course does; several rounds may be one pause.
    fn paused_rounds(&self) -> u64 {
        self.replicas.iter().map(|replica| replica.paused.rounds()).sum()
    }

    fn pauses(&self) -> usize {
        self.replicas.iter().map(|replica| replica.paused.spans().len()).sum()
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("rounds", self.rounds, 0..=1_000_000);
        d.list("replicas", &self.replicas, 1..=100, |d, i, replica| {
            d.group(i, |d| {
                d.text("name", &replica.name);
                for (name, schedule) in replica.schedules() {
                    schedule.declare(d, name);
                }
            });
        });
        d.text("watched", &self.watched);
        let names: Vec<&str> = self.replicas.iter().map(|replica| replica.name.as_str()).collect();
        d.require("watched", names.contains(&self.watched.as_str()), "the name of a replica");
        d.distinct("replicas", &names);
        self.state_store_down.declare(d, "state_store_down");
        self.billing_store_down.declare(d, "billing_store_down");
        d.group("requests", |d| {
            d.integer("reads", self.requests.reads, 0..=10_000);
            d.integer("writes", self.requests.writes, 0..=10_000);
            d.integer("batch", self.requests.batch, 0..=10_000);
        });
        sweep(d, "intervals", &self.intervals);
        sweep(d, "eviction_intervals", &self.eviction_intervals);
        d.group("check_load", |d| {
            sweep(d, "replicas", &self.check_load.replicas);
            sweep(d, "intervals", &self.check_load.intervals);
        });
        d.real("round_seconds", self.round_seconds, 0.001..=3_600.0);
        d.real("pauses_a_month", self.pauses_a_month, 0.0..=100_000.0);
        d.real("store_requests", self.store_requests, 0.01..=1e6);
        d.real("peak_edge", self.peak_edge, 0.01..=1e6);

        let spans: usize =
            self.replicas.iter().flat_map(Replica::schedules).map(|(_, schedule)| schedule.spans().len() + 1).sum();
        let requests = self.requests.reads + self.requests.writes + self.requests.batch;
        let runs = Depth::ALL.len() + 2 * self.intervals.len() + self.eviction_intervals.len();
        d.steps("rounds", runs as f64 * self.rounds as f64 * (requests + 2) as f64 * spans as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

fn sweep(d: &mut Declaration, name: &str, values: &[u64]) {
    d.list(name, values, 0..=20, |d, i, value| d.integer(i, *value, 1..=1_000_000));
    d.distinct(name, values);
}
