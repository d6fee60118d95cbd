//! The state space of the saga in words, for timelines.

use super::{
    Action, Answer, Delivery, Fact, Known, Message, Orchestrator, Place, Saga, State, Style, Task, TransitionSystem,
    Work,
};

/// The orchestrator and its record; in choreography the broker and its log of events.
const WORKFLOW: usize = 0;
const SUPERVISOR: usize = 1;

impl Saga {
    fn service(state: &State, place: Place) -> usize {
        SUPERVISOR + 1 + state.order[place]
    }

    fn name(&self, state: &State, place: Place) -> &str {
        &self.step_at(state, place).name
    }

    pub(super) fn parties(&self) -> Vec<String> {
        let workflow = match self.styles[..] {
            [Style::Orchestration] => "orchestrator",
            [Style::Choreography] => "broker",
            _ => "orchestrator or broker",
        };
        let services = self.steps.iter().map(|step| step.name.clone());
        [workflow.to_owned(), "supervisor".to_owned()].into_iter().chain(services).collect()
    }

    pub(super) fn say(&self, state: &State, action: Action) -> (usize, String) {
        let said = match action {
            Action::Decide => match self.next_task(state) {
                Some((place, Task::Do)) => format!("records: {} is to be done", self.name(state, place)),
                Some((place, Task::Undo)) if self.step_at(state, place).compensable => {
                    format!("records: {} is to be undone", self.name(state, place))
                }
                Some((place, Task::Undo)) => format!("records: {} cannot be undone", self.name(state, place)),
                None => "records nothing".to_owned(),
            },
            Action::Send => match state.orchestrator {
                Orchestrator::Up(Some((place, task))) => {
                    format!("sends: {}", self.message(state, Message::Command(place, task)))
                }
                Orchestrator::Up(None) | Orchestrator::Down => "sends nothing".to_owned(),
            },
            Action::Read(message) => format!("reads: {}", self.message(state, message)),
            Action::Crash => "crashes".to_owned(),
            Action::Restart => "is back".to_owned(),
            Action::Supervise(place) => return (SUPERVISOR, self.supervises(state, place)),
            Action::Deliver(message, work, delivery) => {
                let Some((place, task)) = self.task(state, message) else { return (WORKFLOW, String::new()) };
                let said = self.delivers(state, message, (place, task), work, delivery);
                return (Self::service(state, place), said);
            }
            Action::Unheard(message) => match self.meant_for(state, message) {
                Some((place, task)) => {
                    let missing = self.step_at(state, place).subscription(task);
                    format!("{missing} is missing: nobody hears that {}", self.message(state, message))
                }
                None => format!("nobody has to hear that {}", self.message(state, message)),
            },
        };
        (WORKFLOW, said)
    }

    fn message(&self, state: &State, message: Message) -> String {
        match message {
            Message::Begin => "a job begins".to_owned(),
            Message::Command(place, Task::Do) => format!("do {}", self.name(state, place)),
            Message::Command(place, Task::Undo) => format!("undo {}", self.name(state, place)),
            Message::Says(place, answer) => format!("{} {}", self.name(state, place), answer.words()),
        }
    }

    fn supervises(&self, state: &State, place: Place) -> String {
        let (name, known) = (self.name(state, place), state.record[place]);
        match (known, self.is_last_try(known)) {
            (Known::Started(_), false) => format!("no answer in time: do {name}, again"),
            (Known::Started(_), true) if self.undo_unconfirmed => format!("gives {name} up: undo it"),
            (Known::Started(_), true) => format!("gives {name} up"),
            (_, false) => format!("no answer in time: undo {name}, again"),
            (_, true) => format!("gives up undoing {name}"),
        }
    }

    fn delivers(
        &self,
        state: &State,
        message: Message,
        (place, task): (Place, Task),
        work: Work,
        delivery: Delivery,
    ) -> String {
        let mut next = state.clone();
        let answer = self.carry_out(&mut next, place, task, work);
        let worked = next.services[place].done + next.services[place].undone
            != state.services[place].done + state.services[place].undone;
        let does = match (task, answer) {
            (Task::Do, Answer::Done) if worked => "does it",
            (Task::Do, Answer::Done) => "has done it",
            (Task::Do, Answer::Failed) if !self.is_possible(state, place) => "a step that it requires is not done",
            (Task::Do, Answer::Failed) => "fails",
            (Task::Do, _) => "was told to undo it",
            (Task::Undo, Answer::Undone) if worked => "undoes it",
            (Task::Undo, Answer::Undone) => "has nothing to undo",
            (Task::Undo, Answer::Stays) => "cannot undo it",
            (Task::Undo, _) => "fails to undo it",
        };
        let then = match delivery {
            Delivery::Once => "",
            Delivery::Again => "; will get this again",
            Delivery::Unanswered => "; tells nobody",
        };
        format!("gets \"{}\": {does}{then}", self.message(state, message))
    }

    pub(super) fn show(&self, state: &State) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (place, (known, service)) in state.record.iter().zip(&state.services).enumerate() {
            facts.push(Fact::new(WORKFLOW, self.name(state, place), known.words()));
            facts.push(Fact::new(Self::service(state, place), "done", service.done));
            facts.push(Fact::new(Self::service(state, place), "undone", service.undone));
        }
        if self.actions(state).is_empty() {
            let lane = |step: usize| SUPERVISOR + 1 + step;
            facts.extend(
                self.unreported(state).into_iter().map(|step| Fact::new(lane(step), "in the end", "stays done")),
            );
        }
        facts
    }
}

impl Answer {
    fn words(self) -> &'static str {
        match self {
            Self::Done => "is done",
            Self::Failed => "has failed",
            Self::Undone => "is undone",
            Self::NotUndone => "could not be undone",
            Self::Stays => "stays",
        }
    }
}

impl Known {
    fn words(self) -> String {
        match self {
            Self::Nothing => "waiting".to_owned(),
            Self::Started(tries) => format!("to do, try {tries}"),
            Self::Done => "done".to_owned(),
            Self::Failed => "failed".to_owned(),
            Self::Undoing(tries) => format!("to undo, try {tries}"),
            Self::Undone => "undone".to_owned(),
            Self::Stays => "stays".to_owned(),
            Self::Stuck => "stuck".to_owned(),
        }
    }
}
