//! What a claim check saves and what it cannot lose, wherever producer and consumer crash.

use super::{Counts, Crashes, Layout, Parameters};
use crate::invariants::{Held, Invariant};
use crate::random::{Congruential, Uniform};

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-event-ends-once", check: every_event_ends_once },
        Invariant { id: "bytes-in-ratio-of-messages", check: bytes_in_ratio_of_messages },
        Invariant { id: "check-moves-fewer-bytes", check: check_moves_fewer_bytes },
        Invariant { id: "failure-free-costs-the-stored-proofs", check: failure_free_costs_the_stored_proofs },
        Invariant { id: "crash-loses-as-many-in-any-layout", check: crash_loses_as_many_in_any_layout },
        Invariant { id: "immediate-deletion-exactly-once", check: immediate_deletion_exactly_once },
        Invariant { id: "immediate-deletion-once-if-sent", check: immediate_deletion_once_if_sent },
        Invariant { id: "dangling-is-work-done", check: dangling_is_work_done },
        Invariant { id: "deletion-trades-repeats-for-errors", check: deletion_trades_repeats_for_errors },
        Invariant { id: "store-keeps-what-nobody-deletes", check: store_keeps_what_nobody_deletes },
        Invariant { id: "more-crashes-more-harm", check: more_crashes_more_harm },
        Invariant { id: "certain-crashes", check: certain_crashes },
    ]
}

impl Parameters {
    fn days(&self) -> [&Crashes; 2] {
        [&self.failure_free, &self.failure_window]
    }

    fn runs(&self, crashes: &Crashes) -> [Counts; 3] {
        Layout::ALL.map(|layout| self.run(layout, crashes))
    }

    /// The same statement about both days.
    fn on_each_day(&self, mut check: impl FnMut(&Crashes, &[Counts; 3]) -> Held) -> Held {
        Held::all(self.days().map(|crashes| check(crashes, &self.runs(crashes))))
    }

    /// The events whose producer crashed: the first draws of a run, one each.
    fn unsent(&self, crashes: &Crashes) -> Vec<bool> {
        let mut random = Congruential::new(self.seed);
        (0..self.events).map(|_| random.chance(crashes.producer)).collect()
    }

    fn count_unsent(&self, crashes: &Crashes) -> u64 {
        self.unsent(crashes).into_iter().filter(|unsent| *unsent).count() as u64
    }
}

fn repeats(run: &Counts) -> u64 {
    run.times_processed.iter().filter(|times| **times > 1).count() as u64
}

fn every_event_ends_once(p: &Parameters) -> Held {
    p.on_each_day(|_, runs| {
        Held::all(Layout::ALL.into_iter().zip(runs).map(|(layout, run)| {
            let once = run.times_processed.iter().filter(|times| **times > 0).count() as u64;
            let (name, dangling) = (layout.name(), run.dangling.len() as u64);
            Held::all([
                Held::equal(format!("events, {name}"), once + run.lost_events + run.orphaned, p.events as u64),
                Held::equal(format!("deliveries, {name}"), run.processed() + dangling, run.deliveries),
            ])
        }))
    })
}

/// Compared without division: both products are whole numbers.
fn bytes_in_ratio_of_messages(p: &Parameters) -> Held {
    p.on_each_day(|_, [attached, checks @ ..]| {
        let (large, small) = (p.message_bytes(Layout::Attached), p.message_bytes(Layout::KeptForLifetime));
        let product = |run: &Counts, layout, other: u64| u128::from(p.moved_bytes(layout, run)) * u128::from(other);
        Held::all([Layout::DeletedAtOnce, Layout::KeptForLifetime].into_iter().zip(checks).map(|(layout, run)| {
            let name = layout.name();
            Held::all([
                Held::equal(format!("deliveries, {name}"), run.deliveries, attached.deliveries),
                Held::equal(
                    format!("bytes times the other layout's message, {name}"),
                    product(run, layout, large),
                    product(attached, Layout::Attached, small),
                ),
                Held::equal(
                    format!("saved bytes, {name}"),
                    p.moved_bytes(Layout::Attached, attached) + run.deliveries * p.check_bytes,
                    p.moved_bytes(layout, run) + run.deliveries * p.proof_bytes,
                ),
            ])
        }))
    })
}

fn check_moves_fewer_bytes(p: &Parameters) -> Held {
    p.on_each_day(|_, [attached, _, kept]| {
        let (attached, kept) =
            (p.moved_bytes(Layout::Attached, attached), p.moved_bytes(Layout::KeptForLifetime, kept));
        Held::provided(attached + kept > 0, || {
            Held::that(kept < attached, || format!("{kept} bytes with a check, {attached} with the proof attached"))
        })
    })
}

