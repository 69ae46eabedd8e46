//! What a server says and a client must not be given: progress that is none, a read of nothing,
//! questions that the client did not say it can be asked.

use futures_util::StreamExt;
use tidegate_core::{Call, Error, Event, EventStream, Operation, Outcome, RawJson, Result};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client_capabilities::capability_error;
use tidegate_mcp::revision::multi_round_trip::round;

use crate::session::unavailable;

/// The same events, as the client of a call may have them.
pub(super) fn for_its_client(events: EventStream, call: &Call, server: Era) -> EventStream {
    let capabilities = call.client.capabilities.clone();
    // Older revisions know an empty answer; without a session, what is not there is not found.
    let uri = match (&call.operation, server) {
        (Operation::Resource { uri }, Era::Legacy) if call.client.stateless => Some(uri.clone()),
        _ => None,
    };
    let mut last = f64::NEG_INFINITY;
    let events = events.filter_map(move |event| {
        let event = match event {
            Ok(Event::Progress(params)) => {
                goes_on(&params, &mut last).then_some(Ok(Event::Progress(params)))
            }
            Ok(Event::Done(outcome)) => {
                let fit = fit(outcome, &capabilities, uri.as_deref());
                Some(fit.map(Event::Done))
            }
            event => Some(event),
        };
        std::future::ready(event)
    });
    events.boxed()
}

/// Whether there is more progress than there was.
fn goes_on(params: &RawJson, last: &mut f64) -> bool {
    let progress = params.object().and_then(|params| {
        let progress = params.get("progress")?;
        progress.parse::<f64>().ok()
    });
    let more = progress.filter(|progress| progress > last);
    *last = more.unwrap_or(*last);
    more.is_some()
}

fn fit(outcome: Outcome, capabilities: &RawJson, uri: Option<&str>) -> Result<Outcome> {
    match (&outcome, uri) {
        (Outcome::Complete { result, .. }, Some(uri)) if has_no_contents(result) => {
            Err(Error::resource_not_found(uri))
        }
        (Outcome::InputRequired(result), _) => match undeclared(result, capabilities) {
            Some(why) => Err(unavailable(&format!(
                "the source asks what its client did not say it can do: {why}"
            ))),
            None => Ok(outcome),
        },
        _ => Ok(outcome),
    }
}

fn has_no_contents(result: &RawJson) -> bool {
    let members = result.object();
    let contents = members.as_ref().and_then(|members| members.get("contents"));
    let inside = contents.and_then(|text| text.strip_prefix('[')?.strip_suffix(']'));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}

/// Why the client cannot be asked something of this, in words.
fn undeclared(result: &RawJson, capabilities: &RawJson) -> Option<String> {
    let questions = round(result)?.questions;
    let mut refused = questions
        .iter()
        .filter_map(|(_, kind, params)| capability_error(capabilities, *kind, params));
    refused.next().map(|why| why.message)
}
