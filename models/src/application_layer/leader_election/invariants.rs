//! What a lease, fencing and a recorded trigger guarantee, for any number of nodes, lease, renewal and outage.

use super::{BatchStart, FIRST_LEADER, NodeId, Parameters, Run, Scenario, Work};
use crate::invariants::{Held, Invariant};
use crate::random::{SplitMix32, Uniform};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "two-leader-window-exact", check: two_leader_window_exact },
        Invariant { id: "stale-leader-at-most-one-renewal", check: stale_leader_at_most_one_renewal },
        Invariant { id: "longer-lease-never-narrows", check: longer_lease_never_narrows },
        Invariant { id: "longer-lease-same-window", check: longer_lease_same_window },
        Invariant { id: "leaderless-window-exact", check: leaderless_window_exact },
        Invariant { id: "stale-start-never-accepted", check: stale_start_never_accepted },
        Invariant { id: "fencing-leaves-beliefs", check: fencing_leaves_beliefs },
        Invariant { id: "every-trigger-ends-once", check: every_trigger_ends_once },
        Invariant { id: "recorded-trigger-always-starts", check: recorded_trigger_always_starts },
        Invariant { id: "recorded-trigger-starts-if-alone", check: recorded_trigger_starts_if_alone },
        Invariant { id: "no-outage-no-cost", check: no_outage_no_cost },
    ]
}

impl Parameters {
    fn outage_end(&self) -> u64 {
        self.outage_start + self.outage
    }

    /// The first round in which a node that the record contradicts learns it.
    fn next_look(&self, round: u64) -> u64 {
        round.next_multiple_of(self.renewal)
    }

    /// The round in which the lease changes hands, if the first leader stays away for long enough.
    fn handover(&self, lease: u64) -> Option<u64> {
        (lease <= self.outage).then(|| self.outage_start + lease - 1)
    }

    /// The rounds of `first..end` that the run has.
    fn rounds_of(&self, first: u64, end: u64) -> Vec<u64> {
        (first..end.min(self.rounds + 1)).collect()
    }

    fn scenarios(&self) -> [Scenario; 4] {
        [self.plain(), self.fencing(), self.trigger(), self.fencing_trigger()]
    }

    /// The lesson's outage, and outages of any node at any time: spells of a few rounds, away more often than not in
    /// the last one.
    fn under_any_outages(&self, scenario: Scenario) -> Vec<Run> {
        let irregular = [0.2, 0.5, 0.8].map(|away| {
            let seed = self.lease + 31 * self.renewal + 961 * self.outage_start + 29_791 * self.outage;
            let mut random = SplitMix32::new(seed);
            let spell = 1 + self.outage.min(7);
            let spells = self.rounds / spell + 1;
            let reachable: Vec<Vec<bool>> =
                (0..self.nodes).map(|_| (0..spells).map(|_| !random.chance(away)).collect()).collect();
            self.run_where(scenario, |node, now| reachable[node][(now / spell) as usize])
        });
        std::iter::once(self.run(scenario)).chain(irregular).collect()
    }
}

impl Run {
    /// Work under a token that is not the newest any more.
    fn stale(&self) -> Vec<Work> {
        let mut work: Vec<Work> = self.accepted.iter().chain(&self.rejected).copied().collect();
        work.retain(|work| work.token < work.newest);
        work.sort_by_key(|work| (work.node, work.round));
        work
    }
}

/// From the old leader's return to the next time it looks at the record, if it lost the lease meanwhile.
fn two_leader_window_exact(p: &Parameters) -> Held {
    Held::provided(p.lease > 0 && p.conflicting_leaders == 2, || {
        let expected = match p.handover(p.lease) {
            Some(_) => p.rounds_of(p.outage_end(), p.next_look(p.outage_end()) + 1),
            None => Vec::new(),
        };
        Held::all([
            Held::at_most("rounds of a window", expected.len() as u64, p.renewal),
            Held::equal("two-leader rounds", p.run(p.plain()).two_leader, expected),
        ])
    })
}

