//! `coursecheck run LESSON [--set NAME=VALUE]...`

use super::{Failure, Format, Outcome, write_json};
use crate::frozen;
use crate::nearest::nearest;
use crate::suite::{Error, Overrides, Suite};
use models::figures::{Figure, Number};
use models::invariants::Held;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The lesson's slug, as `coursecheck lessons` lists them.
    lesson: String,
    /// Replaces a parameter or an assumption; VALUE is YAML, NAME may be nested (modes.down.failed_hold=4).
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Checks one of the lesson's invariants at these parameters, in place of printing its blocks.
    #[arg(long, value_name = "ID")]
    invariant: Option<String>,
}

#[derive(Serialize)]
struct HeldJson<'a> {
    lesson: &'a str,
    parameters: &'a Value,
    invariant: &'a str,
    verdict: &'static str,
    message: Option<&'a str>,
}

#[derive(Serialize)]
struct RunJson<'a> {
    lesson: &'a str,
    parameters: &'a Value,
    blocks: Vec<BlockJson<'a>>,
}

#[derive(Serialize)]
struct BlockJson<'a> {
    name: &'a str,
    figures: Vec<FigureJson<'a>>,
}

#[derive(Serialize)]
struct FigureJson<'a> {
    name: &'a str,
    value: Number,
    shown: String,
}

impl<'a> From<&'a Figure> for FigureJson<'a> {
    fn from(figure: &'a Figure) -> Self {
        Self { name: &figure.name, value: figure.value, shown: figure.shown() }
    }
}

pub(super) fn run(
    suite: &Suite,
    arguments: &Arguments,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let slug = &arguments.lesson;
    let overrides = suite.overrides(slug, &arguments.set)?;
    if let Some(id) = &arguments.invariant {
        return check_invariant(suite, slug, id, &overrides, format, out);
    }
    let run = suite.run(slug, &overrides)?;
    match format {
        Format::Human => write!(out, "{}", frozen::render(&run.report))?,
        Format::Json => {
            let blocks = run.report.blocks.iter().map(|block| BlockJson {
                name: block.name,
                figures: block.figures.iter().map(FigureJson::from).collect(),
            });
            write_json(out, &RunJson { lesson: slug, parameters: &run.parameters, blocks: blocks.collect() })?;
        }
    }
    Ok(Outcome::Holds)
}

fn check_invariant(
    suite: &Suite,
    slug: &str,
    id: &str,
    overrides: &Overrides,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let (parameters, prepared) = suite.prepare(slug, overrides)?;
    let held = prepared.held(id).map_err(|problem| Error::Call(problem.message))?;
    let Some(held) = held else {
        let known = suite.lesson(slug)?.invariants.iter().map(|stated| stated.id.clone());
        return Err(Error::Call(format!("{slug} has no invariant `{id}`{}", nearest(id, known))).into());
    };
    let (verdict, message, outcome) = match &held {
        Held::Holds => ("holds", None, Outcome::Holds),
        Held::Vacuous => ("vacuous", None, Outcome::NothingChecked),
        Held::Broken(message) => ("breaks", Some(message.as_str()), Outcome::Fails),
    };
    match (format, message) {
        (Format::Json, _) => {
            write_json(out, &HeldJson { lesson: slug, parameters: &parameters, invariant: id, verdict, message })?;
        }
        (Format::Human, None) => writeln!(out, "{slug}#{id} {verdict}")?,
        (Format::Human, Some(message)) => writeln!(out, "{slug}#{id} {verdict}: {message}")?,
    }
    Ok(outcome)
}
