//! What the argument about splitting a deadline rests on, at any parameters.

use super::{Durations, Outcome, Parameters, Policy, Regime};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-drop-has-a-cause", check: every_drop_has_a_cause },
        Invariant { id: "no-wait-beyond-the-threshold", check: no_wait_beyond_the_threshold },
        Invariant { id: "short-reads-cost-nothing", check: short_reads_cost_nothing },
        Invariant { id: "tail-cut-once-a-body", check: tail_cut_once_a_body },
        Invariant { id: "tail-cut-once-a-cycle", check: tail_cut_once_a_cycle },
        Invariant { id: "greedy-answers-no-fewer", check: greedy_answers_no_fewer },
        Invariant { id: "greedy-answers-no-fewer-unless-it-skips", check: greedy_answers_no_fewer_unless_it_skips },
        Invariant { id: "healthy-step-not-blamed", check: healthy_step_not_blamed },
        Invariant { id: "fixed-share-keeps-blame", check: fixed_share_keeps_blame },
        Invariant { id: "greedy-blames-the-next-step", check: greedy_blames_the_next_step },
        Invariant { id: "split-only-moves-work", check: split_only_moves_work },
        Invariant { id: "split-only-moves-work-it-asks-for", check: split_only_moves_work_it_asks_for },
        Invariant { id: "shorter-deadline-trades", check: shorter_deadline_trades },
        Invariant { id: "no-time-or-no-wait", check: no_time_or_no_wait },
    ]
}

/// The splits under which each read has a share of its own.
const FIXED: [Policy; 2] = [Policy::Equal, Policy::Weighted];

impl Durations {
    /// One read after the other, as often as asked for.
    fn reads(&self, body_repeats: usize, count: usize) -> impl Iterator<Item = f64> {
        let bodies = self.body.iter().copied().cycle().take(self.body.len() * body_repeats);
        let cycle: Vec<f64> = bodies.chain([self.tail]).collect();
        cycle.into_iter().cycle().take(count)
    }

    fn constant(ms: f64) -> Self {
        Self { body: vec![ms], tail: ms }
    }
}

impl Parameters {
    fn regimes(&self) -> [(&'static str, &Regime); 2] {
        [("failure-free", &self.failure_free), ("slowdown", &self.tariff_slowdown)]
    }

    fn on_each_run(&self, policies: &[Policy], check: impl Fn(&str, Policy, &Regime, Outcome) -> Held) -> Held {
        let runs = self.regimes().into_iter().flat_map(|(day, regime)| policies.iter().map(move |p| (day, regime, *p)));
        Held::all(runs.map(|(day, regime, policy)| {
            check(&format!("{}, {day}", policy.name()), policy, regime, self.run(regime, policy))
        }))
    }

    fn reads<'a>(&'a self, durations: &'a Durations) -> impl Iterator<Item = f64> {
        durations.reads(self.body_repeats, self.requests)
    }

    fn longest(&self, durations: &Durations) -> f64 {
        self.reads(durations).fold(0.0, f64::max)
    }

    /// One regime, on both days.
    fn always(&self, regime: Regime) -> Self {
        Self { failure_free: regime.clone(), tariff_slowdown: regime, ..self.clone() }
    }
}

/// A dropped request has at least one read that failed, and each read is at most one request's.
fn every_drop_has_a_cause(p: &Parameters) -> Held {
    p.on_each_run(&Policy::ALL, |run, _, regime, o| {
        let delivery_failed = p.reads(&regime.delivery).filter(|ms| *ms > p.arm_share().max(0.0)).count() as u64;
        let failed = [delivery_failed, o.tariff_failed, o.size_failed];
        let requests = p.requests as u64;
        Held::all([
            Held::equal(format!("requests, {run}"), o.answered + o.dropped, requests),
            Held::at_most(format!("most failed of one step, {run}"), failed.into_iter().max().unwrap_or(0), o.dropped),
            Held::provided(p.arm_share() > 0.0, || {
                Held::at_most(format!("dropped, {run}"), o.dropped, failed.iter().sum::<u64>())
            }),
        ])
    })
}

