//! The saga's state space, tied to the lessons on workflows.

use crate::state_spaces::{at_bounds, exactly, failing, search};
use crate::support::suite;
use checks::explore::spaces::Space;
use checks::explore::{Search, Verdict};
use models::state_spaces::saga::{Action, Answer, Delivery, Message, Outcome, Saga, State, Step, Style, Task, Work};
use models::state_spaces::{Kind, TransitionSystem, replay};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn saga(change: impl FnOnce(&mut Saga)) -> Saga {
    at_bounds(Space::Saga, change)
}

/// Nothing goes wrong but a step that fails.
fn calm(saga: &mut Saga) {
    (saga.redeliveries, saga.unanswered, saga.crashes, saga.early_looks) = (0, 0, 0, 0);
    saga.failed_compensations = 0;
}

/// Every state in which nothing more can happen, found without the model checker.
fn ends(system: &Saga) -> Vec<State> {
    let mut seen = BTreeSet::new();
    let mut ends = Vec::new();
    let mut new = system.initial();
    while let Some(state) = new.pop() {
        if seen.insert(state.clone()) {
            let actions = system.actions(&state);
            new.extend(actions.iter().map(|action| system.step(&state, action)));
            if actions.is_empty() {
                ends.push(state);
            }
        }
    }
    ends
}

#[test]
fn searches_agree_and_every_behaviour_ends() {
    let system = saga(|system| (system.redeliveries, system.unanswered) = (0, 0));
    for (_, without) in [(String::new(), system.clone())].into_iter().chain(system.mechanisms()) {
        let without = Saga { requirements: true, ..without };
        let (breadth, depth) = (search(&without, Search::BreadthFirst), search(&without, Search::DepthFirst));
        assert!(breadth.complete && depth.complete);
        assert_eq!((breadth.distinct_states, breadth.ends), (depth.distinct_states, depth.ends));
        assert_eq!(exactly(&without), (breadth.distinct_states, true));
    }
}

#[test]
fn each_property_is_seen_to_fail() {
    let suite = suite();
    let spec = suite.spec.state_spaces.get(Space::Saga).unwrap();
    let recorded = spec.controls.iter().flat_map(|control| control.expected.fails.iter().map(String::as_str));
    let mut seen: BTreeSet<&str> = recorded.collect();
    let quiet = saga(|system| {
        calm(system);
        (system.failures, system.requirements, system.steps[0].compensable) = (0, false, true);
    });
    seen.extend(failing(&search(&quiet, Search::BreadthFirst)));
    // Nothing can complete if its steps wait for each other.
    let circle = saga(|system| system.steps[0].requires = vec!["invoice-line".to_owned()]);
    seen.extend(failing(&search(&circle, Search::BreadthFirst)));
    let unseen: Vec<&str> = circle.properties().iter().map(|p| p.name).filter(|name| !seen.contains(name)).collect();
    assert_eq!(unseen, Vec::<&str>::new());
}

#[test]
fn exactly_the_orders_that_the_lesson_counts_complete_and_each_starts_with_what_cannot_be_undone() {
    let lesson = suite().run("compensating-transactions", &BTreeMap::new()).unwrap();
    let system = saga(calm);
    let theirs: Vec<Step> = lesson.parameters["steps"].as_array().unwrap().iter().map(step).collect();
    assert_eq!(system.steps, theirs);

    let ends = ends(&system);
    let number = |name: &str| {
        let figure = lesson.report.figures().find(|figure| figure.name == name).unwrap();
        figure.value.as_f64().unwrap() as usize
    };
    for style in [Style::Orchestration, Style::Choreography] {
        let of = |completed: bool| {
            let ends = ends
                .iter()
                .filter(move |end| end.style() == style && (!completed || end.outcome() == Outcome::Completed));
            ends.map(|end| end.order().to_vec()).collect::<BTreeSet<_>>()
        };
        assert_eq!(of(false).len(), number("orderings.all"));
        let allowed = |order: &Vec<usize>| {
            order.iter().enumerate().all(|(place, step)| {
                let before: Vec<&str> = order[..place].iter().map(|step| theirs[*step].name.as_str()).collect();
                theirs[*step].requires.iter().all(|name| before.contains(&name.as_str()))
            })
        };
        let completed = of(true);
        assert_eq!(completed, of(false).into_iter().filter(allowed).collect());
        assert_eq!(completed.len(), number("orderings.valid"));
        assert!(completed.iter().all(|order| !theirs[order[0]].compensable));
    }
}

