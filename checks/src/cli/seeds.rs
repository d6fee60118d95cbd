//! `coursecheck seeds LESSON [--count N]`

use super::{Failure, Format, Outcome, write_json};
use crate::seeds::{Distribution, Survey, survey};
use crate::suite::Suite;
use indicatif::{ProgressBar, ProgressStyle};
use models::numbers::{fixed, plain};
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The lesson's slug, as `coursecheck lessons` lists them.
    lesson: String,
    /// So many seeds; always the same ones.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

#[derive(Serialize)]
struct SeedsJson<'a> {
    lesson: &'a str,
    seeds: u32,
    statements: &'a [Survey],
}

pub(super) fn run(
    suite: &Arc<Suite>,
    arguments: &Arguments,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let Arguments { lesson, count } = arguments;
    let bar = ProgressBar::new((*count).into());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} seeds, {eta} left") {
        bar.set_style(style);
    }
    let surveys = survey(suite, lesson, *count as usize, || bar.inc(1));
    bar.finish_and_clear();
    let surveys = surveys?;
    match format {
        Format::Json => write_json(out, &SeedsJson { lesson, seeds: *count, statements: &surveys })?,
        Format::Human => write_human(out, &surveys)?,
    }
    let as_recorded = surveys.iter().all(|survey| survey.class == survey.recorded);
    Ok(if as_recorded { Outcome::Holds } else { Outcome::Fails })
}

fn write_human(out: &mut impl Write, surveys: &[Survey]) -> Result<(), Failure> {
    writeln!(
        out,
        "class       holds    share    95 % interval      published value, percentile (least, median, greatest)"
    )?;
    for survey in surveys {
        let Survey { says, seeds, holds, share, interval, class, recorded, holds_as_published, value } = survey;
        let style = if class == recorded { super::GOOD } else { super::BAD };
        let percent = |share: f64| format!("{}%", fixed(100.0 * share, 2));
        let interval = interval.map(percent).join(" to ");
        let value = value.map(|Distribution { published, percentile, least, median, greatest }| {
            let [published, least, median, greatest] = [published, least, median, greatest].map(shown);
            format!("{published}, {} ({least}, {median}, {greatest})", fixed(percentile, 1))
        });
        let line =
            format!("{holds:>5}/{seeds:<5} {:>8}  {interval:18}  {}", percent(*share), value.unwrap_or_default());
        writeln!(out, "{style}{:8}{style:#} {}", class.word(), line.trim_end())?;
        writeln!(out, "         {}", says.trim())?;
        if class != recorded {
            writeln!(out, "         recorded as {}", recorded.word())?;
        }
        if !holds_as_published {
            writeln!(out, "         does not hold for the published seed")?;
        }
    }
    Ok(())
}

/// To four decimals at most: what follows is rounding.
fn shown(x: f64) -> String {
    fixed(x, 4).parse().map_or_else(|_| plain(x), plain)
}
