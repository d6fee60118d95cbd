//! YAML with positions: the only place that knows serde_yaml.
//!
//! serde_yaml keeps no positions and, in maps, silently keeps the last of two equal keys. A file is therefore read in
//! two steps: into plain data, refusing duplicate keys and non-finite numbers, and then into its types. Where the
//! second step finds something wrong at a path, the text is walked once more to that path for its line and column.

use models::parameters::{self, Problem};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::path::{Path, PathBuf};

/// A YAML file: its name, for messages, and its text.
#[derive(Debug, Clone)]
pub struct YamlFile {
    /// The path as the user knows it.
    pub path: PathBuf,
    text: String,
}

/// Something wrong in a YAML file, at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// The file.
    pub path: PathBuf,
    /// Line and column from 1; absent where the file could not be read at all.
    pub place: Option<(usize, usize)>,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for YamlError {}

impl YamlFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It is not there, or not UTF-8.
    pub fn open(path: &Path) -> Result<Self, YamlError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self { path: path.to_owned(), text }),
            Err(error) => Err(YamlError { path: path.to_owned(), place: None, message: error.to_string() }),
        }
    }

    /// A text that did not come from a file; `name` stands in the messages.
    pub fn from_text(name: &str, text: impl Into<String>) -> Self {
        Self { path: name.into(), text: text.into() }
    }

    /// The file as plain data.
    ///
    /// # Errors
    /// A syntax error, a duplicate key, a number that is not finite, a tag.
    pub fn data(&self) -> Result<Value, YamlError> {
        if self.text.trim().is_empty() {
            return Err(self.error((1, 1), "the file is empty"));
        }
        let deserializer = serde_yaml::Deserializer::from_str(&self.text);
        Data.deserialize(deserializer).map_err(|error| self.serde_error(&error))
    }

    /// The file as a type.
    ///
    /// # Errors
    /// As [`Self::data`], and whatever the type refuses: an unknown key, a missing one, another type of value.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, YamlError> {
        let data = self.data()?;
        parameters::read(&data).map_err(|Problem { path, message }| {
            // What is wrong with an unknown key is the key, not its value.
            let key = message.starts_with("unknown field").then(|| self.locate_key(&path)).flatten();
            key.map_or_else(|| self.at(&path, message.clone()), |place| self.error(place, message.clone()))
        })
    }

    /// An error at a dotted path of the file, or at its nearest ancestor that is there.
    pub fn at(&self, path: &str, message: impl Into<String>) -> YamlError {
        let mut steps = steps_of(path);
        while !steps.is_empty() {
            if let Some(place) = self.locate(&steps) {
                return self.error(place, message);
            }
            steps.pop();
        }
        self.error((1, 1), message)
    }

    /// Line and column of the value at a path.
    pub fn locate(&self, steps: &[&str]) -> Option<(usize, usize)> {
        self.walk(Locate { steps, to_key: false })
    }

    fn locate_key(&self, path: &str) -> Option<(usize, usize)> {
        self.walk(Locate { steps: &steps_of(path), to_key: true })
    }

    fn walk(&self, locate: Locate<'_>) -> Option<(usize, usize)> {
        let error = locate.deserialize(serde_yaml::Deserializer::from_str(&self.text)).err()?;
        let place = error.location()?;
        Some((place.line(), place.column()))
    }

    fn error(&self, place: (usize, usize), message: impl Into<String>) -> YamlError {
        YamlError { path: self.path.clone(), place: Some(place), message: message.into() }
    }

    fn serde_error(&self, error: &serde_yaml::Error) -> YamlError {
        let place = error.location().map_or((1, 1), |place| (place.line(), place.column()));
        let message = error.to_string();
        // The position is printed in front; serde_yaml appends it as well.
        let message = message.split(" at line ").next().unwrap_or(&message);
        self.error(place, message)
    }
}

fn steps_of(path: &str) -> Vec<&str> {
    path.split('.').filter(|step| !step.is_empty() && *step != "?").collect()
}

/// Reads one YAML value, such as the right side of `--set NAME=VALUE`.
///
/// # Errors
/// As [`YamlFile::data`], without a position.
pub fn value(text: &str) -> Result<Value, String> {
    let deserializer = serde_yaml::Deserializer::from_str(text);
    Data.deserialize(deserializer).map_err(|error| error.to_string())
}

/// Deserialises any YAML value into plain data, refusing what would be lost or ambiguous.
struct Data;

impl<'de> DeserializeSeed<'de> for Data {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Data {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true, false, a list or a map (no tags)")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value, E> {
        Ok(integer.into())
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Value, E> {
        Ok(integer.into())
    }

    fn visit_f64<E: serde::de::Error>(self, real: f64) -> Result<Value, E> {
        let number =
            Number::from_f64(real).ok_or_else(|| E::custom(format!("found {real}, expected a finite number")))?;
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Data)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key_seed(NewKey(&map))? {
            map.insert(key, entries.next_value_seed(Data)?);
        }
        Ok(map.into())
    }
}

/// A key that the map does not hold yet. Refusing it here gives the error the key's own position.
struct NewKey<'a>(&'a Map<String, Value>);

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NewKey<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        match self.0.contains_key(key) {
            true => Err(E::custom(format!("duplicate key `{key}`"))),
            false => Ok(key.to_owned()),
        }
    }
}

/// Walks to a path and fails there on purpose: the error carries the position.
struct Locate<'a> {
    steps: &'a [&'a str],
    /// Stop at the last step's key instead of at its value.
    to_key: bool,
}

impl<'de> DeserializeSeed<'de> for Locate<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Locate<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the end of the path")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.scalar()
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.scalar()
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        self.scalar()
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        self.scalar()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else { return Err(A::Error::custom("here")) };
        let mut index = 0;
        loop {
            let more = match step.parse() == Ok(index) {
                true => items.next_element_seed(Locate { steps, ..self })?,
                false => items.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            if more.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else { return Err(A::Error::custom("here")) };
        let stop_at = (self.to_key && steps.is_empty()).then_some(*step);
        while let Some(key) = entries.next_key_seed(Key { stop_at })? {
            match key == *step {
                true => entries.next_value_seed(Locate { steps, ..self })?,
                false => entries.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

impl Locate<'_> {
    fn scalar<E: serde::de::Error>(self) -> Result<(), E> {
        if self.steps.is_empty() { Err(E::custom("here")) } else { Ok(()) }
    }
}

/// Any key; fails at the one to stop at.
struct Key<'a> {
    stop_at: Option<&'a str>,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        if self.stop_at == Some(key) { Err(E::custom("here")) } else { Ok(key.to_owned()) }
    }
}