/// A step as the lesson on compensation has it.
fn step(value: &Value) -> Step {
    let requires = value["requires"].as_array().unwrap();
    Step {
        name: value["name"].as_str().unwrap().to_owned(),
        compensable: !value["compensation"].is_null(),
        requires: requires.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
    }
}

#[test]
fn whatever_cancellations_are_not_listened_to_these_steps_and_the_ones_before_them_stay() {
    let full = saga(|system| {
        calm(system);
        system.styles = vec![Style::Choreography];
    });
    let names: Vec<&str> = full.steps.iter().map(|step| step.name.as_str()).collect();
    for missing in 0..1_usize << names.len() {
        let missing: Vec<usize> = (0..names.len()).filter(|step| missing >> step & 1 == 1).collect();
        let subscriptions = missing.iter().map(|step| full.steps[*step].subscription(Task::Undo));
        let system = Saga { missing_subscriptions: subscriptions.collect(), ..full.clone() };
        for end in ends(&system) {
            let standing = if end.outcome() == Outcome::Completed { Vec::new() } else { end.standing() };
            // A cancellation goes from service to service, and ends at the first one that does not listen to it.
            let done = end.order().iter().take_while(|step| end.standing().contains(step));
            let deaf = done.clone().filter(|step| missing.contains(step)).last();
            let last = deaf.and_then(|deaf| end.order().iter().position(|step| step == deaf));
            let left: Vec<usize> = last.map_or(Vec::new(), |last| end.order()[..=last].to_vec());
            let left = if end.outcome() == Outcome::Completed { Vec::new() } else { left };
            assert_eq!(system.unreported(&end), left, "{missing:?}: {end:?}");
            let stays = |step: &usize| !full.steps[*step].compensable || left.contains(step);
            assert!(standing.iter().all(stays), "{missing:?}: {end:?}");
        }
        // The very last step of an order is never cancelled.
        let fails = failing(&search(&system, Search::BreadthFirst));
        assert_eq!(fails.contains(&"no job is left half finished"), !missing.is_empty(), "{missing:?}");
    }

    let missing = Saga { missing_subscriptions: vec!["cancel-invoice-line".to_owned()], ..full };
    let found = search(&missing, Search::BreadthFirst);
    let stays =
        found.properties.iter().find(|property| property.name.starts_with("only what cannot be undone")).unwrap();
    assert_eq!((stays.kind, stays.verdict), (Kind::AtTheEnd, Verdict::Fails));
    let shown = stays.trace.as_ref().unwrap().rows.last().unwrap().to_string();
    assert!(shown.contains("cancel-invoice-line is missing"), "{shown}");
    assert!(shown.contains("invoice-line: in the end: stays done"), "{shown}");
}

/// What the lesson counts in a run of all jobs, and its replay.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    completed: u64,
    steps: u64,
    messages: u64,
    compensated: u64,
    uncompensated: u64,
    half_finished: u64,
    /// For each step, in how many jobs it stays done.
    writes: Vec<u64>,
}

/// The workflow of the lesson on choreography, one job at a time.
struct Workflow {
    system: Saga,
    style: Style,
}

impl Workflow {
    /// What happens to a job, in the lesson's order; it fails at a place, or completes.
    fn actions(&self, fails_at: Option<usize>) -> Vec<Action> {
        let steps = &self.system.steps;
        let work = |place| if Some(place) == fails_at { Work::Fails } else { Work::Succeeds };
        let answer = |place| if Some(place) == fails_at { Answer::Failed } else { Answer::Done };
        let forwards = 0..fails_at.map_or(steps.len(), |place| place + 1);
        let backwards = (0..fails_at.unwrap_or(0)).rev();
        let mut actions = Vec::new();
        match self.style {
            Style::Orchestration => {
                let mut command = |place, task, work, answer| {
                    let command = Action::Deliver(Message::Command(place, task), work, Delivery::Once);
                    actions.extend([Action::Decide, Action::Send, command, Action::Read(Message::Says(place, answer))]);
                };
                forwards.for_each(|place| command(place, Task::Do, work(place), answer(place)));
                backwards.for_each(|place| command(place, Task::Undo, Work::Succeeds, Answer::Undone));
            }
            Style::Choreography => {
                let mut event = Message::Begin;
                for place in forwards {
                    actions.push(Action::Deliver(event, work(place), Delivery::Once));
                    event = Message::Says(place, answer(place));
                }
                let listens = |place: &usize| {
                    !self.system.missing_subscriptions.contains(&steps[*place].subscription(Task::Undo))
                };
                for place in backwards.take_while(listens) {
                    actions.push(Action::Deliver(event, Work::Succeeds, Delivery::Once));
                    event = Message::Says(place, Answer::Undone);
                }
                actions.push(Action::Unheard(event));
            }
        }
        actions
    }

