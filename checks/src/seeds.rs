//! What the lessons say of one seed, looked at over many.

use crate::claims::expression::{Computed, Evaluator};
use crate::spec::lesson::{LessonSpec, SeedClass, SeedSpec};
use crate::suite::{Error, Overrides, Suite};
use models::parameters::Range;
use models::random::{SplitMix32, Uniform};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// One statement over many seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Survey {
    /// The statement.
    pub says: String,
    /// Seeds that were run.
    pub seeds: usize,
    /// Seeds for which it holds.
    pub holds: usize,
    /// The share of seeds.
    pub share: f64,
    /// The exact interval of that share at 95 % confidence.
    pub interval: [f64; 2],
    /// The class that the share falls into.
    pub class: SeedClass,
    /// The class that the spec records.
    pub recorded: SeedClass,
    /// Whether it holds for the published seed.
    pub holds_as_published: bool,
    /// Where the published seed's value lies, if the statement is about a number.
    pub value: Option<Distribution>,
}

/// A value's place among those of all seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distribution {
    /// The published seed's value.
    pub published: f64,
    /// The share of seeds below it in percent, with half of those that equal it.
    pub percentile: f64,
    /// The smallest value.
    pub least: f64,
    /// The middle value.
    pub median: f64,
    /// The greatest value.
    pub greatest: f64,
}

impl SeedClass {
    /// The class of a share.
    pub fn of(share: f64) -> Self {
        match share {
            _ if share >= 0.99 => Self::Robust,
            _ if share >= 0.95 => Self::Usual,
            _ => Self::Fragile,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Robust => "robust",
            Self::Usual => "usual",
            Self::Fragile => "fragile",
        }
    }

    /// Whether some share of an interval has this class.
    pub fn is_possible(self, [low, high]: [f64; 2]) -> bool {
        match self {
            Self::Robust => high >= 0.99,
            Self::Usual => low < 0.99 && high >= 0.95,
            Self::Fragile => low < 0.95,
        }
    }
}

/// Whether each statement holds for a seed, and its value.
type Outcome = Vec<(bool, Option<f64>)>;

/// Runs a lesson with many seeds; `tick` is called after each, from any thread. The seeds are the same in every call,
/// the first of a longer call are those of a shorter one, and the result is the same for any number of threads.
///
/// # Errors
/// A lesson without a parameter `seed` or without such statements, and what is wrong with a statement.
pub fn survey(suite: &Arc<Suite>, slug: &str, count: usize, tick: impl Fn() + Sync) -> Result<Vec<Survey>, Error> {
    let lesson = suite.lesson(slug)?;
    if lesson.over_seeds.is_empty() {
        return Err(Error::Call(format!("{slug} states nothing over seeds")));
    }
    let (_, prepared) = suite.prepare(slug, &Overrides::new())?;
    let range = prepared.parameters().iter().find_map(|declared| match &declared.range {
        Range::Integer(range) if declared.path == "seed" => Some(range.clone()),
        _ => None,
    });
    let Some(range) = range else { return Err(Error::Call(format!("{slug} has no parameter `seed`"))) };
    let published = outcome(suite, lesson, &Overrides::new())?;
    let mut random = SplitMix32::new(0);
    let width = (range.end() - range.start()) as f64 + 1.0;
    let seeds: Vec<i64> = (0..count).map(|_| range.start() + (random.next() * width) as i64).collect();
    let outcomes = seeds.par_iter().map(|seed| {
        let outcome = outcome(suite, lesson, &[("seed".to_owned(), (*seed).into())].into());
        tick();
        outcome
    });
    let outcomes: Vec<Outcome> = outcomes.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?;
    let statements = lesson.over_seeds.iter().zip(&published).enumerate();
    Ok(statements
        .map(|(i, (spec, published))| {
            let column: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.get(i).copied()).collect();
            Survey::new(spec, *published, &column)
        })
        .collect())
}

impl Survey {
    fn new(spec: &SeedSpec, published: (bool, Option<f64>), column: &[(bool, Option<f64>)]) -> Self {
        let (seeds, holds) = (column.len(), column.iter().filter(|(holds, _)| *holds).count());
        let share = holds as f64 / seeds as f64;
        let values: Vec<f64> = column.iter().filter_map(|(_, value)| *value).collect();
        Self {
            says: spec.says.clone(),
            seeds,
            holds,
            share,
            interval: exact_interval(holds, seeds),
            class: SeedClass::of(share),
            recorded: spec.class,
            holds_as_published: published.0,
            value: published.1.and_then(|published| Distribution::new(published, values)),
        }
    }
}

impl Distribution {
    fn new(published: f64, mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let below = values.partition_point(|value| *value < published);
        let equal = values.partition_point(|value| *value <= published) - below;
        let percentile = 100.0 * (below as f64 + equal as f64 / 2.0) / values.len() as f64;
        let median = *values.get(values.len() / 2)?;
        Some(Self { published, percentile, least: *values.first()?, median, greatest: *values.last()? })
    }
}

