//! `coursecheck explain LESSON[#CLAIM|#INVARIANT]`

use super::{Failure, Format, Outcome, write_json};
use crate::claims::verdict::{self, Judged};
use crate::invariants::{self, Budget, Checked, Counterexample, Stated, Verdict, reproduce};
use crate::spec::lesson::{InvariantSpec, LessonSpec, SeedClass, SeedSpec};
use crate::suite::{Error, Overrides, Suite};
use crate::verified::Verified;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A lesson's slug, one of its claims (circuit-breaker#12) or invariants (circuit-breaker#neighbour-untouched).
    #[arg(value_name = "LESSON[#CLAIM|#INVARIANT]")]
    what: String,
}

#[derive(Serialize)]
struct ExplainJson<'a> {
    lesson: &'a str,
    claims: Vec<ClaimJson>,
    invariants: Vec<InvariantJson>,
    over_seeds: Vec<SeedsJson>,
}

/// One invariant with what it is varied over.
#[derive(Serialize)]
struct InvariantJson {
    id: String,
    says: String,
    spec: String,
    varies: Vec<Varied>,
    verdict: &'static str,
    cases: u32,
    discarded: u32,
    vacuous: u32,
    /// Why it does not hold: as recorded where it is refuted, as found where it fails.
    reason: Option<String>,
    /// The command that shows how it breaks.
    counterexample: Option<String>,
}

#[derive(Serialize)]
struct Varied {
    name: String,
    range: String,
}

/// A statement over seeds, as recorded.
#[derive(Serialize)]
struct SeedsJson {
    says: String,
    holds: Vec<String>,
    value: Option<String>,
    class: SeedClass,
}

/// One claim with its formulas and what goes into them.
#[derive(Serialize)]
struct ClaimJson {
    claim: usize,
    section: String,
    paragraph: Option<usize>,
    says: String,
    spec: String,
    numerals: Vec<NumeralJson>,
    conditions: Vec<ConditionJson>,
    verdict: &'static str,
    reason: Option<String>,
}

#[derive(Serialize)]
struct NumeralJson {
    published: String,
    computed: String,
    expression: String,
    inputs: Vec<Input>,
}

#[derive(Serialize)]
struct ConditionJson {
    holds: bool,
    expression: String,
    /// Both sides of a comparison, computed.
    values: Option<String>,
    inputs: Vec<Input>,
}

#[derive(Serialize)]
struct Input {
    name: String,
    value: String,
}

pub(super) fn run(
    suite: &Arc<Suite>,
    arguments: &Arguments,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let (slug, part) = match arguments.what.split_once('#') {
        Some((slug, part)) => (slug, Some(part)),
        None => (arguments.what.as_str(), None),
    };
    let verified = Verified::new(suite, slug)?;
    let stated = invariants::stated(suite, verified.lesson)?;
    let named = |stated: &&Stated<'_>| part.is_none_or(|part| stated.spec.id == part);
    let stated: Vec<&Stated<'_>> = stated.iter().filter(named).collect();
    let claims: Vec<&Judged> = match part {
        None => verified.claims.iter().collect(),
        Some(_) if !stated.is_empty() => Vec::new(),
        Some(number) => vec![one(&verified, number)?],
    };
    let claims: Vec<ClaimJson> = claims.into_iter().map(|claim| ClaimJson::new(&verified, claim)).collect();
    let invariants = stated.iter().map(|stated| InvariantJson::new(suite, verified.lesson, stated));
    let invariants = invariants.collect::<Result<Vec<_>, _>>()?;
    let over_seeds = verified.lesson.over_seeds.iter().filter(|_| part.is_none()).map(SeedsJson::from).collect();
    let explained = ExplainJson { lesson: slug, claims, invariants, over_seeds };
    match format {
        Format::Json => write_json(out, &explained)?,
        Format::Human => write_human(out, &explained)?,
    }
    Ok(Outcome::Holds)
}

fn write_human(out: &mut impl Write, explained: &ExplainJson<'_>) -> Result<(), Failure> {
    let ExplainJson { lesson: slug, claims, invariants, over_seeds } = explained;
    if claims.is_empty() && invariants.is_empty() {
        writeln!(out, "{slug} has no claims or invariants yet; its figures: coursecheck run {slug}")?;
    }
    for claim in claims {
        write_claim(out, slug, claim)?;
    }
    for invariant in invariants {
        write_invariant(out, slug, invariant)?;
    }
    for SeedsJson { says, class, .. } in over_seeds {
        writeln!(out, "{} over seeds (coursecheck seeds {slug})\n  {}\n", class.word(), says.trim())?;
    }
    Ok(writeln!(out, "parameters and where they come from: coursecheck parameters {slug}")?)
}

fn one<'a>(verified: &'a Verified<'_>, number: &str) -> Result<&'a Judged, Failure> {
    let claim = number.parse::<usize>().ok().and_then(|number| verified.claims.get(number.checked_sub(1)?));
    claim.ok_or_else(|| {
        let (slug, count) = (verified.lesson.entry.slug, verified.claims.len());
        let message = format!("no claim `{slug}#{number}`, expected a number from 1 to {count} or an invariant's id");
        Error::Call(message).into()
    })
}

