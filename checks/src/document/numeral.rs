//! Finds the numerals of a text.
//!
//! - Digits in a word that begins with a letter are part of a name: `K01`, `AY13a`, `p99`, `k1`. So are digits that a
//!   hyphen ties to an uppercase word of two letters or more: `TR-4821`, `UTF-8`; but not `ratio-0.50`, `N-1`.
//! - A single `x` or `×` before digits marks a multiple: `x1.03`. One between digits separates them: `3x3x3`.
//! - Letters after digits are a unit and do not count: `200ms`, `50th`.
//! - Digits joined by commas and dots are one numeral, also where they make no number (`3,20,000`): a typing error is
//!   one finding. A dot or comma that no digit follows belongs to the sentence.
//! - A sign counts only where a number may begin: in `6-10`, `n-1` and `5%-8%` the hyphen is none.
//! - A superscript behind digits is a numeral of its own, written plainly: `10⁻⁶` holds `10` and `-6`.
//! - Four dotted integers are a network address, which names a place together with its port: `127.0.0.1:80`.
//! - Unit marks on both sides (`%5%`) contradict each other and none is taken, so that they agree with no figure.

use super::words::{LONGEST_WORD, is_ten, word_value};
use models::figures::Mark;
use std::ops::Range;

/// A number as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numeral {
    /// `+` or `-`; a typographic minus counts as `-`.
    pub sign: Option<char>,
    /// Digits with their commas, dots and exponent as written, or a number word in lower case.
    pub digits: String,
    /// The unit mark that touches the digits.
    pub mark: Option<Mark>,
    /// Where sign, digits and mark stand in the file, in bytes.
    pub span: Range<usize>,
    /// A number word. Whether it means a number only its sentence knows (`one` may be a pronoun).
    pub is_word: bool,
}

impl Numeral {
    /// Sign, digits and mark, in the form of [`models::figures::Figure::shown`].
    pub fn text(&self) -> String {
        let sign = self.sign.map(String::from).unwrap_or_default();
        let digits = &self.digits;
        match self.mark {
            None => format!("{sign}{digits}"),
            Some(Mark::Percent) => format!("{sign}{digits}%"),
            Some(Mark::PercentBefore) => format!("%{sign}{digits}"),
            Some(Mark::Times) => format!("{sign}{digits}x"),
            Some(Mark::TimesBefore) => format!("x{sign}{digits}"),
        }
    }
}

/// The numerals written in digits; `offset` is where `text` begins in the file.
pub fn numerals(text: &str, offset: usize) -> Vec<Numeral> {
    Lexer::new(text, false).run(offset)
}

/// The numerals written in digits or as words.
///
/// Every word that [`word_value`] knows is returned, whole words only; a hyphen ends a word, so that
/// `five-round` holds `five`, except that tens and units make one (`twenty-four`). Larger compounds stay apart: `two
/// hundred` is `two` and `hundred`.
pub fn numerals_and_words(text: &str, offset: usize) -> Vec<Numeral> {
    Lexer::new(text, true).run(offset)
}

