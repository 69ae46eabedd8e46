//! On which link a call is made: everyone's, one that it shares with its like, or one of its own.

use std::sync::atomic::Ordering::Relaxed;

use tidegate_core::{Call, ClientContext, Code, RawJson, Result};
use tidegate_interaction::capabilities::{accepts_questions, declares_roots};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ServerFacts;

use crate::config::{EraSetting, RemoteConfig, Sharing};
use crate::pool::{LaneKey, Leased};
use crate::remote::Remote;
use crate::session::connect::Open;

/// Where a call is made.
enum Lease {
    /// On the link that speaks for everyone, and asks nobody.
    Everyones,
    Lane(LaneKey),
    /// On a link of its own, with these capabilities.
    Own(RawJson),
}

impl Remote {
    /// The link that a call is made on; none where it is everyone's.
    pub(crate) async fn leased(&self, shared: &Open, call: &Call) -> Result<Option<Leased>> {
        let in_session = in_session(&self.config, &shared.facts, &call.client);
        let is_unsure = in_session == InSession::IfThereAreAny;
        if is_unsure && shared.has_no_sessions.load(Relaxed) {
            return Ok(None);
        }
        let leased = match Lease::of(&self.config, &shared.facts, call) {
            Lease::Everyones => return Ok(None),
            Lease::Lane(key) => self.pool.lease(&self.config, &key).await,
            Lease::Own(capabilities) => {
                let principal = &call.caller.principal;
                self.pool.own(&self.config, principal, &capabilities).await
            }
        };
        match leased {
            Err(error) if is_unsure && error.code() != Code::SourceDown => {
                shared.has_no_sessions.store(true, Relaxed);
                Ok(None)
            }
            Ok(leased) => {
                // It may speak without one after all. Once is enough to find out.
                let is_stateless = leased.open.facts.revision.era() == Era::Modern;
                shared.has_no_sessions.store(is_stateless, Relaxed);
                // All rounds of a call go one way: a program need not know what another one asked.
                Ok((!(is_unsure && is_stateless)).then_some(leased))
            }
            Err(error) => Err(error),
        }
    }
}

impl Lease {
    fn of(config: &RemoteConfig, facts: &ServerFacts, call: &Call) -> Self {
        let client = &call.client;
        let capabilities = declared(config, client);
        let as_we_speak = facts.revision.era() == Era::Legacy;
        let can_be_asked = accepts_questions(&capabilities);
        match config.sharing {
            _ if in_session(config, facts, client) == InSession::No => Self::Everyones,
            Sharing::Call => Self::Own(capabilities),
            _ if as_we_speak && !can_be_asked => Self::Everyones,
            Sharing::All => Self::Lane(LaneKey {
                principal: None,
                capabilities,
                affinity: None,
            }),
            // A server remembers the roots it was sent: they belong to one client's session.
            Sharing::Principal if declares_roots(&capabilities) && client.stateless => {
                Self::Own(capabilities)
            }
            Sharing::Principal => Self::Lane(LaneKey {
                principal: Some(call.caller.principal.clone()),
                affinity: client.affinity.filter(|_| declares_roots(&capabilities)),
                capabilities,
            }),
        }
    }
}

/// Whether a server is spoken to in a session for a client: in its client's way where it can do both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InSession {
    Yes,
    No,
    /// If it turns out to have sessions. Many that do name only the revision they were asked in,
    /// and ask clients nothing without one.
    IfThereAreAny,
}

pub(crate) fn in_session(
    config: &RemoteConfig,
    facts: &ServerFacts,
    client: &ClientContext,
) -> InSession {
    let can_be_asked = || accepts_questions(&declared(config, client));
    match facts.revision.era() {
        Era::Legacy => InSession::Yes,
        Era::Modern if client.stateless => InSession::No,
        Era::Modern if facts.supports_sessions => InSession::Yes,
        Era::Modern if config.speaks == EraSetting::Auto && can_be_asked() => {
            InSession::IfThereAreAny
        }
        Era::Modern => InSession::No,
    }
}

/// What the server is told that a client can do.
pub(crate) fn declared(config: &RemoteConfig, client: &ClientContext) -> RawJson {
    match config.sharing {
        Sharing::All => RawJson::empty_object(),
        Sharing::Principal | Sharing::Call => client.capabilities.clone(),
    }
}
