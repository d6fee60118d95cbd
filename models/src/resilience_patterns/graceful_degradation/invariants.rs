//! What three policies leave of a response, whichever source stops.

use super::{Outcome, Parameters, Policy, Served};
use crate::invariants::{Held, Invariant};
use std::collections::BTreeSet;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-round-ends-once", check: every_round_ends_once },
        Invariant { id: "each-policy-answers-no-fewer", check: each_policy_answers_no_fewer },
        Invariant { id: "nothing-missed-all-full", check: nothing_missed_all_full },
        Invariant { id: "strict-drops-every-miss", check: strict_drops_every_miss },
        Invariant { id: "fallback-drops-nothing-on-a-healthy-day", check: fallback_drops_nothing_on_a_healthy_day },
        Invariant { id: "optional-source-drops-nothing", check: optional_source_drops_nothing },
        Invariant { id: "core-source-stops-all", check: core_source_stops_all },
        Invariant { id: "core-postponed-by-the-bound", check: core_postponed_by_the_bound },
        Invariant { id: "core-postponed-at-most-by-the-bound", check: core_postponed_at_most_by_the_bound },
        Invariant { id: "stale-until-the-bound", check: stale_until_the_bound },
        Invariant { id: "wider-bound-answers-no-fewer", check: wider_bound_answers_no_fewer },
        Invariant { id: "no-bound-no-fallback", check: no_bound_no_fallback },
    ]
}

impl Parameters {
    fn sources(&self) -> BTreeSet<&str> {
        self.fields.iter().map(|field| field.source.as_str()).collect()
    }

    fn is_core(&self, source: &str) -> bool {
        self.fields.iter().any(|field| field.core && field.source == source)
    }

    /// The day without a failure, and each source stopped.
    fn days(&self) -> Vec<Option<&str>> {
        std::iter::once(None).chain(self.sources().into_iter().map(Some)).collect()
    }

    /// No field is missing twice in a row or before it was ever there, so that one round bridges every miss.
    fn misses_are_bridged(&self) -> bool {
        self.transient_interval > 1 && self.warmup > 1 && self.staleness_bound > 0
    }

    /// Rounds of the failure in which a field misses, counted without running them: the multiples that lie in them.
    fn misses_during_failure(&self, shift: u64) -> u64 {
        let before = self.warmup + shift;
        (before + self.failure_rounds()) / self.transient_interval - before / self.transient_interval
    }

    /// The shifts of the fields' misses; fields of the same one miss the same rounds.
    fn shifts(&self, core_only: bool) -> BTreeSet<u64> {
        let places = (0..).zip(&self.fields).filter(|(_, field)| field.core || !core_only);
        places.map(|(place, _)| place * self.transient_stagger % self.transient_interval).collect()
    }

    /// Rounds of a failure in which a field's last value is still young enough.
    fn bridged_rounds(&self, place: u64) -> u64 {
        let since = u64::from(self.misses(place, self.warmup));
        (self.staleness_bound - since).min(self.failure_rounds())
    }
}

fn every_round_ends_once(p: &Parameters) -> Held {
    let settings = p.days().into_iter().flat_map(|down| Policy::ALL.map(|policy| (policy, down)));
    Held::all(settings.map(|(policy, down)| {
        let outcome = p.run(policy, down);
        let each = outcome.served.iter().map(|served| served.fresh + served.stale + served.missing);
        let sizes = p.fields.iter().map(|field| field.bytes + p.marker_bytes);
        let bytes = outcome.served.iter().zip(sizes).map(|(served, bytes)| (served.fresh + served.stale) * bytes);
        Held::all([
            Held::equal("rounds", outcome.responses() + outcome.dropped, p.failure_rounds()),
            Held::equal("responses of each field", each.collect(), vec![outcome.responses(); p.fields.len()]),
            Held::equal("bytes", outcome.bytes, bytes.sum()),
            Held::at_most("last response", outcome.last_response, p.failure_rounds()),
            Held::at_most("responses up to the last one", outcome.responses(), outcome.last_response),
        ])
    }))
}

/// The strict policy, one that skips fields and one that falls back; full responses are the same for all.
fn each_policy_answers_no_fewer(p: &Parameters) -> Held {
    Held::all(p.days().into_iter().map(|down| {
        let [strict, skip, fallback] = Policy::ALL.map(|policy| p.run(policy, down));
        Held::all([
            Held::at_most("responses of the strict policy", strict.responses(), skip.responses()),
            Held::at_most("responses with skipped fields", skip.responses(), fallback.responses()),
            Held::equal("full responses", [strict.full, skip.full], [fallback.full; 2]),
            Held::equal("reduced by the strict policy", strict.reduced, 0),
        ])
    }))
}

/// Without a failure or a missed round the policies differ in nothing, and each response has all its bytes.
fn nothing_missed_all_full(p: &Parameters) -> Held {
    let last = p.warmup + p.failure_rounds() + p.fields.len() as u64 * p.transient_stagger;
    let p = Parameters { transient_interval: last + 1, ..p.clone() };
    let (rounds, fields) = (p.failure_rounds(), p.fields.len());
    let response: u64 = p.fields.iter().map(|field| field.bytes + p.marker_bytes).sum();
    Held::all(Policy::ALL.map(|policy| {
        let all = Served { fresh: rounds, ..Served::default() };
        let expected = Outcome {
            full: rounds,
            served: vec![all; fields],
            bytes: rounds * response,
            last_response: rounds,
            ..Outcome::default()
        };
        Held::equal("outcome", p.run(policy, None), expected)
    }))
}

