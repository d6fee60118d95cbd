//! Figures, blocks and reports: what a lesson publishes.

use crate::numbers;
use serde::Serialize;

/// A number, or the place of one that the model does not have (nothing was detected, nothing to average).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A count.
    Integer(i64),
    /// An IEEE double.
    Real(f64),
    /// No number here; the course prints a dash or a word.
    Absent,
}

impl Number {
    /// The number as a double.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Integer(i) => Some(i as f64),
            Self::Real(x) => Some(x),
            Self::Absent => None,
        }
    }

    /// A numeral stands in the text for this number: it is there, and finite.
    pub fn is_printed(self) -> bool {
        self.as_f64().is_some_and(f64::is_finite)
    }
}

macro_rules! number_from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(i: $integer) -> Self {
                // Counts beyond 2^63 cannot arise under the step limit; saturating keeps the conversion total.
                Self::Integer(i64::try_from(i).unwrap_or(i64::MAX))
            }
        }
    )*};
}
number_from_integer!(u8, u32, u64, usize, i32, i64);

impl From<f64> for Number {
    fn from(x: f64) -> Self {
        Self::Real(x)
    }
}

impl<T: Into<Number>> From<Option<T>> for Number {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

/// Which of the courses' ways prints a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Plain conversion to a string.
    Plain,
    /// `toFixed` with that many decimals.
    Fixed(u8),
    /// Thousands grouped, at most three decimals.
    Grouped,
    /// A whole number with leading zeros, at least that many digits; a course numbers its lessons so.
    Padded(u8),
}

/// A unit mark that touches the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// `91.48%`
    Percent,
    /// `%91.48`
    PercentBefore,
    /// `5.29x`
    Times,
    /// `x5.29` or `×5.29`
    TimesBefore,
}

/// One number of a block: what it is, its value, and how the course prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Dotted path in snake case, unique in its lesson; a figure that echoes a parameter is `parameters.NAME`.
    pub name: String,
    /// The computed value, unrounded.
    pub value: Number,
    /// How it is printed.
    pub style: Style,
    /// The unit mark beside the digits, if any.
    pub mark: Option<Mark>,
    /// Printed with an explicit plus sign unless it is negative: `+2`, `+0`.
    pub plus: bool,
}

impl Figure {
    fn new(name: impl Into<String>, value: impl Into<Number>, style: Style) -> Self {
        Self { name: name.into(), value: value.into(), style, mark: None, plus: false }
    }

    /// A figure printed by plain conversion.
    pub fn plain(name: impl Into<String>, value: impl Into<Number>) -> Self {
        Self::new(name, value, Style::Plain)
    }

    /// A figure printed with a fixed number of decimals.
    pub fn fixed(name: impl Into<String>, value: impl Into<Number>, decimals: u8) -> Self {
        Self::new(name, value, Style::Fixed(decimals))
    }

    /// A figure printed with grouped thousands.
    pub fn grouped(name: impl Into<String>, value: impl Into<Number>) -> Self {
        Self::new(name, value, Style::Grouped)
    }

    /// A figure printed with leading zeros, at least that many digits.
    pub fn padded(name: impl Into<String>, value: impl Into<Number>, digits: u8) -> Self {
        Self::new(name, value, Style::Padded(digits))
    }

    /// The same figure with a unit mark.
    pub fn marked(self, mark: Mark) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// The same figure, with a plus sign unless it is negative.
    pub fn with_plus(self) -> Self {
        Self { plus: true, ..self }
    }

    /// The numeral without its unit mark and plus sign; a dash where there is no number.
    pub fn digits(&self) -> String {
        match self.value.as_f64() {
            None => "-".to_owned(),
            Some(x) => self.style.print(self.value, x),
        }
    }

    /// The numeral as the course prints it, sign and unit mark included; a dash where there is no number.
    pub fn shown(&self) -> String {
        let Some(x) = self.value.as_f64() else { return self.digits() };
        let digits = self.digits();
        let plus = if self.plus && x >= 0.0 { "+" } else { "" };
        match self.mark {
            None => format!("{plus}{digits}"),
            Some(Mark::Percent) => format!("{plus}{digits}%"),
            Some(Mark::PercentBefore) => format!("%{plus}{digits}"),
            Some(Mark::Times) => format!("{plus}{digits}x"),
            Some(Mark::TimesBefore) => format!("x{plus}{digits}"),
        }
    }
}

impl Style {
    fn print(self, value: Number, x: f64) -> String {
        match (self, value) {
            (Self::Plain, Number::Integer(i)) => i.to_string(),
            (Self::Plain, _) => numbers::plain(x),
            (Self::Fixed(decimals), _) => numbers::fixed(x, decimals),
            (Self::Grouped, _) => numbers::grouped(x),
            (Self::Padded(digits), _) => format!("{:0>1$}", numbers::fixed(x, 0), usize::from(digits)),
        }
    }
}

/// One published output block: its figures, in the order in which their numerals stand in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Short name, unique in its lesson; by custom the name of the program that prints the block.
    pub name: &'static str,
    /// Left to right, top to bottom, echoed parameters included.
    pub figures: Vec<Figure>,
}

impl Block {
    /// An empty block.
    pub fn new(name: &'static str) -> Self {
        Self { name, figures: Vec::new() }
    }

