//! External Configuration Store: how long does a changed setting take to reach every replica, how far does a wrong one
//! spread, and what happens to the replicas when the store itself is down?
//!
//! Each replica reads the store at its own second of every refresh interval and keeps the value in between. A wrong
//! value is withdrawn once it is detected. Left out: how it is detected, and reads that are slow or partly fail.

mod invariants;

use crate::figures::{Block, Figure, Mark, Report};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's program holds in constants. Times are in whole seconds, rates a second.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    replicas: usize,
    /// Requests that each replica serves.
    replica_rate: f64,
    /// Requests at the edge.
    peak_edge: f64,
    failure_share_minutes: f64,
    duration_s: u64,
    refresh_s: u64,
    /// From the wrong value's writing to its withdrawal.
    detection_s: u64,
    wrong_at_s: u64,
    /// Between the refreshes of one replica and the next.
    staggers_s: Vec<u64>,
    outage: Outage,
    refresh_sweep_s: Vec<u64>,
}

/// The store is down, and one replica restarts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outage {
    start_s: u64,
    length_s: u64,
    restart_at_s: u64,
    stagger_s: u64,
}

impl Outage {
    fn covers(&self, now: u64) -> bool {
        (self.start_s..self.end_s()).contains(&now)
    }

    fn end_s(&self) -> u64 {
        self.start_s + self.length_s
    }
}

/// Which replicas a new value is written for.
#[derive(Debug, Clone, Copy)]
enum Rollout {
    AllAtOnce,
    /// The first replica alone; the others would follow once the value is confirmed, which a wrong one never is.
    Staged,
}

impl Rollout {
    const ALL: [Self; 2] = [Self::AllAtOnce, Self::Staged];

    fn name(self) -> &'static str {
        match self {
            Self::AllAtOnce => "all_at_once",
            Self::Staged => "staged",
        }
    }

    fn reaches(self, replica: usize) -> bool {
        match self {
            Self::AllAtOnce => true,
            Self::Staged => replica == 0,
        }
    }
}

/// What a restarting replica does when it cannot reach the store.
#[derive(Debug, Clone, Copy)]
enum Restart {
    /// It loads the last known good value from its disk.
    FromDisk,
    /// It stays down until the store is back.
    NeedsStore,
}

#[derive(Debug, Clone, Copy)]
struct Replica {
    wrong: bool,
    up: bool,
}

/// What one run counted.
#[derive(Debug, Default)]
struct Counts {
    faulty_responses: f64,
    dropped_requests: f64,
    failed_reads: u64,
    /// First and last second in which a replica held the wrong value.
    first_seen: Option<u64>,
    last_seen: Option<u64>,
    /// Seconds in which some replicas held it and others did not.
    mixed_s: u64,
    /// How many stretches those seconds make.
    mixed_windows: u64,
    /// Seconds until every replica that was to have the wrong value had it.
    propagation_s: Option<u64>,
}

impl Parameters {
    /// A wrong value is written and later withdrawn.
    fn spread(&self, rollout: Rollout, stagger_s: u64) -> Counts {
        let withdrawn_at = self.wrong_at_s + self.detection_s;
        let mut replicas = vec![Replica { wrong: false, up: true }; self.replicas];
        let mut counts = Counts::default();
        let mut was_mixed = false;
        for now in 0..self.duration_s {
            let in_store = (self.wrong_at_s..withdrawn_at).contains(&now);
            for (number, replica) in replicas.iter_mut().enumerate() {
                if self.refreshes(number, stagger_s, now) {
                    replica.wrong = in_store && rollout.reaches(number);
                }
                if replica.wrong {
                    counts.faulty_responses += self.replica_rate;
                }
            }
            let wrong = replicas.iter().filter(|replica| replica.wrong).count();
            if wrong > 0 {
                counts.first_seen.get_or_insert(now);
                counts.last_seen = Some(now);
            }
            let mixed = wrong > 0 && wrong < self.replicas;
            counts.mixed_s += u64::from(mixed);
            counts.mixed_windows += u64::from(mixed && !was_mixed);
            was_mixed = mixed;
            if in_store && wrong == self.affected(rollout) {
                counts.propagation_s.get_or_insert(now - self.wrong_at_s);
            }
        }
        counts
    }

    /// The store goes down; meanwhile the last replica restarts. No value is wrong.
    fn outage(&self, restart: Restart) -> Counts {
        let mut replicas = vec![Replica { wrong: false, up: true }; self.replicas];
        let mut counts = Counts::default();
        for now in 0..self.duration_s {
            let down = self.outage.covers(now);
            if let Some(last) = replicas.last_mut() {
                if now == self.outage.restart_at_s {
                    last.up = matches!(restart, Restart::FromDisk) || !down;
                }
                last.up |= now >= self.outage.end_s();
            }
            for (number, replica) in replicas.iter().enumerate() {
                counts.failed_reads += u64::from(down && self.refreshes(number, self.outage.stagger_s, now));
                if !replica.up {
                    counts.dropped_requests += self.replica_rate;
                }
            }
        }
        counts
    }

    fn refreshes(&self, replica: usize, stagger_s: u64, now: u64) -> bool {
        let since_first = now.checked_sub(replica as u64 * stagger_s);
        since_first.is_some_and(|since| since.is_multiple_of(self.refresh_s))
    }