fn failure_free_costs_the_stored_proofs(p: &Parameters) -> Held {
    let runs = p.runs(&Crashes { producer: 0.0, consumer: 0.0 });
    let events = p.events as u64;
    Held::all(Layout::ALL.into_iter().zip(&runs).map(|(layout, run)| {
        let expected = Counts {
            deliveries: events,
            times_processed: vec![1; p.events],
            in_store: if layout == Layout::KeptForLifetime { p.events } else { 0 },
            ..Counts::default()
        };
        Held::equal(layout.name(), run, &expected)
    }))
}

fn crash_loses_as_many_in_any_layout(p: &Parameters) -> Held {
    p.on_each_day(|crashes, runs| {
        let lost = runs.each_ref().map(|run| (run.lost_events, run.orphaned));
        let unsent = p.count_unsent(crashes);
        let never = runs.each_ref().map(|run| run.times_processed.iter().map(|times| *times == 0).collect::<Vec<_>>());
        Held::all([
            Held::equal("lost and orphaned", lost, [(unsent, 0), (0, unsent), (0, unsent)]),
            Held::equal("events that nobody processed", never, [(); 3].map(|()| p.unsent(crashes))),
        ])
    })
}

fn immediate_deletion_exactly_once(p: &Parameters) -> Held {
    p.on_each_day(|_, [_, immediate, _]| {
        let other = immediate.times_processed.iter().position(|times| *times != 1);
        Held::equal("an event that is not processed once", other, None)
    })
}

fn immediate_deletion_once_if_sent(p: &Parameters) -> Held {
    p.on_each_day(|crashes, [_, immediate, _]| {
        let expected: Vec<u8> = p.unsent(crashes).into_iter().map(|unsent| u8::from(!unsent)).collect();
        Held::equal("times that each event is processed", &immediate.times_processed, &expected)
    })
}

/// And nothing dangles where the proof outlives every redelivery.
fn dangling_is_work_done(p: &Parameters) -> Held {
    p.on_each_day(|_, [attached, immediate, kept]| {
        let undone = immediate.dangling.iter().find(|event| immediate.times_processed[**event] != 1);
        let twice = immediate.dangling.windows(2).find(|pair| pair[0] >= pair[1]).map(<[usize]>::to_vec);
        Held::all([
            Held::equal("a dangling check of an event that was not processed", undone, None),
            Held::equal("dangling checks out of order or of one event", twice, None),
            Held::equal("dangling without deletion", (attached.dangling.len(), kept.dangling.len()), (0, 0)),
        ])
    })
}

/// The same redeliveries: an error each if the proof is gone, the work done again if it is not.
fn deletion_trades_repeats_for_errors(p: &Parameters) -> Held {
    p.on_each_day(|_, [attached, immediate, kept]| {
        let twice = |run: &Counts| -> Vec<usize> {
            let times = run.times_processed.iter().enumerate();
            times.filter(|(_, times)| **times == 2).map(|(event, _)| event).collect()
        };
        Held::all([
            Held::equal("processed twice, beside dangling", &twice(kept), &immediate.dangling),
            Held::equal("processed twice with the proof attached", twice(attached), twice(kept)),
            Held::equal("processed twice although deleted", repeats(immediate), 0),
            Held::at_most("times processed", kept.times_processed.iter().max(), Some(&2)),
        ])
    })
}

fn store_keeps_what_nobody_deletes(p: &Parameters) -> Held {
    p.on_each_day(|_, [attached, immediate, kept]| {
        let in_store = [attached.in_store, immediate.in_store, kept.in_store];
        Held::equal("proofs in store", in_store, [0, immediate.orphaned as usize, p.events])
    })
}

/// A probability twice as large counts every draw that the smaller one counts.
fn more_crashes_more_harm(p: &Parameters) -> Held {
    let day = &p.failure_window;
    let twice = |probability: f64| (2.0 * probability).min(1.0);
    let producer = Crashes { producer: twice(day.producer), consumer: day.consumer };
    let consumer = Crashes { producer: day.producer, consumer: twice(day.consumer) };
    let [_, usual, _] = p.runs(day);
    let [_, unsent, _] = p.runs(&producer);
    let [_, redelivered, _] = p.runs(&consumer);
    Held::all([
        Held::at_most("orphans", usual.orphaned, unsent.orphaned),
        Held::at_most("dangling checks", usual.dangling.len(), redelivered.dangling.len()),
        Held::equal("orphans at other consumers", redelivered.orphaned, usual.orphaned),
    ])
}

fn certain_crashes(p: &Parameters) -> Held {
    let always = |producer: f64, consumer: f64| p.runs(&Crashes { producer, consumer });
    let events = p.events as u64;
    let no_message = always(1.0, p.failure_window.consumer);
    let never_acknowledged = always(0.0, 1.0);
    let processed = never_acknowledged.each_ref().map(Counts::processed);
    Held::all([
        Held::equal("deliveries without a message", no_message.map(|run| run.deliveries), [0; 3]),
        Held::equal("processed where nothing is acknowledged", processed, [2 * events, events, 2 * events]),
        Held::equal("deliveries then", never_acknowledged.map(|run| run.deliveries), [2 * events; 3]),
    ])
}
