//! Parameters to try, from the ranges that the lessons declare: the same that validate `--set`.
//!
//! A case is the spec's values with a few changes. It shrinks by fewer changes, each closer to the spec.

use crate::nearest::nearest;
use crate::suite::{Overrides, at_path, at_path_mut};
use models::parameters::{Declared, Range};
use models::random::{SplitMix32, Uniform};
use proptest::prelude::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Number, Value};
use std::collections::VecDeque;

/// Where cases start, and which parameters change.
#[derive(Debug, Clone)]
pub struct Ground {
    start: Value,
    varied: Vec<Declared>,
    /// Every declared parameter: what lies in a varied list is changed within its range too.
    declared: Vec<Declared>,
}

/// Some parameters, changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case(Vec<Change>);

#[derive(Debug, Clone, PartialEq)]
struct Change {
    /// Which of the varied parameters.
    index: usize,
    how: How,
}

#[derive(Debug, Clone, PartialEq)]
enum How {
    To(Value),
    /// A list after some edits, each drawn from its number.
    Edits(Vec<u32>),
}

impl Ground {
    /// The varied parameters of a start: those named, what lies below a named group, or all numbers and switches.
    ///
    /// # Errors
    /// A name of nothing that can vary.
    pub fn new(start: Value, declared: &[Declared], varies: &[String]) -> Result<Self, String> {
        let is_scalar =
            |declared: &&Declared| matches!(declared.range, Range::Integer(_) | Range::Real(_) | Range::Flag);
        let scalars = || declared.iter().filter(is_scalar);
        let mut varied: Vec<Declared> = Vec::new();
        for name in varies {
            let named = declared.iter().find(|declared| declared.path == *name);
            let list = named.filter(|declared| matches!(declared.range, Range::List(_)));
            let below = |declared: &&Declared| is_below(&declared.path, name) || declared.path == *name;
            let found: Vec<Declared> = match list {
                Some(list) => vec![list.clone()],
                None => scalars().filter(below).cloned().collect(),
            };
            if found.is_empty() {
                let near = nearest(name, declared.iter().map(|declared| declared.path.clone()));
                return Err(format!("`{name}` names no number, switch, list or group of parameters{near}"));
            }
            varied.extend(found);
        }
        if varies.is_empty() {
            varied.extend(scalars().cloned());
        }
        Ok(Self { start, varied, declared: declared.to_vec() })
    }

    /// What changes, with its range.
    pub fn varied(&self) -> &[Declared] {
        &self.varied
    }

    /// The cases.
    pub fn strategy(&self) -> Cases<'_> {
        Cases(self)
    }

    fn start_at(&self, path: &str) -> Value {
        at_path(&self.start, path).cloned().unwrap_or_default()
    }
}

impl Case {
    /// Nothing is changed.
    pub fn is_start(&self) -> bool {
        self.0.is_empty()
    }

    /// All parameters.
    pub fn parameters(&self, ground: &Ground) -> Value {
        let mut parameters = ground.start.clone();
        for (path, value) in self.set(ground) {
            if let Some(place) = at_path_mut(&mut parameters, &path) {
                *place = value;
            }
        }
        parameters
    }

    /// What differs from the start.
    pub fn set(&self, ground: &Ground) -> Overrides {
        let value = |change: &Change| {
            let declared = ground.varied.get(change.index)?;
            let value = match &change.how {
                How::To(value) => value.clone(),
                How::Edits(edits) => {
                    let mut list = ground.start_at(&declared.path);
                    edits.iter().for_each(|number| edit(&mut list, &declared.path, *number, ground));
                    list
                }
            };
            Some((declared.path.clone(), value))
        };
        self.0.iter().filter_map(value).collect()
    }

    /// Cases with less in them, the boldest first.
    fn simpler(&self, ground: &Ground) -> VecDeque<Self> {
        let replaced = |i: usize, how: How| {
            let mut changes = self.0.clone();
            changes[i].how = how;
            Self(changes)
        };
        let mut simpler = VecDeque::new();
        for i in 0..self.0.len() {
            let mut changes = self.0.clone();
            changes.remove(i);
            simpler.push_back(Self(changes));
        }
        for (i, change) in self.0.iter().enumerate() {
            match &change.how {
                How::Edits(edits) => {
                    for drop in 0..edits.len() {
                        let mut fewer = edits.clone();
                        fewer.remove(drop);
                        simpler.push_back(replaced(i, How::Edits(fewer)));
                    }
                }
                How::To(value) => {
                    let start = ground.varied.get(change.index).map(|declared| ground.start_at(&declared.path));
                    let closer = closer(value, &start.unwrap_or_default());
                    simpler.extend(closer.into_iter().map(|value| replaced(i, How::To(value))));
                }
            }
        }
        simpler
    }
}