/// Counted without a run, where no two fields that miss different rounds share one.
fn strict_drops_every_miss(p: &Parameters) -> Held {
    let misses = |core_only| p.shifts(core_only).into_iter().map(|shift| p.misses_during_failure(shift)).sum::<u64>();
    let dropped = |policy| p.run(policy, None).dropped;
    Held::all([
        Held::equal("dropped by the strict policy", dropped(Policy::AllOrNothing), misses(false)),
        Held::equal("dropped with skipped fields", dropped(Policy::FieldSkip), misses(true)),
    ])
}

/// Instead it serves a stale value for each miss.
fn fallback_drops_nothing_on_a_healthy_day(p: &Parameters) -> Held {
    Held::provided(p.misses_are_bridged(), || {
        let outcome = p.run(Policy::StaleFallback, None);
        let misses = (0..p.fields.len() as u64).map(|place| p.misses_during_failure(place * p.transient_stagger));
        let stale: Vec<u64> = outcome.served.iter().map(|served| served.stale).collect();
        Held::all([
            Held::equal("dropped", outcome.dropped, 0),
            Held::equal("stale values of each field", stale, misses.collect()),
        ])
    })
}

/// Beyond what the day without a failure drops; and the other sources' fields are served as on that day.
fn optional_source_drops_nothing(p: &Parameters) -> Held {
    let optional: Vec<&str> = p.sources().into_iter().filter(|source| !p.is_core(source)).collect();
    let policies = [Policy::FieldSkip, Policy::StaleFallback];
    Held::all(optional.into_iter().flat_map(|source| policies.map(|policy| (source, policy))).map(
        |(source, policy)| {
            let (healthy, failing) = (p.run(policy, None), p.run(policy, Some(source)));
            let others = |outcome: &Outcome| -> Vec<Served> {
                let fields = p.fields.iter().zip(&outcome.served).filter(|(field, _)| field.source != source);
                fields.map(|(_, served)| *served).collect()
            };
            Held::all([
                Held::equal("dropped", failing.dropped, healthy.dropped),
                Held::equal("last response", failing.last_response, healthy.last_response),
                Held::equal("the other sources' fields", others(&failing), others(&healthy)),
            ])
        },
    ))
}

/// Without a fallback; the strict policy does not need a core field for it.
fn core_source_stops_all(p: &Parameters) -> Held {
    Held::all(p.sources().into_iter().map(|source| {
        let responses = |policy| p.run(policy, Some(source)).responses();
        Held::all([
            Held::equal("responses of the strict policy", responses(Policy::AllOrNothing), 0),
            Held::provided(p.is_core(source), || {
                Held::equal("responses with skipped fields", responses(Policy::FieldSkip), 0)
            }),
        ])
    }))
}

/// The gain of falling back is the staleness bound.
fn core_postponed_by_the_bound(p: &Parameters) -> Held {
    Held::provided(p.misses_are_bridged() && p.is_core(&p.core_failure), || {
        let responses = p.run(Policy::StaleFallback, Some(&p.core_failure)).responses();
        Held::equal("responses", responses, p.staleness_bound.min(p.failure_rounds()))
    })
}

fn core_postponed_at_most_by_the_bound(p: &Parameters) -> Held {
    Held::all(p.sources().into_iter().filter(|source| p.is_core(source)).map(|source| {
        let outcome = p.run(Policy::StaleFallback, Some(source));
        let core = (0..).zip(&p.fields).filter(|(_, field)| field.core && field.source == source);
        Held::all([
            Held::at_most("last response", outcome.last_response, p.staleness_bound),
            Held::provided(p.misses_are_bridged(), || {
                let expected = core.map(|(place, _)| p.bridged_rounds(place)).min();
                Held::equal("responses", Some(outcome.responses()), expected)
            }),
        ])
    }))
}

/// What a stopped source's optional field is: stale until its last value is too old, and missing from then on.
fn stale_until_the_bound(p: &Parameters) -> Held {
    Held::provided(p.misses_are_bridged(), || {
        Held::all(p.sources().into_iter().filter(|source| !p.is_core(source)).map(|source| {
            let outcome = p.run(Policy::StaleFallback, Some(source));
            Held::all((0..).zip(&p.fields).zip(&outcome.served).filter(|((_, field), _)| field.source == source).map(
                |((place, _), served)| {
                    let stale = p.bridged_rounds(place);
                    let expected = Served { fresh: 0, stale, missing: p.failure_rounds() - stale };
                    Held::equal("values of the field", *served, expected)
                },
            ))
        }))
    })
}

fn wider_bound_answers_no_fewer(p: &Parameters) -> Held {
    let wider = Parameters { staleness_bound: p.staleness_bound + 1, ..p.clone() };
    Held::all(p.days().into_iter().map(|down| {
        let [narrow, wide] = [p, &wider].map(|p| p.run(Policy::StaleFallback, down));
        let missing = |outcome: &Outcome| outcome.responses() - outcome.full;
        Held::all([
            Held::at_most("responses", narrow.responses(), wide.responses()),
            Held::equal("full responses", narrow.full, wide.full),
            Held::at_most("reduced responses", missing(&narrow), missing(&wide)),
        ])
    }))
}

fn no_bound_no_fallback(p: &Parameters) -> Held {
    let p = Parameters { staleness_bound: 0, ..p.clone() };
    Held::all(
        p.days()
            .into_iter()
            .map(|down| Held::equal("outcome", p.run(Policy::StaleFallback, down), p.run(Policy::FieldSkip, down))),
    )
}