impl InvariantJson {
    fn new(suite: &Suite, lesson: &LessonSpec, stated: &Stated<'_>) -> Result<Self, Error> {
        let checked = stated.check(suite, Budget::default())?;
        let verdict = checked.word();
        let Checked { id, cases, discarded, vacuous, verdict: found } = checked;
        let InvariantSpec { says, refuted, .. } = stated.spec;
        let command = |set: &Overrides| reproduce(lesson.entry.slug, &id, set);
        let (reason, counterexample) = match (found, refuted) {
            (Verdict::Fails(Counterexample { set, message }), _) => (Some(message), Some(command(&set))),
            (Verdict::Refuted(message), Some(refuted)) => (
                Some(format!("{}; {message}", refuted.because.trim().trim_end_matches('.'))),
                Some(command(&refuted.at)),
            ),
            (_, refuted) => (None, refuted.as_ref().map(|refuted| command(&refuted.at))),
        };
        let varied = stated.ground.varied().iter();
        let varies = varied.map(|declared| Varied { name: declared.path.clone(), range: declared.range.to_string() });
        let (varies, says, spec) = (varies.collect(), says.clone(), stated.place());
        Ok(Self { id, says, spec, varies, verdict, cases, discarded, vacuous, reason, counterexample })
    }
}

impl From<&SeedSpec> for SeedsJson {
    fn from(spec: &SeedSpec) -> Self {
        let SeedSpec { says, holds, value, class, .. } = spec;
        Self { says: says.clone(), holds: holds.as_slice().to_vec(), value: value.clone(), class: *class }
    }
}

fn write_invariant(out: &mut impl Write, slug: &str, invariant: &InvariantJson) -> Result<(), Failure> {
    let InvariantJson { id, says, spec, varies, verdict, cases, discarded, vacuous, reason, counterexample } =
        invariant;
    let style = if matches!(*verdict, "holds" | "refuted") { super::GOOD } else { super::BAD };
    writeln!(out, "{slug}#{id}  {style}{verdict}{style:#}  {cases} cases, {discarded} discarded, {vacuous} vacuous")?;
    writeln!(out, "  {}", says.trim())?;
    let width = varies.iter().map(|varied| varied.name.len()).max().unwrap_or(0);
    for Varied { name, range } in varies {
        writeln!(out, "    {name:width$}  {range}")?;
    }
    for line in reason.iter().chain(counterexample) {
        writeln!(out, "  {line}")?;
    }
    Ok(writeln!(out, "  {spec}\n")?)
}

impl ClaimJson {
    fn new(verified: &Verified<'_>, claim: &Judged) -> Self {
        let inputs = |expression: &str| -> Vec<Input> {
            let inputs = verified.evaluator.inputs(expression).into_iter();
            inputs.map(|(name, value)| Input { name, value }).collect()
        };
        let file = &verified.lesson.file;
        let place = file.locate(&["claims", &(claim.number - 1).to_string()]);
        let (verdict, reason) = match &claim.verdict {
            verdict::Verdict::Holds => ("holds", None),
            verdict::Verdict::Refuted(reason) => ("refuted", Some(reason.clone())),
            verdict::Verdict::Fragile(reason) => ("fragile", Some(reason.clone())),
            verdict::Verdict::NotChecked(reason) => ("not checked", Some(reason.clone())),
            verdict::Verdict::HoldsUnexpectedly => ("holds, but is recorded as refuted", None),
            verdict::Verdict::Fails => ("does not hold", None),
        };
        Self {
            claim: claim.number,
            section: claim.section.clone(),
            paragraph: claim.paragraph,
            says: claim.statement.text(),
            spec: format!("{}:{}", file.path.display(), place.map_or(1, |(line, _)| line)),
            numerals: claim
                .numerals
                .iter()
                .map(|numeral| NumeralJson {
                    published: numeral.tied.published.text(),
                    computed: numeral.computed.clone(),
                    expression: numeral.tied.expression.clone(),
                    inputs: inputs(&numeral.tied.expression),
                })
                .collect(),
            conditions: claim
                .conditions
                .iter()
                .map(|(expression, holds)| ConditionJson {
                    holds: *holds,
                    expression: expression.clone(),
                    values: verified.evaluator.sides(expression),
                    inputs: inputs(expression),
                })
                .collect(),
            verdict,
            reason,
        }
    }
}

fn write_claim(out: &mut impl Write, slug: &str, claim: &ClaimJson) -> Result<(), Failure> {
    let style = if matches!(claim.verdict, "holds" | "not checked") { super::GOOD } else { super::BAD };
    let paragraph = claim.paragraph.map(|number| format!(", paragraph {number}")).unwrap_or_default();
    writeln!(out, "{slug}#{}  {style}{}{style:#}  {}{paragraph}", claim.claim, claim.verdict, claim.section)?;
    writeln!(out, "  {}", claim.says.trim())?;
    for NumeralJson { published, computed, expression, inputs } in &claim.numerals {
        let sign = if published == computed { "=" } else { "but computed" };
        writeln!(out, "    {published} {sign} {computed}  <-  {expression}")?;
        write_inputs(out, inputs)?;
    }
    for ConditionJson { holds, expression, values, inputs } in &claim.conditions {
        let values = values.as_ref().map(|values| format!(": {values}")).unwrap_or_default();
        writeln!(out, "    {}{values}  <-  {expression}", if *holds { "true" } else { "not true" })?;
        write_inputs(out, inputs)?;
    }
    if let Some(reason) = &claim.reason {
        writeln!(out, "  {reason}")?;
    }
    writeln!(out, "  {}\n", claim.spec)?;
    Ok(())
}

fn write_inputs(out: &mut impl Write, inputs: &[Input]) -> Result<(), Failure> {
    for Input { name, value } in inputs {
        writeln!(out, "        {name} = {value}")?;
    }
    Ok(())
}