/// Between this and the next number there is none: what follows cannot begin with a sign.
fn closes(c: char) -> bool {
    is_word_character(c) || matches!(c, ')' | ']' | '}' | '+' | '-' | '−')
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn sign(c: char) -> Option<char> {
    match c {
        '+' => Some('+'),
        '-' | '−' => Some('-'),
        _ => None,
    }
}

/// A superscript character as the plain one.
fn plain_superscript(c: char) -> Option<char> {
    let superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻".chars();
    superscripts.zip("0123456789+-".chars()).find_map(|(superscript, plain)| (superscript == c).then_some(plain))
}

struct Lexer<'a> {
    text: &'a str,
    with_words: bool,
    position: usize,
    found: Vec<Numeral>,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, with_words: bool) -> Self {
        Self { text, with_words, position: 0, found: Vec::new() }
    }

    fn run(mut self, offset: usize) -> Vec<Numeral> {
        while let Some(c) = self.next_at(self.position) {
            if c.is_ascii_digit() {
                self.number(self.position);
            } else if matches!(c, 'x' | '×') && self.is_digit(self.position + c.len_utf8()) {
                self.number(self.position + c.len_utf8());
            } else if is_word_character(c) {
                self.word();
            } else {
                self.position += c.len_utf8();
            }
        }
        for numeral in &mut self.found {
            numeral.span.start += offset;
            numeral.span.end += offset;
        }
        self.found
    }

    fn next_at(&self, position: usize) -> Option<char> {
        let first = *self.text.as_bytes().get(position)?;
        if first.is_ascii() {
            return Some(first.into());
        }
        self.text.get(position..)?.chars().next()
    }

    fn before(&self, position: usize) -> Option<char> {
        self.text.get(..position)?.chars().next_back()
    }

    fn is_digit(&self, position: usize) -> bool {
        self.text.as_bytes().get(position).is_some_and(u8::is_ascii_digit)
    }

    fn after_digits(&self, mut position: usize) -> usize {
        while self.is_digit(position) {
            position += 1;
        }
        position
    }

    /// The end of digits joined by one of these characters.
    fn after_joined_digits(&self, start: usize, joints: &[u8]) -> usize {
        let mut end = self.after_digits(start);
        while self.text.as_bytes().get(end).is_some_and(|b| joints.contains(b)) && self.is_digit(end + 1) {
            end = self.after_digits(end + 1);
        }
        end
    }

    fn after_word(&self, mut position: usize) -> usize {
        while let Some(c) = self.next_at(position).filter(|&c| is_word_character(c)) {
            position += c.len_utf8();
        }
        position
    }

    /// Reads the number whose first digit stands at `first`, with what touches it on both sides.
    fn number(&mut self, first: usize) {
        let mut end = self.after_joined_digits(first, b".,");
        if self.is_address(first..end) {
            self.position = match self.next_at(end) {
                Some(':') => self.after_digits(end + 1),
                _ => end,
            };
            return;
        }
        end = self.after_exponent(end);
        let (start, mut numeral) = self.with_prefix(first);
        numeral.digits = self.slice(start..end).to_owned();
        numeral.span.end = end;
        if let Some(power) = self.superscript(end) {
            self.position = self.after_word(power.span.end);
            self.found.extend([numeral, power]);
            return;
        }

        let (mark, after) = self.suffix(end);
        if let Some(mark) = mark {
            numeral.mark = numeral.mark.is_none().then_some(mark);
            numeral.span.end = after;
        }
        self.position = after;
        self.found.push(numeral);
    }

    /// The unit mark behind the digits, and where the text goes on behind it or behind a unit in letters.
    fn suffix(&self, end: usize) -> (Option<Mark>, usize) {
        match self.next_at(end) {
            Some('%') => (Some(Mark::Percent), end + 1),
            Some(x @ ('x' | '×')) => {
                let after = end + x.len_utf8();
                match self.next_at(after) {
                    Some(c) if c.is_ascii_digit() => (None, after),
                    Some(c) if is_word_character(c) => (None, self.after_word(after)),
                    _ => (Some(Mark::Times), after),
                }
            }
            _ => (None, self.after_word(end)),
        }
    }

    /// Where the digits begin (a leading dot included), and a numeral with the sign and mark before them.
    fn with_prefix(&self, first: usize) -> (usize, Numeral) {
        let mut start = first;
        let may_begin = |position| self.before(position).is_none_or(|c| !closes(c) && c != '.');
        if self.before(start) == Some('.') && may_begin(start - 1) {
            start -= 1;
        }
        let digits_start = start;
        let mut found_sign = self.sign_before(&mut start);
        let mark = match self.before(start) {
            Some('%') if !self.before(start - 1).is_some_and(is_word_character) => {
                start -= 1;
                Some(Mark::PercentBefore)
            }
            Some(x @ ('x' | '×')) if !self.before(start - x.len_utf8()).is_some_and(is_word_character) => {
                start -= x.len_utf8();
                Some(Mark::TimesBefore)
            }
            _ => None,
        };
        if mark.is_some() && found_sign.is_none() {
            found_sign = self.sign_before(&mut start);
        }
        let numeral = Numeral { sign: found_sign, digits: String::new(), mark, span: start..start, is_word: false };
        (digits_start, numeral)
    }

    fn sign_before(&self, start: &mut usize) -> Option<char> {
        let c = self.before(*start)?;
        let found = sign(c)?;
        let outside = *start - c.len_utf8();
        let closed = match self.before(outside) {
            Some('%') => self.before(outside - 1).is_some_and(closes),
            c => c.is_some_and(closes),
        };
        (!closed).then(|| {
            *start = outside;
            found
        })
    }

    fn after_exponent(&self, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        if !matches!(bytes.get(end), Some(b'e' | b'E')) {
            return end;
        }
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        let digits = end + 1 + usize::from(signed);
        let after = self.after_digits(digits);
        let is_exponent = after > digits && !self.next_at(after).is_some_and(is_word_character);
        if is_exponent { after } else { end }
    }

    fn is_address(&self, digits: Range<usize>) -> bool {
        let mut parts = self.slice(digits).split('.');
        parts.by_ref().take(4).filter(|part| !part.contains(',')).count() == 4 && parts.next().is_none()
    }

    fn superscript(&self, start: usize) -> Option<Numeral> {
        let mut plain = String::new();
        let mut end = start;
        while let Some((c, p)) = self.next_at(end).and_then(|c| Some((c, plain_superscript(c)?))) {
            if end > start && !p.is_ascii_digit() {
                break;
            }
            plain.push(p);
            end += c.len_utf8();
        }
        let digits = plain.trim_start_matches(['+', '-']);
        (!digits.is_empty()).then(|| Numeral {
            sign: plain.chars().next().and_then(sign),
            digits: digits.to_owned(),
            mark: None,
            span: start..end,
            is_word: false,
        })
    }

    /// Passes a word, which is a name if it holds digits, and takes it if it is a number word.
    fn word(&mut self) {
        let start = self.position;
        let mut end = self.after_word(start);
        let word = self.slice(start..end);
        if word.bytes().any(|b| b.is_ascii_digit()) {
            // A name goes on over dots: `v1.2`.
            while self.next_at(end) == Some('.') && self.is_digit(end + 1) {
                end = self.after_word(end + 1);
            }
        } else if self.with_words && word.len() <= LONGEST_WORD {
            end = self.number_word(start..end);
        }
        if is_uppercase_name(word) {
            while self.next_at(end) == Some('-') && self.is_digit(end + 1) {
                end = self.after_word(end + 1);
            }
        }
        self.position = end;
    }

    /// Takes the word if it is a number word, with the unit a hyphen ties to a ten; returns where it ends.
    fn number_word(&mut self, span: Range<usize>) -> usize {
        let mut word = self.slice(span.clone()).to_lowercase();
        let mut end = span.end;
        if word_value(&word).is_none() {
            return end;
        }
        if is_ten(&word) && self.next_at(end) == Some('-') {
            let unit_end = self.after_word(end + 1).min(end + 1 + LONGEST_WORD);
            let compound = format!("{word}-{}", self.slice(end + 1..unit_end).to_lowercase());
            if word_value(&compound).is_some() {
                (word, end) = (compound, unit_end);
            }
        }
        self.found.push(Numeral { sign: None, digits: word, mark: None, span: span.start..end, is_word: true });
        end
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }
}