/// Values between one and the start, half of the way first.
fn closer(value: &Value, start: &Value) -> Vec<Value> {
    if let (Some(value), Some(start)) = (value.as_i64(), start.as_i64()) {
        let mut distance = value.saturating_sub(start);
        let mut closer = Vec::new();
        while distance / 2 != 0 {
            distance /= 2;
            closer.push(Value::from(value - distance));
        }
        return closer;
    }
    let (Some(value), Some(start)) = (value.as_f64(), start.as_f64()) else { return Vec::new() };
    let between = [
        value.round(),
        rounded(value, 1),
        rounded((value + start) / 2.0, 1),
        rounded((value + start) / 2.0, 2),
        rounded((3.0 * value + start) / 4.0, 2),
    ];
    // Fewer digits first, then closer: each step makes one of the two less, so that the search ends.
    let digits = |x: f64| x.to_string().len();
    let is_simpler = |x: &f64| {
        let closer = digits(*x) == digits(value) && (x - start).abs() < (value - start).abs();
        digits(*x) < digits(value) || closer
    };
    between.into_iter().filter(is_simpler).filter_map(real).collect()
}

fn real(x: f64) -> Option<Value> {
    Number::from_f64(x).map(Value::Number)
}

/// To so many significant digits: a counterexample is read by people.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x)
}

/// Generates [`Case`]s.
#[derive(Debug, Clone)]
pub struct Cases<'a>(&'a Ground);

/// The most parameters that a case changes.
const MOST_CHANGES: usize = 4;

impl<'a> Strategy for Cases<'a> {
    type Tree = CaseTree<'a>;
    type Value = Case;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let ground = self.0;
        let mut draw = Draw(SplitMix32::new(any::<u32>().new_tree(runner)?.current().into()));
        let changes = 1 + draw.below(MOST_CHANGES.min(ground.varied.len()));
        let mut case = Case::default();
        for _ in 0..changes {
            let index = draw.below(ground.varied.len());
            if case.0.iter().any(|change| change.index == index) {
                continue;
            }
            let Some(declared) = ground.varied.get(index) else { continue };
            let how = match &declared.range {
                Range::List(_) => How::Edits((0..=draw.below(MOST_EDITS)).map(|_| draw.number()).collect()),
                range => How::To(draw.value(range, &ground.start_at(&declared.path), &others(&case))),
            };
            case.0.push(Change { index, how });
        }
        Ok(CaseTree { ground, last_failing: case.clone(), current: case, simpler: None })
    }
}

/// Whole numbers that the case already has: equal values are where limits lie.
fn others(case: &Case) -> Vec<i64> {
    let number = |change: &Change| match &change.how {
        How::To(value) => value.as_i64(),
        How::Edits(_) => None,
    };
    case.0.iter().filter_map(number).collect()
}

/// A case that shrinks as long as something simpler fails as well.
#[derive(Debug)]
pub struct CaseTree<'a> {
    ground: &'a Ground,
    current: Case,
    last_failing: Case,
    /// What is still to be tried in place of the last failing case.
    simpler: Option<VecDeque<Case>>,
}

impl CaseTree<'_> {
    fn next(&mut self) -> bool {
        match self.simpler.as_mut().and_then(VecDeque::pop_front) {
            Some(case) => {
                self.current = case;
                true
            }
            None => {
                self.current = self.last_failing.clone();
                false
            }
        }
    }
}

impl ValueTree for CaseTree<'_> {
    type Value = Case;

    fn current(&self) -> Case {
        self.current.clone()
    }

    /// The current case failed: its own simpler ones come next.
    fn simplify(&mut self) -> bool {
        self.last_failing = self.current.clone();
        self.simpler = Some(self.current.simpler(self.ground));
        self.next()
    }

    /// The current case did not fail: the next one in place of the last that did.
    fn complicate(&mut self) -> bool {
        self.next()
    }
}

/// Draws values.
struct Draw(SplitMix32);

impl Draw {
    fn number(&mut self) -> u32 {
        (self.0.next() * 4_294_967_296.0) as u32
    }

