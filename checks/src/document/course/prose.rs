//! Text without its markup, with the way back to the file.

use crate::document::numeral::{Numeral, numerals_and_words};
use std::ops::Range;

/// Text without its markup, and where each piece of it stands in the file: markup inside a numeral (`**20**%`) must
/// neither split nor displace it.
#[derive(Default)]
pub(super) struct Prose {
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
    pub(super) fn push(&mut self, piece: &str, span: Range<usize>, is_verbatim: bool) {
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
    pub(super) fn separate(&mut self) {
        self.text.push('\n');
    }

    pub(super) fn numerals(&self) -> Vec<Numeral> {
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
