//! Leader Election in every order of events: who can lead, and what can start, whatever is late or away?
//!
//! Nodes share a durable record that grants a lease. A node can pause at any point, or lose contact with the record
//! and go on acting, and is back with its old belief. A start travels to the store on its own and may arrive late.
//! Left out: clocks that disagree, starts that get lost, and failures of the record and the store themselves.

use super::{Fact, Property, TransitionSystem};
use crate::parameters::Declaration;
use serde::{Deserialize, Serialize};

/// The bounds of the exploration, and the mechanisms that are on. Times are in ticks from 0.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaderElection {
    /// Nodes that can lead; the first leads in the beginning.
    pub nodes: u8,
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
    /// Who refuses a start whose token is old.
    pub fencing: Fencing,
    /// The store starts a batch once, however often it is asked to.
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

type Node = u8;
type Token = u8;
/// A trigger by its place in the list.
type Batch = u8;

/// Everything that decides what can happen next; the last two fields only remember for the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    now: u8,
    record: Record,
    nodes: Vec<NodeState>,
    /// Starts that have not reached the store yet, sorted.
    on_the_way: Vec<Start>,
    store: Store,
    outages_left: u8,
    takeovers: u8,
    old_token_accepted: bool,
}

/// The shared durable record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Record {
    holder: Node,
    expires: u8,
    token: Token,
    /// Batches that are recorded as due.
    due: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
struct NodeState {
    contact: Contact,
    /// Its leadership, as far as it knows.
    leads: Option<Leadership>,
    /// The token of the expired lease that it has read, and not acted on yet.
    read: Option<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Leadership {
    token: Token,
    /// Ticks in contact with the record since it last checked in.
    unchecked: u8,
    /// Ticks that it has believed in its leadership since another node took over.
    replaced: u8,
    /// Which batches it has told the store to start.
    sent: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
enum Contact {
    #[default]
    Full,
    /// Does nothing, for so many ticks by now.
    Paused(u8),
    /// Acts, but the record is out of reach, for so many ticks by now.
    NoRecord(u8),
}

/// A start on its way to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Start {
    batch: Batch,
    token: Token,
    /// The record was asked about the token, and had no newer one.
    passed: bool,
}

/// Where the effect of a start is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Store {
    /// The newest token that it has seen.
    newest: Token,
    /// How often each batch was started.
    started: Vec<u8>,
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
    /// A leader renews its lease, or learns that another node has taken over.
    CheckIn(Node),
    /// A node reads that the lease has expired.
    ReadExpired(Node),
    /// A node that has read so takes over.
    TakeOver(Node),
    /// A leader tells the store to start a batch.
    Send(Node, Batch),
    /// The store asks the record about a start's token.
    AskRecord(Start),
    /// A start takes effect at the store, or is refused there.
    Arrive(Start),
    /// A leader whose start was answered takes the batch off the record.
    Settle(Node, Batch),
}

impl LeaderElection {
    /// Whether a leader sees that a batch must start: by the clock in its tick, later only in the record.
    fn must_start(&self, state: &State, node: &NodeState, batch: Batch) -> bool {
        let by_clock = self.triggers[usize::from(batch)] == state.now;
        by_clock || (node.contact == Contact::Full && state.record.due[usize::from(batch)])
    }

    /// Deadlines: an outage ends in time, a leader in contact checks in, and one that sees the trigger sends the start.
    fn may_tick(&self, state: &State) -> bool {
        let in_time = |node: &NodeState| match (node.contact, &node.leads) {
            (Contact::Paused(ticks) | Contact::NoRecord(ticks), _) if ticks == self.outage => false,
            (Contact::Paused(_), _) | (_, None) => true,
            (contact, Some(leadership)) => {
                let checked_in = contact != Contact::Full || leadership.unchecked < self.renewal;
                let sent_now = |(trigger, sent): (&u8, &bool)| *trigger != state.now || *sent;
                checked_in && self.triggers.iter().zip(&leadership.sent).all(sent_now)
            }
        };
        state.now < self.horizon && state.nodes.iter().all(in_time)
    }

