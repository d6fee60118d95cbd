//! The handler of events and its ledger: what a key consists of, how long it is known, and what is there when the
//! handler stops halfway.

use std::collections::HashMap;

/// One event of one shipment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event<'a> {
    pub(super) shipment: u64,
    pub(super) state: &'a str,
    /// The carrier's own number of the event.
    pub(super) number: usize,
}

/// What a key consists of, from too narrow to right.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scope {
    /// The tracking number alone.
    Tracking,
    /// And the state.
    State,
    /// And the carrier's event number.
    Event,
}

impl Scope {
    pub(super) const ALL: [Self; 3] = [Self::Tracking, Self::State, Self::Event];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tracking => "tracking",
            Self::State => "state",
            Self::Event => "event",
        }
    }

    pub(super) fn key(self, event: Event<'_>) -> Key<'_> {
        let Event { shipment, state, number } = event;
        match self {
            Self::Tracking => Key { shipment, state: None, number: None },
            Self::State => Key { shipment, state: Some(state), number: None },
            Self::Event => Key { shipment, state: Some(state), number: Some(number) },
        }
    }
}

#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key<'a> {
    shipment: u64,
    state: Option<&'a str>,
    number: Option<usize>,
}

/// An event reaches the handler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery<'a> {
    pub(super) event: Event<'a>,
    pub(super) at_s: u64,
    /// The handler stops before all is written.
    pub(super) interrupted: bool,
}

/// What is there already when the handler stops halfway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commit {
    /// Nothing: key and effect are one transaction.
    Together,
    KeyFirst,
    EffectFirst,
}

/// The keys of what was handled, each with the time at which it was entered.
pub(super) struct Ledger<'a> {
    scope: Scope,
    commit: Commit,
    lifetime_s: u64,
    entered: HashMap<Key<'a>, u64>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(scope: Scope, commit: Commit, lifetime_s: u64) -> Self {
        Self { scope, commit, lifetime_s, entered: HashMap::new() }
    }

    fn knows(&self, delivery: &Delivery<'a>) -> bool {
        let entered = self.entered.get(&self.scope.key(delivery.event));
        entered.is_some_and(|entered| delivery.at_s < entered + self.lifetime_s)
    }

    fn enter(&mut self, delivery: &Delivery<'a>) {
        self.entered.insert(self.scope.key(delivery.event), delivery.at_s);
    }

    /// Whether the delivery takes effect.
    fn admits(&mut self, delivery: &Delivery<'a>) -> bool {
        if !delivery.interrupted || self.commit == Commit::KeyFirst {
            self.enter(delivery);
        }
        !delivery.interrupted || self.commit == Commit::EffectFirst
    }
}

/// What the handler did.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Handled<'a> {
    /// What took effect, in order.
    pub(super) processed: Vec<Event<'a>>,
    pub(super) suppressed: u64,
    /// Deliveries whose handler stopped before they took effect.
    pub(super) interrupted: u64,
    /// Keys that were entered.
    pub(super) ledger: usize,
}

impl<'a> Handled<'a> {
    pub(super) fn of(stream: &[Delivery<'a>], mut ledger: Option<Ledger<'a>>) -> Self {
        let mut handled = Self::default();
        for delivery in stream {
            let takes_effect = match &mut ledger {
                Some(ledger) if ledger.knows(delivery) => {
                    handled.suppressed += 1;
                    continue;
                }
                Some(ledger) => ledger.admits(delivery),
                None => !delivery.interrupted,
            };
            if takes_effect {
                handled.processed.push(delivery.event);
            } else {
                handled.interrupted += 1;
            }
        }
        Self { ledger: ledger.map_or(0, |ledger| ledger.entered.len()), ..handled }
    }
}
