//! Carries one call to a server and what it says back.

use std::sync::Arc;

use futures_util::StreamExt;
use tidegate_core::{Ask, Call, Error, Event, EventStream, Outcome, Question, Result};
use tidegate_mcp::Answer;
use tidegate_mcp::revision::client::{Said, failure, outcome};
use tidegate_mcp::revision::question::response;
use tidegate_mcp::revision::{Method, Revision};

use crate::link::{Heard, Link, Talk};

/// What a talk means to the one who called.
pub(crate) fn events(
    talk: Talk,
    link: Arc<dyn Link>,
    revision: Revision,
    method: Method,
    call: &Call,
) -> EventStream {
    let uri = match &call.ask {
        Ask::Resource { uri } => Some(uri.clone()),
        _ => None,
    };
    let events = talk.filter_map(move |heard| {
        let event = match heard {
            Ok(Heard::Said(said)) => event(said).map(Ok),
            Ok(Heard::Question { id, kind, params }) => {
                let (question, pending) = Question::new(kind, params);
                let link = Arc::clone(&link);
                tokio::spawn(async move {
                    let answer = response(&id, pending.wait().await);
                    link.notify(answer).await.ok();
                });
                Some(Ok(Event::Question(question)))
            }
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
