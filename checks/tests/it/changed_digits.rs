//! A course text in which one digit is wrong has exactly one error, at that numeral.
//!
//! The text is rendered from the spec and the models, so no course file is needed: it has the lessons' numerals in
//! the order of the course, and none of its sentences.

use crate::support::{suite, verified};
use checks::check::finding::{Finding, Severity};
use checks::check::{check, expected};
use checks::document::course::{Document, parse};
use checks::document::numeral::Numeral;
use checks::verified::Verified;
use rayon::prelude::*;
use std::fmt::Write;
use std::ops::Range;

/// A course of one lesson and its row in the closing table.
fn render(lesson: &Verified<'_>) -> String {
    let entry = lesson.lesson.entry;
    let mut text = String::from("---\ntitle: rendered\nlessons: 1\n---\n\n# Rendered\n\n");
    let _ = writeln!(text, "### {}\n\nSource: https://example.org/{}\n", entry.title, entry.slug);
    let prose: Vec<&str> =
        expected::sections(lesson).into_iter().filter(|section| *section != expected::CLOSING_TABLE).collect();
    for section in prose {
        if section != "introduction" {
            let _ = writeln!(text, "#### {}\n", section.replace('-', " "));
        }
        for claim in expected::claims(lesson, section) {
            let _ = writeln!(text, "{}\n", claim.statement.text().trim());
        }
    }
    for block in &lesson.run.report.blocks {
        let lines = block.figures.iter().map(|figure| format!("a line with {}\n", figure.shown()));
        let _ = writeln!(text, "```js\nprogram\n```\n\n```\n{}```\n", lines.collect::<String>());
    }
    let row: Vec<String> = expected::claims(lesson, expected::CLOSING_TABLE).map(|c| c.statement.text()).collect();
    let _ = writeln!(text, "#### Wrap-up\n\n| Lesson | Numbers |\n|---|---|\n| {} | {} |", entry.title, row.join("; "));
    text
}

/// The lessons of which every digit is changed; of the others, one digit of each numeral.
const EVERY_DIGIT: [&str; 5] = [
    "failure-modes",
    "circuit-breaker",
    "compensating-transactions",
    "task-queues-and-background-jobs",
    "leader-election",
];

/// The digits of every numeral written in digits.
fn digits(document: &Document, text: &str) -> Vec<(Range<usize>, usize)> {
    let lesson = &document.lessons[0];
    let blocks = lesson.blocks.iter().flat_map(|block| &block.numerals);
    let prose = lesson.sections.iter().flat_map(|section| &section.paragraphs).flat_map(|p| &p.numerals);
    let rows = document.rows.iter().flat_map(|row| &row.numerals);
    let numerals = blocks.chain(prose).chain(rows).filter(|numeral| !numeral.is_word);
    let digits = |n: &Numeral| {
        let span = n.span.clone();
        n.span.clone().filter(|at| text.as_bytes()[*at].is_ascii_digit()).map(move |at| (span.clone(), at)).collect()
    };
    numerals.flat_map(|numeral| -> Vec<_> { digits(numeral) }).collect()
}

fn findings(text: &str, lessons: &[Verified<'_>]) -> Vec<Finding> {
    check(text, lessons).unwrap().into_iter().flat_map(|lesson| lesson.findings).collect()
}

fn errors(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.severity == Severity::Error).collect()
}

fn agreeing(text: &str, lessons: &[Verified<'_>]) -> usize {
    check(text, lessons).unwrap()[0].numerals.total().agree
}

#[test]
fn a_rendered_course_agrees_with_its_models() {
    let suite = suite();
    let lessons = verified(&suite);
    for lesson in &lessons {
        let text = render(lesson);
        assert_eq!(errors(&findings(&text, &lessons)), Vec::<&Finding>::new(), "{text}");
        let checked = &check(&text, &lessons).unwrap()[0];
        let total = checked.numerals.total();
        assert!(total.seen > 0 && total.seen == total.checked, "{}: {total:?}", checked.slug);
    }
}

#[test]
fn one_changed_digit_is_one_error_at_its_numeral() {
    let suite = suite();
    let lessons = verified(&suite);
    for lesson in &lessons {
        let text = render(lesson);
        let agree = agreeing(&text, &lessons);
        let mut digits = digits(&parse(&text).unwrap(), &text);
        if !EVERY_DIGIT.contains(&lesson.lesson.entry.slug) {
            digits.dedup_by(|(next, _), (numeral, _)| next == numeral);
        }
        assert!(digits.len() > 30, "{}", lesson.lesson.entry.slug);
        digits.par_iter().for_each(|(numeral, at)| {
            let mut changed = text.clone().into_bytes();
            changed[*at] = b'0' + (changed[*at] - b'0' + 1 + (*at % 9) as u8) % 10;
            let changed = String::from_utf8(changed).unwrap();
            let found = findings(&changed, &lessons);
            let found = errors(&found);
            if found.is_empty() && agreeing(&changed, &lessons) > agree {
                // The changed digit happens to make a refuted numeral right.
                return;
            }
            let line = |text: &str| text[..*at].matches('\n').count() + 1;
            assert_eq!(found.len(), 1, "line {}: {found:#?}\n{changed}", line(&changed));
            assert_eq!(found[0].span.start, numeral.start, "line {}: {found:#?}", line(&changed));
        });
    }
}
