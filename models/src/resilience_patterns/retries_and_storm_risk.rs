//! Retries and Storm Risk: how many calls reach a broken dependency when every layer of a chain retries?
//!
//! Each layer that retries multiplies the tries that one request may take at the dependency below. A failed call
//! comes back after an exponential backoff with full jitter; a retry budget bounds the extra calls of all requests
//! together. Left out: the layers' own slots and timeouts, the rare failures of a day that has a window of its own,
//! and what becomes of a call that is due after the run ends.

use crate::figures::{Block, Figure, Mark, Report};
use crate::parameters::{Declaration, Lesson};
use crate::random::{Lehmer, Uniform};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::iter::repeat_n;

/// What the lesson's program holds in constants. Durations are in rounds, rates in requests per second.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    round_ms: f64,
    rounds: u64,
    failure_start: u64,
    event_rate: f64,
    /// Calls a round that the dependency answers when it is well.
    usual_capacity: u64,
    /// Share of the calls that fail on a day without a window.
    rare_failures: f64,
    outage: Window,
    degradation: Window,
    /// Tries that a layer makes, the first one included.
    tries: u64,
    backoff_base: u64,
    backoff_cap: u64,
    /// Extra calls that the budget allows for each first one.
    budget: f64,
    budget_narrow: f64,
    bound_layers: Vec<u32>,
    read_threshold: u64,
}

/// A stretch of rounds in which the dependency keeps only part of its capacity.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    duration: u64,
    capacity: u64,
}

/// How the chain retries.
#[derive(Debug, Clone, Copy)]
struct Policy {
    name: &'static str,
    retrying_layers: u32,
    budget: Option<f64>,
}

/// What one run counted; calls are those that reach the dependency.
#[derive(Debug, Default)]
struct Counts {
    requests: u64,
    calls: u64,
    first_calls: u64,
    extra_calls: u64,
    successful: u64,
    dropped: u64,
    /// Most calls in one round.
    peak: u64,
    /// Most calls in one round outside the window.
    peak_outside: u64,
    window_calls: u64,
    dropped_in_window: u64,
}

/// One policy's run, with what is told about it.
struct Run {
    policy: Policy,
    allowed: u64,
    counts: Counts,
    window_rate: f64,
}

impl Parameters {
    fn rounds_per_second(&self) -> f64 {
        1000.0 / self.round_ms
    }

    fn event_mean(&self) -> f64 {
        self.event_rate / self.rounds_per_second()
    }

    /// The layers' tries multiply: so many calls may one request take.
    fn allowed(&self, layers: u32) -> u64 {
        self.tries.saturating_pow(layers)
    }

    /// The longest backoff after so many failures.
    fn backoff(&self, failures: u64) -> u64 {
        let doublings = u32::try_from(failures).unwrap_or(u32::MAX);
        self.backoff_cap.min(self.backoff_base.saturating_mul(2_u64.saturating_pow(doublings)))
    }

    fn run(&self, policy: Policy, window: Option<Window>) -> Run {
        let allowed = self.allowed(policy.retrying_layers);
        let mut random = Lehmer::new(self.seed);
        let mut counts = Counts::default();
        // Of every call that waits for its round: how often it has failed.
        let mut due: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for now in 0..self.rounds {
            let broken = window.filter(|w| (self.failure_start..self.failure_start + w.duration).contains(&now));
            let capacity = broken.map_or(self.usual_capacity, |w| w.capacity);

            let arrivals = random.poisson(self.event_mean());
            let mut calls = due.remove(&now).unwrap_or_default();
            calls.extend(repeat_n(0, arrivals as usize));
            counts.requests += arrivals;
            counts.calls += calls.len() as u64;
            counts.peak = counts.peak.max(calls.len() as u64);
            match broken {
                Some(_) => counts.window_calls += calls.len() as u64,
                None => counts.peak_outside = counts.peak_outside.max(calls.len() as u64),
            }

            for (place, failures) in (0..).zip(calls) {
                *if failures == 0 { &mut counts.first_calls } else { &mut counts.extra_calls } += 1;
                let fails_rarely = |random: &mut Lehmer| window.is_none() && random.chance(self.rare_failures);
                if place < capacity && !fails_rarely(&mut random) {
                    counts.successful += 1;
                } else if failures + 1 < allowed && counts.within(policy.budget) {
                    let wait = (random.next() * self.backoff(failures) as f64) as u64;
                    due.entry(now + 1 + wait).or_default().push(failures + 1);
                } else {
                    counts.dropped += 1;
                    counts.dropped_in_window += u64::from(broken.is_some());
                }
            }
        }
        let window_rate = window.map_or(0.0, |w| counts.window_calls as f64 / w.duration as f64);
        Run { policy, allowed, counts, window_rate }
    }
}