    /// Appends a figure.
    pub fn push(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Appends a figure printed by plain conversion.
    pub fn plain(&mut self, name: impl Into<String>, value: impl Into<Number>) {
        self.push(Figure::plain(name, value));
    }

    /// Appends a figure printed with a fixed number of decimals.
    pub fn fixed(&mut self, name: impl Into<String>, value: impl Into<Number>, decimals: u8) {
        self.push(Figure::fixed(name, value, decimals));
    }

    /// Appends a figure printed with grouped thousands.
    pub fn grouped(&mut self, name: impl Into<String>, value: impl Into<Number>) {
        self.push(Figure::grouped(name, value));
    }
}

/// Something a model knows that no published block prints, for the claims to speak about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A number.
    Number(Number),
    /// Yes or no.
    Flag(bool),
    /// A name.
    Text(String),
    /// Several, in an order that means something.
    List(Vec<Fact>),
}

impl<T: Into<Number>> From<T> for Fact {
    fn from(value: T) -> Self {
        Self::Number(value.into())
    }
}

impl From<bool> for Fact {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<T: Into<Fact>> From<Vec<T>> for Fact {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

/// All that one run of a lesson yields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The published blocks, in the order of the text.
    pub blocks: Vec<Block>,
    /// What else the claims may speak about: dotted path and value.
    pub facts: Vec<(String, Fact)>,
}

impl Report {
    /// A report of these blocks.
    pub fn new(blocks: impl Into<Vec<Block>>) -> Self {
        Self { blocks: blocks.into(), facts: Vec::new() }
    }

    /// Every figure of every block, in published order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.blocks.iter().flat_map(|block| &block.figures)
    }

    /// The names of all figures and facts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let facts = self.facts.iter().map(|(name, _)| name.as_str());
        self.figures().map(|figure| figure.name.as_str()).chain(facts)
    }

    /// Adds a fact.
    pub fn fact(&mut self, name: impl Into<String>, value: impl Into<Fact>) {
        self.facts.push((name.into(), value.into()));
    }
}

/// Makes one segment of a figure's name from a name or number: lower case, everything else an underscore.
pub fn segment(text: impl ToString) -> String {
    let mut out = String::new();
    for c in text.to_string().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c.to_ascii_lowercase()),
            _ if out.ends_with('_') || out.is_empty() => {}
            _ => out.push('_'),
        }
    }
    out.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_shown_in_its_style_with_its_mark_and_sign() {
        let absent = None::<f64>;
        let plain = |value: Number| Figure::plain("f", value);
        let fixed = |value: f64, decimals| Figure::fixed("f", value, decimals);
        let grouped = |value: Number| Figure::grouped("f", value);
        let cases = [
            (plain(7.into()), "7"),
            // Beyond 2^53 an integer is no double any more.
            (plain(9_007_199_254_740_993_i64.into()), "9007199254740993"),
            (plain(0.05.into()), "0.05"),
            (plain(1e21.into()), "1e+21"),
            (Figure::fixed("f", 7, 2), "7.00"),
            (fixed(0.125, 2), "0.13"),
            (fixed(-0.001, 2), "-0.00"),
            (grouped(3_200_000.into()), "3,200,000"),
            (grouped(1234.5.into()), "1,234.5"),
            (Figure::padded("f", 1, 2), "01"),
            (Figure::padded("f", 123, 2), "123"),
            (fixed(91.479, 2).marked(Mark::Percent), "91.48%"),
            (fixed(91.479, 2).marked(Mark::PercentBefore), "%91.48"),
            (fixed(5.29, 2).marked(Mark::Times), "5.29x"),
            (fixed(5.29, 2).marked(Mark::TimesBefore), "x5.29"),
            (plain(2.into()).with_plus(), "+2"),
            (plain(0.into()).with_plus(), "+0"),
            (plain((-2).into()).with_plus(), "-2"),
            (fixed(43.0, 0).marked(Mark::Percent).with_plus(), "+43%"),
            (fixed(43.0, 0).marked(Mark::PercentBefore).with_plus(), "%+43"),
            (fixed(-43.0, 0).marked(Mark::Percent).with_plus(), "-43%"),
            (fixed(1.5, 1).marked(Mark::TimesBefore).with_plus(), "x+1.5"),
            // No number is a dash, whatever stands around it; not-a-number and infinity are numbers to print.
            (plain(absent.into()), "-"),
            (Figure::fixed("f", absent, 2).marked(Mark::Percent).with_plus(), "-"),
            (fixed(f64::NAN, 2).marked(Mark::Percent).with_plus(), "NaN%"),
            (fixed(f64::INFINITY, 2), "Infinity"),
            (grouped(f64::NEG_INFINITY.into()), "-∞"),
        ];
        for (figure, expected) in cases {
            assert_eq!(figure.shown(), expected, "{figure:?}");
        }
    }

    #[test]
    fn only_a_finite_number_has_a_numeral() {
        assert!(Number::from(0).is_printed());
        assert!(Number::from(0.5).is_printed());
        assert!(!Number::from(f64::NAN).is_printed());
        assert!(!Number::from(f64::INFINITY).is_printed());
        assert!(!Number::from(None::<u64>).is_printed());
    }
}
