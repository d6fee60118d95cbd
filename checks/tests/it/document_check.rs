//! What the check makes of edited and of awkward documents.

use crate::support::{suite, verified};
use checks::check::finding::{Finding, Kind, Severity};
use checks::check::{CheckedLesson, check, expected};
use checks::frozen;
use checks::verified::Verified;

/// A page of one lesson without prose: its blocks, a figure a line.
fn page(lesson: &Verified<'_>) -> String {
    let slug = lesson.lesson.entry.slug;
    let blocks = lesson.run.report.blocks.iter().map(|block| {
        let lines = block.figures.iter().map(|figure| format!("row {}\n", figure.shown()));
        format!("```js\nprogram\n```\n\n```\n{}```\n\n", lines.collect::<String>())
    });
    format!("---\nsource: 'https://example.org/{slug}'\n---\n\n# Title\n\n{}", blocks.collect::<String>())
}

fn on_page(slug: &str, edit: impl Fn(String) -> String) -> CheckedLesson {
    let suite = suite();
    let lessons = verified(&suite);
    let lesson = lessons.iter().find(|lesson| lesson.lesson.entry.slug == slug).unwrap();
    check(&edit(page(lesson)), &lessons).unwrap().remove(0)
}

fn errors(lesson: &CheckedLesson) -> Vec<&Finding> {
    lesson.findings.iter().filter(|finding| finding.severity == Severity::Error).collect()
}

#[test]
fn line_ends_marks_tabs_and_a_missing_last_line_end_change_nothing() {
    let edits: [fn(String) -> String; 6] = [
        |text| text,
        |text| text.replace('\n', "\r\n"),
        |text| format!("\u{feff}{text}"),
        |text| text.replace("row ", "\t→ Zeile\t"),
        |text| text.trim_end().to_owned(),
        |text| text.replace("```js\nprogram\n```\n\n", ""),
    ];
    let expected = on_page("circuit-breaker", edits[0]).numerals;
    assert!(expected.output.seen > 100 && expected.output.seen == expected.output.agree, "{expected:?}");
    for edit in edits {
        let checked = on_page("circuit-breaker", edit);
        assert_eq!((checked.numerals, errors(&checked)), (expected, vec![]));
    }
}

#[test]
fn a_removed_line_is_one_finding() {
    let checked = on_page("circuit-breaker", |text| text.replacen("row 19312\n", "", 1));
    let errors = errors(&checked);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!((errors[0].kind, errors[0].computed.as_deref()), (Kind::Missing, Some("19312")));
}

#[test]
fn an_inserted_line_is_one_finding() {
    let checked = on_page("circuit-breaker", |text| text.replacen("row 19312\n", "row 19312\nrow 7 8 9\n", 1));
    let errors = errors(&checked);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!((errors[0].kind, errors[0].published.as_deref()), (Kind::Unexplained, Some("7, 8, 9")));
}

#[test]
fn a_wrong_unit_mark_is_an_error_in_a_block() {
    let checked = on_page("circuit-breaker", |text| text.replacen("91.48%", "91.48", 1));
    let errors = errors(&checked);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!((errors[0].kind, errors[0].computed.as_deref()), (Kind::UnitMark, Some("91.48%")));
}

#[test]
fn a_missing_block_is_named_and_the_others_are_still_checked() {
    let checked = on_page("failure-modes", |text| {
        let second = text.rfind("```js").unwrap();
        text[..second].to_owned()
    });
    let errors = errors(&checked);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(errors[0].kind, Kind::PartMissing);
    assert!(checked.numerals.output.agree > 0 && checked.numerals.output.seen == checked.numerals.output.agree);
}

#[test]
fn a_block_that_no_model_publishes_does_not_disturb_the_others() {
    let checked = on_page("failure-modes", |text| text.replacen("# Title\n\n", "# Title\n\n```\n1 2 3\n```\n\n", 1));
    assert_eq!(errors(&checked), Vec::<&Finding>::new());
    assert!(checked.findings.iter().any(|finding| finding.kind == Kind::BlockUnexplained));
}

