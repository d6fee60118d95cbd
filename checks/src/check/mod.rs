//! Checks a course file or lesson page: every numeral against its figure.

pub mod blocks;
pub mod expected;
pub mod finding;
pub mod place;
mod sequence;

use crate::claims::verdict::{Judged, Verdict};
use crate::document::course::{Document, LessonText, Row, Unreadable, parse};
use crate::nearest::{is_misspelt, nearest};
use crate::verified::Verified;
use expected::Expected;
use finding::{Finding, Kind, Severity};
use models::catalogue::{self, Entry};
use place::Lines;
use sequence::Compared;
use serde::Serialize;
use std::ops::{AddAssign, Range};

/// How many numerals were seen, how many of them were compared, and how many of those agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Count {
    /// Numerals in the text.
    pub seen: usize,
    /// Numerals with a figure to compare with.
    pub checked: usize,
    /// Numerals that equal their figure.
    pub agree: usize,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.seen += other.seen;
        self.checked += other.checked;
        self.agree += other.agree;
    }
}

/// The numerals of a lesson by where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Numerals {
    /// In output blocks.
    pub output: Count,
    /// In the lesson's rows of the course's tables.
    pub table: Count,
    /// In paragraphs and lists; number words count where a claim explains them.
    pub prose: Count,
}

impl Numerals {
    /// All of them.
    pub fn total(&self) -> Count {
        let mut total = self.output;
        total += self.table;
        total += self.prose;
        total
    }
}

/// What was found in one lesson of a document.
#[derive(Debug, Clone)]
pub struct CheckedLesson {
    /// Its slug.
    pub slug: String,
    /// Where its heading stands.
    pub span: Range<usize>,
    /// How much of it was checked.
    pub numerals: Numerals,
    /// What is wrong, in the order of the text.
    pub findings: Vec<Finding>,
}

/// Checks a document. `verified` holds the lessons that have a model. The findings on the document as a whole stand with
/// its first lesson.
///
/// # Errors
/// A document that cannot be read, holds no lesson or one twice.
pub fn check(text: &str, verified: &[Verified<'_>]) -> Result<Vec<CheckedLesson>, Unreadable> {
    let document = parse(text)?;
    refuse_repeated(&document)?;
    let lines = Lines::of(text);
    let checker = Checker { document: &document, lines: &lines };
    let lessons = document.lessons.iter().map(|lesson| {
        let known = verified.iter().find(|verified| verified.lesson.entry.slug == lesson.slug);
        checker.lesson(lesson, known)
    });
    let mut lessons: Vec<CheckedLesson> = lessons.collect();
    if let Some(first) = lessons.first_mut() {
        first.findings.splice(0..0, checker.lost_lessons());
    }
    Ok(lessons)
}

fn refuse_repeated(document: &Document) -> Result<(), Unreadable> {
    let mut slugs = std::collections::BTreeSet::new();
    match document.lessons.iter().find(|lesson| !slugs.insert(&lesson.slug)) {
        None => Ok(()),
        Some(again) => Err(Unreadable {
            offset: Some(again.span.start),
            message: format!("lesson `{}` stands here a second time, expected each lesson once", again.slug),
        }),
    }
}

struct Checker<'a> {
    document: &'a Document,
    lines: &'a Lines<'a>,
}

