//! Reads a course file or a lesson page: which lessons it holds, and where their numerals stand.
//!
//! Numerals are taken from three places: output blocks (fenced code without a language), prose (paragraphs and list
//! items, inline code included) and the body rows of tables. Not read are programs and indented code, HTML, addresses
//! of links, the header rows of tables, and headings: a numeral in a heading is part of the section's id, so that a
//! changed one leaves the claims of that section without a place.

use super::numeral::{Numeral, numerals, numerals_and_words};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;
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

struct FrontMatter {
    /// Where the text behind it begins.
    body: usize,
    /// The slug, if the file is a lesson page.
    page_slug: Option<String>,
    declared_lessons: Option<(usize, Range<usize>)>,
}

impl FrontMatter {
    fn read(text: &str) -> Result<Self, Unreadable> {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let mut lines = text[start..].split_inclusive('\n');
        let mut end = start;
        match lines.next() {
            Some(line) if line.trim_end() == "---" => end += line.len(),
            _ => {
                return Ok(Self { body: start, page_slug: None, declared_lessons: None });
            }
        }
        let mut source = None;
        let mut is_course = false;
        let mut declared_lessons = None;
        for line in lines {
            let line_start = end;
            end += line.len();
            let line = line.trim_end();
            if line == "---" {
                let page_slug = match source {
                    Some((offset, address)) if !is_course => Some(slug(address, offset)?),
                    _ => None,
                };
                return Ok(Self { body: end, page_slug, declared_lessons });
            }
            if let Some(count) = line.strip_prefix("lessons:") {
                is_course = true;
                declared_lessons = count.trim().parse().ok().map(|count| (count, line_start..line_start + line.len()));
            }
            if let Some(value) = line.strip_prefix("source:") {
                source = Some((line_start, value.trim().trim_matches(['\'', '"'])));
            }
        }
        Err(Unreadable::at(start, "the front matter is not closed: expected a second line `---`"))
    }
}

/// The last part of a lesson's address.
fn slug(address: &str, offset: usize) -> Result<String, Unreadable> {
    let is_part_of_slug = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match address.rsplit_once('/') {
        Some((_, slug)) if !slug.is_empty() && slug.chars().all(is_part_of_slug) => Ok(slug.to_owned()),
        _ => Err(Unreadable::at(offset, "expected the lesson's address here, ending in its slug: `https://.../SLUG`")),
    }
}

/// Text without its markup, and where each piece of it stands in the file: markup inside a numeral (`**20**%`) must
/// neither split nor displace it.
#[derive(Default)]
struct Prose {
    text: String,
    pieces: Vec<Piece>,
}

struct Piece {
    /// Where it begins in the text without markup.
    start: usize,
    span: Range<usize>,
    /// Stands in the file as it is; otherwise it is decoded from an entity, which cannot be pointed into.
    is_verbatim: bool,
}

impl Prose {
    fn push(&mut self, piece: &str, span: Range<usize>, is_verbatim: bool) {
        match self.pieces.last_mut() {
            Some(last)
                if is_verbatim
                    && last.is_verbatim
                    && last.span.end == span.start
                    && last.start + last.span.len() == self.text.len() =>
            {
                last.span.end = span.end;
            }
            _ => self.pieces.push(Piece { start: self.text.len(), span, is_verbatim }),
        }
        self.text.push_str(piece);
    }

    /// What follows does not touch what stands here.
    fn separate(&mut self) {
        self.text.push('\n');
    }

    fn numerals(&self) -> Vec<Numeral> {
        let mut numerals = numerals_and_words(&self.text, 0);
        let mut pieces = self.pieces.iter().peekable();
        let mut current = None;
        for Numeral { span, .. } in &mut numerals {
            let first = span.start;
            let last = span.end.saturating_sub(1);
            while let Some(piece) = pieces.next_if(|piece| piece.start <= first) {
                current = Some(piece);
            }
            let start = current.map_or(0, |piece| piece.locate(first).start);
            while let Some(piece) = pieces.next_if(|piece| piece.start <= last) {
                current = Some(piece);
            }
            let end = current.map_or(0, |piece| piece.locate(last).end);
            *span = start..end;
        }
        numerals
    }
}