    /// Takes the actions of one job: each must be possible where it is taken, and nothing after the last.
    fn replay(&self, fails_at: Option<usize>, counts: &mut Counts) {
        let as_listed = |state: &State| state.style() == self.style && state.order().is_sorted();
        let mut state = self.system.initial().into_iter().find(as_listed).unwrap();
        counts.messages += state.on_the_way().len() as u64;
        for action in self.actions(fails_at) {
            let next = replay(&self.system, state.clone(), &[action]).unwrap();
            let consumed = !matches!(action, Action::Decide | Action::Send);
            counts.messages += (next.on_the_way().len() + usize::from(consumed) - state.on_the_way().len()) as u64;
            let (before, after) = (state.standing().len(), next.standing().len());
            counts.steps += u64::from(after > before);
            counts.compensated += u64::from(after < before);
            state = next;
        }
        assert_eq!(self.system.actions(&state), []);
        counts.completed += u64::from(state.outcome() == Outcome::Completed);
        counts.half_finished += u64::from(state.outcome() == Outcome::Open);
        counts.uncompensated += self.system.unreported(&state).len() as u64;
        state.standing().iter().for_each(|step| counts.writes[*step] += 1);
    }
}

#[test]
fn each_job_of_the_lesson_is_one_behaviour_of_the_state_space_with_the_same_counts() {
    let lesson = suite().run("choreography-and-orchestration", &BTreeMap::new()).unwrap();
    let list = |name: &str| lesson.parameters[name].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    // Each step follows the one before it.
    let mut steps: Vec<Step> = Vec::new();
    for step in list("steps") {
        let requires = steps.last().map(|step| step.name.clone()).into_iter().collect();
        let compensable = step["compensable"].as_bool().unwrap();
        steps.push(Step { name: text(&step["name"]), compensable, requires });
    }
    let place = |name: &str, key: &str| list("steps").iter().position(|step| step[key] == name).unwrap();
    let deaf = place(lesson.parameters["missing_subscriber"].as_str().unwrap(), "service");
    let deaf = steps[deaf].subscription(Task::Undo);

    for (run, style, missing) in [
        ("choreography", Style::Choreography, None),
        ("missing_subscriber", Style::Choreography, Some(deaf)),
        ("orchestration", Style::Orchestration, None),
    ] {
        let system = saga(|system| {
            (system.steps, system.missing_subscriptions) = (steps.clone(), missing.into_iter().collect());
        });
        let workflow = Workflow { system, style };
        let mut counts = Counts { writes: vec![0; steps.len()], ..Counts::default() };
        for job in list("jobs") {
            let failure = list("failures").into_iter().find(|failure| failure["job"] == job);
            let fails_at = failure.map(|failure| place(failure["step"].as_str().unwrap(), "name"));
            workflow.replay(fails_at, &mut counts);
        }
        let figure = |name: &str| {
            let name = format!("runs.{run}.{name}");
            let figure = lesson.report.figures().find(|figure| figure.name == name).unwrap();
            figure.value.as_f64().unwrap() as u64
        };
        let published = Counts {
            completed: figure("completed"),
            steps: figure("steps"),
            messages: figure("messages"),
            compensated: figure("compensated"),
            uncompensated: figure("uncompensated"),
            half_finished: figure("half_finished"),
            writes: steps.iter().map(|step| figure(&format!("writes.{}", step.name))).collect(),
        };
        assert_eq!(counts, published, "{run}");
    }
}
