//! What a lesson's text should hold: its figures and its claims' numerals, in the order of the text.

use crate::claims::verdict::{Judged, JudgedNumeral, Verdict};
use crate::verified::Verified;
use models::figures::Block;

/// A numeral that should stand in the text.
#[derive(Debug, Clone)]
pub struct Expected {
    /// What it is: a figure's name, or a claim's.
    pub name: String,
    /// As the text should have it.
    pub text: String,
    /// As the model computes it; another than `text` where the course is recorded as wrong.
    pub computed: String,
    /// A number word.
    pub is_word: bool,
}

/// The section under which the row of the course's closing table is specified.
pub const CLOSING_TABLE: &str = "closing-table";

/// The printed numerals of a block; places without a number have none.
pub fn of_block(block: &Block) -> Vec<Expected> {
    let printed = block.figures.iter().filter(|figure| figure.value.is_printed());
    printed
        .map(|figure| {
            let shown = figure.shown();
            Expected { name: figure.name.clone(), text: shown.clone(), computed: shown, is_word: false }
        })
        .collect()
}

/// The numerals that a section's claims name.
pub fn of_section(lesson: &Verified<'_>, section: &str) -> Vec<Expected> {
    claims(lesson, section).flat_map(|claim| claim.numerals.iter().map(|n| of_numeral(lesson, claim, n))).collect()
}

/// The claims of a section.
pub fn claims<'a>(lesson: &'a Verified<'_>, section: &'a str) -> impl Iterator<Item = &'a Judged> {
    lesson.claims.iter().filter(move |claim| claim.section == section)
}

/// The sections that have claims, in order, each once.
pub fn sections<'a>(lesson: &'a Verified<'_>) -> Vec<&'a str> {
    let mut sections: Vec<&str> = Vec::new();
    for claim in &lesson.claims {
        if !sections.contains(&claim.section.as_str()) {
            sections.push(&claim.section);
        }
    }
    sections
}

fn of_numeral(lesson: &Verified<'_>, claim: &Judged, numeral: &JudgedNumeral) -> Expected {
    let name = format!("{}#{}", lesson.lesson.entry.slug, claim.number);
    let text = numeral.tied.published.text();
    // Only where the spec records the contradiction is the published numeral what the text should still hold.
    let recorded = matches!(claim.verdict, Verdict::Refuted(_));
    let text = if recorded { text } else { numeral.computed.clone() };
    Expected { name, text, computed: numeral.computed.clone(), is_word: numeral.tied.published.is_word }
}
