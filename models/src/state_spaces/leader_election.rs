//! Leader Election in every order of events: who can lead, and what can start, whatever is late or away?
//!
//! Nodes share a durable record that grants a lease. A node can pause at any point, or lose contact with the record
//! and go on acting, and is back with its old belief. A start travels to the store on its own and may arrive late.
//! Left out: clocks that disagree, starts that get lost, and failures of the record and the store themselves.

mod properties;
mod state;
mod words;

use self::state::{Answer, Batch, Contact, Leadership, Node, NodeState, Record, Store, Token};
pub use self::state::{Start, State};
use super::{Fact, Property, TransitionSystem};
use crate::parameters::Declaration;
use serde::{Deserialize, Serialize};

/// The bounds of the exploration, and the mechanisms that are on. Times are in ticks from 0.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaderElection {
    /// Nodes that can lead; the first leads in the beginning.
    pub nodes: usize,
    /// The last tick.
    pub horizon: u8,
    /// Ticks after its last renewal in which a lease has expired.
    pub lease: u8,
    /// Ticks that a leader in contact with the record lets pass at most before it checks in.
    pub renewal: u8,
    /// Pauses and lost contacts in one behaviour, of all nodes together.
    pub outages: u8,
    /// Ticks that one of them lasts at most.
    pub outage: u8,
    /// In which ticks a batch must start.
    pub triggers: Vec<u8>,
    /// Whether the store refuses a start whose token is old.
    pub fencing: Fencing,
    /// The store starts a batch once, however often it is told to.
    pub keys: bool,
    /// A trigger is recorded as due until its batch is known to have started.
    pub persistent_trigger: bool,
    /// A takeover counts only if the record is still as the node has read it.
    pub conditional_takeover: bool,
}

/// How the store finds out that a token is old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fencing {
    /// It does not.
    Off,
    /// It compares with the newest token that it has seen itself, in the same step in which it starts the batch.
    Store,
    /// It asks the record, and starts the batch in a later step.
    Record,
}

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Time passes. Not before what has a deadline in this tick has happened.
    Tick,
    /// The node stops.
    Pause(Node),
    /// The node can no longer reach the record.
    LoseContact(Node),
    /// The node is back, and believes what it believed.
    Return(Node),
    /// A leader renews its lease, or reads that another has taken over.
    CheckIn(Node),
    /// A node reads that the lease has expired.
    ReadExpired(Node),
    /// A node that has read so takes over.
    TakeOver(Node),
    /// A leader tells the store to start a batch.
    Send(Node, Batch),
    /// The store asks the record whether a start's token is old.
    AskRecord(Start),
    /// A start arrives at the store.
    Arrive(Start),
    /// A leader that knows of the start takes the batch off the record.
    Settle(Node, Batch),
}

impl LeaderElection {
    fn node_actions(&self, state: &State, id: Node, actions: &mut Vec<Action>) {
        let (node, record) = (&state.nodes[id], &state.record);
        if node.contact != Contact::Full {
            actions.push(Action::Return(id));
        } else if state.outages_left > 0 && state.now < self.horizon {
            actions.extend([Action::Pause(id), Action::LoseContact(id)]);
        }
        let in_contact = node.contact == Contact::Full;
        match &node.leads {
            _ if node.is_paused() => {}
            Some(leadership) => {
                let renewed = record.expires == state.now + self.lease && leadership.unchecked == 0;
                if in_contact && (record.holder != id || !renewed) {
                    actions.push(Action::CheckIn(id));
                }
                for (batch, trigger) in self.triggers.iter().enumerate() {
                    // By the clock in its own tick; later only from the record.
                    let sees_it = *trigger == state.now || (in_contact && record.due[batch]);
                    if sees_it && !leadership.sent[batch] {
                        actions.push(Action::Send(id, batch));
                    }
                    if in_contact && record.due[batch] && state.has_answered(batch, leadership) {
                        actions.push(Action::Settle(id, batch));
                    }
                }
            }
            None if in_contact && node.read.is_some() => actions.push(Action::TakeOver(id)),
            None if in_contact && record.has_expired(state.now) => actions.push(Action::ReadExpired(id)),
            None => {}
        }
    }

