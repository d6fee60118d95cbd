//! "Did you mean": the known names nearest to one that is not known.

const OFFERED: usize = 3;
const SIMILAR: f64 = 0.6;
const MISSPELT: f64 = 0.75;

/// `; did you mean A, B or C?`, or nothing where no name is near.
pub fn nearest(unknown: &str, known: impl Iterator<Item = String>) -> String {
    let mut near: Vec<(f64, String)> =
        known.map(|name| (similarity(unknown, &name), name)).filter(|(similarity, _)| *similarity >= SIMILAR).collect();
    near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    let names: Vec<String> = near.into_iter().take(OFFERED).map(|(_, name)| format!("`{name}`")).collect();
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => format!("; did you mean {only}?"),
        Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

/// So near that it can only be a typing error.
pub fn is_misspelt(unknown: &str, known: &str) -> bool {
    unknown != known && strsim::normalized_damerau_levenshtein(unknown, known) >= MISSPELT
}

/// Similarity of the whole, or of its last part: `threshold` is near `rule.threshold`.
fn similarity(unknown: &str, name: &str) -> f64 {
    let last = name.rsplit('.').next().unwrap_or(name);
    strsim::jaro_winkler(unknown, name).max(0.95 * strsim::jaro_winkler(unknown, last))
}
