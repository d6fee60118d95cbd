//! The lessons' invariants, run over generated parameters and shrunk where one breaks.

pub mod generate;

use crate::spec::lesson::{InvariantSpec, LessonSpec, RefutedSpec};
use crate::suite::{Error, Overrides, Suite};
use generate::{Case, Ground};
use models::catalogue::Prepared;
use models::invariants::Held;
use models::random::{SplitMix32, Uniform};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::Value;
use std::cell::Cell;

/// How much is generated.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Cases of each invariant that count: neither discarded nor vacuous.
    pub cases: u32,
    /// What the cases follow from. The same seed makes the same cases.
    pub seed: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { cases: 50, seed: 1 }
    }
}

/// What became of one invariant.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Its name.
    pub id: String,
    /// Cases in which it was found to hold, or to break.
    pub cases: u32,
    /// Cases that the lesson refuses, or that would take too long.
    pub discarded: u32,
    /// Cases that it says nothing about.
    pub vacuous: u32,
    /// The verdict.
    pub verdict: Verdict,
}

/// What is to be said of an invariant.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It held in every case.
    Holds,
    /// It is recorded as refuted, and its counterexample breaks it.
    Refuted(String),
    /// No case of it counted.
    NotChecked,
    /// It is recorded as refuted, and does not break at its counterexample.
    NotBroken,
    /// It breaks.
    Fails(Counterexample),
}

/// Parameters at which an invariant breaks, as few and as close to the spec's as could be found.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// What differs from the spec's values.
    pub set: Overrides,
    /// The values that show it.
    pub message: String,
}

impl Checked {
    /// One word for it.
    pub fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Refuted(_) => "refuted",
            Verdict::NotChecked => "not checked",
            Verdict::NotBroken | Verdict::Fails(_) => "fails",
        }
    }

    /// One line that says what is wrong, and how to see it; none if all is as recorded.
    pub fn complaint(&self, slug: &str) -> Option<String> {
        let Self { id, discarded, vacuous, .. } = self;
        match &self.verdict {
            Verdict::Holds | Verdict::Refuted(_) => None,
            Verdict::NotChecked => {
                Some(format!("{slug}#{id} is not checked: {discarded} cases discarded, {vacuous} vacuous"))
            }
            Verdict::NotBroken => Some(format!("{slug}#{id} is recorded as refuted and does not break where it says")),
            Verdict::Fails(Counterexample { set, message }) => {
                Some(format!("{slug}#{id} breaks: {message}; {}", reproduce(slug, id, set)))
            }
        }
    }
}

/// The command that shows an invariant at some parameters.
pub fn reproduce(slug: &str, id: &str, set: &Overrides) -> String {
    let set = set.iter().map(|(name, value)| {
        let text = format!("{name}={value}");
        let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "=._-".contains(c));
        if plain { format!(" --set {text}") } else { format!(" --set '{}'", text.replace('\'', r"'\''")) }
    });
    format!("coursecheck run {slug}{} --invariant {id}", set.collect::<String>())
}

/// An invariant's statement with the parameters that it is varied over.
pub struct Stated<'a> {
    /// The lesson.
    lesson: &'a LessonSpec,
    /// Its place in the file.
    index: usize,
    /// As written.
    pub spec: &'a InvariantSpec,
    /// Where cases start, and what may change.
    pub ground: Ground,
}

/// Every invariant of a lesson, ready to be checked.
///
/// # Errors
/// Names or values that the lesson does not know, at their place in the spec file.
pub fn stated<'a>(suite: &'a Suite, lesson: &'a LessonSpec) -> Result<Vec<Stated<'a>>, Error> {
    lesson.invariants.iter().enumerate().map(|(index, spec)| Stated::new(suite, lesson, index, spec)).collect()
}

impl<'a> Stated<'a> {
    fn new(suite: &Suite, lesson: &'a LessonSpec, index: usize, spec: &'a InvariantSpec) -> Result<Self, Error> {
        let place = |key: &str, message: String| place(lesson, index, key, message);
        let (start, prepared) = at(suite, lesson, &spec.from).map_err(|message| place("from", message))?;
        let ground =
            Ground::new(start, prepared.parameters(), &spec.varies).map_err(|message| place("varies", message))?;
        Ok(Self { lesson, index, spec, ground })
    }

    /// Where it stands: file and line.
    pub fn place(&self) -> String {
        let file = &self.lesson.file;
        let place = file.locate(&["invariants", &self.index.to_string()]);
        format!("{}:{}", file.path.display(), place.map_or(1, |(line, _)| line))
    }

    /// Checks it: a refuted one at its counterexample, another over generated parameters.
    ///
    /// # Errors
    /// A counterexample that the lesson refuses.
    pub fn check(&self, suite: &Suite, budget: Budget) -> Result<Checked, Error> {
        match &self.spec.refuted {
            Some(refuted) => self.check_refuted(suite, refuted),
            None => Ok(self.generate(budget)),
        }
    }

