//! A call that a server with sessions makes a task of: it is asked after until it is over, and what
//! comes of it is the call's own result. No client needs to know what a task is.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{Error, Event, EventStream, Outcome, RawJson, Result};
use tidegate_mcp::revision::client::{
    LegacyTask, LegacyTaskStatus, OutboundRequest, without_related_task,
};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::relay::words;
use crate::session::connect::Open;
use crate::session::era_detection::ask;
use crate::session::unavailable;

/// How long a server is left alone that does not say how long it wants to be; and the bounds of what
/// it may say.
const POLL: Duration = Duration::from_secs(1);
const SHORTEST_POLL: Duration = Duration::from_millis(50);
const LONGEST_POLL: Duration = Duration::from_secs(30);

/// How long a server may take to hear that nobody waits for a task.
const CANCELLING: Duration = Duration::from_secs(10);

/// The same call; where the server makes a task of it, until that is over.
pub(crate) fn to_the_end(events: EventStream, open: &Arc<Open>) -> EventStream {
    let stage = Stage::Call(events, Arc::clone(open));
    stream::unfold(Some(stage), |stage| async { stage?.next().await }).boxed()
}

/// What there is of a call.
enum Stage {
    Call(EventStream, Arc<Open>),
    Task(Driven),
}

type Next = Option<(Result<Event>, Option<Stage>)>;

impl Stage {
    async fn next(self) -> Next {
        match self {
            Self::Call(mut events, open) => {
                let event = events.next().await?;
                let task = match &event {
                    Ok(Event::Done(Outcome::Complete { result, .. })) => {
                        LegacyTask::from_call_result(result)
                    }
                    _ => None,
                };
                Some(match task {
                    Some(task) => {
                        let driven = Driven::new(task, open);
                        (Ok(Event::KeepAlive), Some(Self::Task(driven)))
                    }
                    None => (event, Some(Self::Call(events, open))),
                })
            }
            Self::Task(mut driven) => {
                let event = driven.next().await;
                let ended = matches!(event, Ok(Event::Done(_)) | Err(_));
                Some((event, (!ended).then_some(Self::Task(driven))))
            }
        }
    }
}

/// A task that is asked after. Dropped before its end, it is cancelled.
struct Driven {
    open: Arc<Open>,
    task: LegacyTask,
    /// What the server asks about the task with no request to ask it on.
    asides: EventStream,
    now: Now,
    is_over: bool,
}

/// What is waited for.
enum Now {
    Wait(Instant),
    /// How the task is.
    Look(EventStream),
    /// What came of it.
    Fetch(EventStream),
}

impl Driven {
    fn new(task: LegacyTask, open: Arc<Open>) -> Self {
        let asides = words(open.link.adopt(&task.id), &open, None, false);
        let mut driven = Self {
            open,
            task,
            asides,
            now: Now::Wait(Instant::now()),
            is_over: false,
        };
        driven.now = driven.after_a_look();
        driven
    }

    async fn next(&mut self) -> Result<Event> {
        loop {
            let word = tokio::select! {
                Some(aside) = self.asides.next() => return aside,
                word = self.now.word() => word,
            };
            let fetching = matches!(self.now, Now::Fetch(_));
            match (word, fetching) {
                (None, _) => self.now = Now::Look(self.look()),
                (Some(Ok(Event::Done(outcome))), false) => {
                    let task = LegacyTask::from_task_result(&result_of(outcome)?);
                    let task = task.ok_or_else(|| unavailable("the source lost its own task"))?;
                    let mark = std::mem::replace(&mut self.task, task).revision_mark;
                    self.now = self.after_a_look();
                    if mark != self.task.revision_mark {
                        return Ok(Event::KeepAlive);
                    }
                }
                (Some(Ok(Event::Done(outcome))), true) => {
                    self.is_over = true;
                    let result = without_related_task(&result_of(outcome)?);
                    return Ok(Event::Done(Outcome::complete(result)));
                }
                (Some(event), _) => return event,
            }
        }
    }

    /// What follows from how the task is. One that asks is heard by whoever waits for its result.
    fn after_a_look(&self) -> Now {
        match self.task.status {
            LegacyTaskStatus::Working => {
                let poll = self.task.poll_interval.unwrap_or(POLL);
                Now::Wait(Instant::now() + poll.clamp(SHORTEST_POLL, LONGEST_POLL))
            }
            LegacyTaskStatus::InputRequired | LegacyTaskStatus::Ended => {
                let (encoder, id) = (self.open.own_encoder(), self.open.numbers.next());
                Now::Fetch(self.put(encoder.task_result(id, &self.task.id)))
            }
        }
    }

    fn look(&self) -> EventStream {
        let (encoder, id) = (self.open.own_encoder(), self.open.numbers.next());
        self.put(encoder.get_task(id, &self.task.id))
    }

    fn put(&self, outbound: OutboundRequest) -> EventStream {
        let talk = self.open.link.request(outbound, Vec::new());
        words(talk, &self.open, None, false)
    }
}

impl Now {
    /// The next word; none when it is time to look again.
    async fn word(&mut self) -> Option<Result<Event>> {
        match self {
            Self::Wait(until) => {
                sleep_until(*until).await;
                None
            }
            Self::Look(events) | Self::Fetch(events) => {
                let word = events.next().await;
                Some(word.unwrap_or_else(|| Err(broken_off())))
            }
        }
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if self.is_over || self.task.status == LegacyTaskStatus::Ended {
            return;
        }
        let (open, task) = (Arc::clone(&self.open), self.task.id.clone());
        let unfinished = self.open.unfinished.clone();
        let cancelling = async move {
            let outbound = open.own_encoder().cancel_task(open.numbers.next(), &task);
            let cancelled = ask(open.link.as_ref(), outbound, Vec::new());
            timeout(CANCELLING, cancelled).await.ok();
        };
        unfinished.spawn_on(cancelling, &runtime);
    }
}

fn result_of(outcome: Outcome) -> Result<RawJson> {
    match outcome {
        Outcome::Complete { result, .. } => Ok(result),
        Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => {
            Err(broken_off())
        }
    }
}

fn broken_off() -> Error {
    unavailable("the source broke off its task")
}