    fn affected(&self, rollout: Rollout) -> usize {
        (0..self.replicas).filter(|replica| rollout.reaches(*replica)).count()
    }

    /// Reads a second that all replicas together make.
    fn store_reads(&self, refresh_s: u64) -> f64 {
        self.replicas as f64 / refresh_s as f64
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("replicas", self.replicas, 1..=10_000);
        d.real("replica_rate", self.replica_rate, 0.0..=1e6);
        d.real("peak_edge", self.peak_edge, 0.0..=1e7);
        d.real("failure_share_minutes", self.failure_share_minutes, 0.0..=44_640.0);
        d.integer("duration_s", self.duration_s, 0..=10_000_000);
        d.integer("refresh_s", self.refresh_s, 1..=1_000_000);
        d.integer("detection_s", self.detection_s, 0..=10_000_000);
        d.integer("wrong_at_s", self.wrong_at_s, 0..=10_000_000);
        d.list("staggers_s", &self.staggers_s, 0..=20, |d, i, stagger| d.integer(i, *stagger, 0..=1_000_000));
        d.distinct("staggers_s", &self.staggers_s);
        d.group("outage", |d| {
            d.integer("start_s", self.outage.start_s, 0..=10_000_000);
            d.integer("length_s", self.outage.length_s, 0..=10_000_000);
            d.integer("restart_at_s", self.outage.restart_at_s, 0..=10_000_000);
            d.integer("stagger_s", self.outage.stagger_s, 0..=1_000_000);
        });
        d.list("refresh_sweep_s", &self.refresh_sweep_s, 0..=20, |d, i, refresh| d.integer(i, *refresh, 1..=1_000_000));
        d.distinct("refresh_sweep_s", &self.refresh_sweep_s);

        let runs = (Rollout::ALL.len() * self.staggers_s.len() + 2) as f64;
        d.steps("duration_s", runs * self.duration_s as f64 * (1.0 + self.replicas as f64));
    }

    fn report(&self) -> Report {
        let mut block = Block::new("measure");
        let mut facts = Vec::new();
        block.plain("parameters.replicas", self.replicas);
        block.plain("parameters.replica_rate", self.replica_rate);
        block.plain("parameters.peak_edge", self.peak_edge);
        block.plain("parameters.refresh_s", self.refresh_s);
        block.plain("parameters.detection_s", self.detection_s);
        block.plain("parameters.wrong_at_s", self.wrong_at_s);
        for rollout in Rollout::ALL {
            for &stagger in &self.staggers_s {
                let row = format!("spread.{}.stagger_{stagger}", rollout.name());
                let run = self.spread(rollout, stagger);
                block.plain(format!("{row}.stagger_s"), stagger);
                block.plain(format!("{row}.propagation_s"), second(run.propagation_s));
                block.plain(format!("{row}.first_seen"), second(run.first_seen));
                block.plain(format!("{row}.last_seen"), second(run.last_seen));
                block.plain(format!("{row}.mixed_s"), run.mixed_s);
                block.fixed(format!("{row}.faulty_responses"), run.faulty_responses, 0);
                block.plain(format!("{row}.affected_replicas"), self.affected(rollout));
                facts.push((format!("{row}.mixed_windows"), run.mixed_windows));
            }
        }

        block.plain("parameters.outage.length_s", self.outage.length_s);
        block.plain("parameters.outage.restart_at_s", self.outage.restart_at_s);
        for (restart, name) in [(Restart::FromDisk, "last_known_good"), (Restart::NeedsStore, "store_required")] {
            let row = format!("outage.{name}");
            let run = self.outage(restart);
            let seconds = run.dropped_requests / self.peak_edge;
            block.plain(format!("{row}.failed_reads"), run.failed_reads);
            block.fixed(format!("{row}.dropped_requests"), run.dropped_requests, 0);
            block.fixed(format!("{row}.equivalent_s"), seconds, 2);
            let percent = 100.0 * seconds / (self.failure_share_minutes * 60.0);
            block.push(Figure::fixed(format!("{row}.of_failure_share"), percent, 2).marked(Mark::Percent));
        }

        for &refresh in &self.refresh_sweep_s {
            let row = format!("sweep.refresh_{refresh}");
            block.plain(format!("{row}.refresh_s"), refresh);
            block.fixed(format!("{row}.store_reads"), self.store_reads(refresh), 4);
            block.plain(format!("{row}.worst_propagation_s"), refresh);
            let ceiling = self.peak_edge * (self.detection_s + refresh) as f64;
            block.fixed(format!("{row}.faulty_ceiling"), ceiling, 0);
        }
        block.plain("uncached.store_reads", self.peak_edge);
        block.plain("uncached.refresh_s", self.refresh_s);
        let fewer = self.peak_edge / self.store_reads(self.refresh_s);
        block.push(Figure::fixed("uncached.fewer", fewer, 0).marked(Mark::Times));

        let mut report = Report::new([block]);
        facts.into_iter().for_each(|(name, windows)| report.fact(name, windows));
        report
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}

/// The table prints -1 for what never came to pass.
fn second(second: Option<u64>) -> i64 {
    second.map_or(-1, |second| second as i64)
}
