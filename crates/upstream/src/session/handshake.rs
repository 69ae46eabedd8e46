//! The first requests on a connection: era detection, and a session if the server needs one.

use tidegate_core::{ClientContext, Error};
use tidegate_interaction::capabilities::declares_roots;
use tidegate_mcp::revision::client::{RequestEncoder, ServerFacts};

use super::era_detection::{DetectedEra, SessionRefused, discover, initialize};
use super::own_requests::RequestIds;
use super::{DeclaredClient, NegotiatedSession, RequestChannel};
use crate::error::source_failed;

/// Which eras to try, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EraPreference {
    /// Modern if the server supports it, otherwise legacy.
    ModernFirst,
    /// Legacy: the server is known to need sessions, or to support them too.
    LegacyFirst,
    LegacyOnly,
    ModernOnly,
}

/// The result of a handshake.
pub(super) struct Handshake {
    pub(super) facts: ServerFacts,
    /// Whether era detection had to wait for its timeout.
    pub(super) detection_timed_out: bool,
}

/// Why a handshake failed.
pub(super) enum HandshakeError {
    /// The server was not reached, or its response says nothing about its era.
    Inconclusive(Error),
    /// The server did not respond to the first request. It may still do so.
    NoResponse(Error),
    /// The server was reached and supports neither era on this transport.
    Rejected(Error),
}

impl From<Error> for HandshakeError {
    fn from(error: Error) -> Self {
        Self::Inconclusive(error)
    }
}

impl From<HandshakeError> for Error {
    fn from(failed: HandshakeError) -> Self {
        match failed {
            HandshakeError::Inconclusive(error)
            | HandshakeError::NoResponse(error)
            | HandshakeError::Rejected(error) => error,
        }
    }
}

/// Detects the era of a server, and opens a session if it is a legacy server.
pub(super) async fn handshake(
    channel: &dyn RequestChannel,
    ids: &RequestIds,
    client: &DeclaredClient,
    preference: EraPreference,
) -> Result<Handshake, HandshakeError> {
    let mut detection_timed_out = false;
    if matches!(
        preference,
        EraPreference::ModernFirst | EraPreference::ModernOnly
    ) {
        let is_known_modern = preference == EraPreference::ModernOnly;
        match discover(channel, ids, is_known_modern).await? {
            DetectedEra::Modern(facts) => return Ok(modern(facts)),
            _ if preference == EraPreference::ModernOnly => {
                let message = "the source needs a session, but is used without one; check `era`";
                return Err(HandshakeError::Inconclusive(source_failed(message)));
            }
            DetectedEra::Legacy => {}
            // Over HTTP, requests are independent of each other.
            DetectedEra::NoResponse if channel.has_headers() => detection_timed_out = true,
            DetectedEra::NoResponse => {
                let message = "the source did not respond to `server/discover`";
                return Err(HandshakeError::NoResponse(source_failed(message)));
            }
        }
    }
    match initialize(channel, ids, client).await? {
        Ok(facts) => {
            begin_session(channel, &facts, client).await?;
            Ok(Handshake {
                facts,
                detection_timed_out,
            })
        }
        // A process with a legacy client may be a modern server. Over HTTP that is known.
        Err(SessionRefused::Rejected(error))
            if preference == EraPreference::LegacyFirst && !channel.has_headers() =>
        {
            match discover(channel, ids, false).await? {
                DetectedEra::Modern(facts) => Ok(modern(facts)),
                DetectedEra::Legacy | DetectedEra::NoResponse => {
                    Err(HandshakeError::Rejected(error))
                }
            }
        }
        Err(SessionRefused::Rejected(error)) => Err(HandshakeError::Rejected(error)),
        Err(SessionRefused::ModernServer) if preference == EraPreference::LegacyOnly => {
            let message = "the source has no sessions, but is configured with `era: legacy`";
            Err(HandshakeError::Inconclusive(source_failed(message)))
        }
        // The server was not ready for the first request, or has been replaced since.
        Err(SessionRefused::ModernServer) => match discover(channel, ids, true).await? {
            DetectedEra::Modern(facts) => Ok(modern(facts)),
            DetectedEra::Legacy | DetectedEra::NoResponse => {
                let message = "the source supports neither sessions nor requests without one";
                Err(HandshakeError::Inconclusive(source_failed(message)))
            }
        },
    }
}

fn modern(facts: ServerFacts) -> Handshake {
    Handshake {
        facts,
        detection_timed_out: false,
    }
}

/// Begins the session that `initialize` negotiated.
async fn begin_session(
    channel: &dyn RequestChannel,
    facts: &ServerFacts,
    client: &DeclaredClient,
) -> Result<(), Error> {
    channel.begin_session(NegotiatedSession {
        revision: facts.revision,
        declares_roots: declares_roots(&client.capabilities),
    });
    let encoder = RequestEncoder {
        revision: facts.revision,
        client: ClientContext::default(),
    };
    channel.send(encoder.initialized(), Vec::new()).await?;
    channel.open_session_stream().await;
    Ok(())
}
