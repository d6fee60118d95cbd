//! `coursecheck check FILE...`

use super::{Failure, Format, Outcome, complain, verify_all, write_json};
use crate::check::finding::{Finding, Kind, Severity};
use crate::check::place::Lines;
use crate::check::{CheckedLesson, Numerals, check};
use crate::suite::Suite;
use crate::verified::Verified;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Course files, or pages of single lessons.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Warnings count as well: exit 1 also where only they were found.
    #[arg(long)]
    strict: bool,
}

#[derive(Serialize)]
struct CheckJson {
    documents: Vec<DocumentJson>,
    totals: Totals,
}

#[derive(Serialize)]
struct DocumentJson {
    path: String,
    /// Why the file could not be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    lessons: Vec<LessonJson>,
}

#[derive(Serialize)]
struct LessonJson {
    slug: String,
    line: usize,
    numerals: Numerals,
    findings: Vec<FindingJson>,
}

#[derive(Serialize)]
struct FindingJson {
    line: usize,
    column: usize,
    severity: Severity,
    kind: Kind,
    figure: Option<String>,
    published: Option<String>,
    computed: Option<String>,
    message: String,
}

#[derive(Serialize, Default)]
struct Totals {
    seen: usize,
    checked: usize,
    agree: usize,
    errors: usize,
    warnings: usize,
}

pub(super) fn run(
    suite: &Arc<Suite>,
    arguments: &Arguments,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let verified = verify_all(suite, &suite.spec.lessons.iter().collect::<Vec<_>>())?;
    let mut report = CheckJson { documents: Vec::new(), totals: Totals::default() };
    let mut unusable = false;
    for path in &arguments.files {
        let (text, lessons) = match read_and_check(path, &verified) {
            Ok(checked) => checked,
            Err(message) => {
                complain(&message);
                unusable = true;
                let path = path.display().to_string();
                report.documents.push(DocumentJson { path, error: Some(message), lessons: Vec::new() });
                continue;
            }
        };
        let lines = Lines::of(&text);
        report.totals.add(&lessons);
        if format == Format::Human {
            write_document(out, path, &lines, &lessons)?;
        }
        let lessons = lessons.into_iter().map(|lesson| LessonJson::new(lesson, &lines)).collect();
        report.documents.push(DocumentJson { path: path.display().to_string(), error: None, lessons });
    }
    let totals = &report.totals;
    match format {
        Format::Json => write_json(out, &report)?,
        Format::Human if report.documents.iter().all(|document| document.error.is_some()) => {}
        Format::Human => {
            let Totals { seen, checked, agree, errors, warnings } = totals;
            writeln!(
                out,
                "{seen} numerals seen, {checked} checked, {agree} agree; {errors} errors, {warnings} warnings"
            )?;
        }
    }
    Ok(match totals {
        _ if unusable => Outcome::NothingChecked,
        Totals { errors: 1.., .. } => Outcome::Fails,
        Totals { checked: 0, .. } => {
            complain("nothing was checked: these files hold no numeral of a lesson that has a model");
            Outcome::NothingChecked
        }
        Totals { errors: 0, warnings: 0, .. } => Outcome::Holds,
        Totals { errors: 0, .. } if !arguments.strict => Outcome::Holds,
        _ => Outcome::Fails,
    })
}

/// Reads and checks one file; errors carry the path, and the place where there is one.
fn read_and_check(path: &Path, verified: &[Verified<'_>]) -> Result<(String, Vec<CheckedLesson>), String> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        format!(
            "{name}: not UTF-8: byte {offset} is {:#04x}",
            error.as_bytes().get(offset).copied().unwrap_or_default()
        )
    })?;
    match check(&text, verified) {
        Ok(lessons) => Ok((text, lessons)),
        Err(error) => Err(match error.offset {
            Some(offset) => {
                let (line, column) = Lines::of(&text).line_and_column(offset);
                format!("{name}:{line}:{column}: {error} (byte {offset})")
            }
            None => format!("{name}: {error}"),
        }),
    }
}

