//! The saga in every order of events: does a job of several services end as a whole, whatever is late, lost or away?
//!
//! A job's steps run one after the other, each in a service of its own. If one fails, those done before are
//! compensated, last one first. Either an orchestrator commands the steps, or each service listens to the one before it
//! (choreography). The job's steps are tried in every order; a service refuses its step where the order is impossible.
//! Left out: more than one job at a time, and failures of the record, the event log and the supervisor.

mod orchestrator;
mod properties;
mod services;
mod state;
mod words;

pub use self::state::{Answer, Message, Outcome, State, Task};
use self::state::{Known, Left, Orchestrator, Place, Service};
use super::{Fact, Property, TransitionSystem};
use crate::parameters::Declaration;
use serde::{Deserialize, Serialize};

/// The bounds of the exploration, and the mechanisms that are on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saga {
    /// The steps of the job.
    pub steps: Vec<Step>,
    /// Who drives the job; each style is explored.
    pub styles: Vec<Style>,
    /// Subscriptions that choreography should have and has not: `start-` or `cancel-`, and the step's name.
    pub missing_subscriptions: Vec<String>,
    /// How often a step, and how often a compensation, is tried.
    pub tries: u8,
    /// Steps that fail in one job.
    pub failures: u8,
    /// Tries of compensations that fail.
    pub failed_compensations: u8,
    /// Messages that are delivered once more.
    pub redeliveries: u8,
    /// Tasks that a service carries out without anybody being told.
    pub unanswered: u8,
    /// Crashes of the orchestrator.
    pub crashes: u8,
    /// Times that the supervisor looks too early: the command or its answer is only late.
    pub early_looks: u8,
    /// A service carries out a task once, and answers as before when it is told again.
    pub keys: bool,
    /// A compensation that comes before its step is remembered, and the step refused when it comes.
    pub refuse_late: bool,
    /// Looks for tasks without an answer: in orchestration a supervisor at the record, in choreography the broker at
    /// events that nobody has acknowledged.
    pub supervisor: bool,
    /// A step that was given up without an answer is compensated as if it were done.
    pub undo_unconfirmed: bool,
    /// A compensation that ran out of tries is recorded as such, and not as done.
    pub stuck_report: bool,
    /// The orchestrator compensates the last completed step first.
    pub reverse_order: bool,
    /// A service refuses its step where a step that it requires is not done.
    pub requirements: bool,
}

/// One step of the job, in a service of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What it is called.
    pub name: String,
    /// Whether it can be undone.
    pub compensable: bool,
    /// The steps that must be done before.
    pub requires: Vec<String>,
}

/// Who drives the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// An orchestrator commands the services and keeps a durable record of what they answer.
    Orchestration,
    /// A service listens to the one before it, and for cancellations to the one after it. The record is the log of
    /// events; it drives nothing.
    Choreography,
}

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// The orchestrator records what comes next.
    Decide,
    /// The orchestrator sends the command that it has recorded.
    Send,
    /// The orchestrator reads an answer.
    Read(Message),
    /// The orchestrator loses its memory.
    Crash,
    /// The orchestrator is back and goes on from the record.
    Restart,
    /// The supervisor finds no answer about a step in time: it tells the service again, or gives up.
    Supervise(Place),
    /// A service gets a message, and does, or fails to do, what it is told to do.
    Deliver(Message, Work, Delivery),
    /// An event that no service listens to.
    Unheard(Message),
}

/// How a task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// It is carried out, or was before.
    Succeeds,
    /// It has no effect.
    Fails,
}

/// What becomes of a message to a service, and of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Delivery {
    /// It is consumed and answered.
    Once,
    /// It is answered, and delivered again some time.
    Again,
    /// It is not answered, whatever was done.
    Unanswered,
}

impl Saga {
    fn step_at(&self, state: &State, place: Place) -> &Step {
        &self.steps[state.order[place]]
    }

    /// The steps, by their numbers, whose effect is there although the job has not completed, and that are not
    /// reported: as ones that cannot be undone, or with a job that is stuck.
    pub fn unreported(&self, state: &State) -> Vec<usize> {
        let reported = |place: Place| match state.outcome() {
            Outcome::Completed | Outcome::Stuck => true,
            Outcome::Compensated | Outcome::Open => {
                state.record[place] == Known::Stays && !self.step_at(state, place).compensable
            }
        };
        let unreported = |place: &Place| state.services[*place].stands() && !reported(*place);
        (0..state.order.len()).filter(unreported).map(|place| state.order[place]).collect()
    }

    /// All that may go wrong.
    fn left(&self) -> Left {
        Left {
            failures: self.failures,
            failed_compensations: self.failed_compensations,
            redeliveries: self.redeliveries,
            unanswered: self.unanswered,
            crashes: self.crashes,
            early_looks: self.early_looks,
        }
    }

    /// The steps, by their numbers, in every order.
    fn orders(&self) -> Vec<Vec<usize>> {
        let longer = |orders: Vec<Vec<usize>>, _| {
            let next = |order: Vec<usize>| {
                let rest = (0..self.steps.len()).filter(|step| !order.contains(step)).collect::<Vec<_>>();
                rest.into_iter().map(move |step| [&order[..], &[step]].concat())
            };
            orders.into_iter().flat_map(next).collect()
        };
        (0..self.steps.len()).fold(vec![Vec::new()], longer)
    }

    fn subscriptions(&self) -> impl Iterator<Item = String> {
        self.steps.iter().flat_map(|step| [Task::Do, Task::Undo].map(|task| step.subscription(task)))
    }
}