impl Piece {
    /// Where the byte at this position of the text without markup stands in the file.
    fn locate(&self, position: usize) -> Range<usize> {
        if !self.is_verbatim {
            return self.span.clone();
        }
        let byte = self.span.start + (position - self.start);
        byte..byte + 1
    }
}

/// The place that text goes to. Headings, cells and code blocks hold no other blocks; items do.
struct Open {
    /// Among the paragraphs of the last section.
    index: usize,
    prose: Prose,
    is_item: bool,
}

struct Heading {
    level: HeadingLevel,
    span: Range<usize>,
    text: String,
}

struct OpenRow {
    span: Range<usize>,
    title: String,
    cells_before: usize,
    prose: Prose,
}

struct Fence {
    span: Range<usize>,
    /// The opening run of backticks or tildes.
    marker: String,
    is_program: bool,
    is_output: bool,
    /// Where the content read so far ends.
    content_end: usize,
}

struct Reader<'a> {
    text: &'a str,
    document: Document,
    /// In a lesson page, the slug that its title takes.
    page_slug: Option<String>,
    lesson_level: HeadingLevel,
    in_lesson: bool,
    /// A lesson's heading whose Source line has not come yet.
    without_source: Option<Heading>,
    /// How often the current lesson used a section id.
    section_ids: BTreeMap<String, usize>,
    /// Lists and quotations around the current position.
    containers: usize,
    heading: Option<Heading>,
    open: Vec<Open>,
    row: Option<OpenRow>,
    fence: Option<Fence>,
    /// The event before this one ended a program.
    after_program: bool,
    in_address: bool,
    in_table_head: bool,
    /// Text before this byte is the Source line and no prose.
    prose_start: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, page_slug: Option<String>) -> Self {
        Self {
            text,
            document: Document::default(),
            lesson_level: match page_slug {
                Some(_) => HeadingLevel::H1,
                None => HeadingLevel::H3,
            },
            page_slug,
            in_lesson: false,
            without_source: None,
            section_ids: BTreeMap::new(),
            containers: 0,
            heading: None,
            open: Vec::new(),
            row: None,
            fence: None,
            after_program: false,
            in_address: false,
            in_table_head: false,
            prose_start: 0,
        }
    }

    fn finish(self) -> Result<Document, Unreadable> {
        if let Some(heading) = self.without_source {
            return Err(heading.without_source());
        }
        if self.document.lessons.is_empty() {
            let expected = match self.lesson_level {
                HeadingLevel::H1 => "a lesson page with a title: `# TITLE`",
                _ => {
                    "a course file with lessons (`### TITLE`, each followed by `Source: https://.../SLUG`), or a \
                     lesson page with its `source` in the front matter"
                }
            };
            return Err(Unreadable { offset: None, message: format!("no lesson found: expected {expected}") });
        }
        Ok(self.document)
    }

    fn take(&mut self, event: Event<'_>, span: Range<usize>) -> Result<(), Unreadable> {
        let after_program = std::mem::take(&mut self.after_program);
        match event {
            Event::Start(tag) => self.start(tag, span, after_program)?,
            Event::End(tag) => self.end(tag)?,
            Event::Text(_) if self.fence.is_some() => self.take_code(span)?,
            Event::Text(_) | Event::Code(_) if self.is_no_prose(&span) => {}
            Event::Text(text) => self.take_text(&text, span),
            Event::Code(text) => self.take_inline_code(&text, span),
            Event::SoftBreak | Event::HardBreak | Event::InlineHtml(_) | Event::Rule => self.take_break(),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: Tag<'_>, span: Range<usize>, after_program: bool) -> Result<(), Unreadable> {
        if let Some(heading) = self.without_source.take() {
            return match tag {
                Tag::Paragraph => self.start_lesson_with_source(heading, span),
                _ => Err(heading.without_source()),
            };
        }
        if !is_inline(&tag) {
            self.take_break();
        }
        match tag {
            Tag::Heading { level, .. } if self.containers == 0 => {
                self.heading = Some(Heading { level, span: self.without_line_end(span), text: String::new() });
            }
            Tag::Heading { .. } | Tag::Paragraph => self.start_paragraph(span),
            Tag::Item => {
                self.containers += 1;
                self.open_paragraph(span, true);
            }
            Tag::BlockQuote(_) => self.containers += 1,
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) => {
                self.start_fence(&language, span, after_program);
            }
            Tag::TableHead => self.in_table_head = true,
            Tag::TableRow => {
                self.row = Some(OpenRow {
                    span: self.without_line_end(span),
                    title: String::new(),
                    cells_before: 0,
                    prose: Prose::default(),
                });
            }
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => self.in_address = true,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) -> Result<(), Unreadable> {
        match tag {
            TagEnd::Heading(_) if self.containers == 0 => self.end_heading()?,
            TagEnd::Heading(_) | TagEnd::Paragraph => self.close_paragraph(false),
            TagEnd::Item => {
                self.containers = self.containers.saturating_sub(1);
                self.close_paragraph(true);
            }
            TagEnd::BlockQuote(_) => self.containers = self.containers.saturating_sub(1),
            TagEnd::CodeBlock => self.end_fence()?,
            TagEnd::TableCell => {
                if let Some(row) = &mut self.row {
                    row.cells_before += 1;
                    row.prose.separate();
                }
            }
            TagEnd::TableHead => self.in_table_head = false,
            TagEnd::TableRow => self.end_row(),
            TagEnd::Link => self.in_address = false,
            _ => {}
        }
        Ok(())
    }

    fn is_no_prose(&self, span: &Range<usize>) -> bool {
        self.in_address || self.in_table_head || span.start < self.prose_start
    }

    fn take_text(&mut self, text: &str, span: Range<usize>) {
        let is_verbatim = self.text.get(span.clone()) == Some(text);
        if let Some(heading) = &mut self.heading {
            heading.text.push_str(text);
        } else if let Some(row) = &mut self.row {
            row.push(text, text, span, is_verbatim);
        } else if let Some(open) = self.open.last_mut() {
            open.prose.push(text, span, is_verbatim);
        }
    }

    fn take_inline_code(&mut self, text: &str, span: Range<usize>) {
        // The event spans the backticks too, and its text may be decoded; what stands between them is verbatim.
        let fenced = self.text.get(span.clone()).unwrap_or_default();
        let after_ticks = fenced.trim_start_matches('`');
        let start = span.end - after_ticks.len();
        let code = after_ticks.trim_end_matches('`');
        let inside = start..start + code.len();
        if let Some(heading) = &mut self.heading {
            heading.text.push_str(text);
        } else if let Some(row) = &mut self.row {
            row.push(text, code, inside, true);
        } else if let Some(open) = self.open.last_mut() {
            open.prose.push(code, inside, true);
        }
    }

    fn take_break(&mut self) {
        if let Some(heading) = &mut self.heading {
            heading.text.push(' ');
        } else if let Some(row) = &mut self.row {
            row.prose.separate();
        } else if let Some(open) = self.open.last_mut() {
            open.prose.separate();
        }
    }

    fn end_heading(&mut self) -> Result<(), Unreadable> {
        let Some(mut heading) = self.heading.take() else {
            return Ok(());
        };
        heading.text = heading.text.trim().to_owned();
        let is_page = self.lesson_level == HeadingLevel::H1;
        if heading.level == self.lesson_level && !is_page {
            self.in_lesson = false;
            self.without_source = Some(heading);
        } else if heading.level == self.lesson_level
            && let Some(slug) = self.page_slug.take()
        {
            self.start_lesson(heading, slug);
        } else if heading.level < self.lesson_level {
            self.in_lesson = false;
        } else if let Some(lesson) = self.document.lessons.last_mut().filter(|_| self.in_lesson) {
            lesson.sections.push(Section {
                id: unique(&mut self.section_ids, anchor(&heading.text)),
                span: heading.span,
                paragraphs: Vec::new(),
            });
        }
        Ok(())
    }

    fn start_lesson(&mut self, heading: Heading, slug: String) {
        self.in_lesson = true;
        self.section_ids = BTreeMap::from([(INTRODUCTION.to_owned(), 0)]);
        self.document.lessons.push(LessonText {
            slug,
            title: heading.text,
            span: heading.span.clone(),
            blocks: Vec::new(),
            sections: vec![Section { id: INTRODUCTION.to_owned(), span: heading.span, paragraphs: Vec::new() }],
        });
    }

    /// The paragraph behind a lesson's heading begins with the Source line; whatever else it holds is prose.
    fn start_lesson_with_source(&mut self, heading: Heading, span: Range<usize>) -> Result<(), Unreadable> {
        let paragraph = self.text.get(span.clone()).unwrap_or_default();
        let line = paragraph.split('\n').next().unwrap_or_default();
        let Some(address) = line.strip_prefix("Source:") else {
            return Err(heading.without_source());
        };
        self.start_lesson(heading, slug(address.trim(), span.start)?);
        let rest = span.start + line.len();
        if !self.text.get(rest..span.end).unwrap_or_default().trim().is_empty() {
            self.prose_start = rest + 1;
            self.open_paragraph(self.prose_start..span.end, false);
        }
        Ok(())
    }

    fn start_paragraph(&mut self, span: Range<usize>) {
        if self.open.is_empty() {
            self.open_paragraph(span, false);
        }
    }

    fn open_paragraph(&mut self, span: Range<usize>, is_item: bool) {
        let span = self.without_line_end(span);
        let lesson = self.document.lessons.last_mut().filter(|_| self.in_lesson);
        let Some(section) = lesson.and_then(|lesson| lesson.sections.last_mut()) else {
            return;
        };
        self.open.push(Open { index: section.paragraphs.len(), prose: Prose::default(), is_item });
        section.paragraphs.push(Paragraph { span, numerals: Vec::new() });
    }

    fn close_paragraph(&mut self, is_item: bool) {
        let Some(open) = self.open.pop_if(|open| open.is_item == is_item) else {
            return;
        };
        let section = self.document.lessons.last_mut().and_then(|lesson| lesson.sections.last_mut());
        if let Some(paragraph) = section.and_then(|section| section.paragraphs.get_mut(open.index)) {
            paragraph.numerals = open.prose.numerals();
        }
        if let Some(outer) = self.open.last_mut() {
            outer.prose.separate();
        }
    }

    fn start_fence(&mut self, language: &str, span: Range<usize>, after_program: bool) {
        let span = self.without_line_end(span);
        let block = self.text.get(span.clone()).unwrap_or_default();
        let opening = block.split('\n').next().unwrap_or_default();
        let fence = if opening.starts_with('~') { '~' } else { '`' };
        let is_program = !language.trim().is_empty();
        let is_output = !is_program && self.in_lesson;
        if let Some(lesson) = self.document.lessons.last_mut().filter(|_| is_output) {
            lesson.blocks.push(BlockText { span: span.clone(), follows_program: after_program, numerals: Vec::new() });
        }
        self.fence = Some(Fence {
            content_end: span.start + opening.len(),
            span,
            marker: opening.chars().take_while(|&c| c == fence).collect(),
            is_program,
            is_output,
        });
    }

    fn take_code(&mut self, span: Range<usize>) -> Result<(), Unreadable> {
        let Some(fence) = &mut self.fence else {
            return Ok(());
        };
        fence.content_end = span.end;
        let code = self.text.get(span.clone()).unwrap_or_default();
        for line in code.lines() {
            // A language never stands on a closing fence: here the next block opens, so this one was left open.
            if let Some(rest) = line.trim_start().strip_prefix(&fence.marker)
                && rest.starts_with(|c: char| c.is_alphanumeric())
            {
                return Err(fence.not_closed());
            }
        }
        if let Some(lesson) = self.document.lessons.last_mut().filter(|_| fence.is_output)
            && let Some(block) = lesson.blocks.last_mut()
        {
            block.numerals.extend(numerals(code, span.start));
        }
        Ok(())
    }

    fn end_fence(&mut self) -> Result<(), Unreadable> {
        let Some(fence) = self.fence.take() else {
            return Ok(());
        };
        let behind = self.text.get(fence.content_end..fence.span.end);
        if !behind.is_some_and(|behind| behind.contains(&fence.marker)) {
            return Err(fence.not_closed());
        }
        self.after_program = fence.is_program;
        Ok(())
    }

    fn end_row(&mut self) {
        if let Some(row) = self.row.take() {
            self.document.rows.push(Row {
                title: row.title.trim().to_owned(),
                span: row.span,
                numerals: row.prose.numerals(),
                lesson: self.in_lesson.then(|| self.document.lessons.len().saturating_sub(1)),
            });
        }
    }

    fn without_line_end(&self, span: Range<usize>) -> Range<usize> {
        let text = self.text.get(span.clone()).unwrap_or_default();
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        span.start..span.start + text.len()
    }
}