    fn node_actions(&self, state: &State, id: Node, actions: &mut Vec<Action>) {
        let node = &state.nodes[usize::from(id)];
        if node.contact != Contact::Full {
            actions.push(Action::Return(id));
        } else if state.outages_left > 0 && state.now < self.horizon {
            actions.extend([Action::Pause(id), Action::LoseContact(id)]);
        }
        let record = &state.record;
        let full_contact = node.contact == Contact::Full;
        match &node.leads {
            _ if matches!(node.contact, Contact::Paused(_)) => {}
            Some(leadership) => {
                let news = record.holder != id || record.expires != state.now + self.lease || leadership.unchecked > 0;
                if full_contact && news {
                    actions.push(Action::CheckIn(id));
                }
                for batch in 0..self.triggers.len() as Batch {
                    let (i, token) = (usize::from(batch), leadership.token);
                    let answered = !state.on_the_way.iter().any(|start| (start.batch, start.token) == (batch, token));
                    if !leadership.sent[i] && self.must_start(state, node, batch) {
                        actions.push(Action::Send(id, batch));
                    } else if leadership.sent[i]
                        && answered
                        && state.store.started[i] > 0
                        && full_contact
                        && record.due[i]
                    {
                        actions.push(Action::Settle(id, batch));
                    }
                }
            }
            None if full_contact => {
                if node.read.is_some() {
                    actions.push(Action::TakeOver(id));
                } else if record.has_expired(state.now) {
                    actions.push(Action::ReadExpired(id));
                }
            }
            None => {}
        }
    }

    fn tick(&self, state: &mut State) {
        state.now += 1;
        for (id, node) in state.nodes.iter_mut().enumerate() {
            match &mut node.contact {
                Contact::Full => {}
                Contact::Paused(ticks) | Contact::NoRecord(ticks) => *ticks += 1,
            }
            if let Some(leadership) = &mut node.leads {
                leadership.unchecked += u8::from(node.contact == Contact::Full);
                leadership.replaced += u8::from(usize::from(state.record.holder) != id);
            }
        }
        for (due, trigger) in state.record.due.iter_mut().zip(&self.triggers) {
            *due |= self.persistent_trigger && *trigger == state.now;
        }
    }

    fn take_over(&self, state: &mut State, id: Node) {
        let State { now, record, nodes, takeovers, .. } = state;
        let Some(read) = nodes[usize::from(id)].read.take() else { return };
        if self.conditional_takeover && (record.token != read || !record.has_expired(*now)) {
            return;
        }
        let token = read + 1;
        (record.holder, record.token, record.expires) = (id, token, *now + self.lease);
        let sent = vec![false; self.triggers.len()];
        nodes[usize::from(id)].leads = Some(Leadership { token, unchecked: 0, replaced: 0, sent });
        *takeovers += 1;
    }

    fn arrive(&self, state: &mut State, start: Start) {
        let State { store, on_the_way, old_token_accepted, .. } = state;
        on_the_way.retain(|other| *other != start);
        let old = start.token < store.newest;
        let started = &mut store.started[usize::from(start.batch)];
        if (old && self.fencing == Fencing::Store) || (self.keys && *started > 0) {
            store.newest = store.newest.max(start.token);
            return;
        }
        *started += 1;
        *old_token_accepted |= old;
        store.newest = store.newest.max(start.token);
    }

    /// The longest that a node can go on believing after another took over: its outages delay its next look at the
    /// record, and the other had to wait for the lease.
    pub fn longest_window(&self) -> u8 {
        (self.outages * self.outage + self.renewal).saturating_sub(self.lease)
    }
}

impl Record {
    fn has_expired(&self, now: u8) -> bool {
        now >= self.expires
    }
}

impl State {
    fn leaders(&self) -> impl Iterator<Item = &Leadership> {
        self.nodes.iter().filter_map(|node| node.leads.as_ref())
    }

    fn is_unsent(&self, batch: Batch) -> bool {
        let on_the_way = self.on_the_way.iter().any(|start| start.batch == batch);
        self.store.started[usize::from(batch)] == 0 && !on_the_way
    }

    /// Leaders that act: those that are not paused.
    fn active(&self) -> impl Iterator<Item = &Leadership> {
        self.nodes.iter().filter(|node| !matches!(node.contact, Contact::Paused(_))).filter_map(|n| n.leads.as_ref())
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
        let needed = u16::from(self.outages) * u16::from(self.outage) + u16::from(self.renewal);
        d.require(
            "horizon",
            u16::from(self.horizon) >= needed,
            format!("at least outages x outage + renewal = {needed}"),
        );
    }