impl Counts {
    fn within(&self, budget: Option<f64>) -> bool {
        budget.is_none_or(|share| self.extra_calls as f64 <= share * self.first_calls as f64)
    }

    /// Calls for each request.
    fn multiplier(&self) -> f64 {
        self.calls as f64 / self.requests as f64
    }
}

impl Lesson for Parameters {
    fn declare(&self, d: &mut Declaration) {
        d.integer("seed", self.seed, 0..=u32::MAX.into());
        d.real("round_ms", self.round_ms, 0.1..=1_000.0);
        d.integer("rounds", self.rounds, 1..=1_000_000);
        d.integer("failure_start", self.failure_start, 0..=1_000_000);
        d.real("event_rate", self.event_rate, 0.0..=10_000.0);
        // Poisson counts are drawn by multiplying uniforms until they fall below e^-mean, which must not vanish.
        d.require("event_rate", self.event_mean() <= 500.0, "at most 500 arrivals a round");
        d.integer("usual_capacity", self.usual_capacity, 0..=1_000_000);
        d.real("rare_failures", self.rare_failures, 0.0..=1.0);
        for (name, window) in [("outage", &self.outage), ("degradation", &self.degradation)] {
            d.group(name, |d| {
                d.integer("duration", window.duration, 1..=1_000_000);
                d.integer("capacity", window.capacity, 0..=1_000_000);
            });
        }
        d.integer("tries", self.tries, 1..=10);
        d.integer("backoff_base", self.backoff_base, 0..=10_000);
        d.integer("backoff_cap", self.backoff_cap, 0..=10_000);
        d.real("budget", self.budget, 0.0..=100.0);
        d.real("budget_narrow", self.budget_narrow, 0.0..=100.0);
        // 10^15 is below 2^53: up to there the doubles of the lesson's program count exactly.
        d.list("bound_layers", &self.bound_layers, 0..=16, |d, i, layers| d.integer(i, *layers, 0..=15));
        d.integer("read_threshold", self.read_threshold, 1..=1_000_000);

        let most_calls = self.allowed(ALL_LAYERS).min(self.rounds) as f64;
        d.steps("rounds", 32.0 * self.rounds as f64 * (1.0 + self.event_mean() * most_calls));
    }

