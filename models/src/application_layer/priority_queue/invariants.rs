//! Who pays for a capacity that does not suffice, for any classes, shares and bursts.

mod shares;

use super::{Burst, CLASSES, EachClass, NO_JOB, Parameters, Policy, Queue, remaining};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    let mut all = vec![
        Invariant { id: "every-job-accounted-for", check: every_job_accounted_for },
        Invariant { id: "waits-are-the-backlog", check: waits_are_the_backlog },
        Invariant { id: "shortfall-same-in-every-run", check: shortfall_same_in_every_run },
        Invariant { id: "policy-moves-no-shortfall", check: policy_moves_no_shortfall },
        Invariant { id: "required-counts-every-arrival", check: required_counts_every_arrival },
        Invariant { id: "shortfall-exact-if-busy", check: shortfall_exact_if_busy },
        Invariant { id: "longer-window-closes-it", check: longer_window_closes_it },
        Invariant { id: "single-queue-one-longest-wait", check: single_queue_one_longest_wait },
        Invariant { id: "single-queue-serves-a-prefix", check: single_queue_serves_a_prefix },
        Invariant { id: "strict-ignores-lower-classes", check: strict_ignores_lower_classes },
        Invariant { id: "strict-starves-behind-a-full-capacity", check: strict_starves_behind_a_full_capacity },
        Invariant { id: "nothing-or-plenty", check: nothing_or_plenty },
    ];
    all.extend(shares::all());
    all
}

const STATE_EVENT: usize = 0;
const BILLING: usize = 1;
const REPORT: usize = 2;

impl Parameters {
    fn policies(&self) -> [Policy; 3] {
        [Policy::SingleQueue, Policy::StrictPriority, self.weighted_share()]
    }

    /// Each policy, without the burst and with it.
    fn each_run(&self, mut check: impl FnMut(Policy, Option<Burst>) -> Held) -> Held {
        let runs = self.policies().into_iter().flat_map(|policy| [(policy, None), (policy, Some(self.burst))]);
        Held::all(runs.map(|(policy, burst)| check(policy, burst)))
    }

    /// The jobs of the window, class by class, without a queue.
    fn offered(&self, burst: Option<Burst>) -> EachClass<f64> {
        let window = self.window_seconds();
        let (start, end) = burst.map_or((0, 0), |burst| (burst.start_s, burst.start_s.saturating_add(burst.seconds)));
        let in_burst = (end.min(window) - start.min(window)) as f64;
        let multiplier = burst.map_or(1.0, |burst| burst.multiplier);
        [
            self.event_rate() * (window as f64 - in_burst + in_burst * multiplier),
            self.billing_rate * window as f64,
            window.div_ceil(self.report_interval()) as f64 * self.report_size,
        ]
    }

    /// The most state events of a second.
    fn event_peak(&self, burst: Option<Burst>) -> f64 {
        self.event_rate() * burst.map_or(1.0, |burst| burst.multiplier)
    }

    fn without(&self, lower: usize) -> Self {
        let mut without = self.clone();
        if lower <= BILLING {
            without.billing_rate = 0.0;
        }
        without.report_size = 0.0;
        without
    }
}

/// The sums are of one size and differ by what rounding leaves of it.
fn close(what: String, found: f64, expected: f64, size: f64) -> Held {
    Held::close(what, found + size, expected + size)
}

fn sum(jobs: EachClass<f64>) -> f64 {
    jobs.iter().sum()
}

fn completed(queues: &EachClass<Queue>) -> f64 {
    queues.iter().map(|queue| queue.completed).sum()
}

fn name(class: usize, policy: Policy, burst: Option<Burst>) -> String {
    format!("{}, {policy:?}{}", CLASSES[class], if burst.is_some() { ", burst" } else { "" })
}

fn every_job_accounted_for(p: &Parameters) -> Held {
    p.each_run(|policy, burst| {
        let offered = p.offered(burst);
        let queues = p.run(policy, p.capacity, burst);
        let bound = p.capacity * p.window_seconds() as f64;
        let classes = queues.iter().zip(offered).enumerate().map(|(class, (queue, offered))| {
            let waiting: f64 = queue.batches.iter().map(|batch| batch.jobs).sum();
            let name = name(class, policy, burst);
            Held::all([
                close(format!("arrived, {name}"), queue.arrived, offered, 0.0),
                close(format!("completed and waiting, {name}"), queue.completed + waiting, offered, NO_JOB * offered),
                close(format!("remaining, {name}"), queue.remaining(), waiting, offered),
            ])
        });
        Held::all(classes.chain([Held::at_most("completed", completed(&queues), bound * (1.0 + 1e-9))]))
    })
}

/// A job waits as many seconds as it is seen in the backlog at their ends.
fn waits_are_the_backlog(p: &Parameters) -> Held {
    p.each_run(|policy, burst| {
        let mut seen = [0.0; 3];
        let queues = p.run_observed(policy, p.capacity, burst, |queues| {
            seen.iter_mut().zip(queues).for_each(|(seen, queue)| *seen += queue.remaining());
        });
        Held::all(queues.iter().zip(seen).enumerate().map(|(class, (queue, seen))| {
            let age = |arrival: u64| (p.window_seconds() - arrival) as f64;
            let waiting: f64 = queue.batches.iter().map(|batch| batch.jobs * age(batch.arrival)).sum();
            let name = name(class, policy, burst);
            close(format!("seconds waited, {name}"), queue.total_wait + waiting, seen, queue.arrived)
        }))
    })
}

fn shortfalls(p: &Parameters, burst: Option<Burst>) -> [f64; 3] {
    p.policies().map(|policy| remaining(&p.run(policy, p.capacity, burst)))
}

