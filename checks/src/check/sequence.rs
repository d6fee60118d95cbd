//! A sequence of expected numerals beside those of a text.

use super::Count;
use super::expected::Expected;
use super::finding::{Finding, Kind, Severity};
use super::place::Lines;
use crate::document::align::{Edit, Token, align};
use crate::document::numeral::Numeral;
use std::ops::Range;

/// Two sequences, aligned.
pub(super) struct Compared<'a> {
    expected: &'a [Expected],
    found: &'a [Numeral],
    edits: Vec<Edit>,
}

/// Where a sequence stands, for findings that have no numeral of their own.
pub(super) struct Place<'a> {
    /// The block, section or row.
    pub(super) whole: &'a Range<usize>,
    /// A block holds exactly its figures; prose may say more, or less.
    pub(super) exact: bool,
    /// The command that shows the expected side.
    pub(super) command: &'a str,
}

impl<'a> Compared<'a> {
    pub(super) fn new(expected: &'a [Expected], found: &'a [Numeral], lines: &Lines<'_>) -> Self {
        let texts: Vec<String> = found.iter().map(Numeral::text).collect();
        let wanted = |expected: &'a Expected| Token { text: &expected.text, line: 0, optional: expected.is_word };
        let wanted: Vec<Token<'_>> = expected.iter().map(wanted).collect();
        let there = found.iter().zip(&texts).map(|(numeral, text)| Token {
            text,
            line: lines.line(numeral.span.start),
            optional: numeral.is_word,
        });
        let edits = align(&wanted, &there.collect::<Vec<_>>());
        Self { expected, found, edits }
    }

    pub(super) fn count(&self) -> Count {
        let pairs = || self.pairs();
        let words = pairs().filter(|(_, found)| found.is_word).count();
        let seen = self.found.iter().filter(|numeral| !numeral.is_word).count() + words;
        let agree = pairs().filter(|(expected, found)| found.text() == expected.computed).count();
        Count { seen, checked: pairs().count(), agree }
    }

    fn pairs(&self) -> impl Iterator<Item = (&Expected, &Numeral)> {
        self.edits.iter().filter_map(|edit| match edit {
            Edit::Match { expected, found } | Edit::Change { expected, found } => {
                Some((&self.expected[*expected], &self.found[*found]))
            }
            _ => None,
        })
    }

    pub(super) fn findings(&self, place: &Place<'_>) -> Vec<Finding> {
        self.edits.iter().filter_map(|edit| self.finding(edit, place)).collect()
    }

    fn finding(&self, edit: &Edit, place: &Place<'_>) -> Option<Finding> {
        let weight = if place.exact { Severity::Error } else { Severity::Warning };
        let reproduce = Some(place.command.to_owned());
        match edit {
            Edit::Match { .. } => None,
            Edit::Change { expected, found } => self.changed(*expected, *found, place),
            Edit::Missing { expected } => {
                let missing = &self.expected[expected.clone()];
                let first = missing.first()?;
                let texts: Vec<&str> = missing.iter().map(|expected| expected.text.as_str()).collect();
                let (count, texts) = (counted(missing.len(), "numeral"), shorten(&texts));
                let message = format!("{count} missing here: {texts} (from `{}` on)", first.name);
                let span = self.gap(expected.start, place.whole);
                let (figure, computed) = (Some(first.name.clone()), Some(texts));
                let kind = Kind::Missing;
                Some(Finding { span, severity: weight, kind, figure, published: None, computed, message, reproduce })
            }
            Edit::Extra { found } => {
                let extra: Vec<&Numeral> =
                    self.found[found.clone()].iter().filter(|numeral| !numeral.is_word).collect();
                let (first, last) = (extra.first()?, extra.last()?);
                let texts: Vec<String> = extra.iter().map(|numeral| numeral.text()).collect();
                let (count, texts) = (counted(extra.len(), "numeral"), shorten(&texts));
                let by = if place.exact { "figure" } else { "claim" };
                let message = format!("no {by} explains {count} here: {texts}");
                let span = first.span.start..last.span.end;
                let (kind, published) = (Kind::Unexplained, Some(texts));
                Some(Finding {
                    span,
                    severity: weight,
                    kind,
                    figure: None,
                    published,
                    computed: None,
                    message,
                    reproduce,
                })
            }
        }
    }

    fn changed(&self, expected: usize, found: usize, place: &Place<'_>) -> Option<Finding> {
        let (expected, numeral) = (&self.expected[expected], &self.found[found]);
        let text = numeral.text();
        if text == expected.computed {
            return None;
        }
        let bare = |text: &str| text.trim_matches(['%', 'x']).to_owned();
        let only_mark = bare(&text) == bare(&expected.computed);
        let (kind, severity) = match (only_mark, place.exact) {
            (true, false) => (Kind::UnitMark, Severity::Warning),
            (true, true) => (Kind::UnitMark, Severity::Error),
            _ => (Kind::Changed, Severity::Error),
        };
        let command = match expected.name.contains('#') {
            true => format!("coursecheck explain '{}'", expected.name),
            false => place.command.to_owned(),
        };
        Some(Finding {
            span: numeral.span.clone(),
            severity,
            kind,
            figure: Some(expected.name.clone()),
            message: format!("`{}` is {}, found {}", expected.name, expected.computed, clip(&text)),
            published: Some(clip(&text)),
            computed: Some(expected.computed.clone()),
            reproduce: Some(command),
        })
    }

    /// Where missing numerals should stand: behind the last numeral before them.
    fn gap(&self, expected: usize, whole: &Range<usize>) -> Range<usize> {
        let before = self.edits.iter().rev().find_map(|edit| match edit {
            Edit::Match { expected: at, found } | Edit::Change { expected: at, found } if *at < expected => {
                Some(*found)
            }
            _ => None,
        });
        match before {
            Some(found) => self.found[found].span.clone(),
            None => whole.start..whole.start,
        }
    }

    /// The place among the expected of a claim's first numeral that the model contradicts.
    pub(super) fn first_wrong(&self, claim: &str) -> Option<usize> {
        self.expected.iter().position(|expected| expected.name == claim && expected.text != expected.computed)
    }

    /// Where that numeral stands, if the text still has it as published.
    pub(super) fn still_published(&self, wanted: usize) -> Option<Range<usize>> {
        self.edits.iter().find_map(|edit| match edit {
            Edit::Match { expected, found } if *expected == wanted => Some(self.found[*found].span.clone()),
            _ => None,
        })
    }

    /// Where the first numeral of a claim stands.
    pub(super) fn first_of(&self, claim: &str) -> Option<Range<usize>> {
        self.pairs().find(|(expected, _)| expected.name == claim).map(|(_, found)| found.span.clone())
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The first few of many.
fn shorten(texts: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = texts.iter().take(SHOWN).map(|text| clip(text.as_ref())).collect();
    let more = if texts.len() > SHOWN { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A numeral of a million digits is named by its beginning.
fn clip(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
