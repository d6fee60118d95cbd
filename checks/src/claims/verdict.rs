//! What the models say of each claim.

use super::expression::{Computed, Evaluator};
use super::statement::{Piece, Statement, Tied, braces};
use crate::spec::lesson::{ClaimSpec, LessonSpec};
use crate::spec::yaml::YamlError;
use rayon::prelude::*;

/// A claim with the outcome of its checks.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Its place among the lesson's claims, from 1: `LESSON#3`.
    pub number: usize,
    /// The claim's section.
    pub section: String,
    /// The paragraph in its section, where stated.
    pub paragraph: Option<usize>,
    /// The statement, taken apart.
    pub statement: Statement,
    /// Each numeral beside what its expression yields.
    pub numerals: Vec<JudgedNumeral>,
    /// Each further condition, and whether it is true.
    pub conditions: Vec<(String, bool)>,
    /// The verdict.
    pub verdict: Verdict,
}

/// A published numeral beside the computed one.
#[derive(Debug, Clone)]
pub struct JudgedNumeral {
    /// Numeral and expression.
    pub tied: Tied,
    /// The computed value, printed the way the published one is.
    pub computed: String,
}

impl JudgedNumeral {
    /// The course prints what the model computes.
    pub fn agrees(&self) -> bool {
        self.tied.published.text() == self.computed
    }
}

/// What is to be said of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything in it is so.
    Holds,
    /// The model contradicts it, as the spec records; with the reason and the right value.
    Refuted(String),
    /// It holds for the published seed, and for too few others, as the spec records; with the statement over seeds.
    Fragile(String),
    /// The model says nothing of it, as the spec records; with the reason.
    NotChecked(String),
    /// It holds, but the spec records it as refuted.
    HoldsUnexpectedly,
    /// It does not hold, and the spec does not say so.
    Fails,
}

impl Verdict {
    /// The spec and the model agree about the claim.
    pub fn is_as_recorded(&self) -> bool {
        matches!(self, Self::Holds | Self::Refuted(_) | Self::Fragile(_) | Self::NotChecked(_))
    }
}

/// Judges every claim of a lesson, in parallel: a claim may rerun the lesson.
///
/// # Errors
/// A claim that cannot be read or evaluated, at its place in the spec file.
pub fn judge(lesson: &LessonSpec, evaluator: &Evaluator) -> Result<Vec<Judged>, YamlError> {
    // One at a time: neighbours speak of the same section, and so often of the same reruns.
    let claims = lesson.claims.par_iter().with_max_len(1).enumerate();
    let judged: Vec<_> = claims.map(|(i, claim)| Claim { lesson, evaluator, claim, index: i }.judge()).collect();
    judged.into_iter().collect()
}

struct Claim<'a> {
    lesson: &'a LessonSpec,
    evaluator: &'a Evaluator,
    claim: &'a ClaimSpec,
    index: usize,
}

impl Claim<'_> {
    fn judge(&self) -> Result<Judged, YamlError> {
        let statement = Statement::parse(&self.claim.says).map_err(|message| self.error("says", &message))?;
        let numerals = statement.tied().map(|tied| self.numeral(tied)).collect::<Result<Vec<_>, _>>()?;
        let conditions = self.claim.holds.as_slice().iter();
        let conditions = conditions.map(|condition| self.condition(condition)).collect::<Result<Vec<_>, _>>()?;
        let true_in_model = numerals.iter().all(JudgedNumeral::agrees) && conditions.iter().all(|(_, holds)| *holds);
        let nothing_to_check = numerals.is_empty() && conditions.is_empty();
        if self.claim.paragraph == Some(0) {
            return Err(self.error("paragraph", "found 0, expected the paragraph's number from 1"));
        }
        if numerals.is_empty() && self.claim.paragraph.is_none() {
            return Err(self.error("says", "a claim without a numeral names its `paragraph`, so that it has a line"));
        }
        let recorded = [&self.claim.refuted, &self.claim.not_checked, &self.claim.fragile];
        if recorded.into_iter().flatten().count() > 1 {
            return Err(self.error("says", "expected one of `refuted`, `not_checked` and `fragile`, found several"));
        }
        let verdict = match (&self.claim.refuted, &self.claim.not_checked) {
            (None, Some(reason)) if nothing_to_check => Verdict::NotChecked(reason.clone()),
            (None, Some(_)) => return Err(self.error("not_checked", "found checks in a claim that is not checked")),
            _ if nothing_to_check => {
                return Err(
                    self.error("says", "a claim with nothing to check: expected a numeral, `holds` or `not_checked`")
                );
            }
            (Some(_), _) if true_in_model => Verdict::HoldsUnexpectedly,
            (Some(reason), _) => Verdict::Refuted(self.fill(reason)?),
            (None, _) if !true_in_model => Verdict::Fails,
            (None, _) => self.seeds().map_or(Verdict::Holds, Verdict::Fragile),
        };
        let ClaimSpec { section, paragraph, .. } = self.claim;
        let (number, section, paragraph) = (self.index + 1, section.clone(), *paragraph);
        Ok(Judged { number, section, paragraph, statement, numerals, conditions, verdict })
    }

    /// What is said over seeds of a claim that depends on one.
    fn seeds(&self) -> Option<String> {
        let id = self.claim.fragile.as_ref()?;
        let statement = self.lesson.over_seeds.iter().find(|statement| statement.id.as_ref() == Some(id))?;
        let (says, slug) = (statement.says.trim().trim_end_matches('.'), self.lesson.entry.slug);
        Some(format!("so for the published seed, but for less than 95 % of others: {says} (coursecheck seeds {slug})"))
    }

    fn numeral(&self, tied: &Tied) -> Result<JudgedNumeral, YamlError> {
        match self.evaluator.evaluate(&tied.expression) {
            Ok(Computed::Number(value)) => Ok(JudgedNumeral { tied: tied.clone(), computed: tied.print(value) }),
            Ok(other) => Err(self.error("says", &format!("`{}` is {other}, expected a number", tied.expression))),
            Err(message) => Err(self.error("says", &format!("`{}`: {message}", tied.expression))),
        }
    }

    fn condition(&self, condition: &str) -> Result<(String, bool), YamlError> {
        match self.evaluator.holds(condition) {
            Ok(holds) => Ok((condition.to_owned(), holds)),
            Err(message) => Err(self.error("holds", &format!("`{condition}`: {message}"))),
        }
    }

    /// Fills the computed values into a reason.
    fn fill(&self, reason: &str) -> Result<String, YamlError> {
        let pieces = braces(reason).map_err(|message| self.error("refuted", &message))?;
        let piece = |piece: Piece<'_>| match piece {
            Piece::Words(words) => Ok(words.to_owned()),
            Piece::Braced(expression) => match self.evaluator.evaluate(expression) {
                Ok(computed) => Ok(computed.to_string()),
                Err(message) => Err(self.error("refuted", &format!("`{expression}`: {message}"))),
            },
        };
        pieces.into_iter().map(piece).collect()
    }

    fn error(&self, key: &str, message: &str) -> YamlError {
        self.lesson.file.at(&format!("claims.{}.{key}", self.index), format!("claim {}: {message}", self.index + 1))
    }
}
