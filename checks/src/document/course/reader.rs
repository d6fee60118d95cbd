//! From Markdown events to lessons, sections, paragraphs, blocks and rows.

use super::front_matter::slug;
use super::prose::Prose;
use super::{BlockText, Document, LessonText, Paragraph, Row, Section, Unreadable};
use crate::document::numeral::numerals;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Tag, TagEnd};
use std::collections::BTreeMap;
use std::ops::Range;

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

/// Follows the Markdown events, and keeps what belongs to a document.
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) document: Document,
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
    pub(super) fn new(text: &'a str, page_slug: Option<String>) -> Self {
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

    pub(super) fn finish(self) -> Result<Document, Unreadable> {
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

    pub(super) fn take(&mut self, event: Event<'_>, span: Range<usize>) -> Result<(), Unreadable> {
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
