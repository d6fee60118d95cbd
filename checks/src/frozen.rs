//! A report as text: what `run` prints, and what the snapshots freeze.

use models::figures::Report;
use std::fmt::Write;

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
