//! `coursecheck explain LESSON[#CLAIM]`

use super::{Failure, Format, Outcome, write_json};
use crate::claims::verdict::{Judged, Verdict};
use crate::suite::{Error, Suite};
use crate::verified::Verified;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A lesson's slug, or one of its claims: circuit-breaker#12
    #[arg(value_name = "LESSON[#CLAIM]")]
    what: String,
}

#[derive(Serialize)]
struct ExplainJson<'a> {
    lesson: &'a str,
    claims: Vec<ClaimJson>,
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
    let (slug, number) = match arguments.what.split_once('#') {
        Some((slug, number)) => (slug, Some(number)),
        None => (arguments.what.as_str(), None),
    };
    let verified = Verified::new(suite, slug)?;
    let chosen: Vec<&Judged> = match number {
        None => verified.claims.iter().collect(),
        Some(number) => vec![one(&verified, number)?],
    };
    let claims: Vec<ClaimJson> = chosen.into_iter().map(|claim| ClaimJson::new(&verified, claim)).collect();
    if format == Format::Json {
        write_json(out, &ExplainJson { lesson: slug, claims })?;
    } else if claims.is_empty() {
        writeln!(out, "{slug} has no claims yet; its figures: coursecheck run {slug}")?;
    } else {
        for claim in &claims {
            write_claim(out, slug, claim)?;
        }
        writeln!(out, "parameters and where they come from: coursecheck parameters {slug}")?;
    }
    Ok(Outcome::Holds)
}

fn one<'a>(verified: &'a Verified<'_>, number: &str) -> Result<&'a Judged, Failure> {
    let claim = number.parse::<usize>().ok().and_then(|number| verified.claims.get(number.checked_sub(1)?));
    claim.ok_or_else(|| {
        let (slug, count) = (verified.lesson.entry.slug, verified.claims.len());
        Error::Call(format!("no claim `{slug}#{number}`, expected a number from 1 to {count}")).into()
    })
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
            Verdict::Holds => ("holds", None),
            Verdict::Refuted(reason) => ("refuted", Some(reason.clone())),
            Verdict::NotChecked(reason) => ("not checked", Some(reason.clone())),
            Verdict::HoldsUnexpectedly => ("holds, but is recorded as refuted", None),
            Verdict::Fails => ("does not hold", None),
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
