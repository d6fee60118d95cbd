//! State spaces, explored: the one way to stateright, with its traps closed.
//!
//! | stateright 0.31 | here |
//! |---|---|
//! | a search that a limit cut short ends like one that saw everything | limits stand here: whatever they cut makes the result incomplete, and an incomplete search proves nothing |
//! | no property, or no state, is success | refused |
//! | ends as soon as every property has an example or a counterexample | one more property that never has any keeps it going, so the counts are those of the whole space |
//! | a later counterexample replaces an earlier one, also in a breadth-first search | only the first of each property is reported: the shortest |
//! | `eventually` can pass although it is violated (cycles, joined paths) | not offered: [`Kind::AtTheEnd`] looks at the states where behaviours end, and is undecided if none does |
//! | symmetry is ignored by a breadth-first search, without a word | [`Search::DepthFirstSymmetric`] is the only way to it |

pub mod spaces;
pub mod stateright_model;
pub mod timeline;

use models::state_spaces::{Kind, TransitionSystem};
use serde_json::Value;
use stateright::{Checker, Model};
use stateright_model::Explored;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use timeline::Trace;

/// In which order states are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Nearest first: examples and counterexamples are as short as they can be.
    BreadthFirst,
    /// Newest first: less memory, longer traces.
    DepthFirst,
    /// Newest first, one state for all that differ only in which party is which.
    DepthFirstSymmetric,
}

/// When to stop before everything is seen.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// After so many states were looked at.
    pub states: Option<usize>,
    /// When somebody says so.
    pub interrupted: Arc<AtomicBool>,
}

/// What an exploration found.
#[derive(Debug, Clone, PartialEq)]
pub struct Exploration {
    /// The bounds and switches that it ran with.
    pub bounds: Value,
    /// Whether every reachable state was seen.
    pub complete: bool,
    /// Different states, by a hash of 64 bits.
    pub distinct_states: usize,
    /// States in which nothing can happen any more.
    pub ends: usize,
    /// Actions on the longest of the shortest ways to a state; exact in a breadth-first search.
    pub depth: usize,
    /// Each property, judged.
    pub properties: Vec<Judged>,
}

/// One property and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The claim.
    pub name: &'static str,
    /// Where its condition must hold.
    pub kind: Kind,
    /// The condition in words.
    pub says: &'static str,
    /// Whether it does.
    pub verdict: Verdict,
    /// The first counterexample, or for [`Kind::Sometimes`] the first example.
    pub trace: Option<Trace>,
}

/// What is known of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// Not everything was seen, and what was seen does not decide it.
    Undecided,
}

impl Judged {
    /// The claim, and where its condition must hold.
    pub fn claim(&self) -> String {
        let place = match self.kind {
            Kind::Always => "always",
            Kind::AtTheEnd => "at the end",
            Kind::Sometimes => "sometimes",
        };
        format!("{place}: {}", self.name)
    }

    /// What the verdict rests on: the condition, and the timeline of the behaviour that shows it.
    pub fn evidence(&self) -> Option<String> {
        let Self { says, verdict, trace, .. } = self;
        match (verdict, trace) {
            (Verdict::Fails, Some(trace)) => Some(format!("failed condition: {says}\n\n{trace}")),
            (Verdict::Fails, None) => Some(format!("in no state: {says}\n")),
            (_, Some(trace)) => Some(format!("example: {says}\n\n{trace}")),
            (_, None) => None,
        }
    }
}

impl Exploration {
    /// The properties with a verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Judged> {
        self.properties.iter().filter(move |property| property.verdict == verdict)
    }
}

impl Verdict {
    /// As it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
        }
    }
}

/// Why nothing was explored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Nothing is claimed of the system.
    NoProperty,
    /// The system has no state to begin with.
    NoState,
    /// Two properties have the same name.
    SameName(&'static str),
    /// More properties than are watched at once.
    TooManyProperties(usize),
    /// The system panicked.
    Panicked,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoProperty => f.write_str("the system has no property: nothing to check"),
            Self::NoState => f.write_str("the system has no state to begin with: nothing to check"),
            Self::SameName(name) => write!(f, "two properties are called `{name}`"),
            Self::TooManyProperties(count) => {
                write!(f, "{count} properties, expected at most {}", stateright_model::MOST_PROPERTIES)
            }
            Self::Panicked => f.write_str("the system panicked while it was explored"),
        }
    }
}

