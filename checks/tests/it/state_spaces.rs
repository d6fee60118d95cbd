//! The state spaces: found as recorded, by searches that agree, and tied to the lessons' own schedules.

use crate::support::{root, suite};
use checks::explore::spaces::{Space, VerifiedSpace};
use checks::explore::{Exploration, Limits, Search, Verdict, explore};
use models::figures::{Fact, Number};
use models::parameters::Declaration;
use models::state_spaces::leader_election::{Action, Fencing, LeaderElection, State};
use models::state_spaces::{TransitionSystem, replay};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn verified() -> Vec<(Space, VerifiedSpace)> {
    let suite = suite();
    let verified = suite.spec.state_spaces.iter().map(|(space, spec)| (space, space.verify(spec).unwrap()));
    let verified: Vec<_> = verified.collect();
    assert_eq!(verified.len(), Space::ALL.len());
    verified
}

/// A system at the spec's bounds, some of them replaced.
pub(crate) fn at_bounds<S: TransitionSystem>(space: Space, change: impl FnOnce(&mut S)) -> S {
    let suite = suite();
    let spec = suite.spec.state_spaces.get(space).unwrap();
    let mut system = serde_json::from_value(spec.parameters.clone()).unwrap();
    change(&mut system);
    let mut declaration = Declaration::default();
    system.declare(&mut declaration);
    assert_eq!(declaration.problems(), []);
    system
}

fn leader_election(change: impl FnOnce(&mut LeaderElection)) -> LeaderElection {
    at_bounds(Space::LeaderElection, change)
}

pub(crate) fn search(system: &impl TransitionSystem, search: Search) -> Exploration {
    explore(system, search, &Limits::default(), &mut |_| {}).unwrap()
}

pub(crate) fn failing(exploration: &Exploration) -> Vec<&'static str> {
    exploration.with(Verdict::Fails).map(|property| property.name).collect()
}

#[test]
fn every_space_is_as_recorded_and_its_counterexamples_are_frozen() {
    let mut frozen = BTreeSet::new();
    for (_, verified) in verified() {
        assert_eq!(verified.failures, Vec::<String>::new());
        for (name, exploration) in &verified.controls {
            let counterexamples = exploration.with(Verdict::Fails);
            let shown = counterexamples.map(|p| format!("{}\n{}", p.claim(), p.evidence().unwrap()));
            let name = name.replace(' ', "-");
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path(root("snapshots/state-spaces"));
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(name.clone(), shown.collect::<Vec<_>>().join("\n")));
            frozen.insert(format!("{name}.snap"));
        }
    }
    for file in std::fs::read_dir(root("snapshots/state-spaces")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(frozen.contains(&name), "{name} belongs to no control");
    }
}

/// Explores without stateright and without hashes: the number of states, and whether each behaviour ends.
pub(crate) fn exactly<S: TransitionSystem>(system: &S) -> (usize, bool) {
    let mut waits_for = BTreeMap::new();
    let mut before: BTreeMap<S::State, Vec<S::State>> = BTreeMap::new();
    let mut new = system.initial();
    while let Some(state) = new.pop() {
        if waits_for.contains_key(&state) {
            continue;
        }
        let next: BTreeSet<_> = system.actions(&state).iter().map(|action| system.step(&state, action)).collect();
        for next in &next {
            before.entry(next.clone()).or_default().push(state.clone());
        }
        waits_for.insert(state, next.len());
        new.extend(next);
    }
    // Takes away ends, one after the other; what is left in the end is on a cycle, or leads to nothing else.
    let states = waits_for.len();
    let mut ends: Vec<S::State> = waits_for.iter().filter(|(_, n)| **n == 0).map(|(state, _)| state.clone()).collect();
    let mut taken = 0;
    while let Some(end) = ends.pop() {
        taken += 1;
        for state in before.get(&end).into_iter().flatten() {
            let waits = waits_for.get_mut(state).unwrap();
            *waits -= 1;
            if *waits == 0 {
                ends.push(state.clone());
            }
        }
    }
    (states, taken == states)
}

#[test]
fn all_searches_see_the_same_states_and_every_behaviour_of_leader_election_ends() {
    let system = leader_election(|system| (system.horizon, system.triggers) = (5, vec![3, 4]));
    let system = LeaderElection { nodes: 2, ..system };
    let (breadth, depth) = (search(&system, Search::BreadthFirst), search(&system, Search::DepthFirst));
    assert!(breadth.complete && depth.complete);
    assert_eq!((breadth.distinct_states, breadth.ends), (depth.distinct_states, depth.ends));
    assert_eq!(exactly(&system), (breadth.distinct_states, true));
}

