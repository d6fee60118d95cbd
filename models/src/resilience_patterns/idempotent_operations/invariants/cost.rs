//! What the sources of duplication add up to, and what the ledger costs.

use super::super::{Event, Parameters};
use crate::invariants::Held;
use std::collections::BTreeSet;

/// Sums of other products: they are rounded in other places.
pub(super) fn sources_add_up(p: &Parameters) -> Held {
    Held::close("events delivered more than once", p.duplication(), p.expected_copies())
}

/// The first source that delivers again decides. What is counted twice is at least what two sources share.
pub(super) fn sources_overlap(p: &Parameters) -> Held {
    let (mut none_yet, mut first) = (1.0, 0.0);
    for source in &p.sources {
        first += none_yet * source.probability;
        none_yet *= 1.0 - source.probability;
    }
    let mut largest: Vec<f64> = p.sources.iter().map(|source| source.probability).collect();
    largest.sort_by(|a, b| b.total_cmp(a));
    let overlap = match largest.as_slice() {
        [one, other, ..] => one * other,
        _ => 0.0,
    };
    let copies = p.deliveries(&p.sources).copies();
    let several: BTreeSet<&Event<'_>> = copies.iter().collect();
    let single = largest.iter().filter(|probability| **probability > 0.0).count() <= 1;
    Held::all([
        Held::close("events delivered more than once", p.duplication(), first),
        Held::at_most("counted twice", overlap, p.expected_copies() - p.duplication() + 1e-9),
        Held::at_most("events delivered more than once in the run", several.len(), copies.len()),
        Held::provided(single, || {
            Held::all([sources_add_up(p), Held::equal("copies of different events", several.len(), copies.len())])
        }),
    ])
}

const FACTOR: u64 = 3;

/// The ledger with a window, and with a record, so many times as large.
fn larger_ledgers(p: &Parameters) -> (f64, f64) {
    let (hours, bytes) = (p.ledger_hours, p.record_bytes);
    (p.ledger_megabytes(FACTOR * hours, bytes), p.ledger_megabytes(hours, FACTOR * bytes))
}

pub(super) fn window_outweighs_record(p: &Parameters) -> Held {
    let (window, record) = larger_ledgers(p);
    Held::that(window > record, || format!("{window} MB with {FACTOR} windows, {record} MB with {FACTOR} records"))
}

/// Products of the same numbers in another order.
pub(super) fn window_weighs_as_record(p: &Parameters) -> Held {
    let (window, record) = larger_ledgers(p);
    let once = p.ledger_megabytes(p.ledger_hours, p.record_bytes);
    Held::all([
        Held::close("megabytes", window, record),
        Held::close("megabytes, beside the usual ones", window, FACTOR as f64 * once),
        Held::close("records of a day", p.ledger_records(24), p.keyed_writes() as f64),
    ])
}

/// The ratio of writes to reads with a ledger, and without.
fn ratios(p: &Parameters) -> (f64, f64) {
    let rows = p.keyed_rows();
    (rows.writes / rows.reads, p.peak_write / p.store_read)
}

pub(super) fn lookups_lower_ratio(p: &Parameters) -> Held {
    Held::provided(p.peak_write > 0.0 && p.store_read > 0.0, || {
        let (with, without) = ratios(p);
        Held::that(with < without, || format!("ratio {without} without a ledger, {with} with it"))
    })
}

/// It is drawn towards one; as many rows are added on either side.
pub(super) fn lookups_lower_ratio_above_one(p: &Parameters) -> Held {
    Held::provided(p.peak_write > 0.0 && p.store_read > 0.0, || {
        let (with, without) = ratios(p);
        let rows = p.keyed_rows();
        Held::all([
            // The reads are a sum of numbers of different sizes.
            Held::close("rows added to the reads", rows.reads - p.store_read, rows.writes - p.peak_write),
            Held::equal("lower", with < without, p.store_read < p.peak_write),
            Held::at_most("ratio with a ledger", with, 2.0),
        ])
    })
}
