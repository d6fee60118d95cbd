//! A spec brought to life: references resolved, values overridden, lessons run.

use crate::nearest::nearest;
use crate::spec::Spec;
use crate::spec::assumptions::Assumed;
use crate::spec::lesson::{self, LessonSpec, Origin};
use crate::spec::yaml::{self, YamlError};
use models::catalogue::Prepared;
use models::figures::{Fact, Number, Report};
use models::parameters::{Problem, Range};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Values that replace those of the spec, by parameter path or by assumption (`AY2.slots`).
pub type Overrides = BTreeMap<String, Value>;

/// Why something could not be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A file in `spec/` is wrong.
    Spec(YamlError),
    /// The call is wrong.
    Call(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(error) => error.fmt(f),
            Self::Call(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

impl From<YamlError> for Error {
    fn from(error: YamlError) -> Self {
        Self::Spec(error)
    }
}

/// One run of one lesson.
#[derive(Debug, Clone)]
pub struct Run {
    /// What it was asked to run with in place of the spec's values.
    pub overrides: Overrides,
    /// The parameters that it ran with.
    pub parameters: Value,
    /// What it yielded.
    pub report: Report,
}

/// The spec and the models behind it.
#[derive(Debug)]
pub struct Suite {
    /// What is claimed.
    pub spec: Spec,
    /// Reports of lessons that others refer to, each run once: by slug, and the assumptions that were replaced.
    referred: Mutex<BTreeMap<(String, String), Arc<Report>>>,
}

impl Suite {
    /// A suite over a spec.
    pub fn new(spec: Spec) -> Self {
        Self { spec, referred: Mutex::default() }
    }

    /// The lesson of a slug.
    ///
    /// # Errors
    /// No such lesson (with the nearest ones), or one without a model.
    pub fn lesson(&self, slug: &str) -> Result<&LessonSpec, Error> {
        self.spec.lesson(slug).ok_or_else(|| match models::catalogue::find(slug) {
            Some(_) => Error::Call(format!("lesson `{slug}` has no model yet: nothing to run or check")),
            None => {
                let slugs = models::catalogue::ENTRIES.iter().map(|entry| entry.slug.to_owned());
                Error::Call(format!("no lesson `{slug}`{}", nearest(slug, slugs)))
            }
        })
    }

    /// Reads `NAME=VALUE` arguments for a lesson.
    ///
    /// # Errors
    /// No equals sign, a value that is no YAML, a name that is neither a parameter nor an assumption of the spec.
    pub fn overrides(&self, slug: &str, arguments: &[String]) -> Result<Overrides, Error> {
        let mut overrides = Overrides::new();
        for argument in arguments {
            let Some((name, text)) = argument.split_once('=') else {
                return Err(Error::Call(format!("--set {argument}: expected NAME=VALUE")));
            };
            let value = yaml::value(text).map_err(|error| Error::Call(format!("--set {argument}: {error}")))?;
            let holds = |a: &str, b: &str| a == b || b.strip_prefix(a).is_some_and(|rest| rest.starts_with('.'));
            if let Some(other) = overrides.keys().find(|other| holds(other, name) || holds(name, other)) {
                return Err(Error::Call(format!("--set {name}: set already by --set {other}")));
            }
            overrides.insert(name.to_owned(), value);
        }
        self.refuse_unknown(slug, &overrides)?;
        Ok(overrides)
    }

    /// Refuses overrides that name nothing of the lesson.
    ///
    /// # Errors
    /// The first such name, with the nearest known ones.
    pub fn refuse_unknown(&self, slug: &str, overrides: &Overrides) -> Result<(), Error> {
        let lesson = self.lesson(slug)?;
        if overrides.is_empty() {
            return Ok(());
        }
        let defaults = self.parameters(lesson, &Overrides::new(), &[])?;
        let used = self.used_assumptions(lesson);
        for name in overrides.keys().filter(|name| at_path(&defaults, name).is_none()) {
            if self.spec.assumptions.get(name).is_some() && !used.contains(name) {
                return Err(Error::Call(format!("{slug} does not depend on {name}: setting it would change nothing")));
            }
            if !used.contains(name) {
                let known = paths(&defaults).into_iter().chain(self.spec.assumptions.value_names());
                return Err(Error::Call(format!("{slug} has no parameter `{name}`{}", nearest(name, known))));
            }
        }
        Ok(())
    }

    /// The value of an assumption, `AY2.slots`.
    ///
    /// # Errors
    /// There is none of that name, or it refers to nothing or in a circle.
    pub fn assumed(&self, name: &str) -> Result<Value, Error> {
        self.refer(name, &Overrides::new(), &[])
    }

    /// The assumptions that a lesson's parameters come from, also by way of other lessons and assumptions.
    fn used_assumptions(&self, lesson: &LessonSpec) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        let mut lessons = BTreeSet::from([lesson.entry.slug]);
        let mut open: Vec<String> = lesson.references();
        while let Some(name) = open.pop() {
            match name.split_once(':').map(|(slug, _)| self.spec.lesson(slug)) {
                Some(Some(other)) if lessons.insert(other.entry.slug) => open.extend(other.references()),
                Some(_) => {}
                None => {
                    let base = name.strip_suffix(".sensitivity").unwrap_or(&name).to_owned();
                    let referred = self.spec.assumptions.get(&base);
                    open.extend(referred.iter().flat_map(|(_, assumed)| lesson::references_in(&assumed.value)));
                    used.extend([base, name]);
                }
            }
        }
        used
    }

    /// Resolves a lesson's parameters and makes it ready to run.
    ///
    /// # Errors
    /// A reference to nothing or in a circle, a value of the wrong type or outside its range.
    pub fn prepare(&self, slug: &str, overrides: &Overrides) -> Result<(Value, Prepared), Error> {
        self.prepare_below(slug, overrides, &[])
    }

    /// Runs a lesson.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn run(&self, slug: &str, overrides: &Overrides) -> Result<Run, Error> {
        self.run_below(slug, overrides, &[])
    }

    fn run_below(&self, slug: &str, overrides: &Overrides, trail: &[String]) -> Result<Run, Error> {
        let (parameters, prepared) = self.prepare_below(slug, overrides, trail)?;
        let report = prepared.report().map_err(|problem| Error::Call(problem.message))?;
        Ok(Run { overrides: overrides.clone(), parameters, report })
    }

    fn prepare_below(&self, slug: &str, overrides: &Overrides, trail: &[String]) -> Result<(Value, Prepared), Error> {
        let lesson = self.lesson(slug)?;
        let parameters = self.parameters(lesson, overrides, trail)?;
        let prepared = match lesson.entry.model.as_ref().map(|model| model.prepare(&parameters)) {
            Some(Ok(prepared)) => prepared,
            Some(Err(problem)) => return Err(self.blame(lesson, overrides, &parameters, problem)),
            None => return Err(Error::Call(format!("lesson `{slug}` has no model"))),
        };
        match prepared.problems().first() {
            Some(problem) => Err(self.blame(lesson, overrides, &parameters, problem.clone())),
            None => Ok((parameters, prepared)),
        }
    }

    /// Says whose fault a problem is: an override's, with the declared range, or the spec file's, with its place.
    fn blame(&self, lesson: &LessonSpec, overrides: &Overrides, parameters: &Value, problem: Problem) -> Error {
        if overrides.is_empty() {
            return lesson.parameter_error(&problem.path, problem.message).into();
        }
        let defaults = match self.prepare(lesson.entry.slug, &Overrides::new()) {
            Ok((_, defaults)) => defaults,
            Err(error) => return error,
        };
        let declared = defaults.parameters().iter().find(|declared| declared.path == problem.path);
        match (declared, at_path(parameters, &problem.path)) {
            (Some(declared), Some(value)) if !fits(&declared.range, value) => {
                Error::Call(format!("{}: found {value}, expected {}", problem.path, declared.range))
            }
            _ => Error::Call(format!("{}: {}", problem.path, problem.message)),
        }
    }

    /// The lesson's parameters as plain data.
    fn parameters(&self, lesson: &LessonSpec, overrides: &Overrides, trail: &[String]) -> Result<Value, Error> {
        let mut parameters = Value::Object(Map::new());
        for parameter in &lesson.parameters {
            let value = match &parameter.origin {
                Origin::Reference(name) => self.refer(name, overrides, trail),
                Origin::Literal { value, .. } => self.resolve(value, overrides, trail),
            };
            let value = value.map_err(|error| match error {
                Error::Call(message) if overrides.is_empty() => lesson.parameter_error(&parameter.path, message).into(),
                error => error,
            })?;
            insert(&mut parameters, &parameter.path, value);
        }
        for (name, value) in overrides {
            if let Some(place) = at_path_mut(&mut parameters, name) {
                *place = value.clone();
            }
        }
        Ok(parameters)
    }

    /// Replaces every reference inside a value.
    fn resolve(&self, value: &Value, overrides: &Overrides, trail: &[String]) -> Result<Value, Error> {
        match value {
            Value::String(text) if text.starts_with('=') => self.refer(&text[1..], overrides, trail),
            Value::Array(items) => items.iter().map(|item| self.resolve(item, overrides, trail)).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, value)| Ok((key.clone(), self.resolve(value, overrides, trail)?))).collect()
            }
            other => Ok(other.clone()),
        }
    }

    /// The value of `AY2.slots`, `AY2.slots.sensitivity` or `LESSON:FIGURE`.
    fn refer(&self, name: &str, overrides: &Overrides, trail: &[String]) -> Result<Value, Error> {
        if trail.iter().any(|seen| seen == name) {
            return Err(Error::Call(format!("a reference in a circle: {} -> {name}", trail.join(" -> "))));
        }
        let trail = [trail, &[name.to_owned()]].concat();
        if let Some((slug, figure)) = name.split_once(':') {
            let report = self.report_referred(slug, overrides, &trail)?;
            return published(&report, figure).ok_or_else(|| {
                let names = report.names().map(str::to_owned);
                Error::Call(format!("`{slug}` has no figure or fact `{figure}`{}", nearest(figure, names)))
            });
        }
        if let Some(value) = overrides.get(name) {
            return Ok(value.clone());
        }
        let (base, sensitivity) = match name.strip_suffix(".sensitivity") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let Some((_, Assumed { value, sensitivity: other, .. })) = self.spec.assumptions.get(base) else {
            let names = self.spec.assumptions.value_names();
            return Err(Error::Call(format!("a reference to nothing, `={name}`{}", nearest(name, names))));
        };
        match (sensitivity, other) {
            (false, _) => self.resolve(value, overrides, &trail),
            (true, Some(other)) => self.resolve(other, overrides, &trail),
            (true, None) => Err(Error::Call(format!("`{base}` has no sensitivity"))),
        }
    }

    /// The report of a lesson that another refers to: of what the other overrides, assumptions hold for both.
    ///
    /// A lesson takes many numbers from the same other one, and is itself run many times.
    fn report_referred(&self, slug: &str, overrides: &Overrides, trail: &[String]) -> Result<Arc<Report>, Error> {
        let inherited: Overrides = overrides
            .iter()
            .filter(|(name, _)| self.spec.assumptions.get(name).is_some())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let key = (slug.to_owned(), serde_json::to_string(&inherited).unwrap_or_default());
        let known = || self.referred.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(report) = known().get(&key) {
            return Ok(Arc::clone(report));
        }
        // Not under the lock: a referred lesson may refer to others.
        let report = Arc::new(self.run_below(slug, &inherited, trail)?.report);
        known().insert(key, Arc::clone(&report));
        Ok(report)
    }
}