    /// Deadlines: an outage ends in time, a leader in contact checks in, and one that acts starts what is due now.
    fn may_tick(&self, state: &State) -> bool {
        let in_time = |node: &NodeState| match (node.contact, &node.leads) {
            (Contact::Paused(ticks) | Contact::NoRecord(ticks), _) if ticks == self.outage => false,
            (Contact::Paused(_), _) | (_, None) => true,
            (contact, Some(leadership)) => {
                let has_sent = |(trigger, sent): (&u8, &bool)| *sent || *trigger != state.now;
                (contact != Contact::Full || leadership.unchecked < self.renewal)
                    && self.triggers.iter().zip(&leadership.sent).all(has_sent)
            }
        };
        state.now < self.horizon && state.nodes.iter().all(in_time)
    }

    fn tick(&self, state: &mut State) {
        state.now += 1;
        for (id, node) in state.nodes.iter_mut().enumerate() {
            if let Contact::Paused(ticks) | Contact::NoRecord(ticks) = &mut node.contact {
                *ticks += 1;
            }
            if let Some(leadership) = &mut node.leads {
                leadership.unchecked += u8::from(node.contact == Contact::Full);
                leadership.replaced += u8::from(state.record.holder != id);
            }
        }
        for (due, trigger) in state.record.due.iter_mut().zip(&self.triggers) {
            *due |= self.persistent_trigger && *trigger == state.now;
        }
    }

    /// Whether a takeover counts, for a node that has read this token.
    fn grants(&self, state: &State, read: Token) -> bool {
        !self.conditional_takeover || (state.record.token == read && state.record.has_expired(state.now))
    }

    fn take_over(&self, state: &mut State, id: Node) {
        let Some(read) = state.nodes[id].read.take() else { return };
        if self.grants(state, read) {
            let (record, token) = (&mut state.record, read + 1);
            (record.holder, record.token, record.expires) = (id, token, state.now + self.lease);
            state.nodes[id].leads = Some(Leadership::new(token, self.triggers.len()));
            state.takeovers += 1;
        }
    }

    fn answer(&self, store: &Store, start: Start) -> Answer {
        match (self.fencing, store.starts[start.batch]) {
            (Fencing::Store, _) if start.token < store.newest => Answer::OldToken,
            (_, 1..) if self.keys => Answer::StartedBefore,
            _ => Answer::Started,
        }
    }

    fn arrive(&self, state: &mut State, start: Start) {
        state.on_the_way.retain(|other| *other != start);
        if self.answer(&state.store, start) == Answer::Started {
            state.store.starts[start.batch] += 1;
            state.old_token_accepted |= start.token < state.store.newest;
        }
        state.store.newest = state.store.newest.max(start.token);
    }

    /// How long a node can go on believing after another took over: all outages may delay its next look at the record,
    /// while the other had to wait for the lease only.
    pub fn longest_window(&self) -> u8 {
        (self.outages * self.outage + self.renewal).saturating_sub(self.lease)
    }
}

impl TransitionSystem for LeaderElection {
    type State = State;
    type Action = Action;

    fn declare(&self, d: &mut Declaration) {
        d.integer("nodes", self.nodes, 2..=5);
        d.integer("horizon", self.horizon, 1..=40);
        d.integer("lease", self.lease, 1..=40);
        d.integer("renewal", self.renewal, 1..=40);
        d.integer("outages", self.outages, 0..=4);
        d.integer("outage", self.outage, 1..=20);
        d.list("triggers", &self.triggers, 1..=8, |d, i, tick| d.integer(i, *tick, 1..=self.horizon.into()));
        d.text("fencing", "off, store or record");
        d.flag("keys", self.keys);
        d.flag("persistent_trigger", self.persistent_trigger);
        d.flag("conditional_takeover", self.conditional_takeover);
        d.distinct("triggers", &self.triggers);
        let window = u16::from(self.outages) * u16::from(self.outage) + u16::from(self.renewal);
        d.require(
            "horizon",
            u16::from(self.horizon) >= window,
            format!("at least outages x outage + renewal, {window}"),
        );
    }

