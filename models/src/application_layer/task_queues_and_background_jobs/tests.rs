use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::VecDeque;

/// A server of the course's own form: it counts down the ticks that its job still takes.
#[derive(Clone, Default)]
struct Ticking {
    left: u64,
}

/// The same designs tick by tick.
fn serve_tick_by_tick(design: Design, jobs: &[Job], durations: Durations) -> Served {
    let (slots, workers) = match design {
        Design::Shared { slots } => (slots, 0),
        Design::Separate { slots, workers } => (slots, workers),
    };
    let mut pools = [slots, workers].map(|count| (vec![Ticking::default(); count as usize], VecDeque::new()));
    let mut served = Served::default();
    for now in 0..durations.window {
        for job in jobs.iter().filter(|job| job.arrival == now) {
            let own_queue = matches!((design, job.kind), (Design::Separate { .. }, Kind::Report));
            pools[usize::from(own_queue)].1.push_back(*job);
        }
        for (servers, queue) in &mut pools {
            for server in servers {
                server.left = server.left.saturating_sub(1);
                if server.left > 0 {
                    continue;
                }
                let Some(Job { arrival, kind }) = queue.pop_front() else { continue };
                server.left = durations.of(kind);
                match kind {
                    Kind::Tracking => served.waits.push(now - arrival),
                    Kind::Report => served.report_ticks.push(now - arrival + server.left),
                }
            }
        }
    }
    served
}

fn jobs(window: u64) -> impl Strategy<Value = Vec<Job>> {
    let tick = (any::<bool>(), proptest::bool::weighted(0.2));
    proptest::collection::vec(tick, window as usize).prop_map(|ticks| {
        let in_tick = |(arrival, (tracking, report)): (usize, (bool, bool))| {
            let arrival = arrival as u64;
            let tracking = tracking.then_some(Job { arrival, kind: Kind::Tracking });
            tracking.into_iter().chain(report.then_some(Job { arrival, kind: Kind::Report }))
        };
        ticks.into_iter().enumerate().flat_map(in_tick).collect()
    })
}

fn designs() -> impl Strategy<Value = Design> {
    let shared = (0..6u64).prop_map(|slots| Design::Shared { slots });
    let separate = (0..4u64, 0..4u64).prop_map(|(slots, workers)| Design::Separate { slots, workers });
    prop_oneof![shared, separate]
}

#[test]
fn next_free_ticks_serve_as_a_walk_through_every_tick_does() {
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let window = 80;
    let settings = (designs(), jobs(window), 0..4u64, 0..30u64);
    let agree = |(design, jobs, tracking, report): (Design, Vec<Job>, u64, u64)| {
        let durations = Durations { tracking, report, window };
        prop_assert_eq!(serve(design, &jobs, durations), serve_tick_by_tick(design, &jobs, durations));
        Ok(())
    };
    assert_eq!(runner.run(&settings, agree).map_err(|error| error.to_string()), Ok(()));
}

#[test]
fn the_index_of_a_percentile_is_cut_off_not_rounded() {
    let mut served = Served { waits: (0..11).rev().collect(), ..Served::default() };
    assert_eq!([0.0, 50.0, 99.0, 100.0].map(|percent| served.percentile(percent)), [0, 5, 10, 10].map(Some));
    assert_eq!(Served::default().percentile(50.0), None);
}