/// The value of a figure as the course prints it (that is what a later lesson types in), or of a fact.
fn published(report: &Report, name: &str) -> Option<Value> {
    if let Some(figure) = report.figures().find(|figure| figure.name == name) {
        return match figure.value {
            Number::Integer(i) => Some(i.into()),
            Number::Real(_) => number_as_printed(&figure.digits()),
            Number::Absent => None,
        };
    }
    let (_, fact) = report.facts.iter().find(|(fact, _)| fact == name)?;
    Some(plain_fact(fact))
}

/// A numeral without decimals is a whole number, whatever the model computed with.
fn number_as_printed(digits: &str) -> Option<Value> {
    digits.parse::<i64>().map(Value::from).or_else(|_| digits.parse::<f64>().map(Value::from)).ok()
}

fn plain_fact(fact: &Fact) -> Value {
    match fact {
        Fact::Number(Number::Integer(i)) => (*i).into(),
        Fact::Number(Number::Real(x)) => (*x).into(),
        Fact::Number(Number::Absent) => Value::Null,
        Fact::Flag(flag) => (*flag).into(),
        Fact::Text(text) => text.as_str().into(),
        Fact::List(items) => items.iter().map(plain_fact).collect(),
    }
}

fn fits(range: &Range, value: &Value) -> bool {
    match range {
        Range::Integer(range) => value.as_i64().is_some_and(|i| range.contains(&i)),
        Range::Real(range) => value.as_f64().is_some_and(|x| range.contains(&x)),
        Range::List(_) => value.is_array(),
        Range::Text => value.is_string(),
        Range::Flag => value.is_boolean(),
        Range::Json => true,
    }
}

