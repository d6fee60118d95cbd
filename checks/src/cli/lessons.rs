//! `coursecheck lessons`

use super::{Failure, Format, Outcome, write_json};
use crate::suite::{Overrides, Suite};
use models::catalogue::{Course, ENTRIES, Entry};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct LessonsJson {
    lessons: Vec<Row>,
}

/// One lesson and how much of it the suite covers.
#[derive(Serialize)]
struct Row {
    course: &'static str,
    number: usize,
    slug: &'static str,
    title: &'static str,
    modelled: bool,
    blocks: usize,
    figures: usize,
    claims: usize,
}

pub(super) fn run(suite: &Suite, format: Format, out: &mut impl Write) -> Result<Outcome, Failure> {
    let rows = ENTRIES.iter().map(|entry| row(suite, entry)).collect::<Result<Vec<_>, _>>()?;
    if format == Format::Json {
        write_json(out, &LessonsJson { lessons: rows })?;
        return Ok(Outcome::Holds);
    }
    let width = rows.iter().map(|row| row.slug.len()).max().unwrap_or(0);
    for course in Course::ALL {
        let lessons: Vec<&Row> = rows.iter().filter(|row| row.course == course.slug()).collect();
        let modelled = lessons.iter().filter(|row| row.modelled).count();
        writeln!(out, "{} ({}): {modelled} of {} modelled", course.title(), course.slug(), lessons.len())?;
        for Row { number, slug, modelled, blocks, figures, claims, .. } in lessons {
            match modelled {
                true => {
                    writeln!(
                        out,
                        "  {number:2}  {slug:width$}  {blocks} blocks, {figures:4} figures, {claims:3} claims"
                    )?;
                }
                false => writeln!(out, "  {number:2}  {slug:width$}  no model yet")?,
            }
        }
    }
    Ok(Outcome::Holds)
}

fn row(suite: &Suite, entry: &'static Entry) -> Result<Row, Failure> {
    let Entry { course, number, slug, title, .. } = entry;
    let (course, number) = (course.slug(), *number);
    let bare = Row { course, number, slug, title, modelled: false, blocks: 0, figures: 0, claims: 0 };
    let Some(lesson) = suite.spec.lesson(slug) else { return Ok(bare) };
    let report = suite.run(slug, &Overrides::new())?.report;
    let (blocks, figures) = (report.blocks.len(), report.figures().count());
    Ok(Row { modelled: true, blocks, figures, claims: lesson.claims.len(), ..bare })
}
