//! `coursecheck parameters LESSON`

use super::{Failure, Format, Outcome, write_json};
use crate::spec::lesson::{LessonSpec, Origin};
use crate::suite::{Overrides, Suite, at_path};
use models::parameters::Range;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The lesson's slug, as `coursecheck lessons` lists them.
    lesson: String,
}

#[derive(Serialize)]
struct ParametersJson<'a> {
    lesson: &'a str,
    parameters: Vec<Row>,
}

/// One parameter, ready to print.
#[derive(Serialize)]
struct Row {
    name: String,
    value: Value,
    unit: String,
    range: String,
    origin: String,
}

pub(super) fn run(
    suite: &Suite,
    arguments: &Arguments,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let lesson = suite.lesson(&arguments.lesson)?;
    let rows = rows(suite, lesson)?;
    if format == Format::Json {
        write_json(out, &ParametersJson { lesson: lesson.entry.slug, parameters: rows })?;
        return Ok(Outcome::Holds);
    }
    let width = |column: fn(&Row) -> usize| rows.iter().map(column).max().unwrap_or(0);
    let (names, values) = (width(|row| row.name.len()), width(|row| row.value.to_string().len()));
    for Row { name, value, unit, range, origin } in &rows {
        let value = value.to_string();
        writeln!(out, "{name:names$}  {value:>values$}  {unit}\n{:names$}    {range}; {origin}", "")?;
    }
    Ok(Outcome::Holds)
}

fn rows(suite: &Suite, lesson: &LessonSpec) -> Result<Vec<Row>, Failure> {
    let (values, prepared) = suite.prepare(lesson.entry.slug, &Overrides::new())?;
    let rows = prepared.parameters().iter().filter(|declared| !matches!(declared.range, Range::List(_)));
    Ok(rows
        .map(|declared| {
            let (unit, origin) = origin(suite, lesson, &declared.path);
            Row {
                name: declared.path.clone(),
                value: at_path(&values, &declared.path).cloned().unwrap_or_default(),
                unit,
                range: declared.range.to_string(),
                origin,
            }
        })
        .collect())
}

/// Unit and origin of the spec parameter that holds a declared path.
fn origin(suite: &Suite, lesson: &LessonSpec, path: &str) -> (String, String) {
    let owner = lesson.parameters.iter().find(|p| path == p.path || path.starts_with(&format!("{}.", p.path)));
    match owner.map(|parameter| &parameter.origin) {
        Some(Origin::Literal { unit, origin, .. }) => (unit.clone(), origin.clone()),
        Some(Origin::Reference(name)) => {
            let base = name.strip_suffix(".sensitivity").unwrap_or(name);
            match suite.spec.assumptions.get(base) {
                Some((assumption, assumed)) => (assumed.unit.clone(), format!("{name}: {}", assumption.says)),
                None => (String::new(), name.clone()),
            }
        }
        None => (String::new(), String::new()),
    }
}
