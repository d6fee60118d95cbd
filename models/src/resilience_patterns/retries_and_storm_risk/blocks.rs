//! What the lesson publishes: the figures of its blocks in order, and the facts.

use super::{ALL_LAYERS, Parameters, Policy, Run, Window};
use crate::figures::{Block, Figure, Mark, Report};

impl Parameters {
    /// The blocks in order, then the facts.
    pub(super) fn publish(&self) -> Report {
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
                report.fact(format!("{row}.unfinished"), counts.unfinished);
            }
        }
        report.fact("longest_possible_wait", self.longest_wait(ALL_LAYERS));
        report
    }

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
