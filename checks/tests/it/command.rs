//! The command's contract: exit statuses, messages, and the shape of its JSON.

use crate::support::root;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn coursecheck(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coursecheck"));
    command.args(arguments).current_dir(root("checks")).env_remove("NO_COLOR").output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = coursecheck(&[arguments, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
}

fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn an_unusable_call_says_why_and_exits_with_2() {
    let run = |set: &'static str| vec!["run", "circuit-breaker", "--set", set];
    let explore = |arguments: &[&'static str]| [&["explore"], arguments].concat();
    for (arguments, expected) in [
        (vec!["run", "circuit-braker"], "did you mean `circuit-breaker`"),
        (vec!["explain", "circuit-breaker#0"], "expected a number from 1"),
        (vec!["explain", "circuit-breaker#x"], "expected a number from 1"),
        (run("slots=-3"), "slots: found -3, expected a whole number from 0 to 1000"),
        (run("slots=many"), "slots: found \"many\", expected a whole number from 0 to 1000"),
        (run("slots=2.5"), "slots: found 2.5, expected a whole number from 0 to 1000"),
        (run("slots=.nan"), "expected a finite number"),
        (run("slotz=3"), "no parameter `slotz`; did you mean `slots`"),
        (run("slots"), "expected NAME=VALUE"),
        (run("AY2.slots=-3"), "slots: found -3, expected a whole number from 0 to 1000"),
        (run("rounds=1000000000000"), "rounds: found 1000000000000, expected a whole number from 1 to 1000000"),
        (run("rules=[]"), "rules: found a list of 0, expected a list of 3"),
        (run("rules.0.opens_on={ratio: {window: 1}}"), "missing field `threshold`"),
        (run("failure_start=1200"), "failure_start: expected a round before the run ends"),
        (vec!["check", "/nowhere/at/all.md"], "/nowhere/at/all.md: No such file"),
        (vec!["--spec", "/nowhere"], "/nowhere/assumptions.yaml: No such file"),
        (explore(&["leader-elections"]), "did you mean `leader-election`"),
        (explore(&["leader-election", "--set", "nodez=2"]), "did you mean `nodes`"),
        (explore(&["leader-election", "--set", "nodes"]), "expected NAME=VALUE"),
        (explore(&["leader-election", "--set", "nodes=9"]), "nodes: found 9, expected a whole number from 2 to 5"),
        (
            explore(&["leader-election", "--set", "nodes=-1"]),
            "nodes: found integer `-1`, expected a whole number from 0",
        ),
        (explore(&["leader-election", "--set", "fencing=maybe"]), "fencing: unknown variant `maybe`"),
        (explore(&["leader-election", "--set", "horizon=2", "--set", "triggers=[1]"]), "horizon: expected at least"),
        (explore(&["leader-election", "--without", "fence"]), "did you mean `fencing`"),
        (explore(&["leader-election", "--without", "keys", "--without", "keys"]), "no mechanism `keys`"),
        (explore(&["leader-election", "--serve", "nowhere"]), "--serve nowhere: "),
        (explore(&["saga", "--set", "styles=[both]"]), "styles.0: unknown variant `both`"),
        (explore(&["saga", "--set", "missing_subscriptions=[start-billing]"]), "expected `start-` or `cancel-`"),
        (explore(&["saga", "--without", "cancel-invoice"]), "did you mean `cancel-invoice-line`"),
        (vec!["prove"], "unrecognized subcommand"),
        (vec!["check"], "required"),
        (vec!["--lesson", "circuit-braker"], "did you mean `circuit-breaker`"),
        (vec!["--cases", "0"], "0 is not in 1.."),
        (vec!["--cases", "5", "lessons"], "belong to the verification of everything"),
        (vec!["--only", "tables"], "possible values: blocks, claims, invariants, state-spaces"),
        (vec!["seeds", "leader-election"], "leader-election states nothing over seeds"),
        (vec!["run", "leader-election", "--invariant", "no-outage"], "did you mean `no-outage-no-cost`"),
    ] {
        let output = coursecheck(&arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn parameters_that_explode_are_refused_by_a_stated_limit() {
    let output = coursecheck(&["run", "circuit-breaker", "--set", "rounds=1000000", "--set", "event_rate=10000"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("rounds: expected a run of at most 2e8 steps"), "{message}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_file_without_anything_to_check_exits_with_2() {
    let unmodelled =
        "---\ntitle: t\nlessons: 1\n---\n\n### New\n\nSource: https://example.org/brand-new\n\n```\n1 2\n```\n";
    for (name, content, expected) in [
        ("empty.md", b"".as_slice(), "empty.md"),
        ("prose.md", b"# Nothing here\n\nWords.\n", "prose.md"),
        ("latin1.md", b"caf\xe9\n", "not UTF-8: byte 3 is 0xe9"),
        ("unmodelled.md", unmodelled.as_bytes(), "nothing was checked"),
    ] {
        let path = file(name, content);
        let output = coursecheck(&["check", path.to_str().unwrap()]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(expected), "{name}: {message}");
        assert_eq!(output.status.code(), Some(2), "{name}");
    }
}

#[test]
fn the_spec_verifies() {
    let output = coursecheck(&[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report = json(&[]);
    assert_eq!(keys(&report), ["lessons", "state_spaces", "totals"]);
    let lesson = &report["lessons"][0];
    assert_eq!(keys(lesson), ["slug", "blocks", "figures", "claims", "invariants", "verdict", "failures"]);
    assert_eq!(keys(&lesson["claims"]), ["holds", "refuted", "fragile", "not_checked", "fails"]);
    assert_eq!(lesson["verdict"], "holds");
    let space = &report["state_spaces"][0];
    let explored = ["model", "bounds", "complete", "distinct_states", "depth", "properties"];
    assert_eq!(keys(space), [&explored[..], &["controls", "findings", "failures"]].concat());
    assert_eq!(keys(&space["properties"][0]), ["name", "kind", "verdict"]);
    let count = |name: &str| report["totals"][name].as_u64().unwrap();
    assert_eq!(count("state_spaces"), checks::explore::spaces::Space::ALL.len() as u64);
    assert!(count("distinct_states") >= space["distinct_states"].as_u64().unwrap());
    assert!(count("properties") > 10 && count("controls") > 5);
}

#[test]
fn only_verifies_what_is_asked_for() {
    let totals = |only: &str| json(&["--only", only, "--cases", "3"])["totals"].clone();
    let counts = |only| {
        let totals = totals(only);
        let positive = |value: &Value| value.as_u64().unwrap() > 0;
        [&totals["figures"], &totals["claims"]["holds"], &totals["invariants"]["holds"]].map(positive)
    };
    assert_eq!(counts("blocks"), [true, false, false]);
    assert_eq!(counts("claims,invariants"), [false, true, true]);

    let breaker = json(&["--lesson", "circuit-breaker", "--cases", "3"]);
    let slugs: Vec<&Value> = breaker["lessons"].as_array().unwrap().iter().map(|lesson| &lesson["slug"]).collect();
    assert_eq!((slugs, &breaker["state_spaces"]), (vec![&"circuit-breaker".into()], &Value::Array(vec![])));
}

#[test]
fn an_invariant_is_listed_with_its_cases_and_reproduced_by_its_command() {
    let report = json(&["--only", "invariants", "--cases", "7"]);
    let lessons = report["lessons"].as_array().unwrap();
    let breaker = lessons.iter().find(|lesson| lesson["slug"] == "circuit-breaker").unwrap();
    let invariants = breaker["invariants"].as_array().unwrap();
    assert_eq!(keys(&invariants[0]), ["id", "cases", "verdict", "discarded", "vacuous"]);
    assert_eq!((&invariants[0]["cases"], &invariants[0]["verdict"]), (&7.into(), &"holds".into()));

    let explained = json(&["explain", "circuit-breaker#slow-as-good-as-down"]);
    assert_eq!(keys(&explained), ["lesson", "claims", "invariants", "over_seeds"]);
    let invariant = &explained["invariants"][0];
    assert_eq!(invariant["verdict"], "refuted");
    let slots = invariant["varies"].as_array().unwrap().iter().find(|varied| varied["name"] == "slots").unwrap();
    assert_eq!(slots["range"], "a whole number from 0 to 1000");
    let command = invariant["counterexample"].as_str().unwrap();
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    let output = coursecheck(&arguments);
    assert_eq!(output.status.code(), Some(1), "{command}: {output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("slow-as-good-as-down breaks: "), "{output:?}");
}

#[test]
fn seeds_prints_share_interval_place_and_class() {
    let report = json(&["seeds", "compensating-transactions", "--count", "100"]);
    assert_eq!(keys(&report), ["lesson", "seeds", "statements"]);
    let statement = &report["statements"][0];
    let expected = ["says", "seeds", "holds", "share", "interval", "class", "recorded", "holds_as_published", "value"];
    assert_eq!(keys(statement), expected);
    assert_eq!(keys(&statement["value"]), ["published", "percentile", "least", "median", "greatest"]);
    assert_eq!((&statement["seeds"], &statement["class"]), (&100.into(), &"robust".into()));
}

#[test]
fn run_prints_every_figure_with_name_value_and_numeral() {
    let report = json(&["run", "circuit-breaker", "--set", "slots=8"]);
    assert_eq!(keys(&report), ["lesson", "parameters", "blocks"]);
    assert_eq!(report["parameters"]["slots"], 8);
    let figures = report["blocks"][0]["figures"].as_array().unwrap();
    assert_eq!(keys(&figures[0]), ["name", "value", "shown"]);
    let share = figures.iter().find(|figure| figure["name"] == "gain.slowdown.slot_rounds_saved").unwrap();
    assert!(share["value"].is_f64() && share["shown"].as_str().unwrap().ends_with('%'), "{share}");
}

#[test]
fn an_assumption_moves_every_lesson_that_uses_it() {
    let slots = |arguments: &[&str]| json(arguments)["parameters"]["slots"].clone();
    assert_eq!(slots(&["run", "circuit-breaker", "--set", "AY2.slots=5"]), 5);
    assert_eq!(slots(&["run", "failure-modes", "--set", "AY2.slots=5"]), 5);
}

#[test]
fn a_changed_document_is_reported_at_line_and_column() {
    let figures = json(&["run", "failure-modes"]);
    let blocks = figures["blocks"].as_array().unwrap().iter().map(|block| {
        let shown = block["figures"].as_array().unwrap().iter().map(|figure| figure["shown"].as_str().unwrap());
        format!("```\n{}\n```\n", shown.collect::<Vec<_>>().join("\n"))
    });
    let page = "---\nsource: 'https://example.org/failure-modes'\n---\n\n# Failure Modes\n\n";
    let good = format!("{page}{}", blocks.collect::<Vec<_>>().join("\n"));
    let first_line = 8;
    let right = file("right.md", &good);
    assert_eq!(coursecheck(&["check", right.to_str().unwrap()]).status.code(), Some(0));

    let old = format!("```\n{}\n", figures["blocks"][0]["figures"][0]["shown"].as_str().unwrap());
    assert!(good.contains(&old));
    let wrong = file("wrong.md", good.replacen(&old, "```\n  987654\n", 1));
    let output = coursecheck(&["check", wrong.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains(&format!("error: {}:{first_line}:3: ", wrong.display())), "{shown}");
    assert!(shown.contains("^^^^^^ should be"), "{shown}");
    assert!(shown.contains("help: coursecheck run failure-modes"), "{shown}");

    let report = json(&["check", wrong.to_str().unwrap()]);
    assert_eq!(keys(&report), ["documents", "totals"]);
    assert_eq!(keys(&report["totals"]), ["seen", "checked", "agree", "errors", "warnings"]);
    let lesson = &report["documents"][0]["lessons"][0];
    assert_eq!(keys(lesson), ["slug", "line", "numerals", "findings"]);
    assert_eq!(keys(&lesson["numerals"]), ["output", "table", "prose"]);
    assert_eq!(keys(&lesson["numerals"]["output"]), ["seen", "checked", "agree"]);
    let finding = &lesson["findings"][0];
    let expected = ["line", "column", "severity", "kind", "figure", "published", "computed", "message"];
    assert_eq!(keys(finding), expected);
    assert_eq!((&finding["line"], &finding["column"]), (&first_line.into(), &3.into()));
    assert_eq!((&finding["severity"], &finding["kind"]), (&"error".into(), &"changed".into()));
    assert_eq!(finding["published"], "987654");
}

#[test]
fn every_lesson_is_listed() {
    let lessons = json(&["lessons"])["lessons"].as_array().unwrap().clone();
    assert_eq!(lessons.len(), models::catalogue::ENTRIES.len());
    let expected = ["course", "number", "slug", "title", "modelled", "blocks", "figures", "claims"];
    assert_eq!(keys(&lessons[0]), expected);
}

#[test]
fn explore_exits_by_its_verdicts_and_a_bounded_search_proves_nothing() {
    let small = ["explore", "leader-election", "--set", "triggers=[3]", "--set", "horizon=5"];
    for (arguments, status, expected) in [
        (&[][..], 0, "complete: every reachable state was looked at"),
        (&["--without", "keys"], 1, "failed condition: the store has started each batch at most once"),
        (&["--max-states", "100"], 2, "bounded, not complete"),
    ] {
        let output = coursecheck(&[&small, arguments].concat());
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains(expected), "{arguments:?}: {shown}");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    }

    let report = json(&[&small[..], &["--without", "keys"]].concat());
    assert_eq!(keys(&report), ["model", "bounds", "complete", "distinct_states", "depth", "properties"]);
    assert_eq!((&report["model"], &report["complete"]), (&"leader-election".into(), &true.into()));
    let properties = report["properties"].as_array().unwrap();
    let twice = properties.iter().find(|property| property["name"] == "no batch is started twice").unwrap();
    assert_eq!(keys(twice), ["name", "kind", "verdict", "trace"]);
    assert_eq!((&twice["kind"], &twice["verdict"]), (&"always".into(), &"fails".into()));
    let steps = twice["trace"].as_array().unwrap();
    assert_eq!(keys(&steps[0]), ["action", "changes"]);
    assert_eq!(steps.last().unwrap()["changes"][0], "store: starts of batch 3: 1 -> 2");
    let growing = properties.iter().find(|property| property["name"] == "tokens only grow").unwrap();
    assert!(growing["verdict"] == "holds" && growing["trace"].is_null(), "{growing}");
    assert!(properties.iter().any(|p| p["kind"] == "sometimes" && p["verdict"] == "holds" && p["trace"].is_array()));
}

#[test]
fn the_same_call_prints_the_same_bytes() {
    for arguments in [
        &[][..],
        &["lessons"],
        &["run", "leader-election"],
        &["parameters", "failure-modes"],
        &["explore", "leader-election"],
    ] {
        assert_eq!(coursecheck(arguments).stdout, coursecheck(arguments).stdout, "{arguments:?}");
    }
}
