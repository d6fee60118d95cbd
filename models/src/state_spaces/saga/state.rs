//! What there is: the services and what they did, the record and what it says, and the messages on their way.

use super::Style;

/// A step by its place in the order in which the job runs, from 0.
pub(super) type Place = usize;

/// Everything that decides what can happen next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    pub(super) style: Style,
    /// The steps in the order of the job, by their numbers.
    pub(super) order: Vec<usize>,
    pub(super) services: Vec<Service>,
    /// What is known of each step.
    pub(super) record: Vec<Known>,
    pub(super) orchestrator: Orchestrator,
    /// Messages that were sent and not consumed, sorted.
    pub(super) on_the_way: Vec<Message>,
    pub(super) left: Left,
}

/// Where a step takes effect. Counts end at 2, which means too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Service {
    pub(super) done: u8,
    pub(super) undone: u8,
    /// What it answers when it is told again.
    pub(super) answered: Option<Answer>,
    /// Tries of its compensation that failed; only remembered, for the properties.
    pub(super) failed_compensations: u8,
}

/// What the record says of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) enum Known {
    #[default]
    Nothing,
    /// To be done, and tried so many times.
    Started(u8),
    Done,
    /// It failed, or was given up.
    Failed,
    /// To be undone, and tried so many times.
    Undoing(u8),
    Undone,
    /// It cannot be undone, and stays.
    Stays,
    /// Its compensation ran out of tries.
    Stuck,
}

/// The process that drives the job. A crash costs it its memory, not the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Orchestrator {
    /// With the command that it has recorded and not sent yet.
    Up(Option<(Place, Task)>),
    Down,
}

/// What a service is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// The step itself.
    Do,
    /// Its compensation.
    Undo,
}

/// What a service says of its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// The step is done.
    Done,
    /// The step has failed, and will not be done.
    Failed,
    /// The step is undone, or never was done.
    Undone,
    /// The compensation has failed.
    NotUndone,
    /// The step cannot be undone.
    Stays,
}

/// A message on its way. In choreography all but commands are events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message {
    /// The event that starts a job.
    Begin,
    /// The orchestrator, or the supervisor, tells a service what to do.
    Command(Place, Task),
    /// A service says what became of it.
    Says(Place, Answer),
}

/// What may still go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Left {
    pub(super) failures: u8,
    pub(super) failed_compensations: u8,
    pub(super) redeliveries: u8,
    pub(super) unanswered: u8,
    pub(super) crashes: u8,
    pub(super) early_looks: u8,
}

/// How a job stands by the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Every step is done.
    Completed,
    /// What can be undone is undone, and what stays is reported.
    Compensated,
    /// A compensation ran out of tries; somebody has to look.
    Stuck,
    /// None of these; half finished if nothing more can happen.
    Open,
}

impl Service {
    /// Whether the step's effect is there.
    pub(super) fn stands(self) -> bool {
        self.done > self.undone
    }
}

impl State {
    /// Who drives the job.
    pub fn style(&self) -> Style {
        self.style
    }

    /// The steps, by their numbers, in the order of the job.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Messages that were sent and not consumed.
    pub fn on_the_way(&self) -> &[Message] {
        &self.on_the_way
    }

    /// The steps whose effect is there, by their numbers.
    pub fn standing(&self) -> Vec<usize> {
        self.order.iter().zip(&self.services).filter(|(_, service)| service.stands()).map(|(step, _)| *step).collect()
    }

    /// How the job stands by the record.
    pub fn outcome(&self) -> Outcome {
        let has = |known: &[Known]| self.record.iter().any(|other| known.contains(other));
        let open = |known: &Known| matches!(known, Known::Started(_) | Known::Undoing(_) | Known::Done);
        if has(&[Known::Stuck]) {
            Outcome::Stuck
        } else if self.record.iter().all(|known| *known == Known::Done) {
            Outcome::Completed
        } else if self.is_cancelled() && !self.record.iter().any(open) {
            Outcome::Compensated
        } else {
            Outcome::Open
        }
    }

    /// Whether the record says that the job will not complete.
    pub(super) fn is_cancelled(&self) -> bool {
        let backwards = |known: &Known| !matches!(known, Known::Nothing | Known::Started(_) | Known::Done);
        self.record.iter().any(backwards)
    }

    /// The place of the task that is recorded and not answered; there is one at most.
    pub(super) fn unanswered(&self) -> Option<Place> {
        self.record.iter().position(|known| matches!(known, Known::Started(_) | Known::Undoing(_)))
    }

    /// Whether a command to this place, or its answer, is still to come.
    pub(super) fn awaits(&self, place: Place) -> bool {
        let about = |message: &Message| match *message {
            Message::Command(other, _) | Message::Says(other, _) => other == place,
            Message::Begin => false,
        };
        matches!(self.orchestrator, Orchestrator::Up(Some(_))) || self.on_the_way.iter().any(about)
    }

    pub(super) fn send(&mut self, message: Message) {
        let place = self.on_the_way.partition_point(|other| *other < message);
        self.on_the_way.insert(place, message);
    }

    pub(super) fn consume(&mut self, message: Message) {
        if let Ok(place) = self.on_the_way.binary_search(&message) {
            self.on_the_way.remove(place);
        }
    }
}
