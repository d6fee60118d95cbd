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
    a_replica_without_the_session_keeps_nothing: "stateless-services" # "memory-splits-the-list",
    silence_just_before_a_heartbeat_shortens_the_window: "service-discovery" # "window-nearly-ttl",
    a_cache_without_the_new_replica_moves_the_last_turn: "service-discovery" # "cache-never-narrows",
    turns_shift_the_window_of_a_lower_time_to_live: "service-discovery" # "lower-ttl-closes-earlier",
    a_new_replica_takes_its_share_of_the_window: "service-discovery" # "lost-are-window-times-rate",
    whole_records_are_fewer_bytes_than_asking_for_all_of_them: "communication-styles" # "resource-carries-most",
    the_name_of_a_procedure_is_longer_than_that_of_a_field: "communication-styles" # "procedure-carries-least",
    procedures_of_the_same_name_are_one_name: "communication-styles" # "procedure-knows-most-names",
    another_type_under_the_same_name_breaks_its_readers: "inter-service-contracts" # "sequence-breaks-nobody",
    a_call_not_made_leaves_its_place_to_the_next: "timeout-and-retry-budget" # "deadline-drops-what-is-late",
    a_timeout_rounded_up_does_not_fit_the_chain: "timeout-and-retry-budget" # "allocated-chain-keeps-its-time",
    a_deep_chain_cut_off_early_makes_fewer_calls: "timeout-and-retry-budget" # "short-timeout-makes-no-fewer-calls",
    a_part_of_a_retry_allows_a_whole_one: "timeout-and-retry-budget" # "retry-budget-bounds-the-multiplier",
    slow_calls_that_come_early_meet_the_retry_budget: "timeout-and-retry-budget" # "unreached-retry-budget-changes-nothing",
    backlog_is_as_linear_as_the_gain: "message-queues" # "each-part-adds-more-backlog",
    an_outage_each_day_adds_more_near_the_average: "message-queues" # "outage-adds-its-length",
    a_lease_beyond_the_outage_has_no_two_leaders: "leader-election" # "longer-lease-never-narrows",
    two_triggers_in_one_leaderless_window_leave_one: "leader-election" # "recorded-trigger-always-starts",
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
