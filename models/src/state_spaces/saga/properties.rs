//! What must hold whatever the order of events, and which interesting situations occur at all.

use super::{Answer, Known, Orchestrator, Outcome, Place, Property, Saga, Service, State, Task};

pub(super) fn all() -> Vec<Property<Saga>> {
    vec![
        Property::always(
            "nothing is done or undone twice",
            "each step is done at most once, and undone at most as often as it was done",
            |_, state: &State| state.services.iter().all(|service| service.done <= 1 && service.undone <= service.done),
        ),
        Property::always(
            "compensation runs in reverse order of completion",
            "no step is undone while one that came after it, and can be undone, is done",
            |saga: &Saga, state: &State| {
                let undone = state.services.iter().position(|service| service.undone > 0);
                let stands = |place| saga.step_at(state, place).compensable && state.services[place].stands();
                undone.is_none_or(|undone| !(undone..state.order.len()).any(stands))
            },
        ),
        Property::always(
            "a job completes only in an order that its steps allow",
            "in a completed job each step comes after those that it requires",
            |saga: &Saga, state: &State| {
                let before = |place: Place| (0..place).map(|earlier| &saga.step_at(state, earlier).name);
                let allowed = |place| {
                    saga.step_at(state, place).requires.iter().all(|name| before(place).any(|earlier| earlier == name))
                };
                state.outcome() != Outcome::Completed || (0..state.order.len()).all(allowed)
            },
        ),
        Property::always(
            "each order that completes starts with a step that cannot be undone",
            "the first step of a completed job has no compensation",
            |saga: &Saga, state: &State| {
                state.outcome() != Outcome::Completed || !saga.step_at(state, 0).compensable //
            },
        ),
        Property::at_the_end(
            "no job is left half finished",
            "by the record the job is completed, or compensated, or stuck",
            |_, state: &State| state.outcome() != Outcome::Open,
        ),
        Property::at_the_end(
            "only what cannot be undone stays, and it is reported",
            "in a completed job each step is done; in another that is not stuck, each step that is done has no \
             compensation and is recorded as one that stays",
            |saga: &Saga, state: &State| {
                let complete = state.outcome() != Outcome::Completed || standing(state).count() == state.order.len();
                complete && saga.unreported(state).is_empty()
            },
        ),
        Property::at_the_end(
            "a compensation that runs out of tries is visible",
            "if a step is done whose compensation failed as often as it may be tried, the job is recorded as stuck",
            |saga: &Saga, state: &State| {
                let failed = |place: Place| state.services[place].failed_compensations >= saga.tries;
                state.outcome() == Outcome::Stuck || !standing(state).any(failed)
            },
        ),
        Property::sometimes(
            "a job completes", //
            "each step is done by the record",
            |_, state: &State| state.outcome() == Outcome::Completed,
        ),
        Property::sometimes(
            "two steps are undone, and one stays",
            "the job is compensated, two steps are undone, and one is recorded as one that stays",
            |_, state: &State| {
                state.outcome() == Outcome::Compensated
                    && state.services.iter().filter(|service| service.undone == 1).count() == 2
                    && state.record.contains(&Known::Stays)
            },
        ),
        Property::sometimes(
            "a compensation runs out of tries",
            "the job is stuck, and the compensation of a step that is done has failed as often as it may be tried",
            |saga: &Saga, state: &State| {
                let failed = |place: Place| state.services[place].failed_compensations >= saga.tries;
                state.outcome() == Outcome::Stuck && standing(state).any(failed)
            },
        ),
        Property::sometimes(
            "a service is told again to do what it has done",
            "a service is about to be told to do its step, which is done",
            |saga: &Saga, state: &State| {
                tasks(saga, state).any(|(place, task)| {
                    task == Task::Do && state.services[place].done > 0 && state.services[place].undone == 0
                })
            },
        ),
        Property::sometimes(
            "a service is told late to do what was called off",
            "a service is about to be told to do its step, and was told before to undo it",
            |saga: &Saga, state: &State| {
                let called_off = |service: Service| service.answered == Some(Answer::Undone) && service.done == 0;
                tasks(saga, state).any(|(place, task)| task == Task::Do && called_off(state.services[place]))
            },
        ),
        Property::sometimes(
            "a step is done and nobody knows",
            "a step is done that the record does not know to be, and no message is on its way",
            |_, state: &State| {
                let unknown = |place: Place| matches!(state.record[place], Known::Started(_));
                state.on_the_way.is_empty() && standing(state).any(unknown)
            },
        ),
        Property::sometimes(
            "the orchestrator is away with a command that was recorded and not sent",
            "the orchestrator is down, a step is to be done by the record, and no message is on its way",
            |_, state: &State| {
                let unsent = |(known, service): (&Known, &Service)| *known == Known::Started(1) && service.done == 0;
                let away = state.orchestrator == Orchestrator::Down && state.on_the_way.is_empty();
                away && state.record.iter().zip(&state.services).any(unsent)
            },
        ),
        Property::sometimes(
            "a step fails because its order is impossible",
            "a step has failed, and nothing has gone wrong",
            |saga: &Saga, state: &State| state.record.contains(&Known::Failed) && state.left == saga.left(),
        ),
    ]
}

/// The places of the steps whose effect is there.
fn standing(state: &State) -> impl Iterator<Item = Place> {
    (0..state.order.len()).filter(|place| state.services[*place].stands())
}

/// What services are about to be told.
fn tasks(saga: &Saga, state: &State) -> impl Iterator<Item = (Place, Task)> {
    state.on_the_way.iter().filter_map(|message| saga.task(state, *message))
}
