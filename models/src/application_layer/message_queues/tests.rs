use super::*;
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

/// Where the queue empties before the next peak: up at one rate, down at another, no second in between.
#[test]
fn a_day_agrees_with_its_closed_form_to_the_second() {
    let settings = (0..9_u64, 3600..40_000_u64, 20.0..100.0, 0.0..1.0, 0.02..0.8, 0.0..2_000.0);
    check(
        &settings,
        |(start_hour, peak_s, peak, off_share, capacity_share, delayed_after_s): (u64, u64, f64, f64, f64, f64)| {
            let off_peak = peak * off_share * 0.5;
            let average = (peak * peak_s as f64 + off_peak * (DAY_S - peak_s) as f64) / DAY_S as f64;
            // At least one event a second too many, or the queue counts as empty while it fills.
            let capacity = average + (peak - average) * capacity_share;
            let highest = (peak - capacity) * peak_s as f64;
            let (up, down) = (peak - capacity, capacity - off_peak);
            let delaying = delayed_after_s * capacity;
            let delayed = if highest > delaying {
                peak * (peak_s as f64 - delaying / up) + off_peak * (highest - delaying) / down
            } else {
                0.0
            };
            let drained_after_s = peak_s as f64 + (highest - 1.0) / down;

            let (from, until) = (start_hour * 3600, start_hour * 3600 + peak_s);
            let phase = |seconds, arriving| Phase { seconds, arriving, capacity };
            let day = [phase(0..from, off_peak), phase(from..until, peak), phase(until..DAY_S, off_peak)];
            let days = Days { warm_up: 1, run: 3 };
            let outcome = Scenario { day: &day, peak_start_s: from, capacity, delayed_after_s, days }.run();
            prop_assert!((outcome.highest_backlog - highest).abs() < 1e-3, "{outcome:?}, {highest}");
            prop_assert!((outcome.delayed - delayed).abs() <= peak + off_peak, "{outcome:?}, {delayed}");
            let drained = outcome.drained_after_s.map_or(f64::NAN, |seconds| seconds as f64);
            prop_assert!((drained - drained_after_s).abs() <= 1.0, "{outcome:?}, {drained_after_s}");
            Ok(())
        },
    );
}
