//! What there is: the record, the nodes and what they believe, the store, and the starts on their way to it.

pub(super) type Node = usize;
pub(super) type Token = u8;
/// A trigger by its place in the list.
pub(super) type Batch = usize;

/// Everything that decides what can happen next; the last two fields only remember, for the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    pub(super) now: u8,
    pub(super) record: Record,
    pub(super) nodes: Vec<NodeState>,
    /// Starts that have not reached the store yet, sorted.
    pub(super) on_the_way: Vec<Start>,
    pub(super) store: Store,
    pub(super) outages_left: u8,
    pub(super) takeovers: u8,
    pub(super) old_token_accepted: bool,
}

/// The shared durable record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Record {
    pub(super) holder: Node,
    pub(super) expires: u8,
    pub(super) token: Token,
    /// Which batches are recorded as due.
    pub(super) due: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct NodeState {
    pub(super) contact: Contact,
    /// Its leadership, as far as it knows.
    pub(super) leads: Option<Leadership>,
    /// The token of an expired lease that it has read, and not acted on yet.
    pub(super) read: Option<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Leadership {
    pub(super) token: Token,
    /// Ticks in contact with the record since it last checked in.
    pub(super) unchecked: u8,
    /// Ticks that it has gone on believing since another node took over.
    pub(super) replaced: u8,
    /// Which batches it has told the store to start.
    pub(super) sent: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) enum Contact {
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
    /// The batch, by its place in the list of triggers.
    pub batch: Batch,
    /// The leadership under which it was sent.
    pub token: Token,
    /// The store has asked the record, which had no newer token then.
    pub passed: bool,
}

/// Where a start takes effect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Store {
    /// The newest token that it has seen.
    pub(super) newest: Token,
    /// How often each batch was started.
    pub(super) starts: Vec<u8>,
}

/// What the store makes of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Started,
    OldToken,
    StartedBefore,
}

impl Record {
    pub(super) fn has_expired(&self, now: u8) -> bool {
        now >= self.expires
    }
}

impl NodeState {
    pub(super) fn is_paused(&self) -> bool {
        matches!(self.contact, Contact::Paused(_))
    }
}

impl Leadership {
    pub(super) fn new(token: Token, batches: usize) -> Self {
        Self { token, unchecked: 0, replaced: 0, sent: vec![false; batches] }
    }
}

impl State {
    /// The tokens of all nodes that believe that they lead and are not paused.
    pub fn active_leaders(&self) -> Vec<u8> {
        self.nodes.iter().filter(|node| !node.is_paused()).filter_map(|n| Some(n.leads.as_ref()?.token)).collect()
    }

    /// How often the store has started each batch.
    pub fn starts(&self) -> &[u8] {
        &self.store.starts
    }

    pub(super) fn leaders(&self) -> impl Iterator<Item = &Leadership> {
        self.nodes.iter().filter_map(|node| node.leads.as_ref())
    }

    /// Whether the leader's start was answered, and the batch has started.
    pub(super) fn has_answered(&self, batch: Batch, leader: &Leadership) -> bool {
        let travels = self.on_the_way.iter().any(|start| (start.batch, start.token) == (batch, leader.token));
        leader.sent[batch] && !travels && self.store.starts[batch] > 0
    }

    pub(super) fn travels(&mut self, start: Start) {
        self.on_the_way.push(start);
        self.on_the_way.sort_unstable();
    }
}