fn is_uppercase_name(word: &str) -> bool {
    word.len() >= 2
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(numerals: Vec<Numeral>) -> String {
        let texts: Vec<String> = numerals.iter().map(Numeral::text).collect();
        texts.join(" ")
    }

    #[test]
    fn digits_lex_as_the_courses_mean_them() {
        for (text, expected) in [
            ("K01, AY13a: M19/K03 KU1–KU3", ""),
            ("TR-4821 UTF-8 SHA-256 `TR-2214`'s", ""),
            ("k1 z1 p99 v1.2 S7@discount key_5", ""),
            ("127.0.0.1:8471", ""),
            ("k1=4 K3=0.25 (d=2) share(28.2", "4 0.25 2 28.2"),
            ("x1.03 ×2.00 (x2)", "x1.03 x2.00 x2"),
            ("ratio 7.40x. 3×", "7.40x 3x"),
            ("cube 3x3x3 area 2×3 status 5xx", "3 3 3 2 3 5"),
            ("%7.57 91.48% 5%–8%", "%7.57 91.48% 5% 8%"),
            ("%5% x5x", "5 5"),
            ("24/8 1/(n-1) N-1 6/7/8", "24 8 1 1 1 6 7 8"),
            ("2-leader consecutive-5 ratio-0.50", "2 5 0.50"),
            ("+43% -5.0% (−3) %-5 -%5 -x2", "+43% -5.0% -3 %-5 %-5 x-2"),
            ("rounds 6-10 46–49-second 5%-8% (3)-1", "6 10 46 49 5% 8% 3 1"),
            ("2,000 + 2,000 - 3", "2,000 2,000 3"),
            ("3,200,000 3,20,000 6, 12", "3,200,000 3,20,000 6 12"),
            ("5.0 is 5. And 1.2.3, .5 ...7 1'", "5.0 5 1.2.3 .5 7 1"),
            ("200ms 8h 0.9722/round 0/yr 9f3a", "200 8 0.9722 0 9"),
            ("10⁻⁶ 2¹⁰", "10 -6 2 10"),
            ("1e-7 2.5e+21 3e 4em", "1e-7 2.5e+21 3 4"),
            ("{\"name\":\"k1\",\"tracked\":8}", "8"),
            ("two rounds", ""),
        ] {
            assert_eq!(shown(numerals(text, 0)), expected, "{text}");
        }
    }

    #[test]
    fn number_words_are_whole_words_of_the_list() {
        for (text, expected) in [
            ("Two of 3 ones", "two 3 ones"),
            ("five-round, two-leader, one-in-eight", "five two one eight"),
            ("twenty-four-slot twenty-round forty-eighths", "twenty-four twenty forty-eighths"),
            ("a hundred and twenty", "hundred twenty"),
            ("Half doubles; twice seven-eighths", "half doubles twice seven eighths"),
            ("every second, 20 seconds", "second 20"),
            ("tenfold fivefold manifold", "tenfold fivefold"),
            ("someone often stone phone_one one2", ""),
        ] {
            assert_eq!(shown(numerals_and_words(text, 0)), expected, "{text}");
        }
    }

    #[test]
    fn spans_are_ordered_and_hold_the_numeral() {
        fn property(pieces: Vec<(u8, char)>) -> bool {
            const PIECES: [&str; 16] =
                ["1", "23", ",", ".", "x", "×", "%", "-", "−", "⁻", "⁶", "é", "K", "two", "twenty-", " "];
            let text: String = pieces
                .into_iter()
                .flat_map(|(i, c)| match PIECES.get(usize::from(i % 18)) {
                    Some(piece) => piece.chars().collect(),
                    None => vec![c],
                })
                .collect();
            let mut end = 7;
            numerals_and_words(&text, 7).iter().all(|numeral| {
                let written = &text[numeral.span.start - 7..numeral.span.end - 7];
                let ordered = end <= numeral.span.start;
                end = numeral.span.end;
                let digits: String = written.chars().map(|c| plain_superscript(c).unwrap_or(c)).collect();
                ordered && digits.to_lowercase().contains(&numeral.digits.to_lowercase())
            })
        }
        quickcheck::QuickCheck::new().tests(20_000).quickcheck(property as fn(Vec<(u8, char)>) -> bool);
    }
}
