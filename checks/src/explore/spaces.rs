//! The state spaces by name, and each as the spec records it.

use super::{Exploration, Limits, Refused, Search, Verdict, explore, serve};
use crate::nearest::nearest;
use crate::spec::state_spaces::{Expected, SpaceSpec};
use crate::suite::replace_at;
use models::parameters::{self, Declaration};
use models::state_spaces::{TransitionSystem, leader_election::LeaderElection, saga::Saga};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A mechanism whose state space is explored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// The lesson `leader-election`.
    LeaderElection,
    /// The lessons on workflows: `choreography-and-orchestration`, `scheduler-agent-supervisor`,
    /// `compensating-transactions`, `idempotent-operations`.
    Saga,
}

impl Space {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 2] = [Self::LeaderElection, Self::Saga];

    /// What it is called on the command line and in the spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::LeaderElection => "leader-election",
            Self::Saga => "saga",
        }
    }

    /// The space of a name.
    ///
    /// # Errors
    /// There is none, with the nearest ones.
    pub fn find(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|space| space.name() == name);
        let names = || Self::ALL.iter().map(|space| space.name().to_owned());
        found.ok_or_else(|| {
            let known: Vec<String> = names().collect();
            format!("no state space `{name}` (there are {}){}", known.join(", "), nearest(name, names()))
        })
    }

    /// Reads bounds and switches, and switches mechanisms off.
    ///
    /// # Errors
    /// A bound that is missing, unknown, of the wrong type or out of its range; a mechanism that is not on.
    pub fn prepare(self, parameters: &Value, without: &[String]) -> Result<Box<dyn System>, String> {
        match self {
            Self::LeaderElection => prepare::<LeaderElection>(parameters, without),
            Self::Saga => prepare::<Saga>(parameters, without),
        }
    }

    /// Explores the space at the spec's bounds, and each of its controls; says what is not as recorded.
    ///
    /// # Errors
    /// Bounds that cannot be read, or nothing to check.
    pub fn verify(self, spec: &SpaceSpec) -> Result<VerifiedSpace, String> {
        let none = (&[][..], &BTreeMap::new(), &spec.expected);
        let controls = spec.controls.iter().map(|control| (&control.without[..], &control.set, &control.expected));
        let runs: Vec<_> = [none].into_iter().chain(controls).collect();
        let explored = runs.into_par_iter().map(|(without, set, expected)| {
            let exploration = self.explore_with(&spec.parameters, set, without)?;
            let name = match without {
                [] => self.name().to_owned(),
                _ => format!("{} without {}", self.name(), without.join(" and ")),
            };
            let differences = differences(&name, expected, &exploration);
            Ok(((name, exploration), differences))
        });
        let explored = explored.collect::<Vec<Result<_, String>>>();
        let (mut explored, failures): (Vec<_>, Vec<_>) =
            explored.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let controls = explored.split_off(1);
        let main = explored.remove(0).1;
        Ok(VerifiedSpace { main, controls, failures: failures.concat() })
    }

    fn explore_with(
        self,
        parameters: &Value,
        set: &BTreeMap<String, Value>,
        without: &[String],
    ) -> Result<Exploration, String> {
        let system = self.prepare(&with(parameters, set)?, without)?;
        let explored = system.explore(Search::BreadthFirst, &Limits::default(), &mut |_| {});
        explored.map_err(|refused| refused.to_string())
    }
}

/// Bounds and switches, some of them replaced.
///
/// # Errors
/// A name that is none of them.
pub fn with(parameters: &Value, set: &BTreeMap<String, Value>) -> Result<Value, String> {
    let mut parameters = parameters.clone();
    for (name, value) in set {
        replace_at(&mut parameters, name, value.clone())?;
    }
    Ok(parameters)
}

/// A space, explored with its mechanisms on, and without.
#[derive(Debug)]
pub struct VerifiedSpace {
    /// With every mechanism.
    pub main: Exploration,
    /// Each control with its name, `leader-election without keys`.
    pub controls: Vec<(String, Exploration)>,
    /// What is not as the spec records it.
    pub failures: Vec<String>,
}

/// A system that was read, whatever its type.
pub trait System {
    /// See [`explore`].
    ///
    /// # Errors
    /// As there.
    fn explore(&self, search: Search, limits: &Limits, progress: &mut dyn FnMut(usize))
    -> Result<Exploration, Refused>;

    /// See [`serve`].
    ///
    /// # Errors
    /// As there.
    fn serve(&self, address: SocketAddr) -> Result<(), Refused>;
}

impl<S: TransitionSystem> System for S {
    fn explore(
        &self,
        search: Search,
        limits: &Limits,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Exploration, Refused> {
        explore(self, search, limits, progress)
    }

    fn serve(&self, address: SocketAddr) -> Result<(), Refused> {
        serve(self, address)
    }
}

fn prepare<S: TransitionSystem>(data: &Value, without: &[String]) -> Result<Box<dyn System>, String> {
    let mut system: S = parameters::read(data)
        .map_err(|problem| format!("{}: {}", problem.path, problem.message).trim_start_matches(".: ").to_owned())?;
    let mut declaration = Declaration::default();
    system.declare(&mut declaration);
    if let Some(problem) = declaration.problems().first() {
        return Err(format!("{}: {}", problem.path, problem.message));
    }
    for name in without {
        let mechanisms = system.mechanisms();
        let names: Vec<String> = mechanisms.iter().map(|(name, _)| name.clone()).collect();
        let Some((_, rest)) = mechanisms.into_iter().find(|(known, _)| known == name) else {
            let near = nearest(name, names.iter().cloned());
            return Err(format!("no mechanism `{name}` to go without (there are {}){near}", names.join(", ")));
        };
        system = rest;
    }
    Ok(Box::new(system))
}

/// How an exploration differs from what is recorded of it.
pub fn differences(name: &str, expected: &Expected, found: &Exploration) -> Vec<String> {
    if !found.complete {
        return vec![format!("{name}: not every state was looked at")];
    }
    let mut differences = Vec::new();
    for (what, expected, found) in [
        ("distinct states", expected.distinct_states, found.distinct_states),
        ("actions deep", expected.depth, found.depth),
    ] {
        if expected != found {
            differences.push(format!("{name}: recorded {expected} {what}, now {found}"));
        }
    }
    for property in &found.properties {
        let recorded = expected.fails.iter().any(|fails| fails == property.name);
        match property.verdict {
            Verdict::Holds if recorded => {
                differences.push(format!("{name}: recorded as failing, and holds: {}", property.name));
            }
            Verdict::Fails if !recorded => differences.push(format!("{name}: does not hold: {}", property.name)),
            Verdict::Undecided => differences.push(format!("{name}: undecided: {}", property.name)),
            Verdict::Holds | Verdict::Fails => {}
        }
    }
    let unknown = expected.fails.iter().filter(|name| found.properties.iter().all(|property| property.name != **name));
    differences.extend(unknown.map(|fails| format!("{name}: no such property: {fails}")));
    differences
}
