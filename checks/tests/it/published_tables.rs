//! The published tables are frozen: a figure that moves fails here, with no course file present.

use crate::support::{root, suite, verified};
use checks::frozen;
use std::collections::BTreeSet;

#[test]
fn every_lesson_publishes_its_frozen_tables() {
    for lesson in verified(&suite()) {
        let entry = lesson.lesson.entry;
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(root("snapshots").join(entry.course.slug()));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let name = format!("{:02}-{}", entry.number, entry.slug);
        settings.bind(|| insta::assert_snapshot!(name, frozen::render(&lesson.run.report)));
    }
}

#[test]
fn every_claim_is_as_the_spec_records_it() {
    for lesson in verified(&suite()) {
        assert_eq!(lesson.failures(&root("snapshots")), Vec::<String>::new());
    }
}

#[test]
fn every_snapshot_belongs_to_a_lesson() {
    let suite = suite();
    let owned: BTreeSet<_> =
        suite.spec.lessons.iter().map(|lesson| root("snapshots").join(frozen::file_of(lesson.entry))).collect();
    for course in models::catalogue::Course::ALL {
        for file in std::fs::read_dir(root("snapshots").join(course.slug())).unwrap() {
            let path = file.unwrap().path();
            assert!(owned.contains(&path), "{} belongs to no lesson", path.display());
        }
    }
}

#[test]
fn every_figure_has_a_name_of_its_own() {
    for lesson in verified(&suite()) {
        let mut seen = BTreeSet::new();
        let names = lesson.run.report.names().filter(|name| !name.starts_with("parameters."));
        for name in names {
            assert!(seen.insert(name), "{}: `{name}` twice", lesson.lesson.entry.slug);
        }
    }
}

#[test]
fn a_figure_that_echoes_a_parameter_has_its_value() {
    for lesson in verified(&suite()) {
        for figure in lesson.run.report.figures() {
            let Some(path) = figure.name.strip_prefix("parameters.") else { continue };
            let value = checks::suite::at_path(&lesson.run.parameters, path);
            let value = value.and_then(serde_json::Value::as_f64);
            assert_eq!(value, figure.value.as_f64(), "{}: {}", lesson.lesson.entry.slug, figure.name);
        }
    }
}
