//! A tool call that a legacy server runs as a task: the task is polled until it ends, and its result
//! becomes the result of the call. The client does not see the task.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{Error, Event, EventStream, Outcome, RawJson, Result};
use tidegate_mcp::revision::client::{
    ExpectedResult, LegacyTask, LegacyTaskStatus, OutboundRequest, without_related_task,
};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};

use super::events::request_events;
use crate::error::source_failed;
use crate::session::Connection;
use crate::session::own_requests::send_request;

/// The poll interval where the server names none, and the limits of what it may name.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(30);

/// How long a server may take to accept that a task is cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// The events of a call; if the server creates a task, until that has ended.
pub(super) fn run_to_completion(events: EventStream, connection: &Arc<Connection>) -> EventStream {
    let stage = Stage::Call(events, Arc::clone(connection));
    stream::unfold(Some(stage), |stage| async { stage?.next().await }).boxed()
}

enum Stage {
    Call(EventStream, Arc<Connection>),
    Task(RunningTask),
}

type NextEvent = Option<(Result<Event>, Option<Stage>)>;

impl Stage {
    async fn next(self) -> NextEvent {
        match self {
            Self::Call(mut events, connection) => {
                let event = events.next().await?;
                let task = match &event {
                    Ok(Event::Done(Outcome::Complete { result, .. })) => {
                        LegacyTask::from_call_result(result)
                    }
                    _ => None,
                };
                Some(match task {
                    Some(task) => {
                        let running = RunningTask::new(task, connection);
                        (Ok(Event::KeepAlive), Some(Self::Task(running)))
                    }
                    None => (event, Some(Self::Call(events, connection))),
                })
            }
            Self::Task(mut running) => {
                let event = running.next().await;
                let has_ended = Event::is_last(&event);
                Some((event, (!has_ended).then_some(Self::Task(running))))
            }
        }
    }
}

/// A task that is being polled. Dropping it before it has ended cancels it.
struct RunningTask {
    connection: Arc<Connection>,
    task: LegacyTask,
    /// Questions about the task that arrive outside of a request.
    questions: EventStream,
    step: Step,
    has_ended: bool,
}

/// What the task waits for.
enum Step {
    Wait(Instant),
    /// The response of `tasks/get`.
    GetStatus(EventStream),
    /// The response of `tasks/result`.
    GetResult(EventStream),
}

impl RunningTask {
    fn new(task: LegacyTask, connection: Arc<Connection>) -> Self {
        let questions = connection.channel.task_questions(&task.id);
        let questions = request_events(questions, &connection, None, ExpectedResult::Complete);
        let mut running = Self {
            connection,
            task,
            questions,
            step: Step::Wait(Instant::now()),
            has_ended: false,
        };
        running.step = running.next_step();
        running
    }

    async fn next(&mut self) -> Result<Event> {
        loop {
            let event = tokio::select! {
                Some(question) = self.questions.next() => return question,
                event = self.step.next() => event,
            };
            let is_result = matches!(self.step, Step::GetResult(_));
            match (event, is_result) {
                (None, _) => self.step = Step::GetStatus(self.get_status()),
                (Some(Ok(Event::Done(outcome))), false) => {
                    let task = LegacyTask::from_task_result(&complete_result(outcome)?);
                    let task = task.ok_or_else(|| {
                        source_failed("the source's response to `tasks/get` is malformed")
                    })?;
                    let previous = std::mem::replace(&mut self.task, task);
                    self.step = self.next_step();
                    if previous.state_key != self.task.state_key {
                        return Ok(Event::KeepAlive);
                    }
                }
                (Some(Ok(Event::Done(outcome))), true) => {
                    self.has_ended = true;
                    let result = without_related_task(&complete_result(outcome)?);
                    return Ok(Event::Done(Outcome::complete(result)));
                }
                (Some(event), _) => return event,
            }
        }
    }

    /// The next step for a status. A task that waits for input sends its questions on the request
    /// for its result.
    fn next_step(&self) -> Step {
        match self.task.status {
            LegacyTaskStatus::Working => {
                let interval = self.task.poll_interval.unwrap_or(POLL_INTERVAL);
                let interval = interval.clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL);
                Step::Wait(Instant::now() + interval)
            }
            LegacyTaskStatus::InputRequired | LegacyTaskStatus::Ended => {
                let encoder = self.connection.gateway_encoder();
                let id = self.connection.ids.next();
                Step::GetResult(self.send(encoder.task_result(id, &self.task.id)))
            }
        }
    }

    fn get_status(&self) -> EventStream {
        let encoder = self.connection.gateway_encoder();
        let id = self.connection.ids.next();
        self.send(encoder.get_task(id, &self.task.id))
    }

    fn send(&self, request: OutboundRequest) -> EventStream {
        let messages = self.connection.channel.request(request, Vec::new());
        request_events(messages, &self.connection, None, ExpectedResult::Complete)
    }
}

impl Step {
    /// The next event; `None` when it is time to poll.
    async fn next(&mut self) -> Option<Result<Event>> {
        match self {
            Self::Wait(until) => {
                sleep_until(*until).await;
                None
            }
            Self::GetStatus(events) | Self::GetResult(events) => {
                let event = events.next().await;
                Some(event.unwrap_or_else(|| Err(no_result())))
            }
        }
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if self.has_ended || self.task.status == LegacyTaskStatus::Ended {
            return;
        }
        let (connection, task) = (Arc::clone(&self.connection), self.task.id.clone());
        let background_tasks = self.connection.background_tasks.clone();
        let cancellation = async move {
            let encoder = connection.gateway_encoder();
            let request = encoder.cancel_task(connection.ids.next(), &task);
            let cancelled = send_request(connection.channel.as_ref(), request, Vec::new());
            timeout(CANCEL_TIMEOUT, cancelled).await.ok();
        };
        background_tasks.spawn_on(cancellation, &runtime);
    }
}

fn complete_result(outcome: Outcome) -> Result<RawJson> {
    match outcome {
        Outcome::Complete { result, .. } => Ok(result),
        Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => Err(no_result()),
    }
}

fn no_result() -> Error {
    source_failed("the source's task ended without a result")
}
