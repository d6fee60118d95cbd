//! Mechanisms as transition systems: what can happen next in a state, in whatever order things happen.
//!
//! A lesson runs one schedule. The same mechanism as a transition system has every schedule: from each state,
//! each action that can happen leads to a next state. How such a system is explored is not its concern; the `checks`
//! crate does that. A system is deterministic data: no clock, no thread, no hash order.

pub mod leader_election;

use crate::parameters::Declaration;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::hash::Hash;

/// A mechanism with its bounds and switches, which are its fields.
pub trait TransitionSystem: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// All that decides what can happen next.
    type State: Clone + Eq + Ord + Hash + Debug + Send + Sync;
    /// One thing that happens.
    type Action: Clone + Eq + Ord + Debug + Send + Sync;

    /// Names every bound and switch with its range.
    fn declare(&self, d: &mut Declaration);

    /// The mechanisms that are on: the name of each, and the system with it switched off.
    fn mechanisms(&self) -> Vec<(String, Self)>;

    /// Where behaviours begin.
    fn initial(&self) -> Vec<Self::State>;

    /// Everything that can happen in a state, always in the same order. A behaviour ends where nothing can.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// What an action makes of a state. Called only with actions that can happen there.
    fn step(&self, state: &Self::State, action: &Self::Action) -> Self::State;

    /// What is claimed of the system, in the order of the report; each name once.
    fn properties(&self) -> Vec<Property<Self>>;

    /// The parties that a timeline shows side by side.
    fn lanes(&self) -> Vec<String>;

    /// An action in the domain's words, and the number of the lane whose action it is.
    fn describe(&self, state: &Self::State, action: &Self::Action) -> (usize, String);

    /// A state in the domain's words. A timeline shows those that changed.
    fn facts(&self, state: &Self::State) -> Vec<Fact>;

    /// One state for all those that differ only in which of several like parties is which. Sound only where the
    /// actions and the properties treat these parties alike.
    fn representative(state: &Self::State) -> Self::State {
        state.clone()
    }
}

/// Something that is so in a state, as a timeline shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The number of the lane that it is about.
    pub lane: usize,
    /// What it is called there; one name is one fact.
    pub name: String,
    /// How it stands.
    pub value: String,
}

impl Fact {
    /// A fact of a lane.
    pub fn new(lane: usize, name: impl Into<String>, value: impl ToString) -> Self {
        Self { lane, name: name.into(), value: value.to_string() }
    }
}

/// What is claimed of a system.
pub struct Property<S: TransitionSystem> {
    /// The claim as a sentence.
    pub name: &'static str,
    /// In which states the condition must hold.
    pub kind: Kind,
    /// The condition in words, as exact as the code.
    pub says: &'static str,
    /// The condition.
    pub condition: fn(&S, &S::State) -> bool,
}

/// In which states a property's condition must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In every reachable state.
    Always,
    /// In every reachable state in which nothing can happen any more: what each behaviour comes to in the end.
    AtTheEnd,
    /// In at least one reachable state.
    Sometimes,
}

impl<S: TransitionSystem> Property<S> {
    /// The condition holds in every reachable state.
    pub fn always(name: &'static str, says: &'static str, condition: fn(&S, &S::State) -> bool) -> Self {
        Self { name, kind: Kind::Always, says, condition }
    }

    /// The condition holds wherever a behaviour ends.
    pub fn at_the_end(name: &'static str, says: &'static str, condition: fn(&S, &S::State) -> bool) -> Self {
        Self { name, kind: Kind::AtTheEnd, says, condition }
    }

    /// The condition holds in some reachable state.
    pub fn sometimes(name: &'static str, says: &'static str, condition: fn(&S, &S::State) -> bool) -> Self {
        Self { name, kind: Kind::Sometimes, says, condition }
    }
}

/// Takes a sequence of actions, each of which must be possible where it is taken.
///
/// # Errors
/// The number of the first action that is not, with the actions that are.
pub fn replay<S: TransitionSystem>(system: &S, start: S::State, actions: &[S::Action]) -> Result<S::State, String> {
    actions.iter().enumerate().try_fold(start, |state, (number, action)| {
        let possible = system.actions(&state);
        match possible.contains(action) {
            true => Ok(system.step(&state, action)),
            false => Err(format!("action {number}, {action:?}, cannot happen; what can: {possible:?}; in {state:?}")),
        }
    })
}
