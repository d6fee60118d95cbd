//! Reads a course file or a lesson page: which lessons it holds, and where their numerals stand.
//!
//! Numerals are taken from three places: output blocks (fenced code without a language), prose (paragraphs and list
//! items, inline code included) and the body rows of tables. Not read are programs and indented code, HTML, addresses
//! of links, the header rows of tables, and headings: a numeral in a heading is part of the section's id, so that a
//! changed one leaves the claims of that section without a place.

mod front_matter;
mod prose;
mod reader;
#[cfg(test)]
mod tests;

use self::front_matter::FrontMatter;
use self::reader::Reader;
use super::numeral::Numeral;
use pulldown_cmark::{Options, Parser};
use std::fmt;
use std::ops::Range;

/// What was read from one file. All spans are bytes of that file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// In the order of the file; a slug that occurs twice stands here twice.
    pub lessons: Vec<LessonText>,
    /// The body rows of all tables.
    pub rows: Vec<Row>,
    /// How many lessons the front matter says there are, and where it says so.
    pub declared_lessons: Option<(usize, Range<usize>)>,
}

/// One lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonText {
    /// The last part of its Source address.
    pub slug: String,
    /// Its heading, as plain text.
    pub title: String,
    /// Of its heading.
    pub span: Range<usize>,
    /// Its output blocks.
    pub blocks: Vec<BlockText>,
    /// The first one is always the introduction.
    pub sections: Vec<Section>,
}

/// An output block: fenced code without a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockText {
    /// Of the block with its fences.
    pub span: Range<usize>,
    /// Nothing stands between it and a program before it.
    pub follows_program: bool,
    /// In the order of the text; only those in digits.
    pub numerals: Vec<Numeral>,
}

/// The prose under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading as GitHub makes an anchor of it, unique in its lesson; `introduction` before the first heading.
    pub id: String,
    /// Of its heading; of the lesson's heading for the introduction.
    pub span: Range<usize>,
    /// Paragraphs and list items in the order in which they begin.
    pub paragraphs: Vec<Paragraph>,
}

/// A paragraph outside of lists, or one list item with all its paragraphs but without the items inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// Of the paragraph, or of the item with everything in it.
    pub span: Range<usize>,
    /// Digits and words.
    pub numerals: Vec<Numeral>,
}

/// A body row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The first cell, as plain text.
    pub title: String,
    /// Of the whole row.
    pub span: Range<usize>,
    /// Digits and words of the other cells.
    pub numerals: Vec<Numeral>,
    /// The lesson it stands in, as an index of [`Document::lessons`].
    pub lesson: Option<usize>,
}

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The byte where reading failed, if it is one place.
    pub offset: Option<usize>,
    /// What was expected there.
    pub message: String,
}

impl Unreadable {
    fn at(offset: usize, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), message: message.into() }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unreadable {}

/// Reads a file. Its front matter tells the two forms apart: a lesson page has a `source` and no `lessons`.
pub fn parse(text: &str) -> Result<Document, Unreadable> {
    let front_matter = FrontMatter::read(text)?;
    let mut reader = Reader::new(text, front_matter.page_slug);
    reader.document.declared_lessons = front_matter.declared_lessons;
    let body = front_matter.body;
    let markdown = Parser::new_ext(&text[body..], Options::ENABLE_TABLES);
    for (event, span) in markdown.into_offset_iter() {
        reader.take(event, span.start + body..span.end + body)?;
    }
    reader.finish()
}