    fn mechanisms(&self) -> Vec<(String, Self)> {
        let mut mechanisms = Vec::new();
        if self.fencing != Fencing::Off {
            // The keys stand on top of fencing: without fencing the store takes whatever arrives.
            mechanisms.push(("fencing".to_owned(), Self { fencing: Fencing::Off, keys: false, ..self.clone() }));
        }
        if self.keys {
            mechanisms.push(("keys".to_owned(), Self { keys: false, ..self.clone() }));
        }
        if self.persistent_trigger {
            mechanisms.push(("trigger".to_owned(), Self { persistent_trigger: false, ..self.clone() }));
        }
        if self.conditional_takeover {
            let without = Self { conditional_takeover: false, ..self.clone() };
            mechanisms.push(("conditional-takeover".to_owned(), without));
        }
        mechanisms
    }

    fn initial(&self) -> Vec<State> {
        let batches = self.triggers.len();
        let mut nodes = vec![NodeState::default(); self.nodes.into()];
        nodes[0].leads = Some(Leadership { token: 1, unchecked: 0, replaced: 0, sent: vec![false; batches] });
        vec![State {
            now: 0,
            record: Record { holder: 0, expires: self.lease, token: 1, due: vec![false; batches] },
            nodes,
            on_the_way: Vec::new(),
            store: Store { newest: 0, started: vec![0; batches] },
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
        let nodes = &mut next.nodes;
        match *action {
            Action::Tick => self.tick(&mut next),
            Action::Pause(id) | Action::LoseContact(id) => {
                let paused = matches!(action, Action::Pause(_));
                nodes[usize::from(id)].contact = if paused { Contact::Paused(0) } else { Contact::NoRecord(0) };
                next.outages_left -= 1;
            }
            Action::Return(id) => nodes[usize::from(id)].contact = Contact::Full,
            Action::CheckIn(id) if state.record.holder != id => nodes[usize::from(id)].leads = None,
            Action::CheckIn(id) => {
                next.record.expires = state.now + self.lease;
                if let Some(leadership) = &mut nodes[usize::from(id)].leads {
                    leadership.unchecked = 0;
                }
            }
            Action::ReadExpired(id) => nodes[usize::from(id)].read = Some(state.record.token),
            Action::TakeOver(id) => self.take_over(&mut next, id),
            Action::Send(id, batch) => {
                if let Some(leadership) = &mut nodes[usize::from(id)].leads {
                    leadership.sent[usize::from(batch)] = true;
                    next.on_the_way.push(Start { batch, token: leadership.token, passed: false });
                    next.on_the_way.sort_unstable();
                }
            }
            Action::AskRecord(start) => {
                next.on_the_way.retain(|other| *other != start);
                if start.token >= state.record.token {
                    next.on_the_way.push(Start { passed: true, ..start });
                    next.on_the_way.sort_unstable();
                }
            }
            Action::Arrive(start) => self.arrive(&mut next, start),
            Action::Settle(_, batch) => next.record.due[usize::from(batch)] = false,
        }
        next
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "no batch is started twice",
                "the store has started each batch at most once",
                |_, state: &State| state.store.started.iter().all(|starts| *starts <= 1),
            ),
            Property::always(
                "an old token is never accepted",
                "no start was accepted whose token is older than the newest that the store had seen",
                |_, state: &State| !state.old_token_accepted,
            ),
            Property::always(
                "tokens only grow",
                "the record's token is 1 more than there were takeovers",
                |_, state: &State| state.record.token == state.takeovers + 1,
            ),
            Property::at_the_end(
                "no batch is lost",
                "each batch has started, or is recorded as due",
                |_, state: &State| {
                    state.store.started.iter().zip(&state.record.due).all(|(starts, due)| *starts > 0 || *due)
                },
            ),
            Property::always(
                "a replaced leader believes no longer than outages x outage + renewal - lease",
                "each node that another has replaced has believed in its leadership for at most so many ticks since",
                |system: &Self, state: &State| state.leaders().all(|leader| leader.replaced <= system.longest_window()),
            ),
            Property::sometimes(
                "a replaced leader believes for as long as that",
                "a node that another has replaced has believed in its leadership for exactly so many ticks since",
                |system: &Self, state: &State| state.leaders().any(|leader| leader.replaced == system.longest_window()),
            ),
            Property::sometimes("two nodes believe at once", "two nodes believe that they lead", |_, state: &State| {
                state.leaders().count() >= 2
            }),
            Property::sometimes(
                "nobody leads",
                "each node that believes that it leads is paused",
                |_, state: &State| state.active().next().is_none(),
            ),
            Property::sometimes(
                "the tick of a batch passes without a start",
                "no start of it was sent",
                |system: &Self, state: &State| {
                    (0..).zip(&system.triggers).any(|(batch, trigger)| *trigger < state.now && state.is_unsent(batch))
                },
            ),
            Property::sometimes(
                "a start with an old token is on its way",
                "its token is older than the newest that the store has seen",
                |_, state: &State| state.on_the_way.iter().any(|start| start.token < state.store.newest),
            ),
            Property::sometimes(
                "a start of a batch that has started is on its way",
                "the store has started the batch already",
                |_, state: &State| state.on_the_way.iter().any(|s| state.store.started[usize::from(s.batch)] > 0),
            ),
            Property::sometimes(
                "two nodes are about to take over",
                "two nodes have read that the same lease has expired",
                |_, state: &State| state.nodes.iter().filter(|n| n.read == Some(state.record.token)).count() >= 2,
            ),
        ]
    }

