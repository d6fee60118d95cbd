//! The invariants hold over generated parameters, recorded counterexamples break theirs, classes over seeds stay.

use crate::support::suite;
use checks::invariants::generate::{Case, Ground};
use checks::invariants::{self, Budget, Checked, Verdict};
use checks::seeds::{exact_interval, survey};
use checks::suite::Overrides;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// `PROPTEST_CASES` asks for more.
fn budget() -> Budget {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    Budget { cases: cases.unwrap_or(Budget::default().cases), ..Budget::default() }
}

fn checked(slug: &str, budget: Budget) -> Vec<Checked> {
    let suite = suite();
    let stated = invariants::stated(&suite, suite.lesson(slug).unwrap()).unwrap();
    stated.par_iter().map(|stated| stated.check(&suite, budget).unwrap()).collect()
}

#[test]
fn every_invariant_is_as_the_spec_records_it() {
    let suite = suite();
    for lesson in &suite.spec.lessons {
        let slug = lesson.entry.slug;
        for invariant in checked(slug, budget()) {
            assert_eq!(invariant.complaint(slug), None);
            // A few cases among thousands of vacuous ones would say little.
            let enough = invariant.cases == budget().cases || matches!(invariant.verdict, Verdict::Refuted(_));
            assert!(enough, "{slug}: {invariant:?}");
        }
    }
}

#[test]
fn a_lesson_with_invariants_states_four_or_more() {
    let suite = suite();
    let counts: Vec<usize> =
        suite.spec.lessons.iter().map(|lesson| lesson.invariants.len()).filter(|n| *n > 0).collect();
    assert!(counts.len() >= 3 && counts.iter().all(|count| *count >= 4), "{counts:?}");
}

