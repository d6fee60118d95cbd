//! A transition system as stateright wants to have it.

use super::Limits;
use models::state_spaces::{Kind, Property, TransitionSystem};
use stateright::{Expectation, Model};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The most properties of a system: stateright takes bare functions, so there is one for each number.
pub const MOST_PROPERTIES: usize = 16;

/// A system while it is explored.
pub(super) struct Explored<S: TransitionSystem> {
    system: S,
    properties: Vec<Property<S>>,
    /// Which properties have their trace: the first found is the shortest, and no later one may replace it.
    traced: Vec<AtomicBool>,
    limits: Limits,
    limited: AtomicBool,
    expanded: AtomicUsize,
    ends: AtomicUsize,
    cut: AtomicBool,
}

impl<S: TransitionSystem> Explored<S> {
    pub(super) fn new(system: S, limits: Limits) -> Self {
        let properties = system.properties();
        Self {
            traced: properties.iter().map(|_| AtomicBool::new(false)).collect(),
            properties,
            system,
            limits,
            limited: AtomicBool::new(true),
            expanded: AtomicUsize::new(0),
            ends: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
        }
    }

    /// Whether a state was left without its actions.
    pub(super) fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    pub(super) fn ends(&self) -> usize {
        self.ends.load(Ordering::Relaxed)
    }

    pub(super) fn lift_limits(&self) {
        self.limited.store(false, Ordering::Relaxed);
    }

    /// What the numbered property's condition is for stateright: true while there is nothing to report for `always`,
    /// true once there is for `sometimes`.
    fn condition(&self, number: usize, state: &S::State) -> bool {
        let (Some(property), Some(traced)) = (self.properties.get(number), self.traced.get(number)) else {
            return true;
        };
        let nothing_to_report = property.kind != Kind::Sometimes;
        if traced.load(Ordering::Relaxed) {
            return nothing_to_report;
        }
        let holds = (property.condition)(&self.system, state);
        let holds = holds || (property.kind == Kind::AtTheEnd && !self.system.actions(state).is_empty());
        if holds != nothing_to_report {
            traced.store(true, Ordering::Relaxed);
        }
        holds
    }
}

impl<S: TransitionSystem> Model for Explored<S> {
    type State = S::State;
    type Action = S::Action;

    fn init_states(&self) -> Vec<S::State> {
        self.system.initial()
    }

    fn actions(&self, state: &S::State, actions: &mut Vec<S::Action>) {
        let possible = self.system.actions(state);
        if self.limited.load(Ordering::Relaxed) {
            if possible.is_empty() {
                self.ends.fetch_add(1, Ordering::Relaxed);
            } else if self.limits.reached(self.expanded.fetch_add(1, Ordering::Relaxed)) {
                self.cut.store(true, Ordering::Relaxed);
                return;
            }
        }
        actions.extend(possible);
    }

    fn next_state(&self, state: &S::State, action: S::Action) -> Option<S::State> {
        Some(self.system.step(state, &action))
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        let watched = self.properties.iter().zip(conditions()).map(|(property, condition)| stateright::Property {
            expectation: match property.kind {
                Kind::Always | Kind::AtTheEnd => Expectation::Always,
                Kind::Sometimes => Expectation::Sometimes,
            },
            name: property.name,
            condition,
        });
        let whole = stateright::Property::always("every reachable state is looked at", |_, _| true);
        watched.chain([whole]).collect()
    }

    fn format_step(&self, state: &S::State, action: S::Action) -> Option<String> {
        let next = self.system.step(state, &action);
        Some(super::timeline::Row::between(&self.system, state, &action, &next).to_string())
    }
}

type Condition<S> = fn(&Explored<S>, &<S as TransitionSystem>::State) -> bool;

fn numbered<S: TransitionSystem, const NUMBER: usize>(explored: &Explored<S>, state: &S::State) -> bool {
    explored.condition(NUMBER, state)
}

fn conditions<S: TransitionSystem>() -> [Condition<S>; MOST_PROPERTIES] {
    [
        numbered::<S, 0>,
        numbered::<S, 1>,
        numbered::<S, 2>,
        numbered::<S, 3>,
        numbered::<S, 4>,
        numbered::<S, 5>,
        numbered::<S, 6>,
        numbered::<S, 7>,
        numbered::<S, 8>,
        numbered::<S, 9>,
        numbered::<S, 10>,
        numbered::<S, 11>,
        numbered::<S, 12>,
        numbered::<S, 13>,
        numbered::<S, 14>,
        numbered::<S, 15>,
    ]
}
