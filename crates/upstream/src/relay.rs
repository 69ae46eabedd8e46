//! Carries one call to a server and what it says back.

use futures_util::StreamExt;
use tidegate_core::{Ask, Call, Error, Event, EventStream, Outcome, Result};
use tidegate_mcp::Answer;
use tidegate_mcp::revision::client::{Said, failure, outcome};
use tidegate_mcp::revision::{Method, Revision};

use crate::link::{Heard, Talk};

/// What a talk means to the one who called.
pub(crate) fn events(talk: Talk, revision: Revision, method: Method, call: &Call) -> EventStream {
    let uri = match &call.ask {
        Ask::Resource { uri } => Some(uri.clone()),
        _ => None,
    };
    let events = talk.filter_map(move |heard| {
        let event = match heard {
            Ok(Heard::Said(said)) => event(said).map(Ok),
            Ok(Heard::Answer(answer)) => {
                Some(done(answer, revision, method, uri.as_deref()).map(Event::Done))
            }
            Err(error) => Some(Err(error)),
        };
        std::future::ready(event)
    });
    events.boxed()
}

fn event(said: Said) -> Option<Event> {
    match said {
        Said::Progress { params, .. } => Some(Event::Progress(params)),
        Said::Log { level, params } => Some(Event::Log { level, params }),
        Said::Change(_) | Said::Acknowledged | Said::Other => None,
    }
}

fn done(
    answer: Answer,
    revision: Revision,
    method: Method,
    uri: Option<&str>,
) -> Result<Outcome, Error> {
    match answer {
        Answer::Result(result) => outcome(revision, &result),
        Answer::Error(error) => Err(failure(method, uri, error)),
    }
}
