//! Lays the numerals found in a text beside the expected ones, so that a changed numeral is one finding and an
//! inserted or removed line is one too, not a cascade.
//!
//! Edit distance with affine gaps (Gotoh 1982) in integers. The costs are chosen so that
//! - a change is cheaper than an extra and a missing numeral together, however many stand side by side:
//!   `CHANGE <= 2 * GAP_STEP`;
//! - a changed word is cheaper than a missing one beside one that needs no explanation: `CHANGE < GAP_OPEN + GAP_STEP`;
//! - a word rewritten in digits is dearer than a numeral that nothing explains, as the word may still stand beside it:
//!   `WORD_IN_DIGITS > GAP_OPEN + GAP_STEP`.
//!
//! Among alignments of equal cost, an extra run that begins and ends with a line is preferred.

use std::ops::Range;

/// A numeral as alignment sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text; tokens agree if their texts are equal.
    pub text: &'a str,
    /// The line it stands on; means something only for the tokens found.
    pub line: usize,
    /// A number word. Found, it costs nothing where nothing explains it, and it is never taken for digits; only an
    /// expected word can change into it.
    pub optional: bool,
}

/// One step of an alignment. Optional tokens that nothing explains appear in none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The tokens agree.
    Match {
        /// Index of the expected token.
        expected: usize,
        /// Index of the found token.
        found: usize,
    },
    /// The expected token stands in the text as another one.
    Change {
        /// Index of the expected token.
        expected: usize,
        /// Index of the found token.
        found: usize,
    },
    /// Expected tokens without a counterpart in the text.
    Missing {
        /// Indices of the expected tokens.
        expected: Range<usize>,
    },
    /// Found tokens that nothing explains; first and last are not optional, between them optional ones may stand.
    Extra {
        /// Indices of the found tokens.
        found: Range<usize>,
    },
}

const CHANGE: Cost = 3 * PREFERENCE_LIMIT;
const WORD_IN_DIGITS: Cost = 7 * PREFERENCE_LIMIT;
const GAP_OPEN: Cost = 4 * PREFERENCE_LIMIT;
const GAP_STEP: Cost = 2 * PREFERENCE_LIMIT;

/// What a gap's end within a line costs: less than any real difference, however often it is paid.
const WITHIN_LINE: Cost = 1;
const PREFERENCE_LIMIT: Cost = 1 << 32;
const NEVER: Cost = Cost::MAX / 2;

type Cost = u64;

/// No larger table is built: 48 MB, about half a second.
const CELL_LIMIT: usize = 1 << 24;

/// Aligns; the edits come in the order of the text and cover every expected token.
///
/// A text with far more tokens than expected is aligned up to a limit, and the rest is one extra run, so that time and
/// memory stay proportional to the text.
pub fn align(expected: &[Token], found: &[Token]) -> Vec<Edit> {
    // Equal ends need no table, but cutting them off would decide which of several equal lines is the extra one:
    // only where the table would be too large.
    let fits = (expected.len() + 1).saturating_mul(found.len() + 1) <= CELL_LIMIT;
    let prefix = if fits { 0 } else { common(expected.iter().zip(found)) };
    let (expected_rest, found_rest) = (&expected[prefix..], &found[prefix..]);
    let suffix = if fits { 0 } else { common(expected_rest.iter().rev().zip(found_rest.iter().rev())) };
    let (expected_end, found_end) = (expected.len() - suffix, found.len() - suffix);

    let rows = (expected_end - prefix).min(CELL_LIMIT / 2);
    let columns = (2 * rows + 1024).min(CELL_LIMIT / (rows + 1));
    let cut = found_end.min(prefix + columns);

    let mut edits: Vec<Edit> = (0..prefix).map(|i| Edit::Match { expected: i, found: i }).collect();
    let table = Table::fill(&expected[prefix..prefix + rows], &found[prefix..cut]);
    table.trace(prefix, &mut edits);
    if prefix + rows < expected_end {
        push_missing(&mut edits, prefix + rows..expected_end);
    }
    let is_required = |token: &Token| !token.optional;
    if let Some(first) = found[cut..found_end].iter().position(is_required)
        && let Some(last) = found[cut..found_end].iter().rposition(is_required)
    {
        push_extra(&mut edits, cut + first..cut + last + 1);
    }
    edits.extend((0..suffix).map(|i| Edit::Match { expected: expected_end + i, found: found_end + i }));
    edits
}

fn common<'t>(pairs: impl Iterator<Item = (&'t Token<'t>, &'t Token<'t>)>) -> usize {
    pairs.take_while(|(expected, found)| expected.text == found.text).count()
}

fn push_missing(edits: &mut Vec<Edit>, run: Range<usize>) {
    match edits.last_mut() {
        Some(Edit::Missing { expected }) => expected.end = run.end,
        _ => edits.push(Edit::Missing { expected: run }),
    }
}