impl Checker<'_> {
    fn lesson(&self, lesson: &LessonText, known: Option<&Verified<'_>>) -> CheckedLesson {
        let mut result = CheckedLesson {
            slug: lesson.slug.clone(),
            span: lesson.span.clone(),
            numerals: Numerals::default(),
            findings: Vec::new(),
        };
        match known {
            None => self.unknown_lesson(lesson, &mut result),
            Some(verified) => {
                self.blocks(lesson, verified, &mut result);
                self.prose(lesson, verified, &mut result);
                self.rows(lesson, verified, &mut result);
            }
        }
        result.findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
        result
    }

    /// A lesson that is gone would leave nothing behind to complain; the front matter's count does.
    fn lost_lessons(&self) -> Option<Finding> {
        let (declared, span) = self.document.declared_lessons.clone()?;
        let there = self.document.lessons.len();
        let slugs: Vec<&str> = self.document.lessons.iter().map(|lesson| lesson.slug.as_str()).collect();
        let course = catalogue::ENTRIES.iter().find(|entry| slugs.contains(&entry.slug)).map(|entry| entry.course);
        let lost = catalogue::ENTRIES.iter().filter(|entry| Some(entry.course) == course);
        let lost: Vec<&str> = lost.map(|entry| entry.slug).filter(|slug| !slugs.contains(slug)).collect();
        let names = if lost.is_empty() { String::new() } else { format!("; not there: {}", lost.join(", ")) };
        let message = format!("the front matter counts {declared} lessons, found {there}{names}");
        (declared != there).then(|| self.part(span, Severity::Error, Kind::PartMissing, message, None))
    }

    /// A lesson without a model is counted, and said to be unchecked.
    fn unknown_lesson(&self, lesson: &LessonText, result: &mut CheckedLesson) {
        let digits = |numerals: &[crate::document::numeral::Numeral]| numerals.iter().filter(|n| !n.is_word).count();
        let paragraphs = lesson.sections.iter().flat_map(|section| &section.paragraphs);
        result.numerals.output.seen = lesson.blocks.iter().map(|block| block.numerals.len()).sum();
        result.numerals.prose.seen = paragraphs.map(|paragraph| digits(&paragraph.numerals)).sum();
        result.numerals.table.seen = self.rows_of(&lesson.title).map(|row| digits(&row.numerals)).sum();
        let (severity, message) = match catalogue::find(&lesson.slug) {
            Some(_) => (Severity::Note, "this lesson has no model yet: nothing in it is checked".to_owned()),
            None => {
                let slugs = catalogue::ENTRIES.iter().map(|entry| entry.slug.to_owned());
                let near = nearest(&lesson.slug, slugs);
                let message = format!("neither course has a lesson `{}`: nothing in it is checked{near}", lesson.slug);
                // A typing error would silence a whole lesson.
                let meant = |entry: &Entry| entry.title == lesson.title || is_misspelt(&lesson.slug, entry.slug);
                let is_meant = catalogue::ENTRIES.iter().any(meant);
                (if is_meant { Severity::Error } else { Severity::Warning }, message)
            }
        };
        result.findings.push(self.part(lesson.span.clone(), severity, Kind::NotChecked, message, None));
    }

    fn blocks(&self, lesson: &LessonText, verified: &Verified<'_>, result: &mut CheckedLesson) {
        let published: Vec<(&str, Vec<Expected>)> =
            verified.run.report.blocks.iter().map(|block| (block.name, expected::of_block(block))).collect();
        let pairs = blocks::pair(&published, &lesson.blocks);
        let command = format!("coursecheck run {}", lesson.slug);
        for (i, (name, expected)) in published.iter().enumerate() {
            let Some(block) = pairs.iter().position(|pair| *pair == Some(i)) else {
                let count = expected.len();
                let message = format!("the output block `{name}` with its {count} numerals is not in this lesson");
                let span = lesson.span.clone();
                result.findings.push(self.part(span, Severity::Error, Kind::PartMissing, message, Some(&command)));
                continue;
            };
            let block = &lesson.blocks[block];
            let compared = Compared::new(expected, &block.numerals, self.lines);
            result.numerals.output += compared.count();
            let place = sequence::Place { whole: &block.span, exact: true, command: &command };
            result.findings.extend(compared.findings(&place));
        }
        for (block, _) in lesson.blocks.iter().zip(&pairs).filter(|(_, pair)| pair.is_none()) {
            result.numerals.output.seen += block.numerals.len();
            if !block.numerals.is_empty() {
                let message = "the lesson's model publishes no such block: nothing in it is checked".to_owned();
                let span = self.lines.first_line(&block.span);
                result.findings.push(self.part(span, Severity::Warning, Kind::BlockUnexplained, message, None));
            }
        }
    }

    fn prose(&self, lesson: &LessonText, verified: &Verified<'_>, result: &mut CheckedLesson) {
        for section in &lesson.sections {
            let numerals: Vec<_> = section.paragraphs.iter().flat_map(|paragraph| paragraph.numerals.clone()).collect();
            if verified.claims.is_empty() {
                result.numerals.prose.seen += numerals.iter().filter(|numeral| !numeral.is_word).count();
                continue;
            }
            let expected = expected::of_section(verified, &section.id);
            let compared = Compared::new(&expected, &numerals, self.lines);
            result.numerals.prose += compared.count();
            let command = format!("coursecheck explain {}", lesson.slug);
            let place = sequence::Place { whole: &section.span, exact: false, command: &command };
            result.findings.extend(compared.findings(&place));
            for claim in expected::claims(verified, &section.id) {
                let paragraph = |number: usize| section.paragraphs.get(number.checked_sub(1)?);
                let paragraph =
                    claim.paragraph.and_then(paragraph).map(|paragraph| self.lines.first_line(&paragraph.span));
                result.findings.extend(refuted(claim, &lesson.slug, &compared, paragraph, &section.span));
            }
        }
        for wanted in expected::sections(verified) {
            let there = lesson.sections.iter().any(|section| section.id == wanted);
            if !there && wanted != expected::CLOSING_TABLE {
                let count = expected::of_section(verified, wanted).len();
                let near = nearest(wanted, lesson.sections.iter().map(|section| section.id.clone()));
                let message = format!("no section `{wanted}`: its claims ({count} numerals) are not checked{near}");
                let span = lesson.span.clone();
                result.findings.push(self.part(span, Severity::Warning, Kind::PartMissing, message, None));
            }
        }
    }

    fn rows(&self, lesson: &LessonText, verified: &Verified<'_>, result: &mut CheckedLesson) {
        let expected = expected::of_section(verified, expected::CLOSING_TABLE);
        let has_claims = expected::claims(verified, expected::CLOSING_TABLE).next().is_some();
        let command = format!("coursecheck explain {}", lesson.slug);
        let rows: Vec<&Row> = self.rows_of(&lesson.title).collect();
        if !has_claims {
            let digits = rows.iter().flat_map(|row| &row.numerals).filter(|numeral| !numeral.is_word);
            result.numerals.table.seen += digits.count();
            return;
        }
        // Another table may have a row of that name too: the lesson's own is the one most like it.
        let Some(own) = rows.iter().rev().max_by_key(|row| blocks::in_common(&expected, &row.numerals)) else {
            if self.is_course() {
                let message = format!("no table has a row `{}`: the claims on it are not checked", lesson.title);
                let span = lesson.span.clone();
                result.findings.push(self.part(span, Severity::Warning, Kind::PartMissing, message, Some(&command)));
            }
            return;
        };
        for row in &rows {
            if row.span != own.span {
                let message = format!("another row `{}`: no claim explains it", row.title);
                let span = row.span.clone();
                result.numerals.table.seen += row.numerals.iter().filter(|numeral| !numeral.is_word).count();
                result.findings.push(self.part(span, Severity::Warning, Kind::Unexplained, message, None));
            }
        }
        let compared = Compared::new(&expected, &own.numerals, self.lines);
        result.numerals.table += compared.count();
        let place = sequence::Place { whole: &own.span, exact: false, command: &command };
        result.findings.extend(compared.findings(&place));
        for claim in expected::claims(verified, expected::CLOSING_TABLE) {
            result.findings.extend(refuted(claim, &lesson.slug, &compared, None, &own.span));
        }
    }

    fn rows_of<'b>(&'b self, title: &'b str) -> impl Iterator<Item = &'b Row> {
        self.document.rows.iter().filter(move |row| row.title == title)
    }

    /// A single lesson page has no closing table to miss.
    fn is_course(&self) -> bool {
        self.document.lessons.len() > 1
    }

    fn part(
        &self,
        span: Range<usize>,
        severity: Severity,
        kind: Kind,
        message: String,
        command: Option<&str>,
    ) -> Finding {
        let span = self.lines.first_line(&span);
        let reproduce = command.map(str::to_owned);
        Finding { span, severity, kind, figure: None, published: None, computed: None, message, reproduce }
    }
}

