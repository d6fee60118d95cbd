//! The traps of the model checker, each on a system of a few states.

use checks::explore::{Exploration, Limits, Refused, Search, Verdict, explore};
use models::parameters::Declaration;
use models::state_spaces::{Fact, Property, TransitionSystem};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Numbers as states, and the steps between them.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Toy {
    starts: Vec<u8>,
    steps: Vec<(u8, u8)>,
    claims: Vec<Claim>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Claim {
    StartsAtZero,
    StaysBelowThree,
    EndsAtThree,
}

impl TransitionSystem for Toy {
    type State = u8;
    type Action = u8;

    fn declare(&self, _: &mut Declaration) {}

    fn mechanisms(&self) -> Vec<(String, Self)> {
        Vec::new()
    }

    fn initial(&self) -> Vec<u8> {
        self.starts.clone()
    }

    fn actions(&self, state: &u8) -> Vec<u8> {
        self.steps.iter().filter(|(from, _)| from == state).map(|(_, to)| *to).collect()
    }

    fn step(&self, _: &u8, action: &u8) -> u8 {
        *action
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let property = |claim: &Claim| match claim {
            Claim::StartsAtZero => Property::sometimes("zero", "the state is 0", |_, state| *state == 0),
            Claim::StaysBelowThree => Property::always("below three", "the state is below 3", |_, state| *state < 3),
            Claim::EndsAtThree => Property::at_the_end("ends at three", "the state is 3", |_, state| *state == 3),
        };
        self.claims.iter().map(property).collect()
    }

    fn lanes(&self) -> Vec<String> {
        vec!["toy".to_owned()]
    }

    fn describe(&self, _: &u8, action: &u8) -> (usize, String) {
        (0, format!("goes to {action}"))
    }

    fn facts(&self, state: &u8) -> Vec<Fact> {
        vec![Fact::new(0, "state", state)]
    }
}

fn toy(steps: &[(u8, u8)], claims: &[Claim]) -> Toy {
    Toy { starts: vec![0], steps: steps.to_vec(), claims: claims.to_vec() }
}

fn found(system: &Toy) -> Exploration {
    explore(system, Search::BreadthFirst, &Limits::default(), &mut |_| {}).unwrap()
}

fn verdicts(exploration: &Exploration) -> Vec<Verdict> {
    exploration.properties.iter().map(|property| property.verdict).collect()
}

const CHAIN: [(u8, u8); 4] = [(0, 1), (1, 2), (2, 3), (3, 4)];

#[test]
fn nothing_to_check_is_refused() {
    let refused = |system: &Toy| explore(system, Search::BreadthFirst, &Limits::default(), &mut |_| {}).unwrap_err();
    assert_eq!(refused(&toy(&CHAIN, &[])), Refused::NoProperty);
    assert_eq!(refused(&toy(&CHAIN, &[Claim::StartsAtZero; 2])), Refused::SameName("zero"));
    assert_eq!(refused(&Toy { starts: vec![], ..toy(&CHAIN, &[Claim::StartsAtZero]) }), Refused::NoState);
}

#[test]
fn an_example_at_once_does_not_end_the_search() {
    let found = found(&toy(&CHAIN, &[Claim::StartsAtZero]));
    assert_eq!((found.distinct_states, found.depth, found.ends, found.complete), (5, 4, 1, true));
}

#[test]
fn the_first_counterexample_is_the_one_that_is_shown() {
    // 3 is two steps away, and later counterexamples follow.
    let found = found(&toy(&[(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6)], &[Claim::StaysBelowThree]));
    assert_eq!(verdicts(&found), [Verdict::Fails]);
    let trace = found.properties[0].trace.as_ref().unwrap();
    let actions: Vec<&str> = trace.rows.iter().map(|row| row.action.as_str()).collect();
    assert_eq!(actions, ["goes to 1", "goes to 3"]);
    assert_eq!(trace.rows[1].changes[0].to_string(), "state: 1 -> 3");
}

#[test]
fn a_limit_that_cuts_leaves_open_what_was_not_seen() {
    let chain = toy(&CHAIN, &[Claim::StaysBelowThree, Claim::StartsAtZero, Claim::EndsAtThree]);
    let interrupted = Limits { interrupted: Arc::new(AtomicBool::new(true)), ..Limits::default() };
    for limits in [Limits { states: Some(2), ..Limits::default() }, interrupted] {
        let found = explore(&chain, Search::BreadthFirst, &limits, &mut |_| {}).unwrap();
        assert!(!found.complete);
        assert_eq!(verdicts(&found), [Verdict::Undecided, Verdict::Holds, Verdict::Undecided]);
    }
    // A limit that cuts nothing off is none.
    let limits = Limits { states: Some(4), ..Limits::default() };
    assert!(explore(&chain, Search::BreadthFirst, &limits, &mut |_| {}).unwrap().complete);
}

#[test]
fn what_holds_at_the_end_is_undecided_where_nothing_ends_and_fails_behind_joined_paths() {
    let ends = |steps: &[(u8, u8)]| verdicts(&found(&toy(steps, &[Claim::EndsAtThree])))[0];
    assert_eq!(ends(&[(0, 1), (1, 0)]), Verdict::Undecided);
    assert_eq!(ends(&[(0, 1), (0, 2), (1, 3), (2, 3)]), Verdict::Holds);
    assert_eq!(ends(&[(0, 3), (0, 1), (3, 4), (1, 4)]), Verdict::Fails);
}