    /// A number below a bound, 0 where there is none.
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next() * bound as f64) as usize
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> Option<T> {
        values.get(self.below(values.len())).cloned()
    }

    fn value(&mut self, range: &Range, start: &Value, others: &[i64]) -> Value {
        match range {
            Range::Integer(range) => self.integer(*range.start(), *range.end(), start, others).into(),
            Range::Real(range) => real(self.real(*range.start(), *range.end(), start)).unwrap_or_default(),
            Range::Flag => (self.below(2) == 1).into(),
            Range::List(_) | Range::Text | Range::Json => start.clone(),
        }
    }

    /// An edge, small, near the start, equal to another, at some scale, anywhere.
    fn integer(&mut self, low: i64, high: i64, start: &Value, others: &[i64]) -> i64 {
        let start = start.as_i64().unwrap_or(low);
        let beside = |draw: &mut Self, x: i64| x.saturating_add(draw.below(7) as i64 - 3);
        let drawn = match self.below(8) {
            0 => self.of(&[low, low.saturating_add(1), high.saturating_sub(1), high]).unwrap_or(low),
            1 | 2 => low.saturating_add(self.below(12) as i64),
            3 => beside(self, start),
            4 => self.between(start as f64 / 2.0, start as f64 * 2.0) as i64,
            5 => match self.of(others) {
                Some(other) => other.saturating_add(self.below(3) as i64 - 1),
                None => beside(self, start),
            },
            6 => self.scaled(low as f64, high as f64) as i64,
            _ => self.between(low as f64, high as f64) as i64,
        };
        drawn.clamp(low, high)
    }

    fn real(&mut self, low: f64, high: f64, start: &Value) -> f64 {
        let start = start.as_f64().unwrap_or(low);
        let drawn = match self.below(7) {
            0 => self.of(&[low, high]).unwrap_or(low),
            1 => self.of(&[0.0, 0.5, 1.0, 2.0]).unwrap_or(low),
            2 | 3 => self.between(start / 2.0, start * 2.0),
            4 => self.scaled(low, high),
            _ => self.between(low, high),
        };
        rounded(drawn, 3).clamp(low, high)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.0.next() * (high - low)
    }

    /// Each order of magnitude above the low end equally often.
    fn scaled(&mut self, low: f64, high: f64) -> f64 {
        low + libm::pow(high - low + 1.0, self.0.next()) - 1.0
    }
}

/// The most edits of a list in a case.
const MOST_EDITS: usize = 6;

/// Changes a list by one edit: an element less, one more, two in another order, or something inside one.
///
/// What stands in texts has a meaning for its lesson (names of steps), so texts only come from the list itself; a new
/// element's name is the one new text.
fn edit(list: &mut Value, path: &str, number: u32, ground: &Ground) {
    let mut draw = Draw(SplitMix32::new(number.into()));
    let texts = texts(list);
    let Value::Array(items) = list else { return };
    let (one, other) = (draw.below(items.len()), draw.below(items.len()));
    match draw.below(6) {
        0 if !items.is_empty() => drop(items.remove(one)),
        1 => {
            if let Some(mut copy) = items.get(one).cloned() {
                rename(&mut copy, items.len());
                change(&mut copy, &format!("{path}.{one}"), &mut draw, ground, &texts);
                items.insert(other, copy);
            }
        }
        2 => {
            if let (Some(a), Some(b)) = (items.get(one).cloned(), items.get(other).cloned()) {
                items[one] = b;
                items[other] = a;
            }
        }
        3 => {
            // The same member of two elements, exchanged.
            let member = |i: usize, key: &str| items.get(i).and_then(|item| item.get(key)).cloned();
            let keys = items.get(one).and_then(Value::as_object).map(|map| map.keys().cloned().collect::<Vec<_>>());
            if let Some(key) = draw.of(&keys.unwrap_or_default())
                && let (Some(a), Some(b)) = (member(one, &key), member(other, &key))
            {
                items[one][&key] = b;
                items[other][&key] = a;
            }
        }
        _ => {
            if let Some(item) = items.get_mut(one) {
                change(item, &format!("{path}.{one}"), &mut draw, ground, &texts);
            }
        }
    }
}