    fn mechanisms(&self) -> Vec<(String, Self)> {
        // Keys stand on top of fencing: without it the store takes whatever arrives.
        let fencing = |fencing| Self { fencing, keys: false, ..self.clone() };
        let all = [
            ("fencing", self.fencing != Fencing::Off, fencing(Fencing::Off)),
            ("own-token", self.fencing == Fencing::Store, fencing(Fencing::Record)),
            ("keys", self.keys, Self { keys: false, ..self.clone() }),
            ("trigger", self.persistent_trigger, Self { persistent_trigger: false, ..self.clone() }),
            ("conditional-takeover", self.conditional_takeover, Self { conditional_takeover: false, ..self.clone() }),
        ];
        all.into_iter().filter(|(_, on, _)| *on).map(|(name, _, without)| (name.to_owned(), without)).collect()
    }

    fn initial(&self) -> Vec<State> {
        let batches = self.triggers.len();
        let mut nodes = vec![NodeState::default(); self.nodes];
        nodes[0].leads = Some(Leadership::new(1, batches));
        vec![State {
            now: 0,
            record: Record { holder: 0, expires: self.lease, token: 1, due: vec![false; batches] },
            nodes,
            on_the_way: Vec::new(),
            store: Store { newest: 0, starts: vec![0; batches] },
            outages_left: self.outages,
            takeovers: 0,
            old_token_accepted: false,
        }]
    }

    fn actions(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.may_tick(state) {
            actions.push(Action::Tick);
        }
        for id in 0..self.nodes {
            self.node_actions(state, id, &mut actions);
        }
        actions.extend(state.on_the_way.iter().map(|start| match self.fencing {
            Fencing::Record if !start.passed => Action::AskRecord(*start),
            _ => Action::Arrive(*start),
        }));
        actions
    }

    fn step(&self, state: &State, action: &Action) -> State {
        let mut next = state.clone();
        match *action {
            Action::Tick => self.tick(&mut next),
            Action::Pause(id) | Action::LoseContact(id) => {
                let pause = *action == Action::Pause(id);
                next.nodes[id].contact = if pause { Contact::Paused(0) } else { Contact::NoRecord(0) };
                next.outages_left -= 1;
            }
            Action::Return(id) => next.nodes[id].contact = Contact::Full,
            Action::CheckIn(id) if state.record.holder != id => next.nodes[id].leads = None,
            Action::CheckIn(id) => {
                next.record.expires = state.now + self.lease;
                next.nodes[id].leads.iter_mut().for_each(|leadership| leadership.unchecked = 0);
            }
            Action::ReadExpired(id) => next.nodes[id].read = Some(state.record.token),
            Action::TakeOver(id) => self.take_over(&mut next, id),
            Action::Send(id, batch) => {
                if let Some(leadership) = &mut next.nodes[id].leads {
                    leadership.sent[batch] = true;
                    let token = leadership.token;
                    next.travels(Start { batch, token, passed: false });
                }
            }
            Action::AskRecord(start) => {
                next.on_the_way.retain(|other| *other != start);
                if start.token >= state.record.token {
                    next.travels(Start { passed: true, ..start });
                }
            }
            Action::Arrive(start) => self.arrive(&mut next, start),
            Action::Settle(_, batch) => next.record.due[batch] = false,
        }
        next
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }

    fn lanes(&self) -> Vec<String> {
        self.parties()
    }

    fn describe(&self, state: &State, action: &Action) -> (usize, String) {
        self.say(state, *action)
    }

    fn facts(&self, state: &State) -> Vec<Fact> {
        self.show(state)
    }

    /// Nodes are alike: only the order of the list tells them apart.
    fn representative(state: &State) -> State {
        let holder = state.record.holder;
        let mut order: Vec<Node> = (0..state.nodes.len()).collect();
        order.sort_by_key(|id| (&state.nodes[*id], *id == holder));
        let mut next = state.clone();
        next.nodes = order.iter().map(|id| state.nodes[*id].clone()).collect();
        next.record.holder = order.iter().position(|id| *id == holder).unwrap_or(holder);
        next
    }
}