impl std::error::Error for Refused {}

/// Explores a system. `progress` is told the distinct states so far, now and then.
///
/// # Errors
/// A system about which nothing could be found out.
pub fn explore<S: TransitionSystem>(
    system: &S,
    search: Search,
    limits: &Limits,
    progress: &mut dyn FnMut(usize),
) -> Result<Exploration, Refused> {
    refuse(system)?;
    let builder = Explored::new(system.clone(), limits.clone()).checker();
    match search {
        Search::BreadthFirst => finish(system, builder.spawn_bfs(), progress),
        Search::DepthFirst => finish(system, builder.spawn_dfs(), progress),
        Search::DepthFirstSymmetric => finish(system, builder.symmetry_fn(S::representative).spawn_dfs(), progress),
    }
}

/// Opens stateright's Explorer on a system, and answers requests for as long as the process lives.
///
/// # Errors
/// As [`explore`].
pub fn serve<S: TransitionSystem>(system: &S, address: std::net::SocketAddr) -> Result<(), Refused> {
    refuse(system)?;
    Explored::new(system.clone(), Limits::default()).checker().serve(address);
    Ok(())
}

fn refuse<S: TransitionSystem>(system: &S) -> Result<(), Refused> {
    let names: Vec<_> = system.properties().iter().map(|property| property.name).collect();
    if names.is_empty() {
        return Err(Refused::NoProperty);
    }
    if let Some(name) = names.iter().enumerate().find_map(|(i, name)| names[..i].contains(name).then_some(name)) {
        return Err(Refused::SameName(name));
    }
    if names.len() > stateright_model::MOST_PROPERTIES {
        return Err(Refused::TooManyProperties(names.len()));
    }
    if system.initial().is_empty() { Err(Refused::NoState) } else { Ok(()) }
}

fn finish<S: TransitionSystem>(
    system: &S,
    mut checker: impl Checker<Explored<S>>,
    progress: &mut dyn FnMut(usize),
) -> Result<Exploration, Refused> {
    let threads = checker.handles();
    let mut told = Instant::now();
    while threads.iter().any(|thread| !thread.is_finished()) {
        std::thread::sleep(Duration::from_millis(1));
        if told.elapsed() > Duration::from_millis(100) {
            progress(checker.unique_state_count());
            told = Instant::now();
        }
    }
    for thread in threads {
        thread.join().map_err(|_| Refused::Panicked)?;
    }
    let explored = checker.model();
    let complete = !explored.was_cut();
    let ends = explored.ends();
    // From here on actions are asked for to rebuild traces, and must all be there.
    explored.lift_limits();
    let mut found = checker.discoveries();
    let judge = |property: models::state_spaces::Property<S>| {
        let trace = found.remove(property.name).map(|path| Trace::of(system, path.into_vec()));
        let verdict = match (property.kind, &trace) {
            (Kind::Sometimes, Some(_)) => Verdict::Holds,
            (_, Some(_)) => Verdict::Fails,
            (Kind::AtTheEnd, None) if ends == 0 => Verdict::Undecided,
            (_, None) if !complete => Verdict::Undecided,
            (Kind::Sometimes, None) => Verdict::Fails,
            (_, None) => Verdict::Holds,
        };
        Judged { name: property.name, kind: property.kind, says: property.says, verdict, trace }
    };
    Ok(Exploration {
        bounds: serde_json::to_value(system).unwrap_or_default(),
        complete,
        distinct_states: checker.unique_state_count(),
        ends,
        depth: checker.max_depth().saturating_sub(1),
        properties: system.properties().into_iter().map(judge).collect(),
    })
}

impl Limits {
    /// Whether it is time to stop after so many states.
    fn reached(&self, states: usize) -> bool {
        self.states.is_some_and(|most| states >= most) || self.interrupted.load(Ordering::Relaxed)
    }
}