/// Changes something inside an element: a number within its range, a list of texts by one.
fn change(value: &mut Value, path: &str, draw: &mut Draw, ground: &Ground, texts: &[String]) {
    match value {
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().cloned().collect();
            if let Some(key) = draw.of(&keys)
                && let Some(member) = map.get_mut(&key)
            {
                change(member, &format!("{path}.{key}"), draw, ground, texts);
            }
        }
        Value::Array(items) if items.iter().all(Value::is_string) => {
            match draw.of(texts).filter(|_| items.is_empty() || draw.below(2) == 0) {
                Some(text) => items.push(text.into()),
                None => drop(items.pop()),
            }
        }
        Value::Array(items) => {
            let i = draw.below(items.len());
            if let Some(item) = items.get_mut(i) {
                change(item, &format!("{path}.{i}"), draw, ground, texts);
            }
        }
        scalar => {
            // An element that the start does not have varies as its neighbours do.
            let declared = ground.declared.iter().find(|declared| declared.path == path);
            let declared = declared.or_else(|| ground.declared.iter().find(|declared| is_alike(&declared.path, path)));
            if let Some(declared) = declared {
                *scalar = draw.value(&declared.range, scalar, &[]);
            }
        }
    }
}

/// Gives a copied element a name of its own.
fn rename(element: &mut Value, number: usize) {
    let name = match element {
        Value::Object(map) => map.get_mut("name"),
        text => Some(text),
    };
    if let Some(Value::String(name)) = name {
        *name = format!("{name}-{number}");
    }
}

/// The texts that name elements.
fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    let name = |item: &Value| item.get("name").unwrap_or(item).as_str().map(str::to_owned);
    items.filter_map(name).collect()
}

/// The same path, in whichever elements of lists.
fn is_alike(one: &str, other: &str) -> bool {
    let is_number = |step: &str| step.parse::<usize>().is_ok();
    let alike = |(a, b): (&str, &str)| a == b || (is_number(a) && is_number(b));
    one.split('.').count() == other.split('.').count() && one.split('.').zip(other.split('.')).all(alike)
}

fn is_below(path: &str, group: &str) -> bool {
    path.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::{Gen, QuickCheck};

    /// Every candidate has fewer digits, or as many and is closer: no path of the search is endless.
    #[test]
    fn shrinking_ends_on_every_path() {
        fn integers(value: i32, start: i32) -> bool {
            let distance = |x: i64| x.abs_diff(start.into());
            let candidates = closer(&value.into(), &start.into());
            candidates.iter().all(|x| distance(x.as_i64().unwrap()) < distance(value.into()))
        }
        fn reals(value: i32, start: i32, scale: u8) -> bool {
            let scale = 10_f64.powi(-i32::from(scale % 8));
            let (value, start) = (f64::from(value) * scale, f64::from(start) * scale);
            let size = |x: f64| (x.to_string().len(), (x - start).abs());
            closer(&value.into(), &start.into()).iter().all(|x| size(x.as_f64().unwrap()) < size(value))
        }
        let laws = || QuickCheck::new().rng(Gen::from_size_and_seed(1_000, 1)).tests(2_000).min_tests_passed(2_000);
        laws().quickcheck(integers as fn(i32, i32) -> bool);
        laws().quickcheck(reals as fn(i32, i32, u8) -> bool);
    }

    #[test]
    fn an_edited_list_keeps_its_shape_and_names_its_new_elements() {
        let start = serde_json::json!({ "steps": [
            { "name": "a", "undo": null, "requires": [], "weight": 1 },
            { "name": "b", "undo": "x", "requires": ["a"], "weight": 2 },
        ] });
        let declared = |path: &str, range| Declared { path: path.to_owned(), range };
        let all = [declared("steps", Range::List(1..=4)), declared("steps.0.weight", Range::Integer(0..=9))];
        let ground = Ground::new(start, &all, &["steps".to_owned()]).unwrap();
        let mut seen = [false; 4];
        for number in 0..500 {
            let mut list = ground.start_at("steps");
            edit(&mut list, "steps", number, &ground);
            let items = list.as_array().unwrap();
            assert!(items.iter().all(|item| item.as_object().is_some_and(|map| map.len() == 4)), "{list}");
            assert!(items.iter().all(|item| (0..=9).contains(&item["weight"].as_i64().unwrap())), "{list}");
            seen[0] |= items.len() == 1;
            seen[1] |= items.len() == 3 && items.iter().any(|item| item["name"].as_str().unwrap().ends_with("-2"));
            seen[2] |= items[0]["undo"] == "x" && items[0]["name"] == "a";
            seen[3] |= items[0]["requires"] == serde_json::json!(["b"]);
        }
        assert_eq!(seen, [true; 4], "shorter, longer, exchanged, new dependency");
    }
}