/// Up to rounding: what is left after the first read is added to it again.
fn no_wait_beyond_the_threshold(p: &Parameters) -> Held {
    let most = p.read_threshold.max(p.gateway_share);
    let rounding = 1e-12 * most;
    p.on_each_run(&Policy::ALL, |run, _, _, o| {
        Held::all([
            Held::at_most(format!("longest wait, {run}"), o.worst, most + rounding),
            Held::at_most(format!("median, {run}"), o.median, o.worst),
            Held::at_most(format!("gateway's share, {run}"), p.gateway_share, o.median),
        ])
    })
}

/// Where every read is well within the smallest share, no policy differs from another.
fn short_reads_cost_nothing(p: &Parameters) -> Held {
    let [equal, weighted] = FIXED.map(|policy| policy.shares(p.arm_share(), &p.typical));
    let (tariff, size) = (equal.0.min(weighted.0), equal.1.min(weighted.1));
    Held::all(p.regimes().map(|(day, regime)| {
        let [longest_delivery, longest_tariff, longest_size] =
            [&regime.delivery, &regime.tariff, &regime.size].map(|durations| p.longest(durations));
        // All three together: then rounding of a remainder cannot matter either.
        let short =
            longest_delivery <= p.arm_share() && longest_tariff <= tariff && longest_tariff + longest_size <= size;
        Held::provided(p.arm_share() > 0.0 && short, || {
            let greedy = p.run(regime, Policy::Greedy);
            Held::all([
                Held::equal(format!("dropped, {day}"), greedy.dropped, 0),
                Held::equal(format!("equal beside greedy, {day}"), p.run(regime, Policy::Equal), greedy),
                Held::equal(format!("weighted beside greedy, {day}"), p.run(regime, Policy::Weighted), greedy),
            ])
        })
    }))
}

/// Reads of the size that an equal split cuts, if the tail alone exceeds its share.
fn cut_tails(p: &Parameters, every: usize) -> Held {
    let share = p.arm_share() / 2.0;
    let Durations { body, tail } = &p.failure_free.size;
    let tail_alone = body.iter().all(|ms| *ms <= share) && *tail > share && share > 0.0;
    Held::provided(tail_alone && every > 0, || {
        let found = p.run(&p.failure_free, Policy::Equal).size_failed;
        Held::equal("cut reads of the size", found, (p.requests / every) as u64)
    })
}

fn tail_cut_once_a_body(p: &Parameters) -> Held {
    cut_tails(p, p.failure_free.size.body.len() * p.body_repeats)
}

/// The tail comes after the bodies, so it is one more.
fn tail_cut_once_a_cycle(p: &Parameters) -> Held {
    cut_tails(p, p.failure_free.size.body.len() * p.body_repeats + 1)
}

fn greedy_answers_no_fewer(p: &Parameters) -> Held {
    Held::all(p.regimes().map(|(day, regime)| {
        let [greedy, equal, weighted] = Policy::ALL.map(|policy| p.run(regime, policy).answered);
        Held::at_most(format!("answered under a fixed split, {day}"), equal.max(weighted), greedy)
    }))
}

/// A size that is not read at all leaves its duration to the next request.
fn greedy_answers_no_fewer_unless_it_skips(p: &Parameters) -> Held {
    Held::all(p.regimes().map(|(day, regime)| {
        Held::provided(p.longest(&regime.tariff) < p.arm_share(), || {
            let [greedy, equal, weighted] = Policy::ALL.map(|policy| p.run(regime, policy).answered);
            Held::at_most(format!("answered under a fixed split, {day}"), equal.max(weighted), greedy)
        })
    }))
}

/// Failures of the size while the tariff is slow, beside those while it is not.
fn blame_of_the_size(p: &Parameters, policies: &[Policy]) -> Held {
    let slow = Regime { tariff: p.tariff_slowdown.tariff.clone(), ..p.failure_free.clone() };
    Held::all(policies.iter().map(|policy| {
        let [slow, usual] = [&slow, &p.failure_free].map(|regime| p.run(regime, *policy).size_failed);
        Held::equal(format!("failed reads of the size beside a slow tariff, {}", policy.name()), slow, usual)
    }))
}

fn healthy_step_not_blamed(p: &Parameters) -> Held {
    blame_of_the_size(p, &Policy::ALL)
}

fn fixed_share_keeps_blame(p: &Parameters) -> Held {
    blame_of_the_size(p, &[Policy::Equal])
}

