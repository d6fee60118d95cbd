//! Which output block of a document is which block of the model.

use super::expected::Expected;
use crate::document::course::BlockText;
use crate::document::numeral::Numeral;
use std::collections::BTreeMap;

/// For each block of the text, the published block it is, in order.
///
/// As many as there should be: the first is the first, unless other pairs have more than twice as many numerals in
/// common (two blocks changed places). Otherwise a block was inserted or removed, and the pairs are those, in order, that
/// have the most in common.
pub fn pair(published: &[(&str, Vec<Expected>)], blocks: &[BlockText]) -> Vec<Option<usize>> {
    let candidates: Vec<usize> = (0..blocks.len()).filter(|i| !blocks[*i].numerals.is_empty()).collect();
    let mut pairs = vec![None; blocks.len()];
    // best[i][j]: the most common numerals of the first i candidates and the first j published blocks.
    let width = published.len() + 1;
    let mut best = vec![vec![0; width]; candidates.len() + 1];
    let mut common = vec![vec![0; width]; candidates.len() + 1];
    for (i, block) in candidates.iter().enumerate() {
        for (j, (_, expected)) in published.iter().enumerate() {
            common[i + 1][j + 1] = in_common(expected, &blocks[*block].numerals);
            best[i + 1][j + 1] = best[i][j + 1].max(best[i + 1][j]).max(best[i][j] + common[i + 1][j + 1]);
        }
    }
    let (mut i, mut j) = (candidates.len(), published.len());
    let in_place: usize = (1..=i.min(j)).map(|k| common[k][k]).sum();
    if i == j && 2 * in_place >= best[i][j] {
        for (i, block) in candidates.into_iter().enumerate() {
            pairs[block] = Some(i);
        }
        return pairs;
    }
    while i > 0 && j > 0 {
        if common[i][j] > 0 && best[i][j] == best[i - 1][j - 1] + common[i][j] {
            pairs[candidates[i - 1]] = Some(j - 1);
            (i, j) = (i - 1, j - 1);
        } else if best[i][j] == best[i - 1][j] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    pairs
}

/// How many numerals two sequences share, in any order.
pub(super) fn in_common(expected: &[Expected], found: &[Numeral]) -> usize {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for expected in expected {
        *left.entry(&expected.text).or_default() += 1;
    }
    let texts = found.iter().map(Numeral::text);
    texts
        .filter(|text| {
            let count = left.get_mut(text.as_str()).filter(|count| **count > 0);
            count.map(|count| *count -= 1).is_some()
        })
        .count()
}
