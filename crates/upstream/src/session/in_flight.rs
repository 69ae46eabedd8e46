//! The requests in flight on one connection, and which of them a message of the server is for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use parking_lot::Mutex;
use tidegate_core::{Declined, QuestionKind, RawJson, Result};
use tidegate_mcp::revision::Method;
use tidegate_mcp::revision::client::ServerNotification;
use tidegate_mcp::revision::question::no_roots;
use tidegate_mcp::{RequestId, ResponseBody};
use tokio::sync::mpsc;

use super::task_questions::TaskQuestions;
use super::{ResponseStream, ServerMessage};
use crate::error::source_failed;

/// Messages that may wait for one request before its reader counts as too slow.
const MAX_QUEUED_MESSAGES: usize = 256;

/// Roots questions that may wait for the next call, and how long: on a connection that was opened to load
/// lists, which a server may not answer before it has the roots, and on one that a client uses.
const MAX_HELD: usize = 16;
const UNCLAIMED_HOLD: Duration = Duration::from_secs(3);
const CLAIMED_HOLD: Duration = Duration::from_secs(30);

/// The requests in flight, by the id we gave them.
#[derive(Clone)]
pub(super) struct InFlight(Arc<InFlightState>);

struct InFlightState {
    /// Whether principals share the connection, so that the only call in flight may be of another
    /// principal than a message that nothing links to a call.
    is_shared: bool,
    table: Mutex<RequestTable>,
    /// Questions about tasks, which outlive the requests that started them.
    tasks: TaskQuestions,
    /// Whether the server has sent a question that nothing links to a request.
    has_unlinked_questions: AtomicBool,
}

#[derive(Default)]
struct RequestTable {
    requests: BTreeMap<u64, InFlightRequest>,
    /// How many requests were sent.
    sent: u64,
    /// Whether all calls are from one client, which declared roots.
    declares_roots: bool,
    /// Roots questions that arrived when no call was in flight.
    held: Vec<ServerMessage>,
    /// Whether a client has made a call.
    is_claimed: bool,
    /// Whether a roots question was answered for want of a call, so that the server does not know the
    /// roots of its client.
    roots_are_unknown: bool,
    /// No response will arrive any more.
    ended: bool,
}

struct InFlightRequest {
    queue: mpsc::Sender<Result<ServerMessage>>,
    /// Whether a client waits for it. Questions and log messages go to calls only, never to the
    /// gateway's own requests.
    is_call: bool,
    /// Its place in the order in which requests were sent; `None` before.
    sent: Option<u64>,
    /// Whether the server has sent it a question.
    was_asked: bool,
}

impl InFlightRequest {
    /// Whether the queue has space, not counting the slot that is reserved for the response.
    fn has_space(&self) -> bool {
        self.queue.capacity() > 1
    }

    fn push(&self, message: ServerMessage) -> bool {
        self.has_space() && self.queue.try_send(Ok(message)).is_ok()
    }
}

impl RequestTable {
    fn calls(&self) -> impl Iterator<Item = &InFlightRequest> {
        self.requests.values().filter(|request| request.is_call)
    }

    /// The only call in flight, if there is exactly one.
    fn only_call(&self) -> Option<&InFlightRequest> {
        let mut calls = self.calls();
        let first = calls.next()?;
        calls.next().is_none().then_some(first)
    }

    /// The call that a question belongs to, if nothing links it to one: the first call that was sent and
    /// not asked yet, or else the last, because earlier ones may be parked. A call that is not sent yet is
    /// the last. All calls that can be asked are from one client.
    fn likely_asker(&mut self) -> Option<&mut InFlightRequest> {
        let is_call = |request: &InFlightRequest| request.is_call && request.has_space();
        let calls = || self.requests.iter().filter(|(_, request)| is_call(request));
        let order = |(_, call): &(&u64, &InFlightRequest)| call.sent.unwrap_or(u64::MAX);
        let not_asked = calls().filter(|(_, call)| !call.was_asked);
        let id = not_asked
            .min_by_key(order)
            .or_else(|| calls().max_by_key(order))
            .map(|(id, _)| *id)?;
        self.requests.get_mut(&id)
    }

    /// Delivers a question that nothing links to a call. False if there is no call.
    fn ask_call(&mut self, question: ServerMessage) -> bool {
        let Some(call) = self.likely_asker() else {
            return false;
        };
        call.was_asked = true;
        call.push(question)
    }

