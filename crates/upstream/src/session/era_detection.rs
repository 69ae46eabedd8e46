//! Detects the era of a server: `server/discover` first, then `initialize`.

use std::time::Duration;

use http::StatusCode;
use tidegate_core::{ClientContext, Error, Result, truncate_for_message};
use tidegate_mcp::revision::client::{
    EraVerdict, RequestEncoder, ServerFacts, era_verdict, modern_headers, parse_initialize_result,
    retry_hint,
};
use tidegate_mcp::{Era, Revision};

use super::own_requests::{RequestIds, RequestReply, request_reply};
use super::{DeclaredClient, Refusal, RequestChannel};
use crate::error::source_failed;

/// How long a server that has started may take to respond to a method that it may not know, and how
/// long it may take to start.
const DISCOVER_TIMEOUT: Duration = Duration::from_secs(5);
const START_TIMEOUT: Duration = Duration::from_secs(15);

/// How often `server/discover` is sent to a server that knows the method and rejects it.
const DISCOVER_ATTEMPTS: usize = 2;

/// What `server/discover` showed.
pub(crate) enum DetectedEra {
    Modern(ServerFacts),
    Legacy,
    /// No response in time, as from legacy servers that ignore unknown methods.
    NoResponse,
}

/// Sends `server/discover` with the newest revision. `is_known_modern` if the server is known to answer
/// it, however long that takes. An error if the server was not reached, or if
/// its response says nothing about its era.
pub(crate) async fn discover(
    channel: &dyn RequestChannel,
    ids: &RequestIds,
    is_known_modern: bool,
) -> Result<DetectedEra> {
    let encoder = RequestEncoder {
        revision: Revision::NEWEST,
        client: ClientContext::default(),
    };
    let mut rejected = None;
    for _ in 0..DISCOVER_ATTEMPTS {
        let request = encoder.discover(ids.next());
        let headers = modern_headers(encoder.revision, &request, None);
        let reply = tokio::select! {
            reply = request_reply(channel, request, headers) => reply,
            () = discover_timeout(channel), if !is_known_modern => {
                return Ok(DetectedEra::NoResponse);
            }
        };
        let response = match reply? {
            RequestReply::Refused(refusal) if is_inconclusive(&refusal) => {
                return Err(refusal.error());
            }
            RequestReply::Refused(_) => return Ok(DetectedEra::Legacy),
            RequestReply::Response(response) => response,
        };
        match era_verdict(encoder.revision, &response) {
            EraVerdict::Modern(facts) => return Ok(DetectedEra::Modern(facts)),
            EraVerdict::Legacy => return Ok(DetectedEra::Legacy),
            EraVerdict::Unsupported { versions } => return Err(unsupported_revisions(&versions)),
            EraVerdict::Retry => rejected = response.err(),
        }
    }
    let reason = rejected.map(|error| truncate_for_message(&error.message));
    let message = format!(
        "the source rejected `server/discover`: {}",
        reason.unwrap_or_default()
    );
    Err(source_failed(&message))
}

/// Waits until a server that does not answer has had enough time. A process needs time to start, too.
async fn discover_timeout(channel: &dyn RequestChannel) {
    tokio::time::timeout(START_TIMEOUT, channel.first_output())
        .await
        .ok();
    tokio::time::sleep(DISCOVER_TIMEOUT).await;
}

/// Whether a refusal says nothing about the era: it is about permissions or load.
fn is_inconclusive(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Credentials => true,
        Refusal::SessionEnded => false,
        Refusal::Status(status, _) => [
            StatusCode::FORBIDDEN,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ]
        .contains(status),
    }
}

fn unsupported_revisions(revisions: &[String]) -> Error {
    let revisions = truncate_for_message(&revisions.join(", "));
    source_failed(&format!(
        "the source supports only unknown protocol revisions: {revisions}"
    ))
}

/// Why a reachable server opened no session.
pub(super) enum SessionRefused {
    /// Its error is one that only modern servers send.
    ModernServer,
    /// It does not know `initialize`, or rejected it.
    Rejected(Error),
}

/// Opens a session for a client.
pub(super) async fn initialize(
    channel: &dyn RequestChannel,
    ids: &RequestIds,
    client: &DeclaredClient,
) -> Result<Result<ServerFacts, SessionRefused>> {
    let encoder = RequestEncoder {
        revision: Revision::NEWEST_LEGACY,
        client: ClientContext {
            capabilities: client.capabilities.clone(),
            client_info: client.info.clone(),
            ..ClientContext::default()
        },
    };
    let request = encoder.initialize(ids.next());
    let response = match request_reply(channel, request, Vec::new()).await? {
        RequestReply::Response(response) => response,
        RequestReply::Refused(refusal) if is_inconclusive(&refusal) => return Err(refusal.error()),
        RequestReply::Refused(refusal) => {
            return Ok(Err(SessionRefused::Rejected(refusal.error())));
        }
    };
    Ok(match response {
        Ok(result) => parse_initialize_result(&result)
            .filter(|facts| facts.revision.era() == Era::Legacy)
            .ok_or_else(|| {
                let message = "the source chose an unknown protocol revision";
                SessionRefused::Rejected(source_failed(message))
            }),
        Err(error) if retry_hint(&error).is_some() => Err(SessionRefused::ModernServer),
        Err(error) => {
            let reason = truncate_for_message(&error.message);
            let message = format!("the source rejected `initialize`: {reason}");
            Err(SessionRefused::Rejected(source_failed(&message)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_about_credentials_or_load_say_nothing_about_the_era() {
        let refusal = |status| Refusal::with_body(StatusCode::from_u16(status).unwrap(), b"");
        for status in [400, 404, 405, 406, 500, 501] {
            assert!(!is_inconclusive(&refusal(status)), "{status}");
        }
        for status in [403, 429, 502, 503, 504] {
            assert!(is_inconclusive(&refusal(status)), "{status}");
        }
        let refusal = Refusal::from_status(StatusCode::UNAUTHORIZED).unwrap();
        assert!(is_inconclusive(&refusal));
        assert!(refusal.error().message().contains("`headers`"));
        assert_eq!(Refusal::from_status(StatusCode::NOT_FOUND), None);
    }
}
