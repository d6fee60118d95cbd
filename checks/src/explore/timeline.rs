//! A behaviour as a timeline: a lane for each party, a row for each action, and only what it changed.

use models::state_spaces::{Fact, TransitionSystem};
use std::fmt::{self, Display, Formatter};

/// A behaviour from its first state to the one that decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The parties, side by side.
    pub lanes: Vec<String>,
    /// The actions, in order.
    pub rows: Vec<Row>,
}

/// One action and what it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Whose action it is.
    pub lane: usize,
    /// The action in the domain's words.
    pub action: String,
    /// What it changed.
    pub changes: Vec<Change>,
    lanes: Vec<String>,
}

/// A fact that an action changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The lane that it is about.
    pub lane: usize,
    /// Which fact.
    pub name: String,
    /// How it stood, if it was one.
    pub before: Option<String>,
    /// How it stands, if it still is one.
    pub after: Option<String>,
}

impl Trace {
    /// The timeline of a path: states, each with the action that was taken in it; none in the last.
    pub(super) fn of<S: TransitionSystem>(system: &S, path: Vec<(S::State, Option<S::Action>)>) -> Self {
        let rows = path.windows(2).filter_map(|pair| {
            let [(state, action), (next, _)] = pair else { return None };
            Some(Row::between(system, state, action.as_ref()?, next))
        });
        Self { lanes: system.lanes(), rows: rows.collect() }
    }
}

impl Row {
    /// What an action changes between two states.
    pub(super) fn between<S: TransitionSystem>(
        system: &S,
        state: &S::State,
        action: &S::Action,
        next: &S::State,
    ) -> Self {
        let (lane, action) = system.describe(state, action);
        Self { lane, action, changes: changes(&system.facts(state), &system.facts(next)), lanes: system.lanes() }
    }
}

fn changes(before: &[Fact], after: &[Fact]) -> Vec<Change> {
    let same = |a: &Fact, b: &Fact| (a.lane, &a.name) == (b.lane, &b.name);
    let find = |facts: &[Fact], fact: &Fact| facts.iter().find(|other| same(fact, other)).map(|f| f.value.clone());
    let gone = before.iter().filter(|fact| find(after, fact).is_none());
    let facts = after.iter().chain(gone).map(|fact| Change {
        lane: fact.lane,
        name: fact.name.clone(),
        before: find(before, fact),
        after: find(after, fact),
    });
    facts.filter(|change| change.before != change.after).collect()
}

impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, before, after, .. } = self;
        match (before, after) {
            (Some(before), Some(after)) => write!(f, "{name}: {before} -> {after}"),
            (None, Some(after)) => write!(f, "{name}: {after}"),
            (_, None) => write!(f, "{name}: none"),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let lane = |lane: usize| self.lanes.get(lane).map_or("", String::as_str);
        write!(f, "{}: {}", lane(self.lane), self.action)?;
        self.changes.iter().try_for_each(|change| write!(f, "\n  {}: {change}", lane(change.lane)))
    }
}

/// Columns are no wider than this; longer texts go on in the next line.
const WIDEST: usize = 28;

impl Display for Trace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let cells: Vec<Vec<Vec<String>>> = self.rows.iter().map(|row| self.cells(row)).collect();
        let width = |lane: usize| {
            let lines = cells.iter().flat_map(|row| &row[lane]).map(|line| line.chars().count());
            lines.chain([self.lanes[lane].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.lanes.len()).map(width).collect();
        let number_width = self.rows.len().to_string().len();
        let mut line = |number: &str, cells: Vec<&str>| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!(" | {cell:width$}"));
            writeln!(f, "{}", format!("{number:>number_width$}{}", cells.collect::<String>()).trim_end())
        };
        line("", self.lanes.iter().map(String::as_str).collect())?;
        let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        line(&"-".repeat(number_width), rules.iter().map(String::as_str).collect())?;
        for (number, row) in cells.iter().enumerate() {
            for i in 0..row.iter().map(Vec::len).max().unwrap_or(0) {
                let number = if i == 0 { (number + 1).to_string() } else { String::new() };
                line(&number, row.iter().map(|cell| cell.get(i).map_or("", String::as_str)).collect())?;
            }
        }
        Ok(())
    }
}

impl Trace {
    /// The lines of a row, for each lane: the action in its own, then what changed.
    fn cells(&self, row: &Row) -> Vec<Vec<String>> {
        let texts = |lane: usize| {
            let action = (lane == row.lane).then(|| row.action.clone());
            let changes = row.changes.iter().filter(move |change| change.lane == lane);
            action.into_iter().chain(changes.map(|change| format!("  {change}"))).collect::<Vec<_>>()
        };
        (0..self.lanes.len()).map(|lane| texts(lane).iter().flat_map(|text| wrap(text)).collect()).collect()
    }
}

/// Breaks a text into lines, where it can at spaces; lines after the first are indented.
fn wrap(text: &str) -> Vec<String> {
    let indent = " ".repeat(text.len() - text.trim_start().len());
    let mut lines = vec![indent.clone()];
    for word in text.split_whitespace() {
        let Some(last) = lines.last_mut() else { break };
        if last.trim().is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= WIDEST {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(format!("{indent}  {word}"));
        }
    }
    lines
}
