//! What a lesson's parameters may be.
//!
//! A lesson declares each of its parameters once, with the range in which its model is meant to be right. The same
//! declaration validates a value, documents it and bounds a generated one.

use crate::figures::Report;
use crate::invariants::Invariant;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::fmt;
use std::ops::RangeInclusive;

/// One lesson: its parameters, and the run that turns them into figures.
pub trait Lesson: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Names every parameter with its range, and states what must hold between them.
    fn declare(&self, declaration: &mut Declaration);

    /// Runs the model. Called only with parameters that [`Lesson::declare`] found nothing wrong with.
    fn report(&self) -> Report;

    /// What must hold for all parameters. Checked only with those that [`Lesson::declare`] found nothing wrong with.
    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }
}

/// The most steps one run of a lesson may take: about a second in release.
pub const MAX_STEPS: f64 = 2e8;

/// The values a parameter may take.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// A whole number, both ends included.
    Integer(RangeInclusive<i64>),
    /// A finite number, both ends included.
    Real(RangeInclusive<f64>),
    /// A list with that many elements.
    List(RangeInclusive<usize>),
    /// A text of at least one character.
    Text,
    /// True or false.
    Flag,
    /// Any JSON value.
    Json,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(r) => write!(f, "a whole number from {} to {}", r.start(), r.end()),
            Self::Real(r) => write!(f, "a number from {} to {}", r.start(), r.end()),
            Self::List(r) if r.start() == r.end() => write!(f, "a list of {}", r.start()),
            Self::List(r) => write!(f, "a list of {} to {}", r.start(), r.end()),
            Self::Text => write!(f, "a text"),
            Self::Flag => write!(f, "true or false"),
            Self::Json => write!(f, "a JSON value"),
        }
    }
}

/// A parameter as its lesson declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Dotted path; elements of lists by number from 0.
    pub path: String,
    /// What it may be.
    pub range: Range,
}

/// A value that its declaration does not allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Dotted path of the parameter.
    pub path: String,
    /// What was found and what was expected.
    pub message: String,
}

/// Collects the parameters of one lesson, and what is wrong with them.
#[derive(Debug, Default)]
pub struct Declaration {
    prefix: String,
    declared: Vec<Declared>,
    problems: Vec<Problem>,
    steps: f64,
}

impl Declaration {
    /// The declaration of a lesson's parameters.
    pub fn of(lesson: &impl Lesson) -> Self {
        let mut declaration = Self::default();
        lesson.declare(&mut declaration);
        declaration
    }

    /// Every parameter, in the order of declaration.
    pub fn parameters(&self) -> &[Declared] {
        &self.declared
    }

    /// Everything that is wrong with the values.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// About how many steps a run will take, as far as the lesson says so.
    pub fn run_steps(&self) -> f64 {
        self.steps
    }

    /// A whole number.
    pub fn integer(&mut self, name: &str, value: impl TryInto<i64>, range: RangeInclusive<i64>) {
        let found = value.try_into().ok();
        let inside = found.is_some_and(|value| range.contains(&value));
        let found = found.map_or("a number beyond 2^63".to_owned(), |value| value.to_string());
        self.record(name, Range::Integer(range), inside, &found);
    }

    /// A finite number.
    pub fn real(&mut self, name: &str, value: f64, range: RangeInclusive<f64>) {
        let inside = range.contains(&value);
        self.record(name, Range::Real(range), inside, &value.to_string());
    }

    /// A name or label.
    pub fn text(&mut self, name: &str, value: &str) {
        self.record(name, Range::Text, !value.is_empty(), "an empty text");
    }

    /// A switch.
    pub fn flag(&mut self, name: &str, _value: bool) {
        self.record(name, Range::Flag, true, "");
    }

    /// A value that the model only passes on, such as a member of an example record.
    pub fn json(&mut self, name: &str) {
        self.record(name, Range::Json, true, "");
    }

    /// A nested group of parameters.
    pub fn group(&mut self, name: &str, members: impl FnOnce(&mut Self)) {
        let outer = self.prefix.clone();
        self.prefix = self.path(name);
        members(self);
        self.prefix = outer;
    }

    /// A list; `element` declares each, under the name it is given.
    pub fn list<T>(
        &mut self,
        name: &str,
        elements: &[T],
        length: RangeInclusive<usize>,
        mut element: impl FnMut(&mut Self, &str, &T),
    ) {
        let inside = length.contains(&elements.len());
        self.record(name, Range::List(length), inside, &format!("a list of {}", elements.len()));
        self.group(name, |declaration| {
            for (i, value) in elements.iter().enumerate() {
                element(declaration, &i.to_string(), value);
            }
        });
    }

    /// Elements that name rows or figures: no two may be equal.
    pub fn distinct<T: PartialEq>(&mut self, name: &str, elements: impl IntoIterator<Item = T>) {
        let elements: Vec<T> = elements.into_iter().collect();
        let repeated = elements.iter().enumerate().any(|(i, element)| elements[..i].contains(element));
        self.require(name, !repeated, "no element twice");
    }

    /// Something that must hold between parameters; `expected` completes "`name`: expected ...".
    pub fn require(&mut self, name: &str, holds: bool, expected: impl fmt::Display) {
        if !holds {
            self.problems.push(Problem { path: self.path(name), message: format!("expected {expected}") });
        }
    }

    /// How many steps the run will take; refused above [`MAX_STEPS`]. `name` is the parameter to blame.
    pub fn steps(&mut self, name: &str, steps: f64) {
        let expected = format!("a run of at most {MAX_STEPS:e} steps; these parameters make about {steps:.1e}");
        self.require(name, steps <= MAX_STEPS, expected);
        self.steps = self.steps.max(steps);
    }

    fn path(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }

    fn record(&mut self, name: &str, range: Range, inside: bool, found: &str) {
        let path = self.path(name);
        if !inside {
            self.problems.push(Problem { path: path.clone(), message: format!("found {found}, expected {range}") });
        }
        self.declared.push(Declared { path, range });
    }
}

/// Reads plain data as a type.
///
/// # Errors
/// A value that is missing, unknown or of another type, at its path.
pub fn read<T: DeserializeOwned>(data: &Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(data).map_err(|error| {
        let path = error.path().to_string().replace('[', ".").replace(']', "");
        Problem { path, message: in_words(&error.into_inner().to_string()) }
    })
}

/// serde names Rust's types; whoever writes a spec or a `--set` knows numbers, lists and groups.
fn in_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a string" => "a text",
        "a boolean" => "true or false",
        "a map" => "a group",
        other if other.starts_with("struct ") => "a group",
        other => other,
    };
    let kind = ["invalid type: ", "invalid value: "].into_iter().find_map(|kind| found.strip_prefix(kind));
    let list = || found.strip_prefix("invalid length ").map(|length| format!("a list of {length}"));
    let found = kind.map(str::to_owned).or_else(list);
    found.map_or_else(|| message.to_owned(), |found| format!("found {found}, expected {expected}"))
}
