//! Who hears a message, and what a service makes of it.

use super::{Action, Answer, Delivery, Message, Place, Saga, State, Style, Task, Work};

impl Saga {
    /// What a message makes which service do, if one gets it. Answers are the orchestrator's, if there is one.
    pub(super) fn task(&self, state: &State, message: Message) -> Option<(Place, Task)> {
        let (place, task) = self.meant_for(state, message)?;
        let is_event = !matches!(message, Message::Command(..));
        let missing = is_event && self.missing_subscriptions.contains(&self.step_at(state, place).subscription(task));
        (!missing).then_some((place, task))
    }

    /// The same with every subscription.
    pub(super) fn meant_for(&self, state: &State, message: Message) -> Option<(Place, Task)> {
        let (place, task) = match message {
            Message::Command(place, task) => (place, task),
            Message::Says(..) if state.style == Style::Orchestration => return None,
            Message::Begin => (0, Task::Do),
            Message::Says(place, Answer::Done) => (place + 1, Task::Do),
            Message::Says(place, _) => (place.checked_sub(1)?, Task::Undo),
        };
        (place < state.order.len()).then_some((place, task))
    }

    /// Each way in which a message can reach its service, and the task can go.
    pub(super) fn deliveries(
        &self,
        state: &State,
        message: Message,
        place: Place,
        task: Task,
        actions: &mut Vec<Action>,
    ) {
        for work in self.ways(state, place, task) {
            actions.push(Action::Deliver(message, work, Delivery::Once));
            if state.left.redeliveries > 0 {
                actions.push(Action::Deliver(message, work, Delivery::Again));
            }
            if state.left.unanswered > 0 {
                actions.push(Action::Deliver(message, work, Delivery::Unanswered));
            }
        }
    }

    /// How a task can go. What needs no effect cannot fail, and what is impossible cannot succeed.
    fn ways(&self, state: &State, place: Place, task: Task) -> Vec<Work> {
        let known = state.services[place].answered;
        let (has_effect, failures) = match task {
            Task::Do => (known.is_none(), state.left.failures),
            Task::Undo => {
                let done = !self.keys || known == Some(Answer::Done);
                (done && self.step_at(state, place).compensable, state.left.failed_compensations)
            }
        };
        match has_effect {
            true if task == Task::Do && self.requirements && !self.is_possible(state, place) => vec![Work::Fails],
            true if failures > 0 => vec![Work::Succeeds, Work::Fails],
            _ => vec![Work::Succeeds],
        }
    }

    /// Whether all that a step requires is done.
    pub(super) fn is_possible(&self, state: &State, place: Place) -> bool {
        let stands = |name: &String| {
            (0..state.order.len()).any(|at| self.step_at(state, at).name == *name && state.services[at].stands())
        };
        self.step_at(state, place).requires.iter().all(stands)
    }

    /// A service gets a message; in choreography its answer is an event, and goes to the log.
    pub(super) fn deliver(&self, state: &mut State, message: Message, work: Work, delivery: Delivery) {
        let Some((place, task)) = self.task(state, message) else { return };
        let answer = self.carry_out(state, place, task, work);
        let choreography = state.style == Style::Choreography;
        let kept = match delivery {
            // Who fails to compensate leaves the event to the broker, for the next try.
            Delivery::Once => choreography && answer == Answer::NotUndone && !self.is_last_try(state.record[place]),
            Delivery::Again => true,
            Delivery::Unanswered => choreography && self.supervisor,
        };
        state.left.redeliveries -= u8::from(delivery == Delivery::Again);
        state.left.unanswered -= u8::from(delivery == Delivery::Unanswered);
        if !kept {
            state.consume(message);
        }
        if delivery == Delivery::Unanswered {
            return;
        }
        if choreography {
            state.record[place] = self.known(state.record[place], answer);
        }
        if !choreography || answer != Answer::NotUndone {
            state.send(Message::Says(place, answer));
        }
    }

    /// A service carries out a task, or fails to; what it answers.
    pub(super) fn carry_out(&self, state: &mut State, place: Place, task: Task, work: Work) -> Answer {
        let (step, possible) = (self.step_at(state, place), self.is_possible(state, place));
        let (service, left) = (&mut state.services[place], &mut state.left);
        let answer = match (task, work, service.answered) {
            (Task::Do, _, Some(answer)) => return answer,
            (Task::Do, Work::Succeeds, None) => {
                service.done = 2.min(service.done + 1);
                Answer::Done
            }
            (Task::Do, Work::Fails, None) => {
                left.failures -= u8::from(possible || !self.requirements);
                Answer::Failed
            }
            (Task::Undo, _, Some(Answer::Undone | Answer::Failed)) => Answer::Undone,
            (Task::Undo, _, None) if self.keys && self.refuse_late => Answer::Undone,
            (Task::Undo, _, None) if self.keys => return Answer::Undone,
            (Task::Undo, _, _) if !step.compensable => return Answer::Stays,
            (Task::Undo, Work::Succeeds, _) => {
                service.undone = 2.min(service.undone + 1);
                Answer::Undone
            }
            (Task::Undo, Work::Fails, _) => {
                left.failed_compensations -= 1;
                service.failed_compensations += 1;
                return Answer::NotUndone;
            }
        };
        service.answered = self.keys.then_some(answer);
        answer
    }
}