/// The finding for a claim that is recorded as refuted, where the text still makes it: at its first wrong numeral, or
/// else at its paragraph.
fn refuted(
    claim: &Judged,
    slug: &str,
    compared: &Compared<'_>,
    paragraph: Option<Range<usize>>,
    section: &Range<usize>,
) -> Option<Finding> {
    let Verdict::Refuted(reason) = &claim.verdict else { return None };
    let name = format!("{slug}#{}", claim.number);
    let wrong = claim.numerals.iter().find(|numeral| !numeral.agrees());
    let mut published = wrong.map(|numeral| numeral.tied.published.text());
    let mut span = None;
    if let Some(at) = compared.first_wrong(&name) {
        // The text has been corrected: nothing to warn about.
        span = Some(compared.still_published(at)?);
    } else if wrong.is_some() {
        published = None;
    }
    let span = span.or_else(|| compared.first_of(&name)).or(paragraph).unwrap_or_else(|| section.clone());
    Some(Finding {
        span,
        severity: Severity::Warning,
        kind: Kind::RefutedClaim,
        published,
        computed: wrong.map(|numeral| numeral.computed.clone()),
        message: format!("the model contradicts this statement: {reason}"),
        reproduce: Some(format!("coursecheck explain '{name}'")),
        figure: Some(name),
    })
}
