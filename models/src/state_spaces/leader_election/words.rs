//! The state space of leader election in words, for timelines.

use super::{Action, Answer, Batch, Fact, LeaderElection, Node, Start, State};

/// The first lane; then each node, the record and the store.
const CLOCK: usize = 0;

impl LeaderElection {
    fn node(&self, id: Node) -> usize {
        CLOCK + 1 + id
    }

    fn record(&self) -> usize {
        self.node(self.nodes)
    }

    fn store(&self) -> usize {
        self.record() + 1
    }

    fn batch(&self, batch: Batch) -> String {
        format!("batch {}", self.triggers[batch])
    }

    pub(super) fn parties(&self) -> Vec<String> {
        let nodes = (1..=self.nodes).map(|number| format!("node {number}"));
        ["clock".to_owned()].into_iter().chain(nodes).chain(["record".to_owned(), "store".to_owned()]).collect()
    }

    pub(super) fn say(&self, state: &State, action: Action) -> (usize, String) {
        match action {
            Action::Tick => (CLOCK, format!("tick {}", state.now + 1)),
            Action::Pause(id) => (self.node(id), "pauses".to_owned()),
            Action::LoseContact(id) => (self.node(id), "loses the record".to_owned()),
            Action::Return(id) => (self.node(id), "is back".to_owned()),
            Action::CheckIn(id) if state.record.holder == id => (self.node(id), "renews the lease".to_owned()),
            Action::CheckIn(id) => (self.node(id), "reads that another leads".to_owned()),
            Action::ReadExpired(id) => (self.node(id), "reads: lease expired".to_owned()),
            Action::TakeOver(id) => {
                let granted = state.nodes[id].read.is_some_and(|read| self.grants(state, read));
                (self.node(id), if granted { "takes over" } else { "is too late to take over" }.to_owned())
            }
            Action::Send(id, batch) => (self.node(id), format!("sends {}", self.batch(batch))),
            Action::AskRecord(start) if start.token >= state.record.token => {
                (self.store(), format!("asks the record: token {} is the newest", start.token))
            }
            Action::AskRecord(start) => (self.store(), format!("asks the record: token {} is old", start.token)),
            Action::Arrive(start) => {
                let Start { batch, token, .. } = start;
                let batch = self.batch(batch);
                let answer = match self.answer(&state.store, start) {
                    Answer::Started => format!("starts {batch} for token {token}"),
                    Answer::OldToken => format!("refuses {batch}: token {token} is old"),
                    Answer::StartedBefore => format!("{batch} for token {token}: has started"),
                };
                (self.store(), answer)
            }
            Action::Settle(id, batch) => (self.node(id), format!("takes {} off the record", self.batch(batch))),
        }
    }

    pub(super) fn show(&self, state: &State) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (id, node) in state.nodes.iter().enumerate() {
            facts.extend(
                node.leads.iter().map(|leadership| Fact::new(self.node(id), "leads with token", leadership.token)),
            );
        }
        facts.push(Fact::new(self.record(), "holder", format!("node {}", state.record.holder + 1)));
        facts.push(Fact::new(self.record(), "token", state.record.token));
        facts.push(Fact::new(self.record(), "expires", state.record.expires));
        let due = (0..).zip(&state.record.due).filter(|(_, due)| **due);
        facts.extend(due.map(|(batch, _)| Fact::new(self.record(), self.batch(batch), "due")));
        for (batch, starts) in state.store.starts.iter().enumerate() {
            facts.push(Fact::new(self.store(), format!("starts of {}", self.batch(batch)), starts));
        }
        facts.push(Fact::new(self.store(), "newest token", state.store.newest));
        facts
    }
}
