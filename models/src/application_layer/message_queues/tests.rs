use super::*;
use crate::invariants::Held;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The lesson's own walk: every second of every day.
fn second_by_second(scenario: &Scenario) -> Outcome {
    let Scenario { day, peak_start_s, capacity, delayed_after_s, days } = scenario;
    let mut outcome = Outcome::default();
    let mut backlog = 0.0_f64;
    let measured = days.warm_up * DAY_S..(days.warm_up + 1) * DAY_S;
    for now in 0..days.run * DAY_S {
        let phase = day.iter().find(|phase| phase.seconds.contains(&(now % DAY_S))).unwrap();
        if measured.contains(&now) && backlog / capacity > *delayed_after_s {
            outcome.delayed += phase.arriving;
        }
        backlog += phase.arriving;
        backlog -= backlog.min(phase.capacity);
        if measured.contains(&now) && backlog > outcome.highest_backlog {
            outcome.highest_backlog = backlog;
        }
        if outcome.drained_after_s.is_none() && now > measured.start + peak_start_s && backlog < 1.0 {
            outcome.drained_after_s = Some(now - measured.start - peak_start_s);
        }
    }
    outcome
}

/// A day cut anywhere into up to six phases, some of them empty, some without capacity.
fn days() -> impl Strategy<Value = Vec<Phase>> {
    let rate = prop_oneof![Just(0.0), 0.0..2.0, 0.0..200.0];
    let parts = proptest::collection::vec((0..=DAY_S, rate.clone(), rate), 1..=6);
    parts.prop_map(|mut parts| {
        parts.sort_by_key(|(cut, ..)| *cut);
        let cuts: Vec<u64> = parts.iter().skip(1).map(|(cut, ..)| *cut).chain([DAY_S]).collect();
        let mut start = 0;
        let phase = |((_, arriving, capacity), end): (&(u64, f64, f64), u64)| {
            let seconds = std::mem::replace(&mut start, end)..end;
            Phase { seconds, arriving: *arriving, capacity: *capacity }
        };
        parts.iter().zip(cuts).map(phase).collect()
    })
}

fn check<S: Strategy>(settings: &S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    assert_eq!(runner.run(settings, law).map_err(|error| error.to_string()), Ok(()));
}

#[test]
fn skipping_the_seconds_of_an_empty_queue_changes_nothing() {
    let settings = (days(), 0..DAY_S, 0.1..200.0, 0.0..20_000.0, 0..3_u64, 1..=3_u64);
    check(&settings, |(day, peak_start_s, capacity, delayed_after_s, warm_up, more)| {
        let days = Days { warm_up, run: warm_up + more };
        let scenario = Scenario { day: &day, peak_start_s, capacity, delayed_after_s, days };
        prop_assert_eq!(scenario.run(), second_by_second(&scenario));
        Ok(())
    });
}

/// With up to six phases, however they lie; the lesson's invariant sees its own days only.
#[test]
fn a_day_agrees_with_its_phases_to_the_second() {
    let settings = (days(), 0..DAY_S, 0.1..200.0, 0.0..20_000.0, 0..3_u64, 1..=3_u64);
    check(&settings, |(day, peak_start_s, capacity, delayed_after_s, warm_up, more)| {
        let days = Days { warm_up, run: warm_up + more };
        let scenario = Scenario { day: &day, peak_start_s, capacity, delayed_after_s, days };
        prop_assert_eq!(scenario.agrees_with_phases(), Held::Holds);
        Ok(())
    });
}