impl Heading {
    fn without_source(&self) -> Unreadable {
        Unreadable::at(
            self.span.start,
            format!("expected the line `Source: https://.../SLUG` behind the heading of lesson \"{}\"", self.text),
        )
    }
}

impl Fence {
    fn not_closed(&self) -> Unreadable {
        Unreadable::at(self.span.start, format!("this fenced block is not closed: expected a line `{}`", self.marker))
    }
}

impl OpenRow {
    fn push(&mut self, plain: &str, piece: &str, span: Range<usize>, is_verbatim: bool) {
        if self.cells_before == 0 {
            self.title.push_str(plain);
        } else {
            self.prose.push(piece, span, is_verbatim);
        }
    }
}

/// Stands within a line of text: it does not separate what it touches.
fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. })
}

/// The id of what stands before a lesson's first heading.
const INTRODUCTION: &str = "introduction";

/// The heading as GitHub makes an anchor of it: lower case, without punctuation, spaces as hyphens.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c => c.is_alphanumeric().then_some(c),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// The id, or the id with the first free number behind it.
fn unique(used: &mut BTreeMap<String, usize>, id: String) -> String {
    let Some(mut repeated) = used.get(&id).copied() else {
        used.insert(id.clone(), 0);
        return id;
    };
    loop {
        repeated += 1;
        let candidate = format!("{id}-{repeated}");
        if !used.contains_key(&candidate) {
            used.insert(id, repeated);
            used.insert(candidate.clone(), 0);
            return candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::QuickCheck;

    const COURSE: &str = "\
---
title: 'Course 9'
source: 'https://example.org/courses/c'
lessons: 2
---

# Course 1

Abstract 2.

## Topic 3

### First *Lesson*

Source: https://example.org/courses/c/first-lesson

Abstract with 4.

#### What It Is: A, B

Prose **5**% of `6-leader`, 3,**200**&#53; and
K01 [seven](http://x/8) <!-- 9 --> <http://y/10>.

- Item one with 11

  8 and twelve
  - Inner 13
- Item 14

  | Name | 15 |
  |---|---|
  | In | 16 |
- 17
  ```sh
  18
  ```
  19

```js
const N = 15;
```

```
out 16  x1.7
```

```
out 18%
```

    indented 19

#### What It Is: A, B

| Name 20 | 21 |
|---|---|
| Row *one* | 22 \\| **2**3 |

## Topic 24

Prose 25.

### Second

Source: https://example.org/courses/c/second
Tight abstract 26.
";

    const PAGE: &str = "---\nsource: 'https://example.org/courses/c/page'\n---\n\n# Page\n\nA 1.\n\n## Part\n\nB 2.\n";

    fn shown(numerals: &[Numeral]) -> String {
        let texts: Vec<String> = numerals.iter().map(Numeral::text).collect();
        texts.join(" ")
    }

    /// Everything that was read, one line per lesson, block, section and row.
    fn outline(text: &str) -> Vec<String> {
        let document = parse(text).unwrap();
        let mut lines = Vec::new();
        for lesson in &document.lessons {
            lines.push(format!("{} = {}", lesson.slug, lesson.title));
            for block in &lesson.blocks {
                lines.push(format!("block {} {}", block.follows_program, shown(&block.numerals)));
            }
            for section in &lesson.sections {
                let paragraphs: Vec<String> = section.paragraphs.iter().map(|p| shown(&p.numerals)).collect();
                lines.push(format!("#{}: {}", section.id, paragraphs.join(" / ")));
            }
        }
        for row in &document.rows {
            lines.push(format!("row {:?} {}: {}", row.lesson, row.title, shown(&row.numerals)));
        }
        lines
    }

    fn all_numerals(document: &Document) -> Vec<&Numeral> {
        let in_lessons = document.lessons.iter().flat_map(|lesson| {
            let blocks = lesson.blocks.iter().flat_map(|block| &block.numerals);
            let paragraphs = lesson.sections.iter().flat_map(|section| &section.paragraphs);
            blocks.chain(paragraphs.flat_map(|paragraph| &paragraph.numerals))
        });
        in_lessons.chain(document.rows.iter().flat_map(|row| &row.numerals)).collect()
    }

    #[test]
    fn a_course_file_is_read_by_lesson_section_and_paragraph() {
        assert_eq!(
            outline(COURSE),
            [
                "first-lesson = First Lesson",
                "block true 16 x1.7",
                "block false 18%",
                "#introduction: 4",
                "#what-it-is-a-b: 5% 6 3,2005 seven / one 11 8 twelve / 13 / 14 / 17 19",
                "#what-it-is-a-b-1: ",
                "second = Second",
                "#introduction: 26",
                "row Some(0) In: 16",
                "row Some(0) Row one: 22 23",
            ]
        );
    }

    #[test]
    fn a_lesson_page_is_read_by_its_title() {
        assert_eq!(outline(PAGE), ["page = Page", "#introduction: 1", "#part: 2"]);
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_change_nothing_but_offsets() {
        for text in [COURSE, PAGE] {
            let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
            assert_eq!(outline(&windows), outline(text));
            assert_eq!(outline(text.trim_end()), outline(text));
            let document = parse(&windows).unwrap();
            for numeral in all_numerals(&document) {
                let written = &windows[numeral.span.clone()];
                assert!(written == numeral.text() || written.contains(['*', '&']) || numeral.is_word, "{written}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_at_its_place() {
        let lesson = "### L\n\nSource: https://e/l\n\n";
        for (text, place, message) in [
            (String::new(), None, "no lesson found"),
            ("## Only a topic\n".to_owned(), None, "no lesson found"),
            ("---\nsource: 'https://e/l'\n---\n\ntext\n".to_owned(), None, "no lesson found"),
            ("---\nlessons: 1\n".to_owned(), Some("---"), "front matter"),
            ("---\nsource: nowhere\n---\n".to_owned(), Some("source"), "address"),
            ("### L\n\nText\n".to_owned(), Some("###"), "Source"),
            ("### L\n".to_owned(), Some("###"), "Source"),
            ("### L\n\nSource: https://e/\n".to_owned(), Some("Source"), "address"),
            (format!("{lesson}```\n5\n"), Some("```"), "not closed"),
            (format!("{lesson}```"), Some("```"), "not closed"),
            (format!("{lesson}```\n5\n\n```js\n6\n```\n"), Some("```"), "not closed"),
            (format!("{lesson}> ```\n> 5\n\n6\n"), Some("```"), "not closed"),
        ] {
            let refused = parse(&text).unwrap_err();
            assert!(refused.message.contains(message), "{text}: {refused}");
            assert_eq!(refused.offset, place.and_then(|place| text.find(place)), "{text}");
        }
    }

    #[test]
    fn no_input_panics_and_every_span_is_text() {
        fn property(pieces: Vec<(u8, char)>, cut: usize) -> bool {
            const PIECES: [&str; 40] = [
                "\n",
                "\n\n",
                "\r\n",
                "\t",
                " ",
                "    ",
                "#",
                "### ",
                "#### ",
                "- ",
                "1. ",
                "> ",
                "```",
                "```js",
                "~~~",
                "|",
                "|---|---|\n",
                "| a | 5 |\n",
                "**",
                "*",
                "_",
                "`",
                "[",
                "](",
                ")",
                "<",
                ">",
                "<!--",
                "-->",
                "&#53;",
                "\\\\",
                "5",
                "1,000.5%",
                "x2",
                "two",
                "é",
                "⁻⁶",
                "---\n",
                "\u{feff}",
                "Source: https://e/s\n\n",
            ];
            let start = (0..=cut % (COURSE.len() + 1)).rev().find(|&i| COURSE.is_char_boundary(i));
            let mut text = COURSE[..start.unwrap_or(0)].to_owned();
            for (i, c) in pieces {
                match PIECES.get(usize::from(i) % 42) {
                    Some(piece) => text.push_str(piece),
                    None => text.push(c),
                }
            }
            let Ok(document) = parse(&text) else {
                return true;
            };
            all_numerals(&document).iter().all(|numeral| {
                let written = text.get(numeral.span.clone()).unwrap_or_default();
                let is_plain = written.chars().all(|c| c.is_ascii_alphanumeric() || ".,%+-".contains(c));
                let agrees = written.to_lowercase().contains(&numeral.digits.to_lowercase());
                !written.is_empty() && (agrees || !is_plain)
            })
        }
        QuickCheck::new().tests(3_000).quickcheck(property as fn(Vec<(u8, char)>, usize) -> bool);
    }
}
