//! Lines and columns of a text.

use std::ops::Range;

/// A text with the places at which its lines begin.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text.
    pub fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Line and column of a byte, both from 1; the column counts characters, a byte order mark not among them.
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or("");
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }

    /// The bytes of a line, without its end.
    pub fn bytes_of(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or("");
        let start = if line.starts_with('\u{feff}') { start + '\u{feff}'.len_utf8() } else { start };
        start..start.max(end - (line.len() - line.trim_end_matches(['\n', '\r']).len()))
    }

    /// The part of a span that stands on its first line.
    pub fn first_line(&self, span: &Range<usize>) -> Range<usize> {
        let line = self.bytes_of(self.line(span.start));
        span.start..span.end.min(line.end).max(span.start)
    }

    /// The text itself.
    pub fn text(&self) -> &'a str {
        self.text
    }
}
