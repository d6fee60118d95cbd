//! What several tests need.

use checks::spec::Spec;
use checks::suite::Suite;
use checks::verified::Verified;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of the repository.
pub(crate) fn root(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(folder)
}

/// The spec of the repository.
pub(crate) fn suite() -> Arc<Suite> {
    Arc::new(Suite::new(Spec::load(&root("spec")).unwrap()))
}

/// Every lesson, run and judged.
pub(crate) fn verified(suite: &Arc<Suite>) -> Vec<Verified<'_>> {
    let lessons: Vec<_> = suite.spec.lessons.iter().map(|l| Verified::new(suite, l.entry.slug).unwrap()).collect();
    assert!(!lessons.is_empty());
    lessons
}