#[test]
fn a_lesson_that_stands_twice_is_refused_at_the_second() {
    let suite = suite();
    let lesson = |slug: &str| format!("### T\n\nSource: https://example.org/{slug}\n\nWords.\n\n");
    let course = format!("---\ntitle: t\nlessons: 2\n---\n\n{}{}", lesson("x"), lesson("x"));
    let refused = check(&course, &verified(&suite)).unwrap_err();
    assert!(refused.message.contains("`x` stands here a second time"), "{refused}");
    assert_eq!(refused.offset, course.rfind("### T"));
}

/// A course of lessons, each with one output block.
fn course(declared: usize, slugs: &[&str]) -> String {
    let lesson = |slug: &&str| format!("### {slug}\n\nSource: https://example.org/{slug}\n\n```\n1 2\n```\n\n");
    format!("---\ntitle: t\nlessons: {declared}\n---\n\n{}", slugs.iter().map(lesson).collect::<String>())
}

#[test]
fn a_lesson_that_no_course_has_is_said_to_be_unchecked() {
    let suite = suite();
    for (slug, severity) in [("brand-new", Severity::Warning), ("circuit-braker", Severity::Error)] {
        let checked = check(&course(1, &[slug]), &verified(&suite)).unwrap().remove(0);
        assert_eq!((checked.numerals.output.seen, checked.numerals.output.checked), (2, 0));
        let finding = &checked.findings[0];
        assert_eq!((finding.severity, finding.kind), (severity, Kind::NotChecked), "{slug}");
    }
}

#[test]
fn a_lost_lesson_is_named() {
    let checked = check(&course(20, &["failure-modes", "circuit-breaker"]), &verified(&suite())).unwrap();
    let lost = errors(&checked[0])[0];
    assert_eq!(lost.kind, Kind::PartMissing);
    assert!(
        lost.message.starts_with("the front matter counts 20 lessons, found 2; not there: bulkhead"),
        "{}",
        lost.message
    );
}

#[test]
fn blocks_that_changed_places_are_one_finding_each() {
    let checked = on_page("failure-modes", |text| {
        let first = text.find("```js").unwrap();
        let second = text.rfind("```js").unwrap();
        format!("{}{}{}", &text[..first], &text[second..], &text[first..second])
    });
    let kinds: Vec<Kind> = checked.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::PartMissing, Kind::BlockUnexplained], "{:#?}", checked.findings);
}

#[test]
fn a_numeral_beside_words_is_not_blamed_on_them() {
    let suite = suite();
    let lessons = verified(&suite);
    let lesson = lessons.iter().find(|lesson| lesson.lesson.entry.slug == "circuit-breaker").unwrap();
    let section = "the-threshold-is-chosen-by-failure-mode";
    let claims: Vec<String> =
        expected::claims(lesson, section).map(|claim| format!("{}\n\n", claim.statement.text().trim())).collect();
    let prose = claims.concat().replacen("in round 4", "in round 4 of 2019", 1);
    let page = "---\nsource: 'https://example.org/circuit-breaker'\n---\n\n# Circuit Breaker\n\n";
    let page = format!("{page}## {}\n\n{prose}", section.replace('-', " "));
    let findings = check(&page, &lessons).unwrap().remove(0).findings;
    let here: Vec<_> = findings.iter().filter(|f| f.kind == Kind::Unexplained || f.kind == Kind::Changed).collect();
    assert_eq!(here.len(), 1, "{here:#?}");
    assert_eq!((here[0].kind, here[0].published.as_deref()), (Kind::Unexplained, Some("2019")));
}

#[test]
fn frozen_tables_that_moved_are_told_apart_line_by_line() {
    let suite = suite();
    let lesson = verified(&suite).remove(0);
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("moved.snap");
    let now = frozen::render(&lesson.run.report);
    let first = now.lines().nth(1).unwrap();
    std::fs::write(&file, format!("---\nsource: x\n---\n{}", now.replacen(first, "moved  1", 1))).unwrap();
    let differences = frozen::differences(&file, &lesson.run.report);
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert!(differences[0].contains("frozen `moved 1`"), "{differences:?}");
    assert_eq!(frozen::differences(&folder.join("none.snap"), &lesson.run.report).len(), 1);
}
