//! One lesson, run and judged: what every command that compares starts from.

use crate::claims::expression::Evaluator;
use crate::claims::verdict::{self, Judged, Verdict};
use crate::frozen;
use crate::spec::lesson::LessonSpec;
use crate::suite::{Error, Overrides, Run, Suite};
use std::path::Path;
use std::sync::Arc;

/// A lesson's figures and verdicts at the spec's parameters.
pub struct Verified<'a> {
    /// The lesson's spec.
    pub lesson: &'a LessonSpec,
    /// The run.
    pub run: Run,
    /// Evaluates further expressions over the run.
    pub evaluator: Evaluator,
    /// Its claims, judged.
    pub claims: Vec<Judged>,
}

impl<'a> Verified<'a> {
    /// Runs a lesson and judges its claims.
    ///
    /// # Errors
    /// Parameters or claims that cannot be read or evaluated.
    pub fn new(suite: &'a Arc<Suite>, slug: &str) -> Result<Self, Error> {
        let lesson = suite.lesson(slug)?;
        let run = suite.run(slug, &Overrides::new())?;
        let evaluator = Evaluator::new(suite, slug, &run)?;
        let claims = verdict::judge(lesson, &evaluator)?;
        Ok(Self { lesson, run, evaluator, claims })
    }

    /// How many claims have a verdict for which the predicate is true.
    pub fn count(&self, is: fn(&Verdict) -> bool) -> usize {
        self.claims.iter().filter(|claim| is(&claim.verdict)).count()
    }

    /// Everything that does not hold: figures that left their frozen tables, claims that are not as recorded.
    pub fn failures(&self, snapshots: &Path) -> Vec<String> {
        [self.moved_figures(snapshots), self.unexpected_claims()].concat()
    }

    /// Figures that left their frozen tables.
    pub fn moved_figures(&self, snapshots: &Path) -> Vec<String> {
        frozen::differences(&snapshots.join(frozen::file_of(self.lesson.entry)), &self.run.report)
    }

    /// Claims that are not as the spec records them.
    pub fn unexpected_claims(&self) -> Vec<String> {
        let unexpected = self.claims.iter().filter(|claim| !claim.verdict.is_as_recorded());
        unexpected.map(|claim| claim.complaint(self.lesson.entry.slug)).collect()
    }
}

impl Judged {
    /// One line that says how a claim is not as the spec records it.
    pub fn complaint(&self, slug: &str) -> String {
        let name = format!("{slug}#{}", self.number);
        if self.verdict == Verdict::HoldsUnexpectedly {
            return format!("{name} is recorded as refuted and holds: {}", self.statement.text());
        }
        let off = self.numerals.iter().filter(|numeral| !numeral.agrees());
        let off = off.map(|n| format!("published {}, computed {}", n.tied.published.text(), n.computed));
        let untrue = self.conditions.iter().filter(|(_, holds)| !holds).map(|(text, _)| format!("not true: {text}"));
        format!(
            "{name} does not hold ({}): {}",
            off.chain(untrue).collect::<Vec<_>>().join("; "),
            self.statement.text()
        )
    }
}