    fn check_refuted(&self, suite: &Suite, RefutedSpec { at: set, .. }: &RefutedSpec) -> Result<Checked, Error> {
        let place = |message| place(self.lesson, self.index, "refuted.at", message);
        let (_, prepared) = at(suite, self.lesson, set).map_err(place)?;
        let verdict = match self.held(&prepared) {
            Some(Held::Broken(message)) => Verdict::Refuted(message),
            _ => Verdict::NotBroken,
        };
        Ok(Checked { id: self.spec.id.clone(), cases: 1, discarded: 0, vacuous: 0, verdict })
    }

    fn held(&self, prepared: &Prepared) -> Option<Held> {
        prepared.held(&self.spec.id).ok().flatten()
    }

    /// The start itself, and then cases until enough of them count.
    fn generate(&self, budget: Budget) -> Checked {
        let (cases, discarded, vacuous) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let broken = Cell::new(false);
        // While a counterexample shrinks, nothing is counted.
        let count = |counter: &Cell<u32>| counter.set(counter.get() + u32::from(!broken.get()));
        let test = |case: &Case| -> Result<(), TestCaseError> {
            let Some(prepared) = self.prepare(case) else {
                count(&discarded);
                return Err(TestCaseError::reject("discarded"));
            };
            match self.held(&prepared) {
                Some(Held::Holds) => {
                    count(&cases);
                    Ok(())
                }
                Some(Held::Broken(message)) => {
                    count(&cases);
                    broken.set(true);
                    Err(TestCaseError::fail(message))
                }
                Some(Held::Vacuous) | None => {
                    count(&vacuous);
                    Err(TestCaseError::reject("vacuous"))
                }
            }
        };
        let fails = |case: &Case, message: String| {
            let mut set: Overrides = self.spec.from.clone();
            set.extend(case.set(&self.ground));
            Verdict::Fails(Counterexample { set, message })
        };
        let first = Case::default();
        let verdict = if let Err(TestCaseError::Fail(reason)) = test(&first) {
            fails(&first, reason.message().to_owned())
        } else {
            let config = Config {
                cases: budget.cases.saturating_sub(cases.get()),
                max_global_rejects: budget.cases.saturating_mul(REJECTS_A_CASE),
                max_shrink_iters: 2_000,
                failure_persistence: None,
                ..Config::default()
            };
            let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &self.random_bytes(budget.seed));
            let outcome = TestRunner::new_with_rng(config, rng).run(&self.ground.strategy(), |case| test(&case));
            match outcome {
                Err(TestError::Fail(reason, case)) => fails(&case, reason.message().to_owned()),
                _ if cases.get() == 0 => Verdict::NotChecked,
                Ok(()) | Err(TestError::Abort(_)) => Verdict::Holds,
            }
        };
        let (cases, discarded, vacuous) = (cases.get(), discarded.get(), vacuous.get());
        Checked { id: self.spec.id.clone(), cases, discarded, vacuous, verdict }
    }

    /// A case that the lesson takes, and that is quick: the start itself may take as long as it does.
    fn prepare(&self, case: &Case) -> Option<Prepared> {
        let parameters = case.parameters(&self.ground);
        let prepared = self.lesson.entry.model.as_ref()?.prepare(&parameters).ok()?;
        let quick = case.is_start() || prepared.run_steps() <= QUICK_STEPS;
        (prepared.problems().is_empty() && quick).then_some(prepared)
    }

    /// Follows from the seed and the invariant's name alone, so that no invariant moves another one's cases.
    fn random_bytes(&self, seed: u64) -> [u8; 32] {
        let name = format!("{}#{}", self.lesson.entry.slug, self.spec.id);
        // FNV-1a: the standard library's hash may change from version to version.
        let hash = name
            .bytes()
            .chain(seed.to_le_bytes())
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let mut random = SplitMix32::new(hash.into());
        [0; 32].map(|_: u8| (random.next() * 256.0) as u8)
    }
}

/// Above it a generated case is discarded; a hundredth of what a run may take.
const QUICK_STEPS: f64 = 1e6;

/// So many cases may be discarded or vacuous for each that counts.
const REJECTS_A_CASE: u32 = 20;

fn place(lesson: &LessonSpec, index: usize, key: &str, message: String) -> Error {
    let file = &lesson.file;
    let path = format!("invariants.{index}.{key}");
    Error::Spec(file.at(&path, format!("invariant {}: {message}", index + 1)))
}

/// The lesson at some parameters.
fn at(suite: &Suite, lesson: &LessonSpec, set: &Overrides) -> Result<(Value, Prepared), String> {
    let slug = lesson.entry.slug;
    let prepared = suite.refuse_unknown(slug, set).and_then(|()| suite.prepare(slug, set));
    prepared.map_err(|error| error.to_string())
}
