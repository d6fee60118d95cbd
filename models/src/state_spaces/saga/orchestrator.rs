//! What the orchestrator and the supervisor do by the record.

use super::{Action, Answer, Known, Message, Orchestrator, Place, Saga, State, Task};

impl Saga {
    /// What the orchestrator and the supervisor can do next.
    pub(super) fn orchestrator_actions(&self, state: &State, actions: &mut Vec<Action>) {
        match state.orchestrator {
            Orchestrator::Down => actions.push(Action::Restart),
            Orchestrator::Up(Some(_)) => {
                actions.push(Action::Send);
                // A crash that loses nothing is a delay like any other.
                if state.left.crashes > 0 {
                    actions.push(Action::Crash);
                }
            }
            Orchestrator::Up(None) if self.next_task(state).is_some() => actions.push(Action::Decide),
            Orchestrator::Up(None) => {}
        }
        let looks = |place: &Place| !state.awaits(*place) || state.left.early_looks > 0;
        actions.extend(state.unanswered().filter(|_| self.supervisor).filter(looks).map(Action::Supervise));
    }

    /// What the orchestrator does next by the record, if it waits for nothing.
    pub(super) fn next_task(&self, state: &State) -> Option<(Place, Task)> {
        let waits = |known: &Known| matches!(known, Known::Started(_) | Known::Undoing(_) | Known::Stuck);
        if state.record.iter().any(waits) {
            None
        } else if state.is_cancelled() {
            let done = |known: &Known| *known == Known::Done;
            let record = &state.record;
            let place = if self.reverse_order { record.iter().rposition(done) } else { record.iter().position(done) };
            Some((place?, Task::Undo))
        } else {
            Some((state.record.iter().position(|known| *known == Known::Nothing)?, Task::Do))
        }
    }

    /// The orchestrator records what comes next before it sends the command, so that a crash does not hide it.
    pub(super) fn decide(&self, state: &mut State) {
        let Some((place, task)) = self.next_task(state) else { return };
        if task == Task::Undo && !self.step_at(state, place).compensable {
            state.record[place] = Known::Stays;
            return;
        }
        state.record[place] = if task == Task::Do { Known::Started(1) } else { Known::Undoing(1) };
        state.orchestrator = Orchestrator::Up(Some((place, task)));
    }

    /// The orchestrator reads an answer; one that it does not wait for changes nothing.
    pub(super) fn read(&self, state: &mut State, place: Place, answer: Answer) {
        let waits = match state.record[place] {
            Known::Started(_) => true,
            Known::Undoing(_) => !matches!(answer, Answer::Done | Answer::Failed),
            _ => false,
        };
        if waits {
            state.record[place] = self.known(state.record[place], answer);
            if let Known::Undoing(_) = state.record[place] {
                state.orchestrator = Orchestrator::Up(Some((place, Task::Undo)));
            }
        }
    }

    /// The supervisor tells the service again, and on the last try gives up: the step, or its compensation.
    pub(super) fn supervise(&self, state: &mut State, place: Place) {
        state.left.early_looks -= u8::from(state.awaits(place));
        let (known, command) = match state.record[place] {
            known @ Known::Started(_) if self.is_last_try(known) => {
                if !self.undo_unconfirmed {
                    state.record[place] = Known::Failed;
                    return;
                }
                (Known::Undoing(1), Task::Undo)
            }
            known @ Known::Undoing(_) if self.is_last_try(known) => {
                state.record[place] = self.out_of_tries();
                return;
            }
            Known::Started(tries) => (Known::Started(tries + 1), Task::Do),
            Known::Undoing(tries) => (Known::Undoing(tries + 1), Task::Undo),
            _ => return,
        };
        state.record[place] = known;
        state.send(Message::Command(place, command));
    }

    /// What an answer makes of what was known.
    pub(super) fn known(&self, before: Known, answer: Answer) -> Known {
        match (answer, before) {
            (Answer::Done, _) => Known::Done,
            (Answer::Failed, _) => Known::Failed,
            (Answer::Undone, _) => Known::Undone,
            (Answer::Stays, _) => Known::Stays,
            (Answer::NotUndone, _) if self.is_last_try(before) => self.out_of_tries(),
            (Answer::NotUndone, Known::Undoing(tries)) => Known::Undoing(tries + 1),
            (Answer::NotUndone, _) => Known::Undoing(2),
        }
    }

    /// Whether this try is the last. Choreography counts from the first that failed.
    pub(super) fn is_last_try(&self, known: Known) -> bool {
        match known {
            Known::Started(tries) | Known::Undoing(tries) => tries >= self.tries,
            _ => self.tries == 1,
        }
    }

    fn out_of_tries(&self) -> Known {
        if self.stuck_report { Known::Stuck } else { Known::Undone }
    }
}