fn shortfall_same_in_every_run(p: &Parameters) -> Held {
    let size = sum(p.offered(Some(p.burst)));
    let [single, ..] = shortfalls(p, None);
    let all = [shortfalls(p, None), shortfalls(p, Some(p.burst))].concat();
    Held::all(all.into_iter().map(|shortfall| close("remaining".to_owned(), shortfall, single, size)))
}

fn policy_moves_no_shortfall(p: &Parameters) -> Held {
    Held::all([None, Some(p.burst)].map(|burst| {
        let size = sum(p.offered(burst));
        let [single, strict, weighted] = shortfalls(p, burst);
        Held::all([
            close(format!("strict priority, {burst:?}"), strict, single, size),
            close(format!("weighted share, {burst:?}"), weighted, single, size),
        ])
    }))
}

fn required_counts_every_arrival(p: &Parameters) -> Held {
    let window = p.window_seconds() as f64;
    // A product of a sum, and a sum of products.
    Held::close("required jobs", p.required() * window, sum(p.offered(None)))
}

/// No second leaves capacity unused.
fn is_always_busy(p: &Parameters, policy: Policy, burst: Option<Burst>) -> bool {
    let (mut before, mut busy) = (0.0, true);
    p.run_observed(policy, p.capacity, burst, |queues| {
        let after = completed(queues);
        busy &= after - before >= p.capacity * (1.0 - 1e-9);
        before = after;
    });
    busy
}

fn shortfall_exact_if_busy(p: &Parameters) -> Held {
    p.each_run(|policy, burst| {
        Held::provided(is_always_busy(p, policy, burst), || {
            let offered = sum(p.offered(burst));
            let capacity = p.capacity * p.window_seconds() as f64;
            let left = remaining(&p.run(policy, p.capacity, burst));
            close(name(STATE_EVENT, policy, burst), left, offered - capacity, offered)
        })
    })
}

/// The window that the lesson gives in place of a higher capacity, in whole seconds.
fn longer_window_closes_it(p: &Parameters) -> Held {
    let seconds = (p.window_seconds() as f64 * p.required() / p.capacity).ceil();
    let longer = Parameters { window_hours: seconds / 3600.0, ..p.clone() };
    let left = remaining(&longer.run(Policy::SingleQueue, p.capacity, None));
    Held::provided(p.required() > p.capacity && p.capacity > 0.0, || {
        Held::at_most(format!("remaining after {seconds} s"), left, 1.0)
    })
}

fn single_queue_one_longest_wait(p: &Parameters) -> Held {
    let queues = p.run(Policy::SingleQueue, p.capacity, None);
    Held::equal("longest waits", queues.each_ref().map(|queue| queue.longest_wait), [queues[REPORT].longest_wait; 3])
}

/// What is completed is the first of all arrivals, and of one second's the first classes.
fn single_queue_serves_a_prefix(p: &Parameters) -> Held {
    Held::all([None, Some(p.burst)].map(|burst| {
        let queues = p.run(Policy::SingleQueue, p.capacity, burst);
        let mut left = completed(&queues);
        let mut expected = [0.0; 3];
        for now in 0..p.window_seconds() {
            let in_burst = burst.is_some_and(|burst| burst.covers(now));
            let events = p.event_rate() * if in_burst { p.burst.multiplier } else { 1.0 };
            let reports = if now % p.report_interval() == 0 { p.report_size } else { 0.0 };
            for (class, jobs) in [events, p.billing_rate, reports].into_iter().enumerate() {
                let served = jobs.min(left);
                expected[class] += served;
                left -= served;
            }
        }
        Held::all(queues.iter().zip(expected).enumerate().map(|(class, (queue, expected))| {
            close(name(class, Policy::SingleQueue, burst), queue.completed, expected, sum(p.offered(burst)))
        }))
    }))
}

fn strict_ignores_lower_classes(p: &Parameters) -> Held {
    Held::all([None, Some(p.burst)].map(|burst| {
        let all = p.run(Policy::StrictPriority, p.capacity, burst);
        let upper = [BILLING, REPORT].map(|lower| p.without(lower).run(Policy::StrictPriority, p.capacity, burst));
        let never_waits = Held::provided(p.event_peak(burst) <= p.capacity, || {
            let top = &all[STATE_EVENT];
            Held::equal("wait and backlog of the first class", (top.longest_wait, top.batches.len()), (0, 0))
        });
        Held::all([
            Held::that(all[STATE_EVENT] == upper[0][STATE_EVENT], || "the first class saw the others".to_owned()),
            Held::that(all[..REPORT] == upper[1][..REPORT], || "the first two classes saw the last".to_owned()),
            never_waits,
        ])
    }))
}

fn strict_starves_behind_a_full_capacity(p: &Parameters) -> Held {
    Held::all([None, Some(p.burst)].map(|burst| {
        let report = &p.run(Policy::StrictPriority, p.capacity, burst)[REPORT];
        Held::provided(p.event_rate() + p.billing_rate > p.capacity * (1.0 + 1e-9), || {
            Held::equal("records of reports", report.completed.to_bits(), 0.0_f64.to_bits())
        })
    }))
}

/// Without capacity nothing is done; with enough for the fullest second nothing waits.
fn nothing_or_plenty(p: &Parameters) -> Held {
    p.each_run(|policy, burst| {
        let plenty = p.event_peak(burst) + p.billing_rate + p.report_size;
        let ended = p.run(policy, 2.0 * plenty, burst).map(|queue| (queue.longest_wait, queue.batches.len()));
        let nothing = completed(&p.run(policy, 0.0, burst));
        Held::all([
            Held::equal(format!("waits with plenty, {policy:?}"), ended, [(0, 0); 3]),
            Held::equal(format!("completed with nothing, {policy:?}"), nothing.to_bits(), 0.0_f64.to_bits()),
        ])
    })
}