#[test]
fn nodes_are_alike_so_one_order_of_them_gives_the_same_verdicts() {
    let full = leader_election(|system| (system.horizon, system.triggers) = (5, vec![3]));
    let mechanisms = full.mechanisms();
    let names: Vec<&str> = mechanisms.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["fencing", "own-token", "keys", "trigger", "conditional-takeover"]);
    for system in mechanisms.iter().map(|(_, without)| without).chain([&full]) {
        let (all, one) = (search(system, Search::BreadthFirst), search(system, Search::DepthFirstSymmetric));
        assert!(
            one.distinct_states * 3 < all.distinct_states * 2,
            "{} of {}",
            one.distinct_states,
            all.distinct_states
        );
        let verdicts = |e: &Exploration| e.properties.iter().map(|p| (p.name, p.verdict)).collect::<Vec<_>>();
        assert_eq!(verdicts(&all), verdicts(&one));
    }
}

#[test]
fn keys_alone_give_at_most_one_start_and_fencing_alone_does_not() {
    let with = |fencing, keys| {
        let system =
            leader_election(|system| (system.fencing, system.keys, system.triggers) = (fencing, keys, vec![3]));
        failing(&search(&system, Search::BreadthFirst))
    };
    assert_eq!(with(Fencing::Store, false), ["no batch is started twice"]);
    assert_eq!(with(Fencing::Record, false), ["no batch is started twice", "an old token is never accepted"]);
    // One batch only: a second start is never accepted, so none with an old token either.
    assert_eq!(with(Fencing::Off, true), Vec::<&str>::new());
    let two = leader_election(|system| {
        (system.fencing, system.horizon, system.outage, system.triggers) = (Fencing::Off, 4, 2, vec![3, 4]);
    });
    assert_eq!(failing(&search(&two, Search::BreadthFirst)), ["an old token is never accepted"]);
}

#[test]
fn the_two_leader_window_has_the_stated_length_at_all_bounds() {
    let mut windows = BTreeSet::new();
    for (lease, renewal) in [(1, 1), (2, 1), (3, 2), (2, 3)] {
        for (outages, outage) in [(0, 1), (1, 1), (1, 3), (2, 1)] {
            let horizon = outages * outage + renewal + 1;
            let system = leader_election(|system| {
                let (nodes, triggers) = (2, vec![1]);
                *system =
                    LeaderElection { nodes, horizon, lease, renewal, outages, outage, triggers, ..system.clone() };
            });
            let found = search(&system, Search::BreadthFirst);
            let windows_hold = found.properties.iter().filter(|property| property.name.contains("replaced leader"));
            let verdicts: Vec<Verdict> = windows_hold.map(|property| property.verdict).collect();
            assert_eq!(verdicts, [Verdict::Holds; 2], "{system:?}");
            windows.insert(system.longest_window());
        }
    }
    assert!(windows.len() >= 5, "{windows:?}");
}

#[test]
fn without_outages_and_near_deadlines_nothing_interesting_happens() {
    let system = leader_election(|system| (system.outages, system.triggers) = (0, vec![3]));
    let interesting = [
        "two nodes believe at once",
        "nobody leads",
        "a batch's tick passes without a start",
        "an old token reaches the store",
        "a second start reaches the store",
        "two nodes are about to take over",
    ];
    assert_eq!(failing(&search(&system, Search::BreadthFirst)), interesting);
}

/// What a run of the lesson counts, and its replay.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    started: u64,
    missed: u64,
    delayed_rounds: u64,
    double_starts: u64,
    rejected: u64,
    two_leader_rounds: u64,
    leaderless_rounds: u64,
    handover_rounds: u64,
}

/// The lesson's schedule, and its figures for one of its three runs.
struct Lesson {
    parameters: Value,
    handover: u64,
    belief_dropped: u64,
    counts: Counts,
}

impl Lesson {
    fn run(name: &str) -> Self {
        let run = suite().run("leader-election", &BTreeMap::new()).unwrap();
        let count = |figure: &str| {
            let name = format!("runs.{name}.{figure}");
            let figure = run.report.figures().find(|figure| figure.name == name).unwrap();
            figure.value.as_f64().unwrap() as u64
        };
        let round = |fact: &str| {
            let name = format!("runs.{name}.{fact}");
            match &run.report.facts.iter().find(|(fact, _)| *fact == name).unwrap().1 {
                Fact::Number(Number::Integer(round)) => *round as u64,
                Fact::List(rounds) => match rounds[..] {
                    [Fact::Number(Number::Integer(round))] => round as u64,
                    _ => panic!("{name}: expected one round"),
                },
                other => panic!("{name}: {other:?}"),
            }
        };
        Self {
            handover: round("handover_at"),
            belief_dropped: round("old_leader_drops_belief"),
            counts: Counts {
                started: count("started"),
                missed: count("missed"),
                delayed_rounds: count("delayed_rounds"),
                double_starts: count("double_starts"),
                rejected: count("rejected"),
                two_leader_rounds: count("two_leader_rounds"),
                leaderless_rounds: count("leaderless_rounds"),
                handover_rounds: count("handover_rounds"),
            },
            parameters: run.parameters,
        }
    }

