//! The frozen tables: a report as text, and the comparison with the text that was accepted.

use models::catalogue::Entry;
use models::figures::Report;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// One line a figure, its name and the numeral as the course prints it, block by block.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for (i, block) in report.blocks.iter().enumerate() {
        let gap = if i == 0 { "" } else { "\n" };
        let _ = writeln!(text, "{gap}[{}]", block.name);
        let width = block.figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
        for figure in &block.figures {
            let _ = writeln!(text, "{:width$}  {}", figure.name, figure.shown());
        }
    }
    text
}

/// Where a lesson's tables are frozen, below `snapshots/`.
pub fn file_of(entry: &Entry) -> PathBuf {
    Path::new(entry.course.slug()).join(format!("{:02}-{}.snap", entry.number, entry.slug))
}

/// How a report differs from its accepted text: a line for each figure that moved, or why nothing was compared.
pub fn differences(snapshot: &Path, report: &Report) -> Vec<String> {
    let text = match std::fs::read_to_string(snapshot) {
        Ok(text) => text,
        Err(error) => return vec![format!("{}: no frozen tables to compare with ({error})", snapshot.display())],
    };
    let Some(frozen) = content(&text) else {
        return vec![format!("{}: expected an insta snapshot (two lines `---`)", snapshot.display())];
    };
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (frozen, now) = (lines(frozen), lines(&render(report)));
    let mut differences: Vec<String> = frozen
        .iter()
        .zip(&now)
        .filter(|(frozen, now)| frozen != now)
        .map(|(frozen, now)| format!("{}: frozen `{}`, now `{}`", snapshot.display(), squeeze(frozen), squeeze(now)))
        .collect();
    if frozen.len() != now.len() {
        let (frozen, now) = (frozen.len(), now.len());
        differences.push(format!("{}: {frozen} lines frozen, now {now}", snapshot.display()));
    }
    differences
}

/// What stands behind insta's header.
fn content(snapshot: &str) -> Option<&str> {
    let (_, after) = snapshot.strip_prefix("---\n")?.split_once("\n---\n")?;
    Some(after)
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
