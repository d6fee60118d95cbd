//! One lesson's file: its parameters, claims, invariants and statements over seeds, as written.

use super::yaml::{YamlError, YamlFile};
use crate::nearest::nearest;
use models::catalogue::{Entry, Model};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// A lesson's spec file.
#[derive(Debug)]
pub struct LessonSpec {
    /// The lesson.
    pub entry: &'static Entry,
    /// The file, for positions in messages.
    pub file: YamlFile,
    /// Its parameters, groups flattened to dotted paths, in file order.
    pub parameters: Vec<Parameter>,
    /// Its claims, in the order of the text.
    pub claims: Vec<ClaimSpec>,
    /// What must hold for all parameters; the code stands beside the model.
    pub invariants: Vec<InvariantSpec>,
    /// What is said of one seed and looked at over many.
    pub over_seeds: Vec<SeedSpec>,
}

/// One parameter as it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Dotted path.
    pub path: String,
    /// Where its value comes from.
    pub origin: Origin,
}

/// Where a parameter's value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// `=AY2.slots`, or `=LESSON:FIGURE`: another value, without the equals sign.
    Reference(String),
    /// Written here. The value may hold references inside lists and maps.
    Literal {
        /// The value.
        value: Value,
        /// Its unit.
        unit: String,
        /// Where in the course it stands.
        origin: String,
    },
}

/// A claim as it stands in the file; see CONTRIBUTING for how to write one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimSpec {
    /// The section's heading as a slug; `introduction` before the first heading, `closing-table` for the row of the
    /// course's last table.
    pub section: String,
    /// Which paragraph or list item of the section, from 1; required where the claim has no numeral.
    pub paragraph: Option<usize>,
    /// The statement in our own words, with `{numeral = expression}` for each numeral.
    pub says: String,
    /// What must be true besides: one expression or several.
    #[serde(default)]
    pub holds: OneOrMany,
    /// Recorded as contradicted by the model, and why; `{expression}` stands for a computed value.
    pub refuted: Option<String>,
    /// Not checkable with the model, and why.
    pub not_checked: Option<String>,
    /// True of the published seed: the `id` of the fragile statement over seeds that says of how many others.
    pub fragile: Option<String>,
}

/// An invariant as it stands in the file; its code is found by its `id`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvariantSpec {
    /// Names it, here and in the model.
    pub id: String,
    /// The statement in our own words.
    pub says: String,
    /// The parameters to vary: single ones, groups, lists; all numbers and switches where none is named.
    #[serde(default)]
    pub varies: Vec<String>,
    /// Where cases start, in place of the spec's values, so that one is quick.
    #[serde(default)]
    pub from: BTreeMap<String, Value>,
    /// Argued, and false.
    pub refuted: Option<RefutedSpec>,
}

/// Why an argued invariant is false.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefutedSpec {
    /// What the counterexample shows, and what does hold.
    pub because: String,
    /// The smallest counterexample: what differs from the spec's values.
    pub at: BTreeMap<String, Value>,
}

/// A statement over seeds as it stands in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedSpec {
    /// Names it for the claims that depend on it.
    pub id: Option<String>,
    /// The statement in our own words.
    pub says: String,
    /// What must be true of a seed's run: one expression or several.
    pub holds: OneOrMany,
    /// The number that the statement is about.
    pub value: Option<String>,
    /// For how many seeds it holds.
    pub class: SeedClass,
}

/// How much a statement depends on the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SeedClass {
    /// It holds for 99 % of the seeds or more.
    Robust,
    /// Between the two.
    Usual,
    /// It holds for less than 95 % of them.
    Fragile,
}

/// One expression, or a list of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// Nothing besides the numerals.
    #[default]
    None,
    /// One.
    One(String),
    /// All of them must hold.
    Many(Vec<String>),
}

impl OneOrMany {
    /// The expressions.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LessonFile {
    lesson: String,
    parameters: Map<String, Value>,
    #[serde(default)]
    claims: Vec<ClaimSpec>,
    #[serde(default)]
    invariants: Vec<InvariantSpec>,
    #[serde(default)]
    over_seeds: Vec<SeedSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Literal {
    value: Value,
    unit: String,
    origin: String,
}

impl LessonSpec {
    /// Reads a lesson's file.
    ///
    /// # Errors
    /// See [`YamlFile::read`]; another lesson's slug; a parameter without unit and origin; an invariant without code,
    /// or code whose statement is missing; a fragile claim without its statement over seeds.
    pub fn load(path: &Path, entry: &'static Entry) -> Result<Self, YamlError> {
        Self::read(YamlFile::open(path)?, entry)
    }

