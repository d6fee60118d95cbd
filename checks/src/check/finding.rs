//! What a check found, at its place in the document.

use serde::Serialize;
use std::ops::Range;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document disagrees with the model.
    Error,
    /// Worth a look; counts with `--strict`.
    Warning,
    /// For information.
    Note,
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A numeral is another than its figure.
    Changed,
    /// Right digits, but another unit mark.
    UnitMark,
    /// Numerals that should stand here do not.
    Missing,
    /// Numerals that no figure explains.
    Unexplained,
    /// A statement that the model contradicts, as the spec records.
    RefutedClaim,
    /// A block, section or table row that should be there is not.
    PartMissing,
    /// An output block that the lesson's model does not publish.
    BlockUnexplained,
    /// A lesson without a model.
    NotChecked,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where, in bytes of the document.
    pub span: Range<usize>,
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong.
    pub kind: Kind,
    /// The figure or claim that it is about.
    pub figure: Option<String>,
    /// What the document says.
    pub published: Option<String>,
    /// What the model says.
    pub computed: Option<String>,
    /// In a sentence.
    pub message: String,
    /// The command that shows how the figure comes about.
    pub reproduce: Option<String>,
}
