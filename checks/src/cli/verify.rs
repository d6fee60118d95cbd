//! `coursecheck` without a subcommand: verifies everything in the spec, or the part asked for.

use super::explore::SpaceJson;
use super::{Failure, Format, Outcome, check_invariants, verify_all, write_json};
use crate::claims::verdict::Verdict;
use crate::explore::spaces::{Space, VerifiedSpace};
use crate::invariants::{Budget, Checked};
use crate::spec::lesson::LessonSpec;
use crate::spec::state_spaces::SpaceFinding;
use crate::suite::{Error, Suite};
use crate::verified::Verified;
use models::catalogue::ENTRIES;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Verifies these only.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    only: Vec<Part>,
    /// Verifies these lessons only, and no state space.
    #[arg(long, value_delimiter = ',', value_name = "LESSONS")]
    lesson: Vec<String>,
    /// Cases of each invariant that must count [default: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cases: Option<u32>,
    /// What the cases follow from [default: 1].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// What can be verified by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Blocks,
    Claims,
    Invariants,
    StateSpaces,
}

impl Arguments {
    /// Anything is asked for.
    pub(super) fn is_given(&self) -> bool {
        !self.only.is_empty() || !self.lesson.is_empty() || self.cases.is_some() || self.seed.is_some()
    }

    fn has(&self, part: Part) -> bool {
        match self.only.as_slice() {
            [] => part != Part::StateSpaces || self.lesson.is_empty(),
            only => only.contains(&part),
        }
    }

    fn lessons<'a>(&self, suite: &'a Suite) -> Result<Vec<&'a LessonSpec>, Error> {
        if let Some(unknown) = self.lesson.iter().find_map(|slug| suite.lesson(slug).err()) {
            return Err(unknown);
        }
        let asked = |lesson: &&LessonSpec| self.lesson.is_empty() || self.lesson.iter().any(|l| l == lesson.entry.slug);
        Ok(suite.spec.lessons.iter().filter(asked).collect())
    }

    fn budget(&self) -> Budget {
        let Budget { cases, seed } = Budget::default();
        Budget { cases: self.cases.unwrap_or(cases), seed: self.seed.unwrap_or(seed) }
    }
}

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
    invariants: Vec<InvariantJson>,
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

#[derive(Serialize)]
struct InvariantJson {
    id: String,
    cases: u32,
    verdict: &'static str,
    discarded: u32,
    vacuous: u32,
}

/// How many invariants came to which verdict.
#[derive(Serialize, Default)]
struct Invariants {
    holds: usize,
    refuted: usize,
    not_checked: usize,
    fails: usize,
    cases: u64,
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
    invariants: Invariants,
    state_spaces: usize,
    distinct_states: usize,
    properties: usize,
    controls: usize,
    failures: usize,
}

pub(super) fn run(
    suite: &Arc<Suite>,
    arguments: &Arguments,
    snapshots: &Path,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let budget = arguments.budget();
    let asked = arguments.lessons(suite)?;
    let mut lessons: Vec<LessonJson> = asked.iter().map(|lesson| LessonJson::new(lesson.entry.slug)).collect();
    if arguments.has(Part::Blocks) || arguments.has(Part::Claims) {
        for (lesson, verified) in lessons.iter_mut().zip(verify_all(suite, &asked)?) {
            lesson.add_blocks_and_claims(&verified, arguments, snapshots);
        }
    }
    if arguments.has(Part::Invariants) {
        for (lesson, checked) in lessons.iter_mut().zip(check_invariants(suite, &asked, budget)?) {
            lesson.add_invariants(checked);
        }
    }
    let mut totals =
        Totals { lessons: lessons.len(), not_modelled: ENTRIES.len() - suite.spec.lessons.len(), ..Totals::default() };
    for lesson in &lessons {
        totals.add(lesson);
    }
    let mut state_spaces = Vec::new();
    for (space, spec) in suite.spec.state_spaces.iter().filter(|_| arguments.has(Part::StateSpaces)) {
        let verified = SpaceReport::new(space, space.verify(spec).map_err(Error::Call)?, &spec.findings);
        totals.add_space(&verified);
        state_spaces.push(verified);
    }
    let outcome = match (totals.checked(), totals.failures) {
        (0, _) => Outcome::NothingChecked,
        (_, 0) => Outcome::Holds,
        _ => Outcome::Fails,
    };
    match format {
        Format::Json => write_json(out, &VerifyJson { lessons, state_spaces, totals })?,
        Format::Human => {
            write_human(out, arguments, &lessons, &state_spaces, &totals)?;
            if arguments.has(Part::Invariants) {
                let Budget { cases, seed } = budget;
                writeln!(out, "invariants: {cases} cases each that count, from seed {seed} (--cases, --seed)")?;
            }
        }
    }
    Ok(outcome)
}

impl LessonJson {
    fn new(slug: &'static str) -> Self {
        let (claims, invariants, failures) = (Claims::default(), Vec::new(), Vec::new());
        Self { slug, blocks: 0, figures: 0, claims, invariants, verdict: "not checked", failures }
    }

    fn add_blocks_and_claims(&mut self, verified: &Verified<'_>, arguments: &Arguments, snapshots: &Path) {
        let report = &verified.run.report;
        if arguments.has(Part::Blocks) {
            self.blocks = report.blocks.len();
            self.figures = report.figures().count();
            self.fail(verified.moved_figures(snapshots));
        }
        if arguments.has(Part::Claims) {
            self.claims = Claims {
                holds: verified.count(|verdict| *verdict == Verdict::Holds),
                refuted: verified.count(|verdict| matches!(verdict, Verdict::Refuted(_))),
                fragile: verified.count(|verdict| matches!(verdict, Verdict::Fragile(_))),
                not_checked: verified.count(|verdict| matches!(verdict, Verdict::NotChecked(_))),
                fails: verified.count(|verdict| !verdict.is_as_recorded()),
            };
            self.fail(verified.unexpected_claims());
        }
    }

