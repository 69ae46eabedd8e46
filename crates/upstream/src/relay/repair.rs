//! Drops or repairs server messages that violate the protocol: progress that does not increase, and
//! empty reads.

use futures_util::StreamExt;
use tidegate_core::{Call, Error, Event, EventStream, Operation, Outcome, RawJson, Result};
use tidegate_mcp::Era;

/// The events of a call as its client may receive them.
pub(super) fn repair(events: EventStream, call: &Call, server: Era) -> EventStream {
    // A legacy server may return no contents; in the modern era that is "not found".
    let uri = match (&call.operation, server) {
        (Operation::Resource { uri }, Era::Legacy) if call.client.era == Era::Modern => {
            Some(uri.clone())
        }
        _ => None,
    };
    let mut last_progress = f64::NEG_INFINITY;
    let events = events.filter_map(move |event| {
        let event = match event {
            Ok(Event::Progress(params)) => {
                let increases = increases(&params, &mut last_progress);
                increases.then_some(Ok(Event::Progress(params)))
            }
            Ok(Event::Done(outcome)) => {
                let repaired = reject_empty_read(outcome, uri.as_deref());
                Some(repaired.map(Event::Done))
            }
            event => Some(event),
        };
        std::future::ready(event)
    });
    events.boxed()
}

/// Whether a progress notification increases, as the protocol requires.
fn increases(params: &RawJson, last: &mut f64) -> bool {
    let progress = params.object().and_then(|params| {
        let progress = params.get("progress")?;
        progress.parse::<f64>().ok()
    });
    let increased = progress.filter(|progress| progress > last);
    *last = increased.unwrap_or(*last);
    increased.is_some()
}

fn reject_empty_read(outcome: Outcome, uri: Option<&str>) -> Result<Outcome> {
    match (&outcome, uri) {
        (Outcome::Complete { result, .. }, Some(uri)) if has_no_contents(result) => {
            Err(Error::resource_not_found(uri))
        }
        _ => Ok(outcome),
    }
}

fn has_no_contents(result: &RawJson) -> bool {
    let members = result.object();
    let contents = members.as_ref().and_then(|members| members.get("contents"));
    let elements = contents.and_then(|text| text.strip_prefix('[')?.strip_suffix(']'));
    elements.is_some_and(|elements| elements.trim_ascii().is_empty())
}