impl Totals {
    fn add(&mut self, lessons: &[CheckedLesson]) {
        for lesson in lessons {
            let count = lesson.numerals.total();
            self.seen += count.seen;
            self.checked += count.checked;
            self.agree += count.agree;
            let weighs = |severity| lesson.findings.iter().filter(|finding| finding.severity == severity).count();
            self.errors += weighs(Severity::Error);
            self.warnings += weighs(Severity::Warning);
        }
    }
}

impl LessonJson {
    fn new(lesson: CheckedLesson, lines: &Lines<'_>) -> Self {
        let CheckedLesson { slug, span, numerals, findings } = lesson;
        let findings = findings.into_iter().map(|finding| {
            let Finding { span, severity, kind, figure, published, computed, message, .. } = finding;
            let (line, column) = lines.line_and_column(span.start);
            FindingJson { line, column, severity, kind, figure, published, computed, message }
        });
        Self { slug, line: lines.line(span.start), numerals, findings: findings.collect() }
    }
}

/// Findings as a compiler shows them, then one line a lesson.
fn write_document(
    out: &mut impl Write,
    path: &Path,
    lines: &Lines<'_>,
    lessons: &[CheckedLesson],
) -> Result<(), Failure> {
    for finding in lessons.iter().flat_map(|lesson| &lesson.findings) {
        if finding.severity != Severity::Note {
            writeln!(out, "{}\n", shown(finding, path, lines))?;
        }
    }
    writeln!(out, "{}", path.display())?;
    let width = lessons.iter().map(|lesson| lesson.slug.chars().count()).max().unwrap_or(0);
    for lesson in lessons {
        let Numerals { output, table, prose } = &lesson.numerals;
        let notes = lesson.findings.iter().filter(|finding| finding.severity == Severity::Note);
        let parts = [("output", output), ("table", table), ("prose", prose)];
        let parts = parts.map(|(name, count)| format!("{name} {}/{}", count.checked, count.seen));
        let disagree = lesson.numerals.total();
        let disagree = match disagree.checked - disagree.agree {
            0 => String::new(),
            count => format!("; {count} disagree"),
        };
        let notes = notes.map(|note| format!("; not checked: {}", note.message)).collect::<String>();
        writeln!(out, "  {:width$}  {}{disagree}{notes}", lesson.slug, parts.join(", "))?;
    }
    Ok(())
}

/// A line longer than this is named and not shown.
const LONGEST_SHOWN_LINE: usize = 4096;

fn shown(finding: &Finding, path: &Path, lines: &Lines<'_>) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let (line, column) = lines.line_and_column(finding.span.start);
    let place = format!("{}:{line}:{column}", path.display());
    let bytes = lines.bytes_of(line);
    let help =
        finding.reproduce.as_ref().map(|command| Group::with_title(Level::HELP.secondary_title(command.as_str())));
    let title = format!("{place}: {}", finding.message);
    if bytes.len() > LONGEST_SHOWN_LINE {
        let groups: Vec<Group<'_>> =
            std::iter::once(Group::with_title(level.primary_title(title.as_str()))).chain(help).collect();
        return renderer().render(&groups);
    }
    let span = lines.first_line(&finding.span);
    let span =
        span.start.clamp(bytes.start, bytes.end) - bytes.start..span.end.clamp(bytes.start, bytes.end) - bytes.start;
    let label = match (&finding.published, &finding.computed) {
        (Some(_), Some(computed)) => format!("should be {computed}"),
        _ => String::new(),
    };
    let annotation = AnnotationKind::Primary.span(span);
    let annotation = if label.is_empty() { annotation } else { annotation.label(label.as_str()) };
    let source = lines.text().get(bytes).unwrap_or("");
    let snippet = Snippet::source(source).line_start(line).annotation(annotation);
    let group = level.primary_title(title.as_str()).element(snippet);
    let groups: Vec<Group<'_>> = std::iter::once(group).chain(help).collect();
    renderer().render(&groups)
}

fn renderer() -> Renderer {
    // The output stream strips the colours again where they are not wanted.
    if std::io::stdout().is_terminal() { Renderer::styled() } else { Renderer::plain() }
}
