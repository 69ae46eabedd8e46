//! Selects the connection of a call: that of its client, or the catalog connection.

use std::sync::atomic::Ordering::Relaxed;

use tidegate_core::{Call, Code, Result};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ServerFacts;

use super::{Pool, PooledConnection};
use crate::client_key::ClientKey;
use crate::config::{RemoteConfig, TransportConfig};
use crate::session::era_affinity::{SessionUse, session_use};

impl Pool {
    /// Whether the client that made a call has an open connection.
    pub(crate) fn has_connection(
        &self,
        config: &RemoteConfig,
        facts: &ServerFacts,
        call: &Call,
    ) -> bool {
        let principal = &call.caller.principal;
        let key = ClientKey::for_client(config, facts, principal, &call.client);
        key.is_some_and(|key| self.current(&key).is_some())
    }

    /// The connection of the client that made a call; `None` for the catalog connection.
    pub(crate) async fn select(
        &self,
        facts: &ServerFacts,
        call: &Call,
    ) -> Result<Option<PooledConnection>> {
        let config = &self.opener.config;
        // A process belongs to the client in either era. Without one, a server that turns out to have no
        // sessions is used over the catalog connection.
        let is_process = matches!(config.transport, TransportConfig::Stdio(_));
        let session_use = session_use(config, facts, &call.client);
        let is_attempt = !is_process && session_use == SessionUse::IfSupported;
        if is_attempt && self.lacks_sessions.load(Relaxed) {
            return Ok(None);
        }
        let principal = &call.caller.principal;
        let Some(key) = ClientKey::for_client(config, facts, principal, &call.client) else {
            return Ok(None);
        };
        match self.acquire(&key, &call.client).await {
            Err(error) if is_attempt && error.code() != Code::SourceDown => {
                self.lacks_sessions.store(true, Relaxed);
                Ok(None)
            }
            Ok(pooled) => {
                // The handshake may have found that the server is modern only. Remember that.
                let is_modern = pooled.connection.facts.revision.era() == Era::Modern;
                self.lacks_sessions
                    .store(key.in_session && is_modern, Relaxed);
                // All rounds of a call use the same connection: another process does not know what
                // this one asked.
                Ok((!(is_attempt && is_modern)).then_some(pooled))
            }
            Err(error) => Err(error),
        }
    }
}