fn push_extra(edits: &mut Vec<Edit>, run: Range<usize>) {
    match edits.last_mut() {
        Some(Edit::Extra { found }) => found.end = run.end,
        _ => edits.push(Edit::Extra { found: run }),
    }
}

/// What an alignment of two prefixes ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// A pair, or an optional token passed over outside of a gap.
    Pair,
    /// A found token without a counterpart.
    Extra,
    /// An expected token without a counterpart.
    Missing,
}

/// The lowest cost of aligning two prefixes, for each ending.
#[derive(Clone, Copy)]
struct Costs {
    pair: Cost,
    extra: Cost,
    missing: Cost,
}

/// How each ending was reached at the lowest cost.
#[derive(Clone, Copy)]
struct Step {
    /// The ending before the pair; `None` where an optional token was passed over.
    pair: Option<Ending>,
    extra: Ending,
    missing: Option<Ending>,
}

struct Table<'a> {
    expected: &'a [Token<'a>],
    found: &'a [Token<'a>],
    /// One row per expected prefix.
    steps: Vec<Step>,
    last: Ending,
}

impl<'a> Table<'a> {
    fn fill(expected: &'a [Token<'a>], found: &'a [Token<'a>]) -> Self {
        let gap_ends = GapEnds::of(found);
        let width = found.len() + 1;
        let nothing = Costs { pair: NEVER, extra: NEVER, missing: NEVER };
        let mut steps = Vec::with_capacity((expected.len() + 1) * width);
        let mut above = vec![nothing; width];
        let mut row = above.clone();
        for i in 0..=expected.len() {
            for j in 0..width {
                let mut costs = nothing;
                let mut step = Step { pair: None, extra: Ending::Pair, missing: None };
                if (i, j) == (0, 0) {
                    costs.pair = 0;
                }
                if i > 0 {
                    let before = above[j];
                    (costs.missing, step.missing) = cheapest([
                        (before.missing + GAP_STEP, Some(Ending::Missing)),
                        (before.pair + GAP_OPEN + GAP_STEP, Some(Ending::Pair)),
                    ]);
                }
                if i > 0
                    && j > 0
                    && let Some(cost) = pairing(&expected[i - 1], &found[j - 1])
                {
                    let before = above[j - 1];
                    (costs.pair, step.pair) = cheapest([
                        (before.extra + cost + gap_ends.close[j - 1], Some(Ending::Extra)),
                        (before.missing + cost, Some(Ending::Missing)),
                        (before.pair + cost, Some(Ending::Pair)),
                    ]);
                }
                if j > 0 && found[j - 1].optional {
                    let before = row[j - 1];
                    (costs.pair, step.pair) = cheapest([(costs.pair, step.pair), (before.pair, None)]);
                    (costs.missing, step.missing) = cheapest([(costs.missing, step.missing), (before.missing, None)]);
                    (costs.extra, step.extra) = (before.extra, Ending::Extra);
                } else if j > 0 {
                    let before = row[j - 1];
                    let open = GAP_OPEN + GAP_STEP + gap_ends.open[j - 1];
                    (costs.extra, step.extra) = cheapest([
                        (before.extra + GAP_STEP, Ending::Extra),
                        (before.missing + open, Ending::Missing),
                        (before.pair + open, Ending::Pair),
                    ]);
                }
                row[j] = costs;
                steps.push(step);
            }
            std::mem::swap(&mut above, &mut row);
        }
        let whole = above[found.len()];
        let (_, last) = cheapest([
            (whole.extra + gap_ends.close[found.len()], Ending::Extra),
            (whole.missing, Ending::Missing),
            (whole.pair, Ending::Pair),
        ]);
        Self { expected, found, steps, last }
    }

    /// Appends the best alignment's edits; `offset` is the index of the first token in both sequences.
    fn trace(&self, offset: usize, edits: &mut Vec<Edit>) {
        let (mut i, mut j) = (self.expected.len(), self.found.len());
        let mut ending = self.last;
        let mut backwards = Vec::new();
        while (i, j) != (0, 0) {
            let step = self.steps[i * (self.found.len() + 1) + j];
            let (before, passes_optional) = match ending {
                Ending::Pair => (step.pair, step.pair.is_none()),
                Ending::Missing => (step.missing, step.missing.is_none()),
                Ending::Extra => (Some(step.extra), self.found[j - 1].optional),
            };
            let leaves = ending;
            ending = before.unwrap_or(ending);
            if passes_optional {
                j -= 1;
                continue;
            }
            if leaves != Ending::Missing {
                j -= 1;
            }
            if leaves != Ending::Extra {
                i -= 1;
            }
            let (expected, found) = (offset + i, offset + j);
            match (leaves, backwards.last_mut()) {
                (Ending::Extra, Some(Edit::Extra { found: run })) => run.start = found,
                (Ending::Missing, Some(Edit::Missing { expected: run })) => run.start = expected,
                (Ending::Extra, _) => backwards.push(Edit::Extra { found: found..found + 1 }),
                (Ending::Missing, _) => backwards.push(Edit::Missing { expected: expected..expected + 1 }),
                (Ending::Pair, _) if self.expected[i].text == self.found[j].text => {
                    backwards.push(Edit::Match { expected, found });
                }
                (Ending::Pair, _) => backwards.push(Edit::Change { expected, found }),
            }
        }
        edits.extend(backwards.into_iter().rev());
    }
}

