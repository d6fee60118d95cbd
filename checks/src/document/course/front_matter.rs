//! The head of a file: whether it is a course or a lesson page, and what it says of itself.

use super::Unreadable;
use std::ops::Range;

pub(super) struct FrontMatter {
    /// Where the text behind it begins.
    pub(super) body: usize,
    /// The slug, if the file is a lesson page.
    pub(super) page_slug: Option<String>,
    pub(super) declared_lessons: Option<(usize, Range<usize>)>,
}

impl FrontMatter {
    pub(super) fn read(text: &str) -> Result<Self, Unreadable> {
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
pub(super) fn slug(address: &str, offset: usize) -> Result<String, Unreadable> {
    let is_part_of_slug = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match address.rsplit_once('/') {
        Some((_, slug)) if !slug.is_empty() && slug.chars().all(is_part_of_slug) => Ok(slug.to_owned()),
        _ => Err(Unreadable::at(offset, "expected the lesson's address here, ending in its slug: `https://.../SLUG`")),
    }
}
