//! A claim's text: our own words, with each numeral tied to an expression.

use crate::document::numeral::{self, Numeral};
use crate::document::words::{word_like, word_value};
use models::numbers;

/// A claim's `says`, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Words and numerals in turn.
    pub parts: Vec<Part>,
}

/// A piece of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words without a numeral.
    Words(String),
    /// `{numeral = expression}`
    Tied(Tied),
}

/// A published numeral and the expression that yields it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tied {
    /// The numeral as the course prints it.
    pub published: Numeral,
    /// The expression.
    pub expression: String,
}

impl Statement {
    /// Takes a text apart.
    ///
    /// # Errors
    /// An unclosed brace; a brace without ` = `; a published part that is not exactly one numeral; a numeral outside of braces,
    /// which nothing would check; an expression without a name, which could not fail.
    pub fn parse(says: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        for piece in braces(says)? {
            match piece {
                Piece::Words(words) => {
                    if let Some(stray) = numeral::numerals(words, 0).first() {
                        let text = stray.text();
                        return Err(format!(
                            "the numeral `{text}` is tied to nothing, expected {{{text} = EXPRESSION}}"
                        ));
                    }
                    parts.push(Part::Words(words.to_owned()));
                }
                Piece::Braced(inside) => parts.push(Part::Tied(Tied::parse(inside)?)),
            }
        }
        Ok(Self { parts })
    }

    /// The tied numerals, in order.
    pub fn tied(&self) -> impl Iterator<Item = &Tied> {
        self.parts.iter().filter_map(|part| match part {
            Part::Tied(tied) => Some(tied),
            Part::Words(_) => None,
        })
    }

    /// The statement as a reader sees it.
    pub fn text(&self) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Tied(tied) => tied.published.text(),
        };
        self.parts.iter().map(part).collect()
    }
}

impl Tied {
    fn parse(inside: &str) -> Result<Self, String> {
        let Some((published, expression)) = inside.split_once(" = ") else {
            return Err(format!("found {{{inside}}}, expected {{NUMERAL = EXPRESSION}}"));
        };
        let found = numeral::numerals_and_words(published, 0);
        let [numeral] = found.as_slice() else {
            return Err(format!("found `{published}`, expected exactly one numeral or number word"));
        };
        if numeral.text() != published.trim() {
            return Err(format!("found `{published}`, which reads as the numeral `{}`", numeral.text()));
        }
        if !expression.contains(|c: char| c.is_alphabetic()) {
            return Err(format!("`{expression}` names no figure, so it could not fail"));
        }
        Ok(Self { published: numeral.clone(), expression: expression.trim().to_owned() })
    }

    /// The value, printed as the published numeral is: the same decimals, grouping and unit mark, or a number word.
    /// Differs from the published text where the value does.
    pub fn print(&self, value: f64) -> String {
        let Numeral { digits, is_word, .. } = &self.published;
        let printed = if *is_word {
            // A word is exact: only its own value prints as the word.
            match word_value(digits) {
                Some(meant) if meant.to_bits() == (value + 0.0).to_bits() => digits.clone(),
                _ => word_like(digits, value).unwrap_or_else(|| numbers::plain(value)),
            }
        } else {
            let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            let fixed = numbers::fixed(value, u8::try_from(decimals).unwrap_or(u8::MAX).min(100));
            if digits.contains(',') { group(&fixed) } else { fixed }
        };
        let (sign, printed) = match printed.strip_prefix('-') {
            Some(magnitude) => (Some('-'), magnitude.to_owned()),
            None => (self.published.sign.filter(|sign| *sign == '+'), printed),
        };
        Numeral { sign, digits: printed, ..self.published.clone() }.text()
    }
}

/// Groups the thousands of a number that `toFixed` printed.
fn group(fixed: &str) -> String {
    let (whole, decimals) = fixed.split_once('.').map_or((fixed, None), |(whole, decimals)| (whole, Some(decimals)));
    let grouped = whole.parse::<f64>().map_or_else(|_| whole.to_owned(), numbers::grouped);
    match decimals {
        Some(decimals) => format!("{grouped}.{decimals}"),
        None => grouped,
    }
}

/// A piece of a text with braces.
pub(super) enum Piece<'a> {
    Words(&'a str),
    Braced(&'a str),
}

/// Splits at braces; inside, nested braces belong to the expression.
pub(super) fn braces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        if open > 0 {
            pieces.push(Piece::Words(&rest[..open]));
        }
        let inside = &rest[open + 1..];
        let mut depth = 1;
        let close = inside.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        });
        let Some((close, _)) = close else { return Err("a `{` without its `}`".to_owned()) };
        pieces.push(Piece::Braced(&inside[..close]));
        rest = &inside[close + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Words(rest));
    }
    Ok(pieces)
}