/// What it costs to lay a found token beside an expected one, if that may be done.
fn pairing(expected: &Token, found: &Token) -> Option<Cost> {
    match (expected.optional, found.optional) {
        _ if expected.text == found.text => Some(0),
        (true, true) | (false, false) => Some(CHANGE),
        (true, false) => Some(WORD_IN_DIGITS),
        (false, true) => None,
    }
}

/// The first of the cheapest.
fn cheapest<T: Copy, const N: usize>(candidates: [(Cost, T); N]) -> (Cost, T) {
    let mut best = candidates[0];
    for candidate in candidates {
        if candidate.0 < best.0 {
            best = candidate;
        }
    }
    best
}

/// What it costs beyond the gap itself that an extra run begins or ends within a line.
struct GapEnds {
    /// By the index of the run's first token.
    open: Vec<Cost>,
    /// By the index behind the run; optional tokens at its end are not counted as part of it.
    close: Vec<Cost>,
}

impl GapEnds {
    fn of(found: &[Token]) -> Self {
        let mut open = vec![0; found.len()];
        let mut close = vec![0; found.len() + 1];
        let mut line_before = None;
        for (j, token) in found.iter().enumerate().filter(|(_, token)| !token.optional) {
            if line_before == Some(token.line) {
                open[j] = WITHIN_LINE;
            }
            line_before = Some(token.line);
        }
        let mut line_behind = None;
        let mut behind = found.len() + 1;
        for (j, token) in found.iter().enumerate().rev().filter(|(_, token)| !token.optional) {
            let cost = if line_behind == Some(token.line) { WITHIN_LINE } else { 0 };
            close[j + 1..behind].fill(cost);
            line_behind = Some(token.line);
            behind = j + 1;
        }
        Self { open, close }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::{Gen, QuickCheck, TestResult};

    /// Lines of tokens; words in letters are optional.
    fn tokens<'a>(lines: &[&'a str]) -> Vec<Token<'a>> {
        let words = lines.iter().enumerate().flat_map(|(line, text)| {
            text.split_whitespace().map(move |text| Token {
                text,
                line,
                optional: text.starts_with(char::is_alphabetic),
            })
        });
        words.collect()
    }

    fn findings(expected: &[Token], found: &[Token]) -> Vec<Edit> {
        let edits = align(expected, found);
        edits.into_iter().filter(|edit| !matches!(edit, Edit::Match { .. })).collect()
    }

    /// Rows of one to four tokens of three kinds, so that repeats are the rule.
    fn rows(shape: &[(u8, u8)]) -> Vec<Token<'static>> {
        let row = |(line, &(length, content)): (usize, &(u8, u8))| {
            (0..length % 4 + 1).map(move |i| Token {
                text: ["0", "1", "2"][usize::from((content >> (2 * i)) % 3)],
                line,
                optional: false,
            })
        };
        shape.iter().enumerate().flat_map(row).collect()
    }

    fn check<A: quickcheck::Testable>(property: A) {
        QuickCheck::new().rng(Gen::new(30)).tests(1_000).min_tests_passed(500).quickcheck(property);
    }

    #[test]
    fn a_changed_token_is_one_change_at_its_place() {
        fn property(shape: Vec<(u8, u8)>, at: usize) -> TestResult {
            let expected = rows(&shape);
            if expected.is_empty() {
                return TestResult::discard();
            }
            let at = at % expected.len();
            let mut found = expected.clone();
            found[at].text = if found[at].text == "0" { "1" } else { "0" };
            let change = Edit::Change { expected: at, found: at };
            TestResult::from_bool(findings(&expected, &found) == [change])
        }
        check(property as fn(Vec<(u8, u8)>, usize) -> TestResult);
    }

    #[test]
    fn an_inserted_line_is_one_extra_run_of_whole_lines() {
        fn property(shape: Vec<(u8, u8)>, line: (u8, u8), at: usize) -> TestResult {
            let expected = rows(&shape);
            let mut longer = shape.clone();
            longer.insert(at % (shape.len() + 1), line);
            let found = rows(&longer);
            let [Edit::Extra { found: run }] = &findings(&expected, &found)[..] else {
                return TestResult::failed();
            };
            let starts_line = run.start == 0 || found[run.start - 1].line != found[run.start].line;
            let ends_line = run.end == found.len() || found[run.end - 1].line != found[run.end].line;
            let without: Vec<_> = found[..run.start].iter().chain(&found[run.end..]).map(|t| t.text).collect();
            let texts: Vec<_> = expected.iter().map(|t| t.text).collect();
            TestResult::from_bool(starts_line && ends_line && without == texts)
        }
        check(property as fn(Vec<(u8, u8)>, (u8, u8), usize) -> TestResult);
    }

    #[test]
    fn a_removed_run_is_one_missing_run() {
        fn property(shape: Vec<(u8, u8)>, a: usize, b: usize) -> TestResult {
            let expected = rows(&shape);
            let (a, b) = (a % (expected.len() + 1), b % (expected.len() + 1));
            if a == b {
                return TestResult::discard();
            }
            let mut found = expected.clone();
            found.drain(a.min(b)..a.max(b));
            let [Edit::Missing { expected: run }] = &findings(&expected, &found)[..] else {
                return TestResult::failed();
            };
            TestResult::from_bool(run.len() == a.abs_diff(b))
        }
        check(property as fn(Vec<(u8, u8)>, usize, usize) -> TestResult);
    }

    #[test]
    fn edits_cover_all_required_tokens_in_order() {
        fn property(expected: Vec<(u8, bool)>, found: Vec<(u8, bool)>) -> bool {
            let tokens = |list: &[(u8, bool)]| -> Vec<Token> {
                let token = |(line, &(text, optional)): (usize, &(u8, bool))| Token {
                    text: ["0", "1", "2"][usize::from(text % 3)],
                    line: line / 3,
                    optional,
                };
                list.iter().enumerate().map(token).collect()
            };
            let (expected, found) = (tokens(&expected), tokens(&found));
            let (mut i, mut j) = (0, 0);
            let mut explained = vec![false; found.len()];
            for edit in align(&expected, &found) {
                let (e, f) = match edit {
                    Edit::Match { expected, found } | Edit::Change { expected, found } => {
                        (expected..expected + 1, found..found + 1)
                    }
                    Edit::Missing { expected } => (expected, j..j),
                    Edit::Extra { found } => (i..i, found),
                };
                if e.start != i || f.start < j {
                    return false;
                }
                (i, j) = (e.end, f.end);
                explained[f].fill(true);
            }
            let mut unexplained = found.iter().zip(&explained).filter(|(_, explained)| !**explained);
            i == expected.len() && unexplained.all(|(token, _)| token.optional)
        }
        check(property as fn(Vec<(u8, bool)>, Vec<(u8, bool)>) -> bool);
    }

    #[test]
    fn number_words_cost_nothing_unless_one_is_expected() {
        let found = tokens(&["one 5 two 7", "first three 9"]);
        assert_eq!(findings(&tokens(&["5 7 9"]), &found), []);
        assert_eq!(findings(&tokens(&["5 two 7 9"]), &found), []);
        let changed = Edit::Change { expected: 1, found: 2 };
        assert_eq!(findings(&tokens(&["5 six 7 9"]), &found), [changed]);
        let missing = Edit::Missing { expected: 1..2 };
        assert_eq!(findings(&tokens(&["5 6 7 9"]), &found), [missing]);
        let extra = Edit::Extra { found: 3..7 };
        assert_eq!(findings(&tokens(&["5"]), &found), [extra]);
    }

    #[test]
    fn a_run_of_changes_is_no_gap() {
        let (expected, found) = (tokens(&["1 1 1 1 1 1 1 1 1"]), tokens(&["2 2 2 2 2 2 2 2 2"]));
        let edits = align(&expected, &found);
        assert!(edits.iter().all(|edit| matches!(edit, Edit::Change { .. })));
    }

    #[test]
    fn a_text_without_end_is_one_extra_run() {
        let mut found = tokens(&["1 2 3"]);
        found.resize(1_000_000, Token { text: "4", line: 1, optional: false });
        let extra = Edit::Extra { found: 3..1_000_000 };
        assert_eq!(findings(&tokens(&["1 2 3"]), &found), [extra]);
    }

    #[test]
    fn one_change_in_very_long_sequences_is_one_change() {
        let expected = vec![Token { text: "1", line: 0, optional: false }; 300_000];
        let mut found = expected.clone();
        found[123_456].text = "2";
        let change = Edit::Change { expected: 123_456, found: 123_456 };
        assert_eq!(findings(&expected, &found), [change]);
    }
}