    fn number(&self, name: &str) -> u64 {
        self.parameters[name].as_u64().unwrap()
    }
}

/// Takes the lesson's rounds as actions: each must be possible where it is taken.
fn replayed(lesson: &Lesson, fencing: Fencing, persistent_trigger: bool) -> Counts {
    let triggers: Vec<u8> = serde_json::from_value(lesson.parameters["triggers"].clone()).unwrap();
    let system = leader_election(|system| {
        *system = LeaderElection {
            nodes: lesson.number("nodes") as usize,
            horizon: lesson.number("rounds") as u8,
            lease: lesson.number("lease") as u8,
            renewal: lesson.number("renewal") as u8,
            outages: 1,
            outage: lesson.number("outage") as u8,
            triggers: triggers.clone(),
            fencing,
            keys: false,
            persistent_trigger,
            conditional_takeover: true,
        }
    });
    let (old, new) = (0, 1);
    let away = lesson.number("outage_start")..lesson.number("outage_start") + lesson.number("outage");
    let mut state = system.initial().remove(0);
    let mut counts = Counts::default();
    let mut last_renewal = 0;
    for round in 1..=lesson.number("rounds") {
        let take = |state: State, actions: &[Action]| replay(&system, state, actions).unwrap();
        state = take(state, &[Action::Tick]);
        if round == away.start {
            state = take(state, &[Action::Pause(old)]);
        } else if round == away.end {
            state = take(state, &[Action::Return(old)]);
        }
        let leader = if round < lesson.handover { old } else { new };
        if round == lesson.handover {
            state = take(state, &[Action::ReadExpired(new), Action::TakeOver(new)]);
            counts.handover_rounds += round - last_renewal;
        } else if leader == new || !away.contains(&round) {
            state = take(state, &[Action::CheckIn(leader)]);
            last_renewal = round;
        }

        let active = state.active_leaders();
        let newest = active.iter().max();
        counts.two_leader_rounds += u64::from(active.len() > 1);
        counts.leaderless_rounds += u64::from(active.is_empty());
        // The lesson counts a stale leader's work in each round; here only starts reach the store.
        let stale = active.iter().filter(|token| Some(*token) != newest).count() as u64;
        counts.rejected += if fencing == Fencing::Off { 0 } else { stale };

        // The new leader's start arrives first, as the lesson's record knows its token already.
        for node in [new, old] {
            let sends = |action: &Action| matches!(action, Action::Send(sender, _) if *sender == node);
            while let Some(send) = system.actions(&state).into_iter().find(sends) {
                state = take(state, &[send]);
                let arrives = |action: &Action| matches!(action, Action::Arrive(_));
                let arrive = system.actions(&state).into_iter().find(arrives).unwrap();
                let Action::Arrive(start) = arrive else { unreachable!() };
                let before = state.starts()[start.batch];
                state = take(state, &[arrive]);
                let accepted = state.starts()[start.batch] > before;
                counts.double_starts += u64::from(accepted && before > 0);
                counts.started += u64::from(accepted && before == 0);
                counts.delayed_rounds += if accepted { round - u64::from(triggers[start.batch]) } else { 0 };
                let settle = Action::Settle(node, start.batch);
                if system.actions(&state).contains(&settle) {
                    state = take(state, &[settle]);
                }
            }
        }
        if round == lesson.belief_dropped {
            state = take(state, &[Action::CheckIn(old)]);
            assert_eq!(state.active_leaders().len(), 1);
        }
    }
    counts.missed = state.starts().iter().filter(|starts| **starts == 0).count() as u64;
    counts
}

#[test]
fn the_lessons_schedule_is_one_behaviour_of_the_state_space_with_the_same_counts() {
    for (run, fencing, persistent_trigger) in
        [("plain", Fencing::Off, false), ("fencing", Fencing::Store, false), ("fencing_trigger", Fencing::Store, true)]
    {
        let lesson = Lesson::run(run);
        assert_eq!(replayed(&lesson, fencing, persistent_trigger), lesson.counts, "{run}");
    }
}
