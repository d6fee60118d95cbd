//! `coursecheck` without a subcommand: verifies everything in the spec.

use super::explore::SpaceJson;
use super::{Failure, Format, Outcome, verify_all, write_json};
use crate::claims::verdict::Verdict;
use crate::explore::spaces::{Space, VerifiedSpace};
use crate::spec::state_spaces::SpaceFinding;
use crate::suite::{Error, Suite};
use crate::verified::Verified;
use models::catalogue::ENTRIES;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

#[derive(Serialize)]
struct VerifyJson {
    lessons: Vec<LessonJson>,
    state_spaces: Vec<SpaceReport>,
    totals: Totals,
}

#[derive(Serialize)]
struct LessonJson {
    slug: &'static str,
    blocks: usize,
    figures: usize,
    claims: Claims,
    /// No invariant is stated yet.
    invariants: [(); 0],
    verdict: &'static str,
    failures: Vec<String>,
}

#[derive(Serialize)]
struct SpaceReport {
    #[serde(flatten)]
    space: SpaceJson,
    /// Explorations without a mechanism; each has led to the counterexample that the spec records.
    controls: Vec<String>,
    findings: Vec<SpaceFinding>,
    failures: Vec<String>,
}

#[derive(Serialize, Default)]
struct Claims {
    holds: usize,
    refuted: usize,
    fragile: usize,
    not_checked: usize,
    fails: usize,
}

#[derive(Serialize, Default)]
struct Totals {
    lessons: usize,
    not_modelled: usize,
    blocks: usize,
    figures: usize,
    claims: Claims,
    state_spaces: usize,
    distinct_states: usize,
    properties: usize,
    controls: usize,
    failures: usize,
}

pub(super) fn run(
    suite: &Arc<Suite>,
    snapshots: &Path,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let lessons: Vec<LessonJson> =
        verify_all(suite)?.iter().map(|verified| LessonJson::new(verified, snapshots)).collect();
    let mut totals =
        Totals { lessons: lessons.len(), not_modelled: ENTRIES.len() - lessons.len(), ..Totals::default() };
    for lesson in &lessons {
        totals.add(lesson);
    }
    let mut state_spaces = Vec::new();
    for (space, spec) in suite.spec.state_spaces.iter() {
        let verified = SpaceReport::new(space, space.verify(spec).map_err(Error::Call)?, &spec.findings);
        totals.add_space(&verified);
        state_spaces.push(verified);
    }
    let outcome = match (totals.figures, totals.failures) {
        (0, _) => Outcome::NothingChecked,
        (_, 0) => Outcome::Holds,
        _ => Outcome::Fails,
    };
    match format {
        Format::Json => write_json(out, &VerifyJson { lessons, state_spaces, totals })?,
        Format::Human => write_human(out, &lessons, &state_spaces, &totals)?,
    }
    Ok(outcome)
}

impl LessonJson {
    fn new(verified: &Verified<'_>, snapshots: &Path) -> Self {
        let failures = verified.failures(snapshots);
        let report = &verified.run.report;
        Self {
            slug: verified.lesson.entry.slug,
            blocks: report.blocks.len(),
            figures: report.figures().count(),
            claims: Claims {
                holds: verified.count(|verdict| *verdict == Verdict::Holds),
                refuted: verified.count(|verdict| matches!(verdict, Verdict::Refuted(_))),
                fragile: 0,
                not_checked: verified.count(|verdict| matches!(verdict, Verdict::NotChecked(_))),
                fails: verified.count(|verdict| !verdict.is_as_recorded()),
            },
            invariants: [],
            verdict: if failures.is_empty() { "holds" } else { "fails" },
            failures,
        }
    }
}

impl SpaceReport {
    fn new(space: Space, verified: VerifiedSpace, findings: &[SpaceFinding]) -> Self {
        Self {
            space: SpaceJson::new(space, &verified.main, false),
            controls: verified.controls.into_iter().map(|(name, _)| name).collect(),
            findings: findings.to_vec(),
            failures: verified.failures,
        }
    }
}

impl Totals {
    fn add(&mut self, lesson: &LessonJson) {
        self.blocks += lesson.blocks;
        self.figures += lesson.figures;
        self.claims.holds += lesson.claims.holds;
        self.claims.refuted += lesson.claims.refuted;
        self.claims.not_checked += lesson.claims.not_checked;
        self.claims.fails += lesson.claims.fails;
        self.failures += lesson.failures.len();
    }

    fn add_space(&mut self, verified: &SpaceReport) {
        self.state_spaces += 1;
        self.distinct_states += verified.space.distinct_states;
        self.properties += verified.space.properties.len();
        self.controls += verified.controls.len();
        self.failures += verified.failures.len();
    }
}

fn write_human(
    out: &mut impl Write,
    lessons: &[LessonJson],
    spaces: &[SpaceReport],
    totals: &Totals,
) -> Result<(), Failure> {
    let width = lessons.iter().map(|lesson| lesson.slug.len()).max().unwrap_or(0);
    for lesson in lessons {
        let LessonJson { slug, blocks, figures, claims, verdict, failures, .. } = lesson;
        let style = if failures.is_empty() { super::GOOD } else { super::BAD };
        writeln!(out, "{style}{verdict:5}{style:#}  {slug:width$}  {blocks} blocks, {figures:4} figures, {claims}")?;
        for failure in failures {
            writeln!(out, "       {failure}")?;
        }
    }
    for SpaceReport { space, controls, findings, failures } in spaces {
        let SpaceJson { model, distinct_states, properties, .. } = space;
        let (style, verdict) = if failures.is_empty() { (super::GOOD, "holds") } else { (super::BAD, "fails") };
        let (properties, controls) = (properties.len(), controls.len());
        writeln!(
            out,
            "{style}{verdict:5}{style:#}  state space {model}: {properties} properties in {distinct_states} states, \
             {controls} controls"
        )?;
        for SpaceFinding { lesson, section, says, .. } in findings {
            writeln!(out, "       finding on {lesson}, {section}: {says}")?;
        }
        for failure in failures {
            writeln!(out, "       {failure}")?;
        }
    }
    let Totals { lessons, not_modelled, blocks, figures, claims, failures, .. } = totals;
    let Totals { state_spaces, distinct_states, properties, controls, .. } = totals;
    writeln!(out, "\n{lessons} lessons, {blocks} blocks, {figures} figures, {claims}")?;
    writeln!(
        out,
        "{state_spaces} state spaces, {properties} properties in {distinct_states} states, {controls} controls; \
         {failures} failures"
    )?;
    if *not_modelled > 0 {
        writeln!(out, "not checked: {not_modelled} lessons have no model yet (coursecheck lessons)")?;
    }
    Ok(())
}

impl std::fmt::Display for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { holds, refuted, not_checked, fails, .. } = self;
        if holds + refuted + not_checked + fails == 0 {
            return f.write_str("no claims");
        }
        write!(f, "claims: {holds} hold, {refuted} refuted, {not_checked} not checked")?;
        if *fails > 0 { write!(f, ", {fails} not as recorded") } else { Ok(()) }
    }
}