    /// Delivers a roots question to any call in flight, or holds it for the next call. All calls
    /// are from one client, and a server may ask before its first call or after its last.
    fn ask_any_call(&mut self, question: ServerMessage) -> Asked {
        if let Some(call) = self.likely_asker() {
            return Asked::delivered(call.push(question));
        }
        if self.held.len() == MAX_HELD {
            return Asked::Refused;
        }
        self.held.push(question);
        Asked::Held(match self.is_claimed {
            true => CLAIMED_HOLD,
            false => UNCLAIMED_HOLD,
        })
    }
}

/// What became of a question that nothing links to a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Delivered,
    /// It waits for the next call, for this time.
    Held(Duration),
    /// No client can be asked.
    Refused,
}

impl Asked {
    fn delivered(is_delivered: bool) -> Self {
        match is_delivered {
            true => Self::Delivered,
            false => Self::Refused,
        }
    }
}

impl InFlight {
    pub(super) fn new(is_shared: bool) -> Self {
        Self(Arc::new(InFlightState {
            is_shared,
            table: Mutex::default(),
            tasks: TaskQuestions::default(),
            has_unlinked_questions: AtomicBool::new(false),
        }))
    }

    /// Adds a request. `cancel` is called if the stream is dropped before the response.
    pub(super) fn register(
        &self,
        id: u64,
        is_call: bool,
        cancel: impl FnOnce(u64) + Send + 'static,
    ) -> ResponseStream {
        // One slot more than the queue: the response always fits.
        let (queue, receiver) = mpsc::channel(MAX_QUEUED_MESSAGES + 1);
        let request = InFlightRequest {
            queue,
            is_call,
            sent: None,
            was_asked: false,
        };
        self.insert(id, request);
        let guard = RequestGuard {
            in_flight: self.clone(),
            id,
            cancel: Some(Box::new(cancel)),
        };
        stream::unfold((receiver, Some(guard)), |(mut receiver, guard)| async {
            let mut guard = guard?;
            match receiver.recv().await {
                Some(Ok(
                    message @ (ServerMessage::Notification(_) | ServerMessage::Question { .. }),
                )) => Some((Ok(message), (receiver, Some(guard)))),
                last => {
                    // A request whose reader was too slow still runs at the server: cancel it.
                    if last.is_some() || guard.in_flight.0.table.lock().ended {
                        guard.cancel = None;
                    }
                    let last = last.unwrap_or_else(|| Err(disconnected()));
                    Some((last, (receiver, None)))
                }
            }
        })
        .boxed()
    }

    /// After the connection has ended, a request is not added: its queue is closed, which ends its
    /// stream.
    fn insert(&self, id: u64, request: InFlightRequest) {
        let mut table = self.0.table.lock();
        if table.ended {
            return;
        }
        if request.is_call {
            table.is_claimed = true;
            for question in table.held.drain(..) {
                // A new queue has space for all held questions.
                request.push(question);
            }
        }
        table.requests.insert(id, request);
    }

    /// Sends a request, and records its place in the order in which the server gets them.
    pub(super) fn send_in_order(&self, id: u64, send: impl FnOnce(u64)) {
        let mut table = self.0.table.lock();
        table.sent += 1;
        let place = table.sent;
        if let Some(request) = table.requests.get_mut(&id) {
            request.sent = Some(place);
        }
        send(place);
    }

    /// Whether a call among the first `sent` requests has no response yet.
    pub(super) fn awaits_response(&self, sent: u64) -> bool {
        let table = self.0.table.lock();
        let mut places = table.calls().filter_map(|call| call.sent);
        places.any(|place| place <= sent)
    }

    /// From now on all calls are from one client, which declared roots.
    pub(super) fn set_declares_roots(&self) {
        self.0.table.lock().declares_roots = true;
    }

    /// Questions about one task, until the stream is dropped.
    pub(super) fn task_questions(&self, task: &str) -> ResponseStream {
        self.0.tasks.subscribe(task)
    }

    /// Delivers the response to its request. False if no request waits for it.
    pub(super) fn complete(&self, id: &RequestId, response: Result<ResponseBody>) -> bool {
        let id = id.key().parse::<u64>().ok();
        let request = id.and_then(|id| self.0.table.lock().requests.remove(&id));
        let response = response.map(ServerMessage::Response);
        request.is_some_and(|request| request.queue.try_send(response).is_ok())
    }

