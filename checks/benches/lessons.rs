//! How long each lesson takes: `cargo bench`. A new lesson is measured without being listed here.

#![allow(clippy::expect_used, reason = "a benchmark without the repository's own spec has nothing to measure")]

use checks::check::check;
use checks::spec::Spec;
use checks::suite::{Overrides, Suite};
use checks::verified::Verified;
use divan::{Bencher, black_box};
use std::path::Path;
use std::sync::{Arc, LazyLock};

static SUITE: LazyLock<Arc<Suite>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("spec");
    Arc::new(Suite::new(Spec::load(&folder).expect("the repository's spec can be read")))
});

fn main() {
    divan::main();
}

fn slugs() -> impl Iterator<Item = &'static str> {
    SUITE.spec.lessons.iter().map(|lesson| lesson.entry.slug)
}

/// One run at the spec's parameters.
#[divan::bench(args = slugs())]
fn model(slug: &str) -> usize {
    SUITE.run(slug, &Overrides::new()).expect("the repository's spec can be run").report.figures().count()
}

/// One run with every claim judged.
#[divan::bench(args = slugs())]
fn claims(slug: &str) -> usize {
    Verified::new(&SUITE, slug).expect("the repository's spec can be judged").claims.len()
}

/// Checking a document of about 5 MB: the blocks of one lesson after a long text.
#[divan::bench]
fn document(bencher: Bencher<'_, '_>) {
    let lessons = [Verified::new(&SUITE, "circuit-breaker").expect("the repository's spec can be judged")];
    let figures = lessons[0].run.report.figures().map(|figure| format!("{}\n", figure.shown()));
    let prose = "Some 5 of 12 words with numerals such as 3,200 and 0.50x in them.\n\n".repeat(70_000);
    let page = "---\nsource: 'https://example.org/circuit-breaker'\n---\n\n# Circuit Breaker\n\n";
    let text = format!("{page}{prose}```\n{}```\n", figures.collect::<String>());
    bencher.bench_local(|| check(black_box(&text), &lessons).expect("the text is a lesson page").len());
}