    fn report(&self) -> Report {
        let mut block = Block::new("run");
        block.plain("parameters.rounds", self.rounds);
        block.plain("seconds", self.rounds as f64 / self.rounds_per_second());
        block.plain("parameters.failure_start", self.failure_start);
        block.plain("parameters.usual_capacity", self.usual_capacity);
        block.plain("usual_capacity_per_second", self.usual_capacity as f64 * self.rounds_per_second());
        block.fixed("arrivals", self.event_mean(), 4);
        block.plain("parameters.seed", self.seed);

        let policy = |name, retrying_layers| Policy { name, retrying_layers, budget: None };
        let policies = [
            policy("no_retries", 0),
            policy("one_layer", 1),
            policy("two_layers", 2),
            policy("three_layers", ALL_LAYERS),
            Policy { budget: Some(self.budget), ..policy("budgeted", ALL_LAYERS) },
        ];
        let healthy = policies.map(|policy| self.run(policy, None));
        block.plain("parameters.rare_failures", self.rare_failures);
        self.publish_day(&mut block, "healthy", &healthy);

        let outage = policies.map(|policy| self.run(policy, Some(self.outage)));
        self.publish_window(&mut block, "outage", self.outage);
        self.publish_day(&mut block, "outage", &outage);

        let degradation = policies.map(|policy| self.run(policy, Some(self.degradation)));
        self.publish_window(&mut block, "degradation", self.degradation);
        self.publish_day(&mut block, "degradation", &degradation);

        self.publish_cost(&mut block, &healthy);
        self.publish_storm(&mut block, &outage);
        publish_ceiling(&mut block, &degradation);
        self.publish_budget(&mut block, &outage, &degradation);
        self.publish_bound(&mut block);

        let [.., budgeted] = &outage;
        let narrow = self.run(Policy { budget: Some(self.budget_narrow), ..budgeted.policy }, Some(self.outage));
        block.fixed("parameters.budget_narrow", self.budget_narrow, 2);
        block.fixed("sensitivity.budget", self.budget, 2);
        for (name, run) in [("budgeted", budgeted), ("narrow", &narrow)] {
            block.plain(format!("sensitivity.calls.{name}"), run.counts.calls);
        }
        for (name, run) in [("budgeted", budgeted), ("narrow", &narrow)] {
            block.fixed(format!("sensitivity.window_rate.{name}"), run.window_rate, 2);
        }
        for (name, run) in [("budgeted", budgeted), ("narrow", &narrow)] {
            block.plain(format!("sensitivity.dropped.{name}"), run.counts.dropped);
        }

        let mut report = Report::new([block]);
        for (day, runs) in [("healthy", &healthy), ("outage", &outage), ("degradation", &degradation)] {
            for Run { policy, counts, .. } in runs {
                let row = format!("runs.{day}.{}", policy.name);
                report.fact(format!("{row}.requests"), counts.requests);
                report.fact(format!("{row}.peak_outside"), counts.peak_outside);
                report.fact(format!("{row}.dropped_in_window"), counts.dropped_in_window);
                // Neither answered nor dropped: the next try is due after the run ends.
                let unfinished = counts.requests - counts.successful - counts.dropped;
                report.fact(format!("{row}.unfinished"), unfinished);
            }
        }
        // There is no backoff after the last try, and the jitter stays below the backoff.
        let waits = 0..self.allowed(ALL_LAYERS).saturating_sub(1);
        report.fact("longest_possible_wait", waits.map(|failures| self.backoff(failures).max(1)).sum::<u64>());
        report
    }
}

/// Gateway, event endpoint and state store.
const ALL_LAYERS: u32 = 3;

impl Parameters {
    fn publish_window(&self, block: &mut Block, day: &str, window: Window) {
        block.plain(format!("{day}.seconds"), window.duration as f64 / self.rounds_per_second());
        block.plain(format!("parameters.{day}.duration"), window.duration);
        block.plain(format!("parameters.{day}.capacity"), window.capacity);
    }

    fn publish_day(&self, block: &mut Block, day: &str, runs: &[Run]) {
        for Run { policy, allowed, counts, window_rate } in runs {
            let row = format!("runs.{day}.{}", policy.name);
            match policy.budget {
                Some(budget) => block.fixed(format!("{row}.budget"), budget, 2),
                None => {
                    for layer in 1..=policy.retrying_layers {
                        block.plain(format!("{row}.tries_{layer}"), self.tries);
                    }
                }
            }
            block.plain(format!("{row}.allowed"), *allowed);
            block.plain(format!("{row}.calls"), counts.calls);
            block.push(times(format!("{row}.multiplier"), counts.multiplier(), 2));
            block.plain(format!("{row}.peak"), counts.peak);
            block.plain(format!("{row}.successful"), counts.successful);
            block.plain(format!("{row}.dropped"), counts.dropped);
            if day != "healthy" {
                block.fixed(format!("{row}.window_rate"), *window_rate, 2);
                block.push(times(format!("{row}.times_usual"), window_rate / self.event_mean(), 1));
            }
        }
    }

