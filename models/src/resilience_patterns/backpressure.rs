//! Backpressure: when a consumer falls behind, where does the work collect, and who is told?
//!
//! Events pass through links with bounded buffers: each link takes what it can from its own buffer and hands it on
//! to the next. A link whose successor is full either heeds that and pauses, or goes on and loses the event; the
//! depth counts the links, from the consumer back, that heed it. Only if it reaches the source is an event
//! rejected, which its sender knows, and not lost, which nobody knows. One round stands for one second. Left out:
//! whether the sender sends a rejected event again.

mod blocks;
mod invariants;

use crate::arrivals::Carry;
use crate::backlog::Backlog;
use crate::figures::{Report, segment};
use crate::invariants::Invariant;
use crate::parameters::{Declaration, Lesson};
use serde::{Deserialize, Serialize};

/// What the lesson's programs hold in constants. Rates are in events per round.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    failure_minutes: f64,
    source_rate: f64,
    /// Multipliers of the source's rate, one a round, over and over.
    oscillation: Vec<f64>,
    /// From the source on, without the consumer.
    links: Vec<Link>,
    consumer: Consumer,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    name: String,
    capacity: u64,
    rate: u64,
}

/// The last link.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Consumer {
    name: String,
    capacity: u64,
    usual_rate: u64,
    slow_rate: u64,
    rates_swept: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    UnlimitedBuffers,
    /// Bounded buffers, and so many links back from the consumer that heed a full successor.
    Depth(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Steady,
    Oscillating,
}

/// A link at work. An event is known by the round in which it arrived.
struct Stage {
    capacity: u64,
    rate: u64,
    buffer: Backlog<u64>,
    heeds_successor: bool,
    /// Events that found this buffer full and were dropped.
    lost: u64,
    /// Rounds in which this link had work and its successor no room.
    paused: u64,
}

impl Stage {
    fn room(&self) -> u64 {
        self.capacity.saturating_sub(self.buffer.len())
    }

    /// One round's work on the way to the next link.
    fn hand_on(&mut self, next: &mut Self) {
        let work = self.rate.min(self.buffer.len());
        let fits = work.min(next.room());
        for (arrived, events) in self.buffer.take(fits) {
            next.buffer.push(arrived, events);
        }
        if fits == work {
            return;
        }
        if self.heeds_successor {
            self.paused += 1;
        } else {
            next.lost += self.buffer.take(work - fits).map(|(_, events)| events).sum::<u64>();
        }
    }
}

/// What one run counted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Outcome {
    produced: u64,
    completed: u64,
    /// Turned away at the source, which is told.
    rejected: u64,
    /// Dropped at each link's buffer after they had been accepted.
    lost: Vec<u64>,
    paused: Vec<u64>,
    backlog: u64,
    pending_age: u64,
    finished_age: u64,
}

impl Outcome {
    fn total_lost(&self) -> u64 {
        self.lost.iter().sum()
    }
}

impl Parameters {
    fn rounds(&self) -> u64 {
        (self.failure_minutes * ROUNDS_A_MINUTE).round() as u64
    }

    fn link_count(&self) -> usize {
        self.links.len() + 1
    }

    fn stages(&self, setting: Setting, consumption: u64) -> Vec<Stage> {
        let links = self.links.iter().map(|link| (link.capacity, link.rate));
        let stage = |(i, (capacity, rate))| Stage {
            capacity: if setting == Setting::UnlimitedBuffers { u64::MAX } else { capacity },
            rate,
            buffer: Backlog::new(),
            heeds_successor: matches!(setting, Setting::Depth(depth) if i + 1 + depth >= self.link_count()),
            lost: 0,
            paused: 0,
        };
        links.chain([(self.consumer.capacity, consumption)]).enumerate().map(stage).collect()
    }

