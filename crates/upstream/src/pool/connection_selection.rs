//! Selects the connection of a call: the default one, a pooled one that it shares with similar
//! calls, or a dedicated one.

use std::sync::atomic::Ordering::Relaxed;

use tidegate_core::{Call, Code, RawJson, Result};
use tidegate_interaction::capabilities::{accepts_questions, declares_roots};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ServerFacts;

use super::{Pool, PooledConnection, ShardKey};
use crate::config::{RemoteConfig, Sharing};
use crate::session::Connection;
use crate::session::era_affinity::{SessionUse, declared_capabilities, session_use};

/// The kind of connection that a call is made on.
#[derive(Debug, PartialEq, Eq)]
enum Selection {
    /// The default connection, on which clients cannot be asked questions.
    Everyone,
    /// A connection that the calls of one shard use.
    Pooled(ShardKey),
    /// A dedicated connection, with these capabilities.
    Exclusive(RawJson),
}

impl Pool {
    /// The connection for a call; `None` for the default connection, `everyone`.
    pub(crate) async fn select(
        &self,
        everyone: &Connection,
        call: &Call,
    ) -> Result<Option<PooledConnection>> {
        let config = &self.opener.config;
        let session_use = session_use(config, &everyone.facts, &call.client);
        let is_attempt = session_use == SessionUse::IfSupported;
        if is_attempt && everyone.lacks_sessions.load(Relaxed) {
            return Ok(None);
        }
        let selected = match Selection::of(config, &everyone.facts, call) {
            Selection::Everyone => return Ok(None),
            Selection::Pooled(key) => self.acquire(&key).await,
            Selection::Exclusive(capabilities) => {
                let principal = &call.caller.principal;
                self.open_exclusive(principal, &capabilities).await
            }
        };
        match selected {
            Err(error) if is_attempt && error.code() != Code::SourceDown => {
                everyone.lacks_sessions.store(true, Relaxed);
                Ok(None)
            }
            Ok(pooled) => {
                // The handshake may have found that the server is modern only. Remember that.
                let is_modern = pooled.connection.facts.revision.era() == Era::Modern;
                everyone.lacks_sessions.store(is_modern, Relaxed);
                // All rounds of a call use the same connection: another process does not know what
                // this one asked.
                Ok((!(is_attempt && is_modern)).then_some(pooled))
            }
            Err(error) => Err(error),
        }
    }
}

impl Selection {
    fn of(config: &RemoteConfig, facts: &ServerFacts, call: &Call) -> Self {
        let client = &call.client;
        let capabilities = declared_capabilities(config, client);
        let everyone_has_session = facts.revision.era() == Era::Legacy;
        match config.sharing {
            _ if session_use(config, facts, client) == SessionUse::Never => Self::Everyone,
            Sharing::Call => Self::Exclusive(capabilities),
            _ if everyone_has_session && !accepts_questions(&capabilities) => Self::Everyone,
            Sharing::All => Self::Pooled(ShardKey {
                principal: None,
                capabilities,
                affinity: None,
            }),
            // A server remembers the roots it was sent: they belong to one client's session.
            Sharing::Principal if declares_roots(&capabilities) && client.era == Era::Modern => {
                Self::Exclusive(capabilities)
            }
            Sharing::Principal => Self::Pooled(ShardKey {
                principal: Some(call.caller.principal.clone()),
                affinity: client.affinity.filter(|_| declares_roots(&capabilities)),
                capabilities,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
