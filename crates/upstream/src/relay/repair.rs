//! What a server says and a client must not be given: progress that is none, a read of nothing.

use futures_util::StreamExt;
use tidegate_core::{Call, Error, Event, EventStream, Operation, Outcome, RawJson, Result};
use tidegate_mcp::Era;

/// The same events, as the client of a call may have them.
pub(super) fn for_its_client(events: EventStream, call: &Call, server: Era) -> EventStream {
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
                let fit = fit(outcome, uri.as_deref());
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

fn fit(outcome: Outcome, uri: Option<&str>) -> Result<Outcome> {
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
    let inside = contents.and_then(|text| text.strip_prefix('[')?.strip_suffix(']'));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}