    /// What retrying costs on the day without a window.
    fn publish_cost(&self, block: &mut Block, [none, .., three, _]: &[Run; 5]) {
        let per_second = |run: &Run| run.counts.calls as f64 / self.rounds as f64 * self.rounds_per_second();
        block.plain("cost.calls.no_retries", none.counts.calls);
        block.plain("cost.calls.three_layers", three.counts.calls);
        block.push(times("cost.multiplier", three.counts.multiplier(), 2));
        block.fixed("cost.per_second.no_retries", per_second(none), 2);
        block.fixed("cost.per_second.three_layers", per_second(three), 2);
        block.plain("cost.allowed.no_retries", none.allowed);
        block.plain("cost.allowed.three_layers", three.allowed);
        block.plain("cost.rare_failures", self.rare_failures);
    }

    /// What retrying gains the callers in the outage, and what it makes of the dependency's load.
    fn publish_storm(&self, block: &mut Block, [none, one, two, three, _]: &[Run; 5]) {
        for run in [none, one, two, three] {
            block.plain(format!("gain.dropped.{}", run.policy.name), run.counts.dropped);
        }
        block.plain("gain.successful.no_retries", none.counts.successful);
        block.plain("gain.successful.three_layers", three.counts.successful);
        for run in [none, one, two, three] {
            block.fixed(format!("storm.window_rate.{}", run.policy.name), run.window_rate, 2);
        }
        block.push(times("storm.times_usual", three.window_rate / self.event_mean(), 1));
        block.push(Figure::plain("storm.bound", three.allowed).marked(Mark::TimesBefore));
    }

    fn publish_budget(&self, block: &mut Block, outage: &[Run; 5], degradation: &[Run; 5]) {
        let [none, .., three, budgeted] = degradation;
        let [.., storm, calmed] = outage;
        block.fixed("parameters.budget", self.budget, 2);
        block.plain("budget.outage.calls.three_layers", storm.counts.calls);
        block.plain("budget.outage.calls.budgeted", calmed.counts.calls);
        block.fixed("budget.outage.window_rate.three_layers", storm.window_rate, 2);
        block.fixed("budget.outage.window_rate.budgeted", calmed.window_rate, 2);
        block.plain("budget.outage.dropped.three_layers", storm.counts.dropped);
        block.plain("budget.outage.dropped.budgeted", calmed.counts.dropped);
        block.plain("budget.degradation.calls.three_layers", three.counts.calls);
        block.plain("budget.degradation.calls.budgeted", budgeted.counts.calls);
        for run in [none, three, budgeted] {
            block.plain(format!("budget.degradation.dropped.{}", run.policy.name), run.counts.dropped);
        }
    }

    /// What needs no run: the most calls of one request, and how long it may go on.
    fn publish_bound(&self, block: &mut Block) {
        block.plain("parameters.tries", self.tries);
        for (i, &layers) in self.bound_layers.iter().enumerate() {
            block.plain(format!("parameters.bound_layers.{i}"), layers);
            block.plain(format!("bound.{i}"), self.allowed(layers));
        }
        let allowed = self.allowed(ALL_LAYERS);
        let longest: u64 = (0..allowed).map(|failures| 1 + self.backoff(failures)).sum();
        block.plain("wait.tries", allowed);
        block.plain("wait.rounds", longest);
        block.plain("wait.seconds", longest as f64 / self.rounds_per_second());
        block.fixed("wait.times_threshold", longest as f64 / self.read_threshold as f64, 1);
        block.plain("parameters.read_threshold", self.read_threshold);
    }
}

/// In the degradation, more allowed tries make no difference.
fn publish_ceiling(block: &mut Block, [.., two, three, _]: &[Run; 5]) {
    block.plain("ceiling.allowed.two_layers", two.allowed);
    block.plain("ceiling.allowed.three_layers", three.allowed);
    block.plain("ceiling.calls.two_layers", two.counts.calls);
    block.plain("ceiling.calls.three_layers", three.counts.calls);
    block.fixed("ceiling.window_rate", three.window_rate, 2);
}

fn times(name: impl Into<String>, value: f64, decimals: u8) -> Figure {
    Figure::fixed(name, value, decimals).marked(Mark::TimesBefore)
}