/// Each node's spells of stale work: uninterrupted, and over at the latest when it looks at the record.
fn stale_leader_at_most_one_renewal(p: &Parameters) -> Held {
    Held::all(p.scenarios().into_iter().flat_map(|scenario| p.under_any_outages(scenario)).map(|run| {
        let stale = run.stale();
        let goes_on = |pair: &&[Work]| pair[0].node == pair[1].node && pair[0].round + 1 == pair[1].round;
        let looked = stale.windows(2).filter(goes_on).find(|pair| pair[0].round.is_multiple_of(p.renewal));
        Held::provided(!stale.is_empty(), || {
            Held::that(looked.is_none(), || format!("still a leader after a look at the record: {looked:?}"))
        })
    }))
}

fn window(p: &Parameters, lease: u64) -> Vec<u64> {
    p.run(Scenario { lease, ..p.plain() }).two_leader
}

fn longer_lease_never_narrows(p: &Parameters) -> Held {
    Held::provided(p.lease > 0, || {
        let (shorter, longer) = (window(p, p.lease).len(), window(p, p.lease + 1).len());
        Held::that(shorter <= longer, || {
            format!("a lease of {} has {shorter} two-leader rounds, of {} has {longer}", p.lease, p.lease + 1)
        })
    })
}

fn longer_lease_same_window(p: &Parameters) -> Held {
    Held::provided(p.lease > 0 && p.lease < p.outage, || {
        Held::equal("two-leader rounds", window(p, p.lease), window(p, p.outage))
    })
}

/// One round fewer than the lease, or the outage; the handover itself takes the lease.
fn leaderless_window_exact(p: &Parameters) -> Held {
    Held::provided(p.lease > 0, || {
        let run = p.run(p.plain());
        let end = p.handover(p.lease).unwrap_or(p.outage_end());
        let handovers: Vec<(u64, u64)> = run.handovers.iter().map(|h| (h.round, h.rounds)).collect();
        let expected = p.handover(p.lease).filter(|round| *round <= p.rounds).map(|round| (round, p.lease));
        Held::all([
            Held::equal("leaderless rounds", run.leaderless, p.rounds_of(p.outage_start, end)),
            Held::equal("handovers, with their rounds", handovers, expected.into_iter().collect()),
        ])
    })
}

/// Under fencing whatever is accepted carries the newest token, and no round accepts two.
fn stale_start_never_accepted(p: &Parameters) -> Held {
    let scenarios = [p.fencing(), p.fencing_trigger()];
    Held::all(scenarios.into_iter().flat_map(|scenario| p.under_any_outages(scenario)).map(|run| {
        let stale = run.accepted.iter().find(|work| work.token < work.newest);
        let twice = run.accepted.windows(2).find(|pair| pair[0].round == pair[1].round);
        let back = run.accepted.windows(2).find(|pair| pair[0].token > pair[1].token);
        let doubled = run.double_starts();
        Held::all([
            Held::that(stale.is_none(), || format!("accepted under an old token: {stale:?}")),
            Held::that(twice.is_none(), || format!("accepted twice in a round: {twice:?}")),
            Held::that(back.is_none(), || format!("accepted after a newer one: {back:?}")),
            Held::equal("double starts", doubled, 0),
        ])
    }))
}

/// Fencing corrects what is done and not what is believed: it rejects exactly the stale work.
fn fencing_leaves_beliefs(p: &Parameters) -> Held {
    let pairs = p.under_any_outages(p.plain()).into_iter().zip(p.under_any_outages(p.fencing()));
    Held::all(pairs.map(|(plain, fenced)| {
        let tokens = |run: &Run| -> Vec<(u64, u64)> {
            run.handovers.iter().map(|handover| (handover.round, handover.fencing_token)).collect()
        };
        let mut rejected = fenced.rejected.clone();
        rejected.sort_by_key(|work| (work.node, work.round));
        Held::all([
            Held::equal("handovers", tokens(&fenced), tokens(&plain)),
            Held::equal("rejected work", rejected, plain.stale()),
            Held::equal("work without fencing that is rejected", plain.rejected.len(), 0),
            Held::equal("two-leader rounds", fenced.two_leader, plain.two_leader),
            Held::equal("rounds of two believers", fenced.two_believers, plain.two_believers),
            Held::equal("leaderless rounds", fenced.leaderless, plain.leaderless),
        ])
    }))
}