impl Step {
    /// The name of the subscription by which its service learns of a task in choreography.
    pub fn subscription(&self, task: Task) -> String {
        match task {
            Task::Do => format!("start-{}", self.name),
            Task::Undo => format!("cancel-{}", self.name),
        }
    }
}

impl TransitionSystem for Saga {
    type State = State;
    type Action = Action;

    fn declare(&self, d: &mut Declaration) {
        d.list("steps", &self.steps, 1..=5, |d, i, step| {
            d.group(i, |d| {
                d.text("name", &step.name);
                d.flag("compensable", step.compensable);
                d.list("requires", &step.requires, 0..=4, |d, i, name| d.text(i, name));
                let known = step.requires.iter().all(|name| self.steps.iter().any(|other| other.name == *name));
                d.require("requires", known, "names of `steps`");
            });
        });
        d.distinct("steps", self.steps.iter().map(|step| &step.name));
        d.list("styles", &self.styles, 1..=2, |d, i, _| d.text(i, "orchestration or choreography"));
        d.distinct("styles", &self.styles);
        d.list("missing_subscriptions", &self.missing_subscriptions, 0..=10, |d, i, name| d.text(i, name));
        let known = self.missing_subscriptions.iter().all(|name| self.subscriptions().any(|other| other == *name));
        d.require("missing_subscriptions", known, "`start-` or `cancel-` and the name of a step");
        d.integer("tries", self.tries, 1..=5);
        d.integer("failures", self.failures, 0..=5);
        d.integer("failed_compensations", self.failed_compensations, 0..=5);
        d.integer("redeliveries", self.redeliveries, 0..=5);
        d.integer("unanswered", self.unanswered, 0..=5);
        d.integer("crashes", self.crashes, 0..=5);
        d.integer("early_looks", self.early_looks, 0..=5);
        d.flag("keys", self.keys);
        d.flag("refuse_late", self.refuse_late);
        d.flag("supervisor", self.supervisor);
        d.flag("undo_unconfirmed", self.undo_unconfirmed);
        d.flag("stuck_report", self.stuck_report);
        d.flag("reverse_order", self.reverse_order);
        d.flag("requirements", self.requirements);
    }

    fn mechanisms(&self) -> Vec<(String, Self)> {
        let off = |change: fn(&mut Self)| {
            let mut without = self.clone();
            change(&mut without);
            without
        };
        let switches = [
            ("keys", self.keys, off(|saga| saga.keys = false)),
            ("refuse-late", self.keys && self.refuse_late, off(|saga| saga.refuse_late = false)),
            ("supervisor", self.supervisor, off(|saga| saga.supervisor = false)),
            ("undo-unconfirmed", self.undo_unconfirmed, off(|saga| saga.undo_unconfirmed = false)),
            ("stuck-report", self.stuck_report, off(|saga| saga.stuck_report = false)),
            ("reverse-order", self.reverse_order, off(|saga| saga.reverse_order = false)),
            ("requirements", self.requirements, off(|saga| saga.requirements = false)),
        ];
        let switches =
            switches.into_iter().filter(|(_, on, _)| *on).map(|(name, _, without)| (name.to_owned(), without));
        let there =
            |name: &String| self.styles.contains(&Style::Choreography) && !self.missing_subscriptions.contains(name);
        let subscriptions = self.subscriptions().filter(there).map(|name| {
            let mut without = self.clone();
            without.missing_subscriptions.push(name.clone());
            (name, without)
        });
        switches.chain(subscriptions).collect()
    }

    fn initial(&self) -> Vec<State> {
        let start = |style, order| State {
            style,
            order,
            services: vec![Service::default(); self.steps.len()],
            record: vec![Known::default(); self.steps.len()],
            orchestrator: Orchestrator::Up(None),
            on_the_way: if style == Style::Choreography { vec![Message::Begin] } else { Vec::new() },
            left: self.left(),
        };
        self.styles.iter().flat_map(|style| self.orders().into_iter().map(|order| start(*style, order))).collect()
    }

    fn actions(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        if state.style == Style::Orchestration {
            self.orchestrator_actions(state, &mut actions);
        }
        let mut messages = state.on_the_way.clone();
        messages.dedup();
        for message in messages {
            match self.task(state, message) {
                Some((place, task)) => self.deliveries(state, message, place, task, &mut actions),
                None if state.style == Style::Choreography => actions.push(Action::Unheard(message)),
                None if state.orchestrator != Orchestrator::Down => actions.push(Action::Read(message)),
                None => {}
            }
        }
        actions
    }

    fn step(&self, state: &State, action: &Action) -> State {
        let mut next = state.clone();
        match *action {
            Action::Decide => self.decide(&mut next),
            Action::Send => {
                if let Orchestrator::Up(Some((place, task))) = state.orchestrator {
                    next.orchestrator = Orchestrator::Up(None);
                    next.send(Message::Command(place, task));
                }
            }
            Action::Read(message) => {
                next.consume(message);
                if let Message::Says(place, answer) = message {
                    self.read(&mut next, place, answer);
                }
            }
            Action::Crash => {
                next.orchestrator = Orchestrator::Down;
                next.left.crashes -= 1;
            }
            Action::Restart => next.orchestrator = Orchestrator::Up(None),
            Action::Supervise(place) => self.supervise(&mut next, place),
            Action::Deliver(message, work, delivery) => self.deliver(&mut next, message, work, delivery),
            Action::Unheard(message) => next.consume(message),
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
}
