//! What a share of the capacity guarantees to its class, and what it keeps from the others.

use super::{BILLING, REPORT, STATE_EVENT, close, name, sum};
use crate::application_layer::priority_queue::{Burst, CLASSES, EachClass, Parameters, Policy, Shares};
use crate::invariants::{Held, Invariant};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "share-is-a-floor", check: share_is_a_floor },
        Invariant { id: "share-is-a-ceiling", check: share_is_a_ceiling },
        Invariant { id: "share-is-a-ceiling-among-the-busy", check: share_is_a_ceiling_among_the_busy },
        Invariant { id: "bad-day-stays-own", check: bad_day_stays_own },
        Invariant { id: "share-bounds-the-report", check: share_bounds_the_report },
        Invariant { id: "no-shares-is-strict", check: no_shares_is_strict },
    ]
}

impl Parameters {
    fn share_list(&self) -> EachClass<f64> {
        [self.shares.state_event, self.shares.billing, self.shares.report]
    }

    fn shares_fit(&self) -> bool {
        self.share_list().iter().sum::<f64>() <= 1.0
    }
}

/// A class whose arrivals fit its share never waits, whatever the others bring.
fn share_is_a_floor(p: &Parameters) -> Held {
    Held::all([None, Some(p.burst)].map(|burst| {
        let queues = p.run(p.weighted_share(), p.capacity, burst);
        let demand = [p.event_peak(burst), p.billing_rate, p.report_size];
        Held::all((0..CLASSES.len()).map(|class| {
            let fits = demand[class] <= p.capacity * p.share_list()[class];
            Held::provided(p.shares_fit() && fits, || {
                let found = (queues[class].longest_wait, queues[class].batches.len());
                Held::equal(name(class, p.weighted_share(), burst), found, (0, 0))
            })
        }))
    }))
}

/// The most that each class got in one second, and whether the others were always left with jobs.
fn most_in_a_second(p: &Parameters, burst: Option<Burst>) -> EachClass<(f64, bool)> {
    let mut before = [0.0; 3];
    let mut found = [(0.0_f64, true); 3];
    p.run_observed(p.weighted_share(), p.capacity, burst, |queues| {
        for class in 0..CLASSES.len() {
            found[class].0 = found[class].0.max(queues[class].completed - before[class]);
            before[class] = queues[class].completed;
            let others = (0..CLASSES.len()).filter(|other| *other != class);
            found[class].1 &= others.into_iter().all(|other| !queues[other].batches.is_empty());
        }
    });
    found
}

fn share_is_a_ceiling(p: &Parameters) -> Held {
    let found = most_in_a_second(p, Some(p.burst));
    let share = p.capacity * p.shares.state_event;
    Held::at_most("state events in a second".to_owned(), found[STATE_EVENT].0, share * (1.0 + 1e-9))
}

/// A class gets more only where another one leaves some of its own.
fn share_is_a_ceiling_among_the_busy(p: &Parameters) -> Held {
    let adds_up = (p.share_list().iter().sum::<f64>() - 1.0).abs() <= 1e-9;
    Held::all([None, Some(p.burst)].map(|burst| {
        let found = most_in_a_second(p, burst);
        let size = sum(p.offered(burst));
        Held::all(found.into_iter().zip(p.share_list()).enumerate().map(|(class, ((most, others_busy), share))| {
            Held::provided(adds_up && others_busy, || {
                let name = name(class, p.weighted_share(), burst);
                Held::at_most(format!("in a second, {name}"), most, p.capacity * share + 1e-9 * (size + p.capacity))
            })
        }))
    }))
}

fn bad_day_stays_own(p: &Parameters) -> Held {
    let [usual, burst] = [None, Some(p.burst)].map(|burst| p.run(p.weighted_share(), p.capacity, burst));
    let size = sum(p.offered(Some(p.burst)));
    Held::all([BILLING, REPORT].map(|class| {
        close(format!("remaining, {}", CLASSES[class]), burst[class].remaining(), usual[class].remaining(), size)
    }))
}

/// Its share alone takes so many seconds for a report, and is through with it before the next.
fn share_bounds_the_report(p: &Parameters) -> Held {
    let seconds = (p.report_size / (p.capacity * p.shares.report)).ceil();
    Held::provided(p.shares_fit() && p.report_size > 0.0 && seconds <= p.report_interval() as f64, || {
        Held::all([None, Some(p.burst)].map(|burst| {
            let report = &p.run(p.weighted_share(), p.capacity, burst)[REPORT];
            Held::at_most("longest wait of a report", report.longest_wait as f64, seconds - 1.0)
        }))
    })
}

fn no_shares_is_strict(p: &Parameters) -> Held {
    let without = Parameters { shares: Shares { state_event: 0.0, billing: 0.0, report: 0.0 }, ..p.clone() };
    Held::all([None, Some(p.burst)].map(|burst| {
        let shared = without.run(without.weighted_share(), p.capacity, burst);
        let strict = p.run(Policy::StrictPriority, p.capacity, burst);
        Held::that(shared == strict, || "shares of nothing serve in another way than strict priority".to_owned())
    }))
}
