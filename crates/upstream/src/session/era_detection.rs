//! Asks a server how it speaks: whether it can do without sessions, and if not, for one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use http::StatusCode;
use tidegate_core::{ClientContext, Declined, Error, RawJson, Result, truncate_for_message};
use tidegate_mcp::revision::client::{
    EraVerdict, OutboundRequest, RequestEncoder, ServerFacts, era_verdict, modern_headers,
    parse_initialize_result, retry_hint,
};
use tidegate_mcp::revision::question::encode_answer;
use tidegate_mcp::{Era, RequestId, ResponseBody, Revision, RpcError};

use crate::session::{Heard, Link, Refusal, unavailable};

/// How long a server may take to answer a question it may never have heard of.
const PROBE: Duration = Duration::from_secs(5);

/// How often a server is asked that knows the question and does not take it.
const TRIES: usize = 2;

/// The numbers of the requests on one link.
#[derive(Default)]
pub(crate) struct Numbers(AtomicU64);

impl Numbers {
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// How a server speaks.
pub(crate) enum Probed {
    Modern(ServerFacts),
    Legacy,
    /// It said nothing: as legacy servers may that do not know the question.
    Silent,
}

/// Asks for the newest revision. An error if the server was not reached, or wants something else
/// first: that tells nothing of how it speaks.
pub(crate) async fn discover(link: &dyn Link, numbers: &Numbers) -> Result<Probed> {
    let encoder = RequestEncoder {
        revision: Revision::NEWEST,
        client: ClientContext::default(),
    };
    let mut refused = None;
    for _ in 0..TRIES {
        let outbound = encoder.discover(numbers.next());
        let headers = modern_headers(encoder.revision, &outbound, None);
        let asked = put(link, outbound, headers);
        let Ok(answered) = tokio::time::timeout(PROBE, asked).await else {
            return Ok(Probed::Silent);
        };
        let answer = match answered? {
            Answered::Refused(refusal) if says_nothing(refusal) => return Err(refusal.error()),
            Answered::Refused(_) => return Ok(Probed::Legacy),
            Answered::Answer(answer) => answer,
        };
        match era_verdict(encoder.revision, &answer) {
            EraVerdict::Modern(facts) => return Ok(Probed::Modern(facts)),
            EraVerdict::Legacy => return Ok(Probed::Legacy),
            EraVerdict::Unsupported { versions } => return Err(foreign(&versions)),
            EraVerdict::Retry => refused = answer.err(),
        }
    }
    let why = refused
        .map(|error| truncate_for_message(&error.message))
        .unwrap_or_default();
    let message = format!("the source does not say what it can do: {why}");
    Err(unavailable(&message))
}

/// Whether a refusal is about something else than the question: who asks, or when.
fn says_nothing(refusal: Refusal) -> bool {
    match refusal {
        Refusal::Credentials(_) => true,
        Refusal::SessionEnded => false,
        Refusal::Status(status) => [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ]
        .contains(&status),
    }
}

fn foreign(spoken: &[String]) -> Error {
    let spoken = truncate_for_message(&spoken.join(", "));
    unavailable(&format!(
        "the source speaks only revisions that we do not: {spoken}"
    ))
}

/// Why a server that was reached opens no session.
pub(crate) enum Unwelcome {
    /// It has none: it says so as only servers without sessions do.
    Modern,
    /// It does not understand the question, or does not like it.
    Refused(Error),
}

/// Opens a session for clients that can do this.
pub(crate) async fn initialize(
    link: &dyn Link,
    numbers: &Numbers,
    capabilities: &RawJson,
) -> Result<Result<ServerFacts, Unwelcome>> {
    let encoder = RequestEncoder {
        revision: Revision::NEWEST_LEGACY,
        client: ClientContext {
            capabilities: capabilities.clone(),
            ..ClientContext::default()
        },
    };
    let answer = match put(link, encoder.initialize(numbers.next()), Vec::new()).await? {
        Answered::Answer(answer) => answer,
        Answered::Refused(refusal) if says_nothing(refusal) => return Err(refusal.error()),
        Answered::Refused(refusal) => return Ok(Err(Unwelcome::Refused(refusal.error()))),
    };
    Ok(match answer {
        Ok(result) => parse_initialize_result(&result)
            .filter(|facts| facts.revision.era() == Era::Legacy)
            .ok_or_else(|| {
                let message = "the source speaks a revision that we do not";
                Unwelcome::Refused(unavailable(message))
            }),
        Err(error) if retry_hint(&error).is_some() => Err(Unwelcome::Modern),
        Err(error) => {
            let words = truncate_for_message(&error.message);
            let why = format!("the source refused to open a session: {words}");
            Err(Unwelcome::Refused(unavailable(&why)))
        }
    })
}

/// The answer to a question that no client is there for.
fn declined(id: &RequestId) -> String {
    let message = "no client is there to answer this".to_owned();
    encode_answer(
        id,
        Err(Declined {
            code: None,
            message,
        }),
    )
}

/// What a server that was reached did with a request.
enum Answered {
    Answer(Result<RawJson, RpcError>),
    Refused(Refusal),
}

/// The answer to one request; what is said on the way is let be.
pub(crate) async fn ask(
    link: &dyn Link,
    outbound: OutboundRequest,
    headers: Vec<(String, String)>,
) -> Result<Result<RawJson, RpcError>> {
    match put(link, outbound, headers).await? {
        Answered::Answer(answer) => Ok(answer),
        Answered::Refused(refusal) => Err(refusal.error()),
    }
}

async fn put(
    link: &dyn Link,
    outbound: OutboundRequest,
    headers: Vec<(String, String)>,
) -> Result<Answered> {
    let mut talk = link.request(outbound, headers);
    while let Some(heard) = talk.next().await {
        match heard? {
            Heard::Answer(ResponseBody::Result(result)) => return Ok(Answered::Answer(Ok(result))),
            Heard::Answer(ResponseBody::Error(error)) => return Ok(Answered::Answer(Err(error))),
            Heard::Refused(refusal) => return Ok(Answered::Refused(refusal)),
            // Nobody is there to answer: the server hears that from the one who owns the link.
            Heard::Question { id, .. } => link.notify(declined(&id)).await?,
            Heard::ServerNotification(_) => {}
        }
    }
    Err(unavailable("the source did not answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_of_the_question_tells_how_a_server_speaks() {
        for status in [400, 404, 405, 406, 500, 501] {
            let status = StatusCode::from_u16(status).unwrap();
            assert!(!says_nothing(Refusal::Status(status)), "{status}");
        }
        for status in [429, 502, 503, 504] {
            let status = StatusCode::from_u16(status).unwrap();
            assert!(says_nothing(Refusal::Status(status)), "{status}");
        }
        let refusal = Refusal::of(StatusCode::UNAUTHORIZED).unwrap();
        assert!(says_nothing(refusal) && refusal.error().message().contains("`headers`"));
        assert_eq!(Refusal::of(StatusCode::NOT_FOUND), None);
    }
}
