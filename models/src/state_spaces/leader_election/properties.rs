//! What must hold whatever the order of events, and which interesting situations occur at all.

use super::{Batch, LeaderElection, Property, State};

pub(super) fn all() -> Vec<Property<LeaderElection>> {
    vec![
        Property::always(
            "no batch is started twice",
            "the store has started each batch at most once",
            |_, state: &State| state.store.starts.iter().all(|starts| *starts <= 1),
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
                state.store.starts.iter().zip(&state.record.due).all(|(starts, due)| *starts > 0 || *due)
            },
        ),
        Property::always(
            "a replaced leader believes for at most outages x outage + renewal - lease ticks",
            "no node has believed in its leadership for more ticks than that since another took over",
            |system: &LeaderElection, state: &State| {
                state.leaders().all(|leader| leader.replaced <= system.longest_window())
            },
        ),
        Property::sometimes(
            "a replaced leader believes for exactly that long",
            "a node has believed in its leadership for exactly so many ticks since another took over",
            |system: &LeaderElection, state: &State| {
                state.leaders().any(|leader| leader.replaced == system.longest_window())
            },
        ),
        Property::sometimes(
            "two nodes believe at once", //
            "two nodes believe that they lead",
            |_, state: &State| state.leaders().count() >= 2,
        ),
        Property::sometimes(
            "nobody leads", //
            "each node that believes that it leads is paused",
            |_, state: &State| state.active_leaders().is_empty(),
        ),
        Property::sometimes(
            "a batch's tick passes without a start",
            "a batch of an earlier tick has not started, and no start of it is on the way",
            |system: &LeaderElection, state: &State| {
                let unsent = |batch| state.on_the_way.iter().all(|start| start.batch != batch);
                let unstarted = |batch: Batch| state.store.starts[batch] == 0 && unsent(batch);
                (0..).zip(&system.triggers).any(|(batch, trigger)| *trigger < state.now && unstarted(batch))
            },
        ),
        Property::sometimes(
            "an old token reaches the store",
            "a start is on the way whose token is older than the newest that the store has seen",
            |_, state: &State| state.on_the_way.iter().any(|start| start.token < state.store.newest),
        ),
        Property::sometimes(
            "a second start reaches the store",
            "a start is on the way of a batch that has started, and its token is not old",
            |_, State { on_the_way, store, .. }: &State| {
                on_the_way.iter().any(|start| store.starts[start.batch] > 0 && start.token >= store.newest)
            },
        ),
        Property::sometimes(
            "two nodes are about to take over",
            "two nodes have read that the same lease has expired",
            |_, state: &State| state.nodes.iter().filter(|node| node.read == Some(state.record.token)).count() >= 2,
        ),
    ]
}
