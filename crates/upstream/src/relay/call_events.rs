//! The events of a call: of its requests, repaired, and of the task that it became.

use std::sync::Arc;

use futures_util::StreamExt;
use tidegate_core::{Call, Event, EventStream, Operation, Scope};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ExpectedResult;
use tidegate_mcp::revision::tasks::declares_tasks;

use super::events::request_events;
use super::{repair, task};
use crate::session::{Connection, ResponseStream};

/// The events of a call. Holds the connection until the end.
pub(super) fn call_events(
    messages: ResponseStream,
    connection: &Arc<Connection>,
    call: &Call,
) -> EventStream {
    let uri = match &call.operation {
        Operation::Resource { uri } => Some(uri.clone()),
        _ => None,
    };
    let accepts_tasks =
        connection.facts.features.tasks && declares_tasks(&call.client.capabilities);
    let expected = match &call.operation {
        Operation::Extension { .. } => ExpectedResult::Extension,
        _ if accepts_tasks => ExpectedResult::CompleteOrTask,
        _ => ExpectedResult::Complete,
    };
    let events = request_events(messages, connection, uri, expected);
    let era = connection.facts.revision.era();
    let events = repair::repair(events, call, era);
    let events = match call.scope {
        Scope::Source(_) => events,
        Scope::All => without_extensions(events),
    };
    match (&call.operation, era) {
        (Operation::Tool { .. }, Era::Legacy) => task::run_to_completion(events, connection),
        _ => events,
    }
}

/// The events without notifications of extensions, which the endpoint of all sources does not declare.
fn without_extensions(events: EventStream) -> EventStream {
    let events = events.filter(|event| {
        let is_extension = matches!(event, Ok(Event::Extension { .. }));
        std::future::ready(!is_extension)
    });
    events.boxed()
}