    /// Reads it from a file that is already open.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read(file: YamlFile, entry: &'static Entry) -> Result<Self, YamlError> {
        let LessonFile { lesson, parameters, claims, invariants, over_seeds } = file.read()?;
        if lesson != entry.slug {
            return Err(file.at("lesson", format!("found `{lesson}`, expected `{}` as in the file name", entry.slug)));
        }
        let mut flat = Vec::new();
        flatten(&file, "", &parameters, &mut flat)?;
        match_code(&file, entry, &invariants)?;
        if let Some(i) = over_seeds.iter().position(|statement| statement.holds.as_slice().is_empty()) {
            return Err(file.at(&format!("over_seeds.{i}.holds"), "expected an expression, or a list of them"));
        }
        for (i, claim) in claims.iter().enumerate() {
            let Some(id) = &claim.fragile else { continue };
            let mut named = over_seeds.iter().filter(|statement| statement.id.as_ref() == Some(id));
            let is_fragile = named.next().is_some_and(|statement| statement.class == SeedClass::Fragile);
            if !is_fragile || named.next().is_some() {
                let message =
                    format!("found `{id}`, expected the `id` of one statement in `over_seeds` of class fragile");
                return Err(file.at(&format!("claims.{i}.fragile"), message));
            }
        }
        Ok(Self { entry, file, parameters: flat, claims, invariants, over_seeds })
    }

    /// The names that its parameters refer to, without the equals sign.
    pub fn references(&self) -> Vec<String> {
        let references = self.parameters.iter().map(|parameter| match &parameter.origin {
            Origin::Reference(name) => vec![name.clone()],
            Origin::Literal { value, .. } => references_in(value),
        });
        references.flatten().collect()
    }

    /// An error at a parameter's place in the file.
    pub fn parameter_error(&self, path: &str, message: impl Into<String>) -> YamlError {
        let owner = self.parameters.iter().find_map(|parameter| {
            let rest = path.strip_prefix(&parameter.path)?;
            (rest.is_empty() || rest.starts_with('.')).then_some((parameter, rest))
        });
        let place = match owner {
            Some((Parameter { path, origin: Origin::Literal { .. } }, rest)) => {
                format!("parameters.{path}.value{rest}")
            }
            _ => format!("parameters.{path}"),
        };
        self.file.at(&place, format!("parameter `{path}`: {}", message.into()))
    }
}

/// The names that a value refers to, without the equals sign.
pub fn references_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.strip_prefix('=').map(str::to_owned).into_iter().collect(),
        Value::Array(items) => items.iter().flat_map(references_in).collect(),
        Value::Object(map) => map.values().flat_map(references_in).collect(),
        _ => Vec::new(),
    }
}

/// Every statement has code of its name, and all code a statement.
fn match_code(file: &YamlFile, entry: &Entry, stated: &[InvariantSpec]) -> Result<(), YamlError> {
    let code = entry.model.as_ref().map(Model::invariants).unwrap_or_default();
    for (i, InvariantSpec { id, .. }) in stated.iter().enumerate() {
        let place = format!("invariants.{i}.id");
        if stated[..i].iter().any(|earlier| earlier.id == *id) {
            return Err(file.at(&place, format!("the invariant `{id}` is stated twice")));
        }
        if !code.contains(&id.as_str()) {
            let near = nearest(id, code.iter().map(|id| (*id).to_owned()));
            return Err(file.at(&place, format!("the model has no code for the invariant `{id}`{near}")));
        }
    }
    match code.iter().find(|id| !stated.iter().any(|stated| stated.id == **id)) {
        Some(id) => Err(file.at("invariants", format!("no statement for the model's invariant `{id}`"))),
        None => Ok(()),
    }
}

fn flatten(
    file: &YamlFile,
    prefix: &str,
    group: &Map<String, Value>,
    flat: &mut Vec<Parameter>,
) -> Result<(), YamlError> {
    for (name, value) in group {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let origin = match value {
            Value::String(text) if text.starts_with('=') => Origin::Reference(text[1..].to_owned()),
            Value::Object(map) if map.contains_key("value") => {
                let Literal { value, unit, origin } = serde_json::from_value(Value::Object(map.clone()))
                    .map_err(|error| file.at(&format!("parameters.{path}"), format!("parameter `{path}`: {error}")))?;
                Origin::Literal { value, unit, origin }
            }
            Value::Object(map) => {
                flatten(file, &path, map, flat)?;
                continue;
            }
            _ => {
                let message = format!("parameter `{path}`: expected =REFERENCE, or `value`, `unit` and `origin`");
                return Err(file.at(&format!("parameters.{path}"), message));
            }
        };
        flat.push(Parameter { path, origin });
    }
    Ok(())
}
