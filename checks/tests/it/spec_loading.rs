//! A spec that is wrong is refused at its line and column, with what was expected.

use checks::invariants::{self, Budget, Stated};
use checks::spec::Spec;
use checks::suite::{Error, Overrides, Suite};
use std::fs;
use std::path::{Path, PathBuf};

/// A copy of the repository's spec that a test may spoil.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        copy(&crate::support::root("spec"), &folder);
        Self(folder)
    }

    fn replace(&self, file: &str, old: &str, new: &str) {
        let path = self.0.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{file} has no {old:?}");
        fs::write(path, text.replacen(old, new, 1)).unwrap();
    }

    /// Line and column from 1 of a text in a file.
    fn place(&self, file: &str, text: &str) -> String {
        let content = fs::read_to_string(self.0.join(file)).unwrap();
        let at = content.find(text).unwrap();
        let line = content[..at].matches('\n').count() + 1;
        let column = at - content[..at].rfind('\n').map_or(0, |end| end + 1) + 1;
        format!("{file}:{line}:{column}: ")
    }

    /// The first error of loading the spec and running the circuit breaker, without the folder's path.
    fn error(&self) -> String {
        let run = Spec::load(&self.0).map_err(Error::from);
        let run = run.and_then(|spec| Suite::new(spec).run("circuit-breaker", &Overrides::new()));
        let error = run.map(|_| "no error").unwrap_err().to_string();
        error.replace(&format!("{}/", self.0.display()), "")
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

const BREAKER: &str = "resilience-patterns/02-circuit-breaker.yaml";
const ASSUMPTIONS: &str = "assumptions.yaml";
const SPACES: &str = "state-spaces.yaml";

#[test]
fn what_is_wrong_in_a_spec_is_refused_at_its_place() {
    let rounds = "rounds: { value: 1200,";
    // File, what is replaced, by what, where the error stands, what it says.
    let cases = [
        (
            BREAKER,
            "slots: =AY2.slots",
            "slots: =AY2.slots\n  slots: =AY2.slots",
            "slots: =AY2.slots\n  round",
            "duplicate key `slots`",
        ),
        (BREAKER, "slots: =AY2.slots", "slotz: =AY2.slots", "=AY2.slots", "unknown field `slotz`"),
        (BREAKER, "slots: =AY2.slots\n", "\n", "seed:", "missing field `slots`"),
        (
            BREAKER,
            "=AY2.slots",
            "=AY2.slot",
            "=AY2.slot\n",
            "a reference to nothing, `=AY2.slot`; did you mean `AY2.slots`",
        ),
        (
            BREAKER,
            "=AY2.slots",
            "=circuit-breaker:cost.calls",
            "=circuit-breaker:cost.calls",
            "a reference in a circle",
        ),
        (
            BREAKER,
            "=AY2.slots",
            "=failure-modes:nothing.here",
            "=failure-modes:nothing",
            "has no figure or fact `nothing.here`",
        ),
        (BREAKER, "=AY2.slots", "32", "32\n", "expected =REFERENCE, or `value`, `unit` and `origin`"),
        (BREAKER, rounds, "rounds: { value: many,", "many", "found string \"many\", expected a whole number from 0"),
        (BREAKER, rounds, "rounds: { value: -3,", "-3", "expected a whole number from 0"),
        (BREAKER, rounds, "rounds: { value: 1000000000000,", "1000000000000", "expected a whole number from 1 to"),
        (BREAKER, rounds, "rounds: { value: .nan,", ".nan", "expected a finite number"),
        (BREAKER, rounds, "rounds: { value: .inf,", ".inf", "expected a finite number"),
        (BREAKER, rounds, "rounds: { value: !big 1200,", "!big", "no tags"),
        (BREAKER, rounds, "rounds: { unknown: 1, value: 1200,", "{ unknown: 1", "unknown field `unknown`"),
        (BREAKER, "lesson: circuit-breaker", "lesson: bulkhead-pattern", "bulkhead", "expected `circuit-breaker`"),
        (BREAKER, "parameters:", "parameter:", "parameter:", "unknown field `parameter`"),
        (BREAKER, "id: unopened-costs", "id: unopened-cost", "unopened-cost", "did you mean `unopened-costs-nothing`"),
        (BREAKER, "id: unopened-costs-nothing", "id: no-failure-no-opening", "", "is stated twice"),
        (BREAKER, "  - id: every-arrival-ends-once\n    says: >-", "  - says: >-", "", "missing field `id`"),
        (
            BREAKER,
            "fragile: longer-",
            "fragile: shorter-",
            "shorter-",
            "expected the `id` of one statement in `over_seeds`",
        ),
        (BREAKER, "class: robust", "class: certain", "certain\n", "unknown variant `certain`"),
        (ASSUMPTIONS, "class: assumption", "class: guess", "guess", "unknown variant `guess`"),
        (
            ASSUMPTIONS,
            "lesson: failure-modes",
            "lesson: failure-mode",
            "failure-mode\n",
            "expected the slug of a lesson",
        ),
        (
            ASSUMPTIONS,
            "slots: { value: 32",
            "slots: { value: =AY2.slots",
            "",
            "a reference in a circle: AY2.slots -> AY2.slots",
        ),
        (ASSUMPTIONS, "slots: { value: 32", "slots: { value: -5", "", "expected"),
        (SPACES, "leader-election:\n", "leaders:\n", "", "no state space `leaders`"),
        (SPACES, "nodes: 3", "nodes: 1", "nodes: 1", "nodes: found 1, expected a whole number from 2 to 5"),
        (SPACES, "without: [fencing]", "without: [fence]", "without: [fence]", "no mechanism `fence` to go without"),
        (SPACES, "without: [fencing]", "without: []", "without: []", "expected a mechanism in `without`"),
        (SPACES, "section: back", "section: 3 # back", "3 # back", "expected a text"),
        (SPACES, "      without: [keys]\n", "      without: [trigger]\n", "", "expected the `without` of a control"),
    ];
    for (i, (file, old, new, place, expected)) in cases.into_iter().enumerate() {
        let spec = Copy::new(&format!("spoiled-{i}"));
        spec.replace(file, old, new);
        let error = spec.error();
        assert!(error.contains(expected), "{new:?} should say {expected:?}: {error}");
        if !place.is_empty() {
            let place = spec.place(file, place);
            assert!(error.starts_with(&place), "{new:?} should stand at {place}: {error}");
        }
    }
}

#[test]
fn code_without_a_statement_is_refused() {
    let spec = Copy::new("unstated");
    let file = "application-layer/14-leader-election.yaml";
    let text = fs::read_to_string(spec.0.join(file)).unwrap();
    let at = text.rfind("  - id: ").unwrap();
    fs::write(spec.0.join(file), &text[..at]).unwrap();
    let place = spec.place(file, "- id: two-leader");
    let error = spec.error();
    assert!(error.starts_with(&place) && error.contains("no statement for the model's invariant"), "{error}");
}

#[test]
fn what_an_invariant_varies_or_sets_is_a_parameter() {
    for (i, (old, new, expected)) in [
        (
            "varies: [seed, slots,",
            "varies: [seed, slot,",
            "`slot` names no number, switch, list or group of parameters",
        ),
        (
            "at: { rule.window: 29 }",
            "at: { rule.windows: 29 }",
            "no parameter `rule.windows`; did you mean `rule.window`",
        ),
        ("at: { rule.window: 29 }", "at: { rule.window: 0 }", "rule.window: found 0, expected a whole number from 1"),
        ("from: { slots: 60,", "from: { slots: many,", "slots: found \"many\", expected a whole number"),
    ]
    .into_iter()
    .enumerate()
    {
        let copy = Copy::new(&format!("invariant-{i}"));
        copy.replace(BREAKER, old, new);
        let suite = Suite::new(Spec::load(&copy.0).unwrap());
        let lesson = suite.lesson("circuit-breaker").unwrap();
        let budget = Budget { cases: 1, seed: 1 };
        let check = |stated: Vec<Stated<'_>>| stated.iter().try_for_each(|one| one.check(&suite, budget).map(|_| ()));
        let error = invariants::stated(&suite, lesson).and_then(check).unwrap_err().to_string();
        assert!(error.contains(&format!("{BREAKER}:")) && error.contains(expected), "{error}");
    }
}

#[test]
fn a_syntax_error_has_its_line() {
    let spec = Copy::new("syntax");
    spec.replace(BREAKER, "parameters:", "parameters: [");
    let error = spec.error();
    assert!(error.starts_with(&format!("{BREAKER}:")) && error.matches(':').count() >= 3, "{error}");
}

#[test]
fn a_spec_without_its_files_is_refused() {
    let spec = Copy::new("incomplete");
    fs::remove_file(spec.0.join(BREAKER)).unwrap();
    assert!(spec.error().starts_with(&format!("{BREAKER}: No such file")), "{}", spec.error());

    let spec = Copy::new("stranger");
    fs::write(spec.0.join("application-layer/99-unheard-of.yaml"), "lesson: x\n").unwrap();
    assert!(spec.error().contains("no modelled lesson has this file name"), "{}", spec.error());

    let spec = Copy::new("empty");
    fs::write(spec.0.join(BREAKER), "").unwrap();
    assert_eq!(spec.error(), format!("{BREAKER}:1:1: the file is empty"));
}

#[test]
fn every_assumption_is_used() {
    let folder = crate::support::root("spec");
    let spec = Spec::load(&folder).unwrap();
    let mut texts = vec![fs::read_to_string(folder.join(ASSUMPTIONS)).unwrap()];
    texts.extend(spec.lessons.iter().map(|l| fs::read_to_string(&l.file.path).unwrap()));
    // Of some, the prose alone speaks of a further value.
    for (name, assumption) in spec.assumptions.iter() {
        let used = assumption.values.keys().any(|value| mentions(&texts, &format!("{name}.{value}")));
        assert!(used, "no lesson uses {name}");
    }
}

/// A text holds the name, and not only as the beginning of a longer one.
fn mentions(texts: &[String], name: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    texts.iter().any(|text| text.match_indices(name).any(|(at, _)| !goes_on(&text[at + name.len()..])))
}