    fn run(&self, setting: Setting, consumption: u64, source: Source) -> Outcome {
        let mut stages = self.stages(setting, consumption);
        let rejects = setting == Setting::Depth(self.link_count());
        let mut outcome = Outcome::default();
        let mut carry = Carry::default();
        let rhythm = self.oscillation.iter().cycle();
        for (now, multiplier) in (1..=self.rounds()).zip(rhythm) {
            if let Some(consumer) = stages.last_mut() {
                for (arrived, events) in consumer.buffer.take(consumption) {
                    outcome.completed += events;
                    outcome.finished_age = outcome.finished_age.max(now - arrived);
                }
            }
            // From the consumer back, so that each link finds the room its successor has just made.
            for i in (1..stages.len()).rev() {
                if let [link, next] = &mut stages[i - 1..=i] {
                    link.hand_on(next);
                }
            }
            let multiplier = if source == Source::Oscillating { *multiplier } else { 1.0 };
            let arrivals = carry.arrivals(self.source_rate * multiplier);
            outcome.produced += arrivals;
            if let Some(entry) = stages.first_mut() {
                let accepted = arrivals.min(entry.room());
                entry.buffer.push(now, accepted);
                *if rejects { &mut outcome.rejected } else { &mut entry.lost } += arrivals - accepted;
            }
        }
        let oldest = stages.iter().filter_map(|stage| stage.buffer.front()).map(|(arrived, _)| arrived).min();
        Outcome {
            lost: stages.iter().map(|stage| stage.lost).collect(),
            paused: stages.iter().map(|stage| stage.paused).collect(),
            backlog: stages.iter().map(|stage| stage.buffer.len()).sum(),
            pending_age: oldest.map_or(0, |arrived| self.rounds() - arrived),
            ..outcome
        }
    }

    /// Unlimited buffers, and then every depth from no signal to one that reaches the source.
    fn settings(&self) -> Vec<Setting> {
        [Setting::UnlimitedBuffers].into_iter().chain((0..=self.link_count()).map(Setting::Depth)).collect()
    }

    fn name(&self, setting: Setting) -> String {
        match setting {
            Setting::UnlimitedBuffers => "unlimited".to_owned(),
            Setting::Depth(0) => "no_signal".to_owned(),
            Setting::Depth(depth) if depth == self.link_count() => "to_the_limit".to_owned(),
            Setting::Depth(depth) => format!("depth_{depth}"),
        }
    }

    fn link_names(&self) -> Vec<String> {
        self.links.iter().map(|link| &link.name).chain([&self.consumer.name]).map(segment).collect()
    }
}

const ROUNDS_A_MINUTE: f64 = 60.0;

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.real("failure_minutes", self.failure_minutes, 0.0..=10_000.0);
        d.real("source_rate", self.source_rate, 0.0..=1_000_000.0);
        d.list("oscillation", &self.oscillation, 1..=1_000, |d, i, multiplier| d.real(i, *multiplier, 0.0..=1_000.0));
        d.list("links", &self.links, 0..=10, |d, i, link| {
            d.group(i, |d| {
                d.text("name", &link.name);
                d.integer("capacity", link.capacity, 0..=1_000_000_000);
                d.integer("rate", link.rate, 0..=1_000_000_000);
            });
        });
        d.group("consumer", |d| {
            d.text("name", &self.consumer.name);
            d.integer("capacity", self.consumer.capacity, 0..=1_000_000_000);
            d.integer("usual_rate", self.consumer.usual_rate, 0..=1_000_000_000);
            d.integer("slow_rate", self.consumer.slow_rate, 0..=1_000_000_000);
            d.list("rates_swept", &self.consumer.rates_swept, 0..=20, |d, i, rate| {
                d.integer(i, *rate, 0..=1_000_000_000);
            });
        });

        let runs = 2 * (self.link_count() + 2) + 1 + 3 * self.consumer.rates_swept.len();
        d.steps("failure_minutes", (runs * self.link_count() * 20) as f64 * self.rounds() as f64);
    }

    fn report(&self) -> Report {
        self.publish()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }
}