    /// Delivers a notification to the request it belongs to: progress by its token, messages of a
    /// change stream by their request, log messages and other notifications of extensions to the only
    /// call of the client. Returns a notification that belongs to no request.
    pub(super) fn notify(&self, notification: ServerNotification) -> Option<ServerNotification> {
        let mut table = self.0.table.lock();
        let request = match &notification {
            ServerNotification::Progress { token, .. } => token.parse::<u64>().ok(),
            ServerNotification::Acknowledged { request, .. } => *request,
            ServerNotification::Task { request, .. } => {
                let slow = request.filter(|id| {
                    let request = table.requests.get(id);
                    request.is_some_and(|request| !request.has_space())
                });
                // An update must not be lost silently: end the stream, which will be reopened.
                if slow.and_then(|id| table.requests.remove(&id)).is_some() {
                    return None;
                }
                *request
            }
            ServerNotification::Extension {
                request: Some(request),
                ..
            } if table.requests.contains_key(request) => Some(*request),
            ServerNotification::Log { .. } | ServerNotification::Extension { .. } => {
                let Some(call) = table.only_call().filter(|_| !self.0.is_shared) else {
                    return Some(notification);
                };
                call.push(ServerMessage::Notification(notification));
                return None;
            }
            // Each call knows the ids of its own questions.
            ServerNotification::Cancelled(_) => {
                for call in table.calls() {
                    call.push(ServerMessage::Notification(notification.clone()));
                }
                return None;
            }
            _ => return Some(notification),
        };
        if let Some(request) = request.and_then(|id| table.requests.get(&id)) {
            // A reader that is too slow misses some of its progress.
            request.push(ServerMessage::Notification(notification));
        }
        None
    }

    /// Delivers a question that arrived outside of an HTTP response: to the task that it names, or to
    /// a call of the client. Where principals share the connection, nobody knows whose question it is.
    pub(super) fn ask(&self, question: ServerMessage) -> Asked {
        let Some(question) = self.0.tasks.ask(question) else {
            return Asked::Delivered;
        };
        if self.0.is_shared {
            return Asked::Refused;
        }
        let kind = match &question {
            ServerMessage::Question { kind, .. } => Some(*kind),
            _ => None,
        };
        // Many servers ask for roots at the start. That does not mean they send other questions
        // outside of the call's response.
        if matches!(kind, Some(QuestionKind::Elicit | QuestionKind::Sample)) {
            self.0.has_unlinked_questions.store(true, Ordering::Relaxed);
        }
        let mut table = self.0.table.lock();
        if kind == Some(QuestionKind::Roots) && table.declares_roots {
            return table.ask_any_call(question);
        }
        Asked::delivered(table.ask_call(question))
    }

    /// The answer to a question that was held and has waited long enough; `None` if a call has got it.
    /// On a connection that no client has used yet the server gets no roots, and continues to start.
    /// Otherwise it keeps the roots that it knows.
    pub(super) fn answer_held(&self, id: &RequestId) -> Option<Result<RawJson, Declined>> {
        let mut table = self.0.table.lock();
        let is_asked = |held: &ServerMessage| match held {
            ServerMessage::Question { id: held, .. } => held.key() == id.key(),
            _ => false,
        };
        let at = table.held.iter().position(is_asked)?;
        table.held.remove(at);
        table.roots_are_unknown = true;
        Some(match table.is_claimed {
            true => Err(Declined::no_client()),
            false => Ok(no_roots()),
        })
    }

    /// Whether the server has to be told to ask for roots again. True once.
    pub(super) fn take_unknown_roots(&self) -> bool {
        std::mem::take(&mut self.0.table.lock().roots_are_unknown)
    }

    pub(super) fn has_unlinked_questions(&self) -> bool {
        self.0.has_unlinked_questions.load(Ordering::Relaxed)
    }

    /// Fails every request in flight and all later ones: the connection has ended.
    pub(super) fn fail_all(&self) {
        *self.0.table.lock() = RequestTable {
            ended: true,
            ..RequestTable::default()
        };
    }
}

/// Whether a request is a client's call, and not one of the gateway's own requests.
pub(super) fn is_call(method: Method) -> bool {
    !matches!(
        method,
        Method::Listen
            | Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::TemplatesList
            | Method::Subscribe
            | Method::Unsubscribe
            | Method::SetLevel
            | Method::Ping
            | Method::Discover
            | Method::Initialize
    )
}

/// Removes a request when its stream is dropped.
struct RequestGuard {
    in_flight: InFlight,
    id: u64,
    cancel: Option<Box<dyn FnOnce(u64) + Send>>,
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.in_flight.0.table.lock().requests.remove(&self.id);
        if let Some(cancel) = self.cancel.take() {
            cancel(self.id);
        }
    }
}

fn disconnected() -> tidegate_core::Error {
    source_failed("the source disconnected before it responded")
}

#[cfg(test)]
mod tests;