/// A tariff that fails has taken all there is, so the size fails with it.
fn greedy_blames_the_next_step(p: &Parameters) -> Held {
    p.on_each_run(&[Policy::Greedy], |run, _, _, o| {
        Held::at_most(format!("failed reads of the tariff beside the size's, {run}"), o.tariff_failed, o.size_failed)
    })
}

impl Parameters {
    /// Without the other arm, what a request waits for and what is abandoned of it are what the billing stores do.
    fn billing_only(&self) -> Self {
        let without = |regime: &Regime| Regime { delivery: Durations::constant(0.0), ..regime.clone() };
        Self {
            failure_free: without(&self.failure_free),
            tariff_slowdown: without(&self.tariff_slowdown),
            ..self.clone()
        }
    }
}

/// Milliseconds a request, waited for or not: found under a policy, and done if every read is made.
fn busy(p: &Parameters, regime: &Regime, outcome: &Outcome) -> (f64, f64) {
    let requests = p.requests as f64;
    let work = p.reads(&regime.tariff).chain(p.reads(&regime.size)).sum::<f64>();
    (outcome.average + outcome.abandoned / requests, p.gateway_share + work / requests)
}

/// Added in other orders, hence close.
fn split_only_moves_work(p: &Parameters) -> Held {
    let p = &p.billing_only();
    Held::provided(p.arm_share() > 0.0, || {
        p.on_each_run(&Policy::ALL, |run, _, regime, o| {
            let (found, done) = busy(p, regime, &o);
            Held::close(format!("ms a request without a cancellation, {run}"), found, done)
        })
    })
}

/// A greedy tariff may leave no time to ask for the size, which is then not read.
fn split_only_moves_work_it_asks_for(p: &Parameters) -> Held {
    let p = &p.billing_only();
    Held::provided(p.arm_share() > 0.0, || {
        p.on_each_run(&Policy::ALL, |run, policy, regime, o| {
            let (found, done) = busy(p, regime, &o);
            let asks = !matches!(policy, Policy::Greedy) || p.longest(&regime.tariff) < p.arm_share();
            let what = format!("ms a request without a cancellation, {run}");
            if asks {
                Held::close(what, found, done)
            } else {
                let tariff = p.reads(&regime.tariff).sum::<f64>() / p.requests as f64 + p.gateway_share;
                let rounding = 1e-9 * found;
                Held::at_most(what, tariff, found + rounding)
            }
        })
    })
}

/// Who gives up earlier waits no longer, leaves the stores no less, and gets no more answers.
fn shorter_deadline_trades(p: &Parameters) -> Held {
    let shorter = Parameters { read_threshold: p.gateway_share + p.arm_share() / 2.0, ..p.clone() };
    Held::provided(shorter.arm_share() > 0.0, || {
        p.on_each_run(&FIXED, |run, policy, regime, longer| {
            let shorter = shorter.run(regime, policy);
            Held::all([
                Held::at_most(format!("average wait, {run}"), shorter.average, longer.average),
                Held::at_most(format!("abandoned with more time, {run}"), longer.abandoned, shorter.abandoned),
                Held::at_most(format!("answered with less time, {run}"), shorter.answered, longer.answered),
            ])
        })
    })
}

fn no_time_or_no_wait(p: &Parameters) -> Held {
    let no_time = Parameters { gateway_share: p.read_threshold, ..p.clone() };
    let instant = || Durations::constant(0.0);
    let no_wait = p.always(Regime { delivery: instant(), tariff: instant(), size: instant() });
    let late = || Durations::constant(p.read_threshold + 1.0);
    let endless = p.always(Regime { delivery: late(), tariff: late(), size: late() });
    let requests = p.requests as u64;
    Held::all([
        no_time.on_each_run(&Policy::ALL, |run, _, _, o| {
            let found = (o.answered, o.tariff_failed, o.size_failed, o.worst, o.abandoned);
            Held::equal(format!("without time, {run}"), found, (0, requests, requests, p.read_threshold, 0.0))
        }),
        Held::provided(p.arm_share() > 0.0, || {
            no_wait.on_each_run(&Policy::ALL, |run, _, _, o| {
                let found = (o.answered, o.worst, o.abandoned);
                Held::equal(format!("without durations, {run}"), found, (requests, p.gateway_share, 0.0))
            })
        }),
        endless
            .on_each_run(&Policy::ALL, |run, _, _, o| Held::equal(format!("answered too late, {run}"), o.answered, 0)),
    ])
}
