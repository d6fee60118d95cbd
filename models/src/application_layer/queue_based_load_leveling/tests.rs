use super::*;
use crate::numbers::fixed;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The same days second by second.
fn second_by_second(profile: &Profile, design: Design) -> Outcome {
    let Design { capacity, buffer, spike } = design;
    let (mut backlog, mut kept) = (0.0_f64, 0.0_f64);
    let mut outcome = Outcome::default();
    for now in 0..DAYS * DAY {
        let second = now % DAY;
        let mut arriving = profile.normal(second);
        match spike {
            Spike::Resend(_) if profile.outage.contains(&second) => {
                kept += arriving;
                arriving = 0.0;
            }
            Spike::Resend(resend) => {
                let extra = kept.min((resend - 1.0) * profile.peak);
                kept -= extra;
                arriving += extra;
            }
            Spike::Volume if profile.extra_stream.contains(&second) => arriving += profile.peak,
            Spike::Volume | Spike::None => {}
        }
        let room = match buffer {
            Buffer::None => capacity,
            Buffer::Limit(limit) => limit - backlog,
            Buffer::Unbounded => f64::INFINITY,
        };
        let accepted = arriving.min(room.max(0.0));
        backlog += accepted;
        backlog -= backlog.min(capacity);
        if MEASURED.contains(&now) {
            outcome.dropped += arriving - accepted;
            outcome.highest = outcome.highest.max(backlog);
        }
        let peak_start = MEASURED.start + profile.peak_window.start;
        if outcome.drain.is_none() && now > peak_start && backlog < ONE_EVENT && kept < ONE_EVENT {
            outcome.drain = Some(now - peak_start);
        }
    }
    outcome
}

fn runs() -> impl Strategy<Value = (Profile, Design)> {
    let window = || (0..DAY, 0..DAY).prop_map(|(a, b)| a.min(b)..a.max(b));
    let peak = prop_oneof![0.0..1_000.0, 0.0..2.0];
    let rates = (peak, 0.0..100.0, prop_oneof![Just(0.0), 0.0..1.5]);
    let spike =
        prop_oneof![Just(Spike::None), prop_oneof![Just(1.0), 1.0..20.0].prop_map(Spike::Resend), Just(Spike::Volume)];
    let buffer = prop_oneof![
        Just(Buffer::None),
        Just(Buffer::Unbounded),
        (0..20, 0.5..1.0).prop_map(|(power, x)| { Buffer::Limit(x * f64::from(1 << power)) })
    ];
    (rates, window(), window(), window(), spike, buffer).prop_map(
        |((peak, off_peak, ratio), peak_window, outage, extra_stream, spike, buffer)| {
            let profile = Profile { peak, off_peak, peak_window, outage, extra_stream };
            (profile, Design { capacity: peak * ratio, buffer, spike })
        },
    )
}

/// As the lesson prints them.
fn printed(outcome: Outcome, capacity: f64) -> (String, String, String, Option<u64>, bool) {
    let Outcome { dropped, highest, drain, .. } = outcome;
    let wait = fixed(highest / capacity / 3600.0, 2);
    (fixed(dropped, 0), fixed(highest, 0), wait, drain, dropped < ONE_EVENT)
}

/// Found by comparison with the course's program: everything was dropped.
#[test]
fn a_queue_that_holds_nothing_serves_what_the_capacity_takes_at_once() {
    let profile = Profile { peak: 6.0, off_peak: 2.0, peak_window: 0..HOUR, outage: 0..0, extra_stream: 0..0 };
    let design = Design { capacity: 4.0, buffer: Buffer::holding(0.0), spike: Spike::None };
    assert_eq!(fixed(profile.run(design).dropped, 3), "7200.000");
}

/// The same cases in every run.
fn for_every<S: Strategy>(cases: u32, settings: S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    assert_eq!(runner.run(&settings, law).map_err(|error| error.to_string()), Ok(()));
}

#[test]
fn the_seconds_below_one_event_are_those_found_one_by_one() {
    let start = prop_oneof![Just(0.0), Just(ONE_EVENT), 0.0..3.0];
    let change = prop_oneof![Just(0.0), Just(0.25), -1.0..1.0];
    for_every(2_000, (start, change, 1..40_u64), |(start, change, seconds)| {
        let ramp = Ramp { start, change };
        let found: Vec<u64> = (1..=seconds).filter(|second| ramp.after(*second) < ONE_EVENT).collect();
        prop_assert_eq!(ramp.below_one_event(seconds).collect::<Vec<_>>(), found);
        Ok(())
    });
}

#[test]
fn legs_of_one_rate_print_what_a_walk_through_every_second_does() {
    for_every(400, runs(), |(profile, design)| {
        let walked = second_by_second(&profile, design);
        prop_assert_eq!(printed(profile.run(design), design.capacity), printed(walked, design.capacity));
        Ok(())
    });
}
