//! Expressions over figures: the only place that knows minijinja.
//!
//! Names are a lesson's figures and facts (`runs.slowdown.none.calls`), its `parameters`, and the assumptions
//! (`AY2.slots`). Division is true division, integers and doubles mix, a name that is not there is an error.

use super::comparison::{self, Comparison};
use crate::suite::{Error, Overrides, Run, Suite};
use minijinja::value::{Kwargs, Serde, ValueKind};
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};
use models::catalogue;
use models::figures::{Fact, Number};
use models::numbers;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Evaluates the expressions of one lesson's claims.
pub struct Evaluator {
    environment: Environment<'static>,
    scope: Value,
}

/// An expression's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Computed {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Anything else, as text: good for showing, not for comparing.
    Other(String),
}

impl std::fmt::Display for Computed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(x) => f.write_str(&numbers::plain(*x)),
            Self::Flag(flag) => flag.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl Evaluator {
    /// An evaluator over one run of a lesson. What the run overrides, its reruns override too.
    ///
    /// # Errors
    /// A figure whose name is also a group, or taken twice.
    pub fn new(suite: &Arc<Suite>, slug: &str, run: &Run) -> Result<Self, Error> {
        let scope =
            scope(suite, run).map_err(|name| Error::Call(format!("{slug}: the name `{name}` is taken twice")))?;
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        add_filters(&mut environment);
        let (slug, overrides) = (slug.to_owned(), run.overrides.clone());
        let reruns = Reruns { suite: Arc::clone(suite), slug, overrides, done: Arc::default() };
        let other = reruns.clone();
        environment.add_function("lesson", move |slug: &str| other.run(slug, &Overrides::new()));
        let varied = reruns.clone();
        environment.add_function("vary", move |name: &str, values: Vec<Value>, path: &str| {
            let one = |value: &Value| look_up(&varied.rerun([(name.to_owned(), plain(value)?)].into())?, path);
            values.iter().map(one).collect::<Result<Vec<_>, _>>()
        });
        environment.add_function("rerun", move |set: Kwargs| {
            let set = set.args().map(|name| Ok((name.to_owned(), plain(&set.get::<Value>(name)?)?)));
            reruns.rerun(set.collect::<Result<_, minijinja::Error>>()?)
        });
        Ok(Self { environment, scope })
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// What is wrong with it: syntax, a name that is not there, a division by zero.
    pub fn evaluate(&self, expression: &str) -> Result<Computed, String> {
        if expression.len() > LONGEST_EXPRESSION {
            return Err(format!("expected an expression of at most {LONGEST_EXPRESSION} bytes"));
        }
        comparison::find(expression)?;
        let value = self.value(expression)?;
        match value.kind() {
            ValueKind::Undefined => Err("nothing has that name".to_owned()),
            ValueKind::Bool => Ok(Computed::Flag(value.is_true())),
            ValueKind::Number => f64::try_from(value).map(Computed::Number).map_err(|error| explain(&error)),
            _ => Ok(Computed::Other(value.to_string())),
        }
    }

    /// Whether a condition is true.
    ///
    /// # Errors
    /// As [`Self::evaluate`]; a condition that is neither true nor false; one that could not fail.
    pub fn holds(&self, condition: &str) -> Result<bool, String> {
        let holds = match self.evaluate(condition)? {
            Computed::Flag(holds) => holds,
            other => return Err(format!("this is {other}, expected true or false")),
        };
        let compiled = self.environment.compile_expression(condition).map_err(|error| explain(&error))?;
        let names = compiled.undeclared_variables(true);
        if names.is_empty() {
            return Err("this names no figure, so it could not fail".to_owned());
        }
        // A name that evaluation did not come to (`true or typo`) must be there as well.
        for name in names.iter().filter(|name| !FUNCTIONS.contains(&name.as_str())) {
            look_up(&self.scope, name).map_err(|error| explain(&error))?;
        }
        if let Some(Comparison { left, operator, right }) = comparison::find(condition)? {
            let kinds = (self.value(left)?.kind(), self.value(right)?.kind());
            if left == right {
                return Err("both sides are the same, so it could not fail".to_owned());
            }
            if kinds.0 != kinds.1 || (kinds.0 == ValueKind::Map && !matches!(operator, "==" | "!=")) {
                return Err(format!("this compares a {} with a {}", kinds.0, kinds.1));
            }
        }
        Ok(holds)
    }

    fn value(&self, expression: &str) -> Result<Value, String> {
        let compiled = self.environment.compile_expression(expression).map_err(|error| explain(&error))?;
        compiled.eval(&self.scope).map_err(|error| explain(&error))
    }

    /// Both sides of a comparison, as values: `213 <= 1016`.
    pub fn sides(&self, expression: &str) -> Option<String> {
        let Comparison { left, operator, right } = comparison::find(expression).ok().flatten()?;
        let (left, right) = (self.evaluate(left).ok()?, self.evaluate(right).ok()?);
        Some(format!("{left} {operator} {right}"))
    }

    /// The names that an expression reads, with their values.
    pub fn inputs(&self, expression: &str) -> Vec<(String, String)> {
        let Ok(compiled) = self.environment.compile_expression(expression) else { return Vec::new() };
        let mut names: Vec<String> = compiled.undeclared_variables(true).into_iter().collect();
        names.sort();
        let value = |name: &String| Some((name.clone(), look_up(&self.scope, name).ok()?));
        let leaves = names.iter().filter_map(value).filter(|(_, value)| value.kind() != ValueKind::Map);
        leaves.map(|(name, value)| (name, value.to_string())).collect()
    }
}

/// Longer ones would exhaust the stack when they are parsed.
const LONGEST_EXPRESSION: usize = 4096;

fn explain(error: &minijinja::Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

/// Runs of this and other lessons with changed parameters, each done once.
#[derive(Clone)]
struct Reruns {
    suite: Arc<Suite>,
    slug: String,
    overrides: Overrides,
    done: Arc<Mutex<BTreeMap<String, Rerun>>>,
}

/// Filled by the first claim that asks for it; another one that asks meanwhile waits.
type Rerun = Arc<OnceLock<Result<Value, String>>>;

impl Reruns {
    /// This lesson with changes to what the run overrides already.
    fn rerun(&self, set: Overrides) -> Result<Value, minijinja::Error> {
        let mut overrides = self.overrides.clone();
        overrides.extend(set);
        self.run(&self.slug, &overrides)
    }

    fn run(&self, slug: &str, set: &Overrides) -> Result<Value, minijinja::Error> {
        let key = format!("{slug} {}", serde_json::to_string(set).unwrap_or_default());
        let rerun = Arc::clone(self.done.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        // Not under the lock: claims are judged in parallel, and each rerun takes as long as a lesson does.
        let known = rerun.get_or_init(|| {
            let run = self.suite.refuse_unknown(slug, set).and_then(|()| self.suite.run(slug, set));
            let run = run.map_err(|error| error.to_string())?;
            scope(&self.suite, &run).map_err(|name| format!("the name `{name}` is taken twice"))
        });
        known.clone().map_err(invalid)
    }
}

fn invalid(message: impl ToString) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, message.to_string())
}

fn plain(value: &Value) -> Result<serde_json::Value, minijinja::Error> {
    serde_json::to_value(value).map_err(invalid)
}

/// What expressions can call.
const FUNCTIONS: [&str; 10] =
    ["rerun", "vary", "lesson", "lesson_number", "values", "rises", "falls", "never_rises", "never_falls", "all_equal"];

/// Everything an expression can name.
fn scope(suite: &Suite, run: &Run) -> Result<Value, String> {
    let mut root = Tree::default();
    for function in FUNCTIONS {
        // A figure of that name would hide the function.
        root.insert(function, Value::UNDEFINED)?;
    }
    for figure in run.report.figures().filter(|figure| !figure.name.starts_with("parameters.")) {
        root.insert(&figure.name, number(figure.value))?;
    }
    for (name, fact) in &run.report.facts {
        root.insert(name, fact_value(fact))?;
    }
    root.insert("parameters", Value::from(Serde(&run.parameters)))?;
    for name in suite.spec.assumptions.value_names() {
        let value = suite.assumed(&name).map_err(|error| error.to_string())?;
        root.insert(&name, Value::from(Serde(value)))?;
    }
    root.0.retain(|name, _| !FUNCTIONS.contains(&name.as_str()));
    Ok(root.into())
}

fn number(value: Number) -> Value {
    match value {
        Number::Integer(i) => i.into(),
        Number::Real(x) => x.into(),
        Number::Absent => ().into(),
    }
}

fn fact_value(fact: &Fact) -> Value {
    match fact {
        Fact::Number(value) => number(*value),
        Fact::Flag(flag) => (*flag).into(),
        Fact::Text(text) => text.as_str().into(),
        Fact::List(items) => items.iter().map(fact_value).collect(),
    }
}

/// Dotted names as nested groups.
#[derive(Debug, Default)]
struct Tree(BTreeMap<String, Node>);

#[derive(Debug)]
enum Node {
    Leaf(Value),
    Group(Tree),
}

impl Tree {
    /// Refused with the name where it is taken already.
    fn insert(&mut self, name: &str, value: Value) -> Result<(), String> {
        match name.split_once('.') {
            None => match self.0.insert(name.to_owned(), Node::Leaf(value)) {
                None => Ok(()),
                Some(_) => Err(name.to_owned()),
            },
            Some((group, rest)) => {
                match self.0.entry(group.to_owned()).or_insert_with(|| Node::Group(Self::default())) {
                    Node::Group(group) => group.insert(rest, value).map_err(|_| name.to_owned()),
                    Node::Leaf(_) => Err(name.to_owned()),
                }
            }
        }
    }
}

impl From<Tree> for Value {
    fn from(tree: Tree) -> Self {
        let value = |node| match node {
            Node::Leaf(value) => value,
            Node::Group(tree) => tree.into(),
        };
        Self::from_pairs(tree.0.into_iter().map(|(name, node)| (name, value(node))))
    }
}

/// The value at a dotted path.
fn look_up(value: &Value, path: &str) -> Result<Value, minijinja::Error> {
    path.split('.').try_fold(value.clone(), |value, step| {
        let below = match step.parse::<usize>() {
            Ok(index) if value.kind() == ValueKind::Seq => value.get_item_by_index(index)?,
            _ => value.get_attr(step)?,
        };
        if below.is_undefined() { Err(invalid(format!("nothing is named `{path}`"))) } else { Ok(below) }
    })
}

/// All values that match a dotted pattern; `*` stands for any one name.
fn values(value: &Value, pattern: &str) -> Result<Vec<Value>, minijinja::Error> {
    let (step, rest) = pattern.split_once('.').map_or((pattern, None), |(step, rest)| (step, Some(rest)));
    let members = match step {
        "*" => {
            let keys = value.try_iter()?;
            keys.map(|key| value.get_item(&key)).collect::<Result<Vec<_>, _>>()?
        }
        name => vec![look_up(value, name)?],
    };
    match rest {
        None => Ok(members),
        Some(rest) => {
            let below = members.iter().map(|member| values(member, rest)).collect::<Result<Vec<_>, _>>()?;
            Ok(below.into_iter().flatten().collect())
        }
    }
}

/// What expressions can call besides `rerun`, `vary` and `lesson`.
fn add_filters(environment: &mut Environment<'static>) {
    environment.add_function("lesson_number", |slug: &str| {
        let entry = catalogue::find(slug).ok_or_else(|| invalid(format!("no lesson `{slug}`")))?;
        Ok(entry.number)
    });
    environment.add_function("values", |tree: Value, pattern: &str| {
        let found = values(&tree, pattern)?;
        if found.is_empty() { Err(invalid(format!("nothing matches `{pattern}`"))) } else { Ok(found) }
    });
    environment.add_function("never_falls", |list: Vec<f64>| pairs(&list, |a, b| a <= b));
    environment.add_function("never_rises", |list: Vec<f64>| pairs(&list, |a, b| a >= b));
    environment.add_function("rises", |list: Vec<f64>| pairs(&list, |a, b| a < b));
    environment.add_function("falls", |list: Vec<f64>| pairs(&list, |a, b| a > b));
    environment.add_function("all_equal", |list: Vec<Value>| {
        at_least_two(list.len()).map(|()| list.windows(2).all(|pair| pair[0] == pair[1]))
    });
    environment.add_filter("fixed", |x: f64, decimals: u8| numbers::fixed(x, decimals));
    environment.add_filter("grouped", numbers::grouped);
    environment.add_filter("round", |x: f64, decimals: Option<u8>| {
        numbers::fixed(x, decimals.unwrap_or(0)).parse::<f64>().map_err(invalid)
    });
    environment.add_filter("floor", f64::floor);
    environment.add_filter("ceil", f64::ceil);
    environment.add_filter("abs", f64::abs);
    environment.add_filter("length", |list: Vec<Value>| list.len());
    environment.add_filter("sum", |list: Vec<f64>| list.iter().sum::<f64>());
    environment.add_filter("min", |list: Vec<f64>| list.into_iter().reduce(f64::min));
    environment.add_filter("max", |list: Vec<f64>| list.into_iter().reduce(f64::max));
}

/// An ordering of fewer than two values holds without saying anything.
fn at_least_two(length: usize) -> Result<(), minijinja::Error> {
    if length < 2 { Err(invalid("expected at least two values to compare")) } else { Ok(()) }
}

fn pairs(list: &[f64], ordered: fn(f64, f64) -> bool) -> Result<bool, minijinja::Error> {
    at_least_two(list.len()).map(|()| list.windows(2).all(|pair| ordered(pair[0], pair[1])))
}
