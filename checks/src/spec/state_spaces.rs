//! The state spaces: their bounds, and what exploring them must find.

use super::yaml::{YamlError, YamlFile};
use crate::explore::spaces::{self, Space};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// `spec/state-spaces.yaml`.
#[derive(Debug)]
pub struct StateSpaces {
    /// The file, for positions in messages.
    pub file: YamlFile,
    spaces: BTreeMap<Space, SpaceSpec>,
}

/// One space as it stands in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceSpec {
    /// Bounds that take well under a second, and every mechanism on.
    pub parameters: Value,
    /// What is found with them.
    pub expected: Expected,
    /// Larger bounds, explored only when asked for.
    pub long: Long,
    /// The same with mechanisms off: each must lead to a counterexample.
    pub controls: Vec<Control>,
    /// What this says about the lessons.
    #[serde(default)]
    pub findings: Vec<SpaceFinding>,
}

/// What an exploration must find.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Different states.
    pub distinct_states: usize,
    /// Actions to the state that is farthest away.
    pub depth: usize,
    /// The properties that do not hold; all others do.
    #[serde(default)]
    pub fails: Vec<String>,
}

/// The space at larger bounds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Long {
    /// What is larger.
    pub set: BTreeMap<String, Value>,
    /// What is found then.
    pub expected: Expected,
}

/// The space with mechanisms switched off.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Which.
    pub without: Vec<String>,
    /// Other bounds, where the counterexample needs fewer or more states to be found.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// What is found then.
    pub expected: Expected,
}

/// A statement of a lesson that holds for its schedule and not for every one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceFinding {
    /// The lesson's slug.
    pub lesson: String,
    /// The section's heading as a slug.
    pub section: String,
    /// What the lesson states and what the exploration found, in our own words.
    pub says: String,
    /// The mechanisms that are off where the counterexample is found; none if it needs none.
    pub without: Vec<String>,
    /// The property that fails there.
    pub fails: String,
}

impl StateSpaces {
    /// Reads the file.
    ///
    /// # Errors
    /// See [`YamlFile::read`]; a space that has no model, one that is missing, a control without a counterexample, a
    /// finding that no control shows.
    pub fn load(path: &Path) -> Result<Self, YamlError> {
        Self::read(YamlFile::open(path)?)
    }

    /// Reads it from a file that is already open.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read(file: YamlFile) -> Result<Self, YamlError> {
        let mut spaces = BTreeMap::new();
        for (name, spec) in file.read::<BTreeMap<String, SpaceSpec>>()? {
            let space = Space::find(&name).map_err(|message| file.at(&name, message))?;
            let prepared = |set: &BTreeMap<String, Value>, without: &[String]| {
                spaces::with(&spec.parameters, set).and_then(|parameters| space.prepare(&parameters, without))
            };
            let refuse = |place: &str, message: String| Err(file.at(&format!("{name}.{place}"), message));
            if let Err(message) = prepared(&BTreeMap::new(), &[]) {
                return refuse("parameters", message);
            }
            if let Err(message) = prepared(&spec.long.set, &[]) {
                return refuse("long.set", message);
            }
            for (i, control) in spec.controls.iter().enumerate() {
                if let Err(message) = prepared(&control.set, &control.without) {
                    return refuse(&format!("controls.{i}"), message);
                }
                if control.without.is_empty() || control.expected.fails.is_empty() {
                    let message = "expected a mechanism in `without`, and a property in `fails`";
                    return refuse(&format!("controls.{i}"), message.to_owned());
                }
            }
            for (i, finding) in spec.findings.iter().enumerate() {
                let place = format!("findings.{i}");
                if models::catalogue::find(&finding.lesson).is_none() {
                    let message = "expected the slug of a lesson of either course";
                    return refuse(&format!("{place}.lesson"), message.to_owned());
                }
                let shows = |control: &&Control| control.without == finding.without;
                let control = spec.controls.iter().find(shows).map(|control| &control.expected.fails);
                if !control.is_some_and(|fails| fails.contains(&finding.fails)) {
                    let message = "expected the `without` of a control and one of its `fails`";
                    return refuse(&place, message.to_owned());
                }
            }
            spaces.insert(space, spec);
        }
        match Space::ALL.into_iter().find(|space| !spaces.contains_key(space)) {
            Some(space) => Err(file.at("", format!("expected `{}`: its model has no bounds", space.name()))),
            None => Ok(Self { file, spaces }),
        }
    }

    /// Each space, in the order of reports.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &SpaceSpec)> {
        self.spaces.iter().map(|(space, spec)| (*space, spec))
    }

    /// The spec of a space.
    pub fn get(&self, space: Space) -> Option<&SpaceSpec> {
        self.spaces.get(&space)
    }
}