fn outcome(suite: &Arc<Suite>, lesson: &LessonSpec, overrides: &Overrides) -> Result<Outcome, Error> {
    let slug = lesson.entry.slug;
    let run = suite.run(slug, overrides)?;
    let evaluator = Evaluator::new(suite, slug, &run)?;
    let statements = lesson.over_seeds.iter().enumerate();
    statements
        .map(|(i, spec)| {
            let error = |key: &str, message: String| {
                let seed = overrides.get("seed").map(|seed| format!(" (seed {seed})")).unwrap_or_default();
                Error::Spec(lesson.file.at(&format!("over_seeds.{i}.{key}"), format!("{message}{seed}")))
            };
            let mut all = true;
            for condition in spec.holds.as_slice() {
                match evaluator.evaluate(condition) {
                    Ok(Computed::Flag(holds)) => all &= holds,
                    Ok(other) => {
                        return Err(error("holds", format!("`{condition}` is {other}, expected true or false")));
                    }
                    Err(message) => return Err(error("holds", format!("`{condition}`: {message}"))),
                }
            }
            let value = match spec.value.as_ref().map(|value| (value, evaluator.evaluate(value))) {
                None => None,
                Some((_, Ok(Computed::Number(value)))) => Some(value),
                Some((value, Ok(other))) => {
                    return Err(error("value", format!("`{value}` is {other}, expected a number")));
                }
                Some((value, Err(message))) => return Err(error("value", format!("`{value}`: {message}"))),
            };
            Ok((all, value))
        })
        .collect()
}

/// What lies outside of an interval, on each side at most half of it.
const OUTSIDE: f64 = 0.05;

/// The exact (Clopper-Pearson) interval of a share: every share at which so few or so many are not improbable.
pub fn exact_interval(holds: usize, of: usize) -> [f64; 2] {
    let factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
    let ways: Vec<f64> = (0..=of).map(|k| factorial(of) - factorial(k) - factorial(of - k)).collect();
    let low = bisect(|share| at_least(holds, &ways, share) < OUTSIDE / 2.0);
    let high = bisect(|share| 1.0 - at_least(holds + 1, &ways, share) > OUTSIDE / 2.0);
    [if holds == 0 { 0.0 } else { low }, if holds == of { 1.0 } else { high }]
}

/// The share up to which a condition is true.
fn bisect(is_true: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *if is_true(middle) { &mut low } else { &mut high } = middle;
    }
    low
}

/// The probability of at least `least` successes; `ways` holds the logarithms of the numbers of ways to have each.
fn at_least(least: usize, ways: &[f64], share: f64) -> f64 {
    let (yes, no) = (libm::log(share), libm::log1p(-share));
    let of = ways.len() - 1;
    let term = |(k, ways): (usize, &f64)| libm::exp(ways + k as f64 * yes + (of - k) as f64 * no);
    ways.iter().enumerate().skip(least).map(term).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::{Gen, QuickCheck};

    /// The expected bounds are those of published tables of exact intervals, to four decimals.
    #[test]
    fn the_interval_is_the_exact_one() {
        for (holds, of, low, high) in [
            (0, 10, 0.0, 0.3085),
            (1, 10, 0.0025, 0.4450),
            (5, 10, 0.1871, 0.8129),
            (10, 10, 0.6915, 1.0),
            (81, 263, 0.2527, 0.3676),
            (1000, 1000, 0.9963, 1.0),
        ] {
            let [found_low, found_high] = exact_interval(holds, of);
            assert!(
                (found_low - low).abs() < 6e-5 && (found_high - high).abs() < 6e-5,
                "{holds} of {of}: {found_low} {found_high}"
            );
        }
    }

    #[test]
    fn the_interval_holds_the_share_and_narrows_with_the_seeds() {
        fn law(holds: u8, more: u8) -> bool {
            let (holds, of) = (usize::from(holds), usize::from(holds) + usize::from(more).max(1));
            let share = holds as f64 / of as f64;
            let ([low, high], [closer_low, closer_high]) =
                (exact_interval(holds, of), exact_interval(4 * holds, 4 * of));
            0.0 <= low && low <= share && share <= high && high <= 1.0 && closer_high - closer_low < high - low
        }
        let generator = Gen::from_size_and_seed(100, 1);
        QuickCheck::new().rng(generator).tests(50).min_tests_passed(50).quickcheck(law as fn(u8, u8) -> bool);
    }

    #[test]
    fn the_limits_of_the_classes_belong_to_the_better_one() {
        assert_eq!([0.9899, 0.99].map(SeedClass::of), [SeedClass::Usual, SeedClass::Robust]);
        assert_eq!([0.9499, 0.95].map(SeedClass::of), [SeedClass::Fragile, SeedClass::Usual]);
    }

    #[test]
    fn a_value_is_placed_among_all_with_half_of_its_equals() {
        let place = |published, values: &[f64]| Distribution::new(published, values.to_vec()).map(|d| d.percentile);
        assert_eq!(place(2.0, &[3.0, 1.0, 2.0, 2.0]), Some(50.0));
        assert_eq!(place(0.0, &[1.0, 2.0]), Some(0.0));
        assert_eq!(place(9.0, &[1.0, 2.0]), Some(100.0));
        assert_eq!(place(1.0, &[]), None);
    }
}
