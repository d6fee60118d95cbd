//! One lesson's file: its parameters and claims, as written.

use super::yaml::{YamlError, YamlFile};
use models::catalogue::Entry;
use serde::Deserialize;
use serde_json::{Map, Value};
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
    /// See [`YamlFile::read`]; another lesson's slug; a parameter without unit and origin.
    pub fn load(path: &Path, entry: &'static Entry) -> Result<Self, YamlError> {
        Self::read(YamlFile::open(path)?, entry)
    }

    /// Reads it from a file that is already open.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read(file: YamlFile, entry: &'static Entry) -> Result<Self, YamlError> {
        let LessonFile { lesson, parameters, claims } = file.read()?;
        if lesson != entry.slug {
            return Err(file.at("lesson", format!("found `{lesson}`, expected `{}` as in the file name", entry.slug)));
        }
        let mut flat = Vec::new();
        flatten(&file, "", &parameters, &mut flat)?;
        Ok(Self { entry, file, parameters: flat, claims })
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
