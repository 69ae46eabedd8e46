//! Selects the connection of a call: that of its client, or the catalog connection.

use tidegate_core::{Call, Code, Result};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ServerFacts;

use super::{Pool, PooledConnection};
use crate::client_key::ClientKey;
use crate::config::{RemoteConfig, TransportConfig};

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
        let principal = &call.caller.principal;
        let Some(key) = ClientKey::for_client(config, facts, principal, &call.client) else {
            return Ok(None);
        };
        // A process belongs to its client in either era. Without one, a modern server that refuses a
        // session is used over the catalog connection.
        let is_process = matches!(config.transport, TransportConfig::Stdio(_));
        let is_dual_era = !is_process && facts.revision.era() == Era::Modern;
        match self.acquire(&key, &call.client).await {
            Err(error) if is_dual_era && error.code() != Code::SourceDown => Ok(None),
            Ok(pooled) => {
                let is_modern = pooled.connection.facts.revision.era() == Era::Modern;
                Ok((!(is_dual_era && is_modern)).then_some(pooled))
            }
            Err(error) => Err(error),
        }
    }
}
