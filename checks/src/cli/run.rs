//! `coursecheck run LESSON [--set NAME=VALUE]...`

use super::{Failure, Format, Outcome, write_json};
use crate::frozen;
use crate::suite::Suite;
use models::figures::{Figure, Number};
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