impl Parameters {
    /// The triggers that the run sees.
    fn seen_triggers(&self) -> BTreeSet<u64> {
        self.triggers.iter().copied().filter(|round| *round <= self.rounds).collect()
    }
}

fn every_trigger_ends_once(p: &Parameters) -> Held {
    Held::all(p.scenarios().into_iter().flat_map(|scenario| {
        p.under_any_outages(scenario).into_iter().map(move |run| {
            let rounds: Vec<u64> = run.triggers.iter().map(|trigger| trigger.round).collect();
            let waiting = run.triggers_where(|start| start == BatchStart::Waiting).len();
            let lost = if scenario.persistent_trigger { run.missed() } else { waiting };
            // A trigger without a leader is missed or recorded, one with a leader starts in its own round.
            let mut starts: BTreeMap<u64, u64> = BTreeMap::new();
            run.accepted.iter().for_each(|work| *starts.entry(work.round).or_default() += 1);
            let on_time = run.triggers.iter().find(|trigger| match trigger.start {
                BatchStart::OnTime { starts: counted } => starts.get(&trigger.round) != Some(&counted),
                BatchStart::Late { round } => starts.contains_key(&trigger.round) || !starts.contains_key(&round),
                BatchStart::Missed | BatchStart::Waiting => starts.contains_key(&trigger.round),
            });
            let wrong = on_time.map(|trigger| trigger.round);
            Held::all([
                Held::equal("triggers", rounds, p.seen_triggers().into_iter().collect()),
                Held::equal(
                    "started, missed and waiting",
                    run.batches_started() + run.missed() + waiting,
                    run.triggers.len(),
                ),
                Held::equal("missed although recorded, or waiting although not", lost, 0),
                Held::equal("a trigger whose start nobody made", wrong, None),
            ])
        })
    }))
}

fn recorded_trigger_always_starts(p: &Parameters) -> Held {
    let run = p.run(p.fencing_trigger());
    Held::equal("triggers that never start", run.triggers_where(|start| start == BatchStart::Waiting), Vec::new())
}

/// The record has room for one. Without another one in between, a recorded trigger starts in the first round after it
/// in which work is accepted and that has no trigger of its own, where the run still has one. A round whose only leader
/// is an old one is none: under irregular outages that comes about.
fn recorded_trigger_starts_if_alone(p: &Parameters) -> Held {
    Held::all(p.under_any_outages(p.fencing_trigger()).into_iter().map(|run| {
        let led: BTreeSet<u64> = run.accepted.iter().map(|work| work.round).collect();
        let triggers = p.seen_triggers();
        Held::all(run.triggers.iter().filter(|trigger| !led.contains(&trigger.round)).map(|trigger| {
            let behind = trigger.round + 1..;
            let free = led.range(behind.clone()).find(|round| !triggers.contains(round));
            let next = triggers.range(behind).find(|round| !led.contains(round));
            let overwritten = next.is_some_and(|next| free.is_none_or(|free| next < free));
            let found = match trigger.start {
                BatchStart::Late { round } => Some(round),
                _ => None,
            };
            let expected = free.copied().filter(|_| !overwritten);
            Held::equal(format!("late start of the trigger of round {}", trigger.round), found, expected)
        }))
    }))
}

fn no_outage_no_cost(p: &Parameters) -> Held {
    Held::provided(p.lease > 0, || {
        Held::all(p.scenarios().map(|scenario| {
            let run = p.run(Scenario { outage: 0, ..scenario });
            let counts = [run.handovers.len(), run.rejected.len(), run.leaderless.len(), run.two_believers.len()];
            let once = run.triggers_where(|start| start == BatchStart::OnTime { starts: 1 });
            let workers: BTreeSet<NodeId> = run.accepted.iter().map(|work| work.node).collect();
            Held::all([
                Held::equal("handovers, rejections, leaderless rounds, rounds of two believers", counts, [0; 4]),
                Held::equal("triggers started once", once.into_iter().collect(), p.seen_triggers()),
                Held::equal("nodes that led", workers, BTreeSet::from([FIRST_LEADER])),
            ])
        }))
    })
}