/// The value at a dotted path; list elements by number.
pub fn at_path<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, step| match value {
        Value::Object(map) => map.get(step),
        Value::Array(items) => items.get(index(step)?),
        _ => None,
    })
}

/// A list index, written the one way (`0`, and not `00`).
fn index(step: &str) -> Option<usize> {
    step.parse().ok().filter(|index: &usize| index.to_string() == step)
}

/// The place at a dotted path.
pub fn at_path_mut<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.').try_fold(value, |value, step| match value {
        Value::Object(map) => map.get_mut(step),
        Value::Array(items) => items.get_mut(index(step)?),
        _ => None,
    })
}

/// Replaces the value at a dotted path.
///
/// # Errors
/// There is none, with the nearest paths.
pub fn replace_at(root: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let near = nearest(path, paths(root).into_iter());
    let place = at_path_mut(root, path).ok_or_else(|| format!("`{path}`: there is no such name{near}"))?;
    *place = value;
    Ok(())
}

/// Puts a value at a dotted path, making the groups on the way.
fn insert(root: &mut Value, path: &str, value: Value) {
    match path.split_once('.') {
        Some((group, rest)) => insert(&mut root[group], rest, value),
        None => root[path] = value,
    }
}

/// Every dotted path of a value, groups and lists included.
fn paths(value: &Value) -> Vec<String> {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    for (name, member) in members {
        all.extend(paths(member).into_iter().map(|below| format!("{name}.{below}")));
        all.push(name);
    }
    all
}