    fn lanes(&self) -> Vec<String> {
        let nodes = (1..=self.nodes).map(|number| format!("node {number}"));
        ["clock".to_owned()].into_iter().chain(nodes).chain(["record", "store"].map(str::to_owned)).collect()
    }

    fn describe(&self, state: &State, action: &Action) -> (usize, String) {
        let (record, store) = (usize::from(self.nodes) + 1, usize::from(self.nodes) + 2);
        let lane = |id: Node| usize::from(id) + 1;
        let batch = |batch: Batch| format!("batch {}", self.triggers[usize::from(batch)]);
        let _ = record;
        match *action {
            Action::Tick => (0, "time passes".to_owned()),
            Action::Pause(id) => (lane(id), "pauses".to_owned()),
            Action::LoseContact(id) => (lane(id), "loses contact with the record".to_owned()),
            Action::Return(id) => (lane(id), "is back".to_owned()),
            Action::CheckIn(id) if state.record.holder == id => (lane(id), "renews its lease".to_owned()),
            Action::CheckIn(id) => (lane(id), "reads that another leads".to_owned()),
            Action::ReadExpired(id) => (lane(id), "reads that the lease has expired".to_owned()),
            Action::TakeOver(id) => (lane(id), "takes over if nothing has changed".to_owned()),
            Action::Send(id, b) => (lane(id), format!("sends the start of {}", batch(b))),
            Action::AskRecord(s) => (store, format!("asks the record about token {}", s.token)),
            Action::Arrive(s) => (store, format!("gets the start of {} with token {}", batch(s.batch), s.token)),
            Action::Settle(id, b) => (lane(id), format!("takes {} off the record", batch(b))),
        }
    }

    fn facts(&self, state: &State) -> Vec<Fact> {
        let (record, store) = (usize::from(self.nodes) + 1, usize::from(self.nodes) + 2);
        let mut facts = vec![Fact::new(0, "tick", state.now)];
        for (i, node) in state.nodes.iter().enumerate() {
            match &node.leads {
                Some(leadership) => {
                    facts.push(Fact::new(i + 1, "believes it leads", format!("token {}", leadership.token)))
                }
                None => {}
            }
        }
        facts.push(Fact::new(record, "holder", format!("node {}", state.record.holder + 1)));
        facts.push(Fact::new(record, "token", state.record.token));
        facts.push(Fact::new(record, "lease expires", state.record.expires));
        for (i, trigger) in self.triggers.iter().enumerate() {
            if state.record.due[i] {
                facts.push(Fact::new(record, format!("batch {trigger}"), "due"));
            }
            facts.push(Fact::new(store, format!("starts of batch {trigger}"), state.store.started[i]));
        }
        facts.push(Fact::new(store, "newest token", state.store.newest));
        facts
    }

    fn representative(state: &State) -> State {
        let mut order: Vec<usize> = (0..state.nodes.len()).collect();
        let holder = usize::from(state.record.holder);
        order.sort_by_key(|id| (&state.nodes[*id], *id == holder));
        let mut next = state.clone();
        next.nodes = order.iter().map(|id| state.nodes[*id].clone()).collect();
        next.record.holder = order.iter().position(|id| *id == holder).unwrap_or_default() as Node;
        next
    }
}