    fn add_invariants(&mut self, checked: Vec<Checked>) {
        let slug = self.slug;
        let failures = checked.iter().filter_map(|checked| checked.complaint(slug)).collect();
        self.invariants = checked.into_iter().map(InvariantJson::from).collect();
        self.fail(failures);
    }

    fn fail(&mut self, failures: Vec<String>) {
        self.failures.extend(failures);
        let checked = self.figures + self.claims.checked() + self.invariants.len() > 0;
        self.verdict = match (self.failures.is_empty(), checked) {
            (false, _) => "fails",
            (true, true) => "holds",
            (true, false) => "not checked",
        };
    }
}

impl From<Checked> for InvariantJson {
    fn from(checked: Checked) -> Self {
        let verdict = checked.word();
        let Checked { id, cases, discarded, vacuous, .. } = checked;
        Self { id, cases, verdict, discarded, vacuous }
    }
}

impl Invariants {
    fn add(&mut self, invariants: &[InvariantJson]) {
        for invariant in invariants {
            *match invariant.verdict {
                "holds" => &mut self.holds,
                "refuted" => &mut self.refuted,
                "not checked" => &mut self.not_checked,
                _ => &mut self.fails,
            } += 1;
            self.cases += u64::from(invariant.cases);
        }
    }

    fn of(invariants: &[InvariantJson]) -> Self {
        let mut counted = Self::default();
        counted.add(invariants);
        counted
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
        self.claims.fragile += lesson.claims.fragile;
        self.claims.not_checked += lesson.claims.not_checked;
        self.claims.fails += lesson.claims.fails;
        self.invariants.add(&lesson.invariants);
        self.failures += lesson.failures.len();
    }

    fn add_space(&mut self, verified: &SpaceReport) {
        self.state_spaces += 1;
        self.distinct_states += verified.space.distinct_states;
        self.properties += verified.space.properties.len();
        self.controls += verified.controls.len();
        self.failures += verified.failures.len();
    }

    /// Everything that was looked at.
    fn checked(&self) -> u64 {
        (self.figures + self.claims.checked() + self.distinct_states) as u64 + self.invariants.cases
    }
}

impl Claims {
    fn checked(&self) -> usize {
        let Self { holds, refuted, fragile, fails, .. } = self;
        holds + refuted + fragile + fails
    }
}

fn write_human(
    out: &mut impl Write,
    arguments: &Arguments,
    lessons: &[LessonJson],
    spaces: &[SpaceReport],
    totals: &Totals,
) -> Result<(), Failure> {
    let width = lessons.iter().map(|lesson| lesson.slug.len()).max().unwrap_or(0);
    let verdicts = lessons.iter().map(|lesson| lesson.verdict.len()).max().unwrap_or(0);
    let parts = |tables: String, claims: &Claims, invariants: &Invariants| {
        let all =
            [(Part::Blocks, tables), (Part::Claims, claims.to_string()), (Part::Invariants, invariants.to_string())];
        all.into_iter().filter(|(part, _)| arguments.has(*part)).map(|(_, text)| text).collect::<Vec<_>>().join("; ")
    };
    for lesson in lessons {
        let LessonJson { slug, blocks, figures, claims, invariants, verdict, failures } = lesson;
        let style = if *verdict == "holds" { super::GOOD } else { super::BAD };
        let parts = parts(format!("{blocks} blocks, {figures:4} figures"), claims, &Invariants::of(invariants));
        writeln!(out, "{style}{verdict:verdicts$}{style:#}  {slug:width$}  {parts}")?;
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
    let Totals { lessons, not_modelled, blocks, figures, claims, invariants, failures, .. } = totals;
    let Totals { state_spaces, distinct_states, properties, controls, .. } = totals;
    let parts = parts(format!("{blocks} blocks, {figures} figures"), claims, invariants);
    writeln!(out, "\n{lessons} lessons: {parts}")?;
    writeln!(
        out,
        "{state_spaces} state spaces: {properties} properties in {distinct_states} states, {controls} controls; \
         {failures} failures"
    )?;
    if *not_modelled > 0 {
        writeln!(out, "not checked: {not_modelled} lessons have no model yet (coursecheck lessons)")?;
    }
    Ok(())
}

impl std::fmt::Display for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { holds, refuted, fragile, not_checked, fails } = self;
        if holds + refuted + fragile + not_checked + fails == 0 {
            return f.write_str("no claims");
        }
        write!(f, "claims: {holds} hold, {refuted} refuted, {fragile} fragile, {not_checked} not checked")?;
        if *fails > 0 { write!(f, ", {fails} not as recorded") } else { Ok(()) }
    }
}

impl std::fmt::Display for Invariants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { holds, refuted, not_checked, fails, cases } = self;
        if holds + refuted + not_checked + fails == 0 {
            return f.write_str("no invariants");
        }
        write!(f, "invariants: {holds} hold, {refuted} refuted in {cases} cases")?;
        if *not_checked > 0 {
            write!(f, ", {not_checked} not checked")?;
        }
        if *fails > 0 { write!(f, ", {fails} not as recorded") } else { Ok(()) }
    }
}