/// Each counterexample is a test of its own, and no recorded one is without.
macro_rules! counterexamples {
    ($($name:ident: $slug:literal # $id:literal,)*) => {
        $(#[test]
        fn $name() {
            breaks_where_recorded($slug, $id);
        })*

        #[test]
        fn every_counterexample_has_a_test() {
            let tested = BTreeSet::from([$(($slug, $id)),*]);
            let suite = suite();
            let recorded: BTreeSet<(&str, &str)> = suite.spec.lessons.iter().flat_map(|lesson| {
                let refuted = lesson.invariants.iter().filter(|invariant| invariant.refuted.is_some());
                refuted.map(|invariant| (lesson.entry.slug, invariant.id.as_str()))
            }).collect();
            assert_eq!(recorded, tested);
        }
    };
}

counterexamples! {
    a_breaker_that_saves_nothing_may_lose_more_queries: "circuit-breaker" # "neighbour-loses-no-more",
    a_large_window_of_slow_calls_fills_the_pool: "circuit-breaker" # "slow-as-good-as-down",
    a_breaker_opened_before_a_partial_failure_gets_more_answers: "circuit-breaker" # "own-flow-gains-nothing",
    a_chance_success_makes_a_longer_open_time_call_more: "circuit-breaker" # "longer-open-no-more-calls",
    a_workflow_whose_first_step_is_irreversible_leaves_effects: "compensating-transactions" # "irreversible-last-leaves-nothing",
    one_attempt_more_meets_other_luck: "compensating-transactions" # "more-attempts-fewer-stuck",
    eight_consumers_leave_the_busiest_lane_waiting: "sequential-convoy" # "consumer-a-lane-reaches-the-ceiling",
    more_consumers_do_not_restore_the_pace_of_a_convoy: "sequential-convoy" # "multiplied-consumers-restore-the-pace",
    a_queue_out_of_order_is_written_backward_by_a_convoy: "sequential-convoy" # "convoy-has-no-backward-write",
    a_shipment_that_changes_its_line_loses_its_order: "sequential-convoy" # "any-key-keeps-the-queue-order",
    a_stamp_skips_what_is_no_backward_write_without_it: "sequential-convoy" # "stamp-skips-the-backward-writes",
    an_irreversible_step_in_the_middle_stays: "choreography-and-orchestration" # "complete-chain-leaves-all-or-nothing",
    a_later_missing_subscription_spoils_fewer_jobs: "choreography-and-orchestration" # "missing-subscription-spoils-every-failed-job",
    the_last_step_is_never_compensated: "choreography-and-orchestration" # "every-compensating-unit-can-gap",
    a_job_that_ends_at_once_takes_as_many_messages: "choreography-and-orchestration" # "orchestration-always-more-messages",
    the_printed_share_is_of_the_whole_flow: "choreography-and-orchestration" # "excess-is-the-printed-share",
    a_single_attempt_leaves_an_unrecorded_effect: "scheduler-agent-supervisor" # "given-up-leaves-nothing",
    a_single_attempt_wastes_nothing: "scheduler-agent-supervisor" # "wasted-are-second-runs",
    three_wasted_runs_are_of_three_steps: "scheduler-agent-supervisor" # "wasted-hit-every-step",
    a_job_given_up_is_not_driven_again: "scheduler-agent-supervisor" # "redriven-are-driven-again",
    no_wasted_run_is_among_the_steps_run: "scheduler-agent-supervisor" # "steps-run-count-the-wasted",
    a_job_with_two_troubles_is_half_finished_once: "scheduler-agent-supervisor" # "half-finished-add-up",
    many_stalled_steps_are_more_than_all_workflows: "scheduler-agent-supervisor" # "half-finished-are-workflows",
    a_single_attempt_gives_up_what_stalls: "scheduler-agent-supervisor" # "stalled-job-is-recovered",
    every_third_round_finds_sooner_than_every_second: "scheduler-agent-supervisor" # "longer-interval-never-sooner",
    twice_the_interval_reads_more_than_half: "scheduler-agent-supervisor" # "doubled-interval-halves-reads",
    a_lease_beyond_the_outage_has_no_two_leaders: "leader-election" # "longer-lease-never-narrows",
    two_triggers_in_one_leaderless_window_leave_one: "leader-election" # "recorded-trigger-always-starts",
    three_intervals_add_up_to_less_than_the_job: "async-request-reply" # "fixed-polls-are-the-ceiling",
    a_longer_interval_may_hit_the_end_of_the_job: "async-request-reply" # "longer-interval-never-sooner",
    four_times_the_interval_takes_more_than_a_fourth: "async-request-reply" # "times-the-interval-a-fraction-of-polls",
    a_slightly_longer_job_is_seen_late_by_backoff: "async-request-reply" # "backoff-sees-as-soon-as-its-first-interval",
    a_cap_below_the_first_interval_asks_more_often: "async-request-reply" # "backoff-asks-no-more-than-its-first-interval",
}

fn breaks_where_recorded(slug: &str, id: &str) {
    let suite = suite();
    let stated = invariants::stated(&suite, suite.lesson(slug).unwrap()).unwrap();
    let stated = stated.iter().find(|stated| stated.spec.id == id).unwrap();
    let verdict = stated.check(&suite, budget()).unwrap().verdict;
    assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
}

/// What argues falsely is found out, and shrinks to one or two values near the spec's.
#[test]
fn a_false_invariant_is_found_and_shrunk() {
    let mut suite = suite();
    let spec = &mut std::sync::Arc::get_mut(&mut suite).unwrap().spec;
    let lesson = spec.lessons.iter_mut().find(|lesson| lesson.entry.slug == "leader-election").unwrap();
    lesson.invariants.iter_mut().for_each(|invariant| invariant.refuted = None);
    let stated = invariants::stated(&suite, suite.lesson("leader-election").unwrap()).unwrap();
    let stated = stated.iter().find(|stated| stated.spec.id == "longer-lease-never-narrows").unwrap();
    let checked = stated.check(&suite, Budget::default()).unwrap();
    let Verdict::Fails(found) = &checked.verdict else { panic!("{checked:?}") };
    // Lease and outage have to meet: one of them moves to the other.
    let expected = [("outage".to_owned(), 3.into())];
    let other = [("lease".to_owned(), 5.into())];
    assert!([Overrides::from(expected), Overrides::from(other)].contains(&found.set), "{:?}", found.set);
    let complaint = checked.complaint("leader-election").unwrap();
    assert!(complaint.contains("coursecheck run leader-election --set "), "{complaint}");
}

/// Every value of a case lies in the range that its lesson declares, unless it was there before.
#[test]
fn cases_change_only_what_varies_and_stay_in_range() {
    let suite = suite();
    let lesson = suite.lesson("circuit-breaker").unwrap();
    let (start, prepared) = suite.prepare("circuit-breaker", &Overrides::new()).unwrap();
    let varies = ["slots".to_owned(), "modes.slowdown".to_owned()];
    let ground = Ground::new(start.clone(), prepared.parameters(), &varies).unwrap();
    let names: Vec<&str> = ground.varied().iter().map(|declared| declared.path.as_str()).collect();
    let slowdown = ["failure_probability", "answered_hold", "failed_hold"].map(|name| format!("modes.slowdown.{name}"));
    assert_eq!(names, [&["slots".to_owned()], slowdown.as_slice()].concat());
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for _ in 0..500 {
        let case = ground.strategy().new_tree(&mut runner).unwrap().current();
        let case_prepared = lesson.entry.model.as_ref().unwrap().prepare(&case.parameters(&ground)).unwrap();
        assert_eq!(case_prepared.problems(), [], "{case:?}");
        for (name, value) in case.set(&ground) {
            seen.entry(name).or_default().insert(value.to_string());
        }
    }
    assert_eq!(seen.keys().map(String::as_str).collect::<BTreeSet<_>>(), names.into_iter().collect());
    assert!(seen["slots"].len() > 50 && seen["slots"].contains("0") && seen["slots"].contains("1000"), "{seen:?}");
    assert_eq!(Case::default().parameters(&ground), start);
}

#[test]
fn the_same_seed_makes_the_same_cases_and_another_seed_others() {
    let with = |seed| -> Vec<(u32, u32)> {
        checked("leader-election", Budget { seed, ..Budget::default() })
            .iter()
            .map(|c| (c.discarded, c.vacuous))
            .collect()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

/// So many of the seeds that `coursecheck seeds` takes are looked at here.
const GUARDED_SEEDS: usize = 100;

#[test]
fn every_class_over_seeds_is_one_that_the_first_seeds_allow() {
    let suite = suite();
    let lessons = suite.spec.lessons.iter().filter(|lesson| !lesson.over_seeds.is_empty());
    let slugs: Vec<&str> = lessons.map(|lesson| lesson.entry.slug).collect();
    assert!(!slugs.is_empty());
    for slug in slugs {
        for statement in survey(&suite, slug, GUARDED_SEEDS, || ()).unwrap() {
            let possible = statement.recorded.is_possible(exact_interval(statement.holds, statement.seeds));
            assert!(possible, "{slug}: recorded as {}, found {statement:?}", statement.recorded.word());
        }
    }
}

#[test]
fn any_number_of_threads_surveys_the_same() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| survey(&suite(), "compensating-transactions", 20, || ()).unwrap())
    };
    assert_eq!(with(1), with(3));
}
