//! The named assumptions of both courses.

use super::yaml::{YamlError, YamlFile};
use models::catalogue;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// `spec/assumptions.yaml`.
#[derive(Debug)]
pub struct Assumptions {
    /// The file, for positions in messages.
    pub file: YamlFile,
    named: BTreeMap<String, Assumption>,
}

/// One named assumption and its values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// What kind of number it is.
    pub class: Class,
    /// The slug of the lesson that introduces it.
    pub lesson: Option<String>,
    /// Where it comes from, if from outside the two courses.
    pub source: Option<String>,
    /// What is assumed, in our own words.
    pub says: String,
    /// Its values, by name.
    pub values: BTreeMap<String, Assumed>,
}

/// The three classes of number that the courses distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Chosen, with a rationale.
    Assumption,
    /// Follows from others by arithmetic.
    #[serde(rename = "computed value")]
    ComputedValue,
    /// Came out of a run.
    Measurement,
}

/// One value of an assumption.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumed {
    /// The value, or `=NAME.VALUE`.
    pub value: Value,
    /// Its unit.
    pub unit: String,
    /// The other value or values that the course tries.
    pub sensitivity: Option<Value>,
}

impl Assumptions {
    /// Reads the file.
    ///
    /// # Errors
    /// See [`YamlFile::read`]; an assumption without an origin; a lesson that neither course has.
    pub fn load(path: &Path) -> Result<Self, YamlError> {
        Self::read(YamlFile::open(path)?)
    }

    /// Reads them from a file that is already open.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read(file: YamlFile) -> Result<Self, YamlError> {
        let named: BTreeMap<String, Assumption> = file.read()?;
        for (name, assumption) in &named {
            match (&assumption.lesson, &assumption.source) {
                (Some(slug), None) if catalogue::find(slug).is_none() => {
                    let message = format!("found `{slug}`, expected the slug of a lesson of either course");
                    return Err(file.at(&format!("{name}.lesson"), message));
                }
                (Some(_), None) | (None, Some(_)) => {}
                _ => return Err(file.at(name, "expected either `lesson` or `source`")),
            }
        }
        Ok(Self { file, named })
    }

    /// Every assumption, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Assumption)> {
        self.named.iter().map(|(name, assumption)| (name.as_str(), assumption))
    }

    /// The full name of every value: `AY2.slots`.
    pub fn value_names(&self) -> impl Iterator<Item = String> {
        self.iter().flat_map(|(name, a)| a.values.keys().map(move |value| format!("{name}.{value}")))
    }

    /// The assumption and the value of a full name.
    pub fn get(&self, name: &str) -> Option<(&Assumption, &Assumed)> {
        let (name, value) = name.split_once('.')?;
        let assumption = self.named.get(name)?;
        Some((assumption, assumption.values.get(value)?))
    }
}
