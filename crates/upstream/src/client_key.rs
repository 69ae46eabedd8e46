//! Which clients share a connection to a server: the one place that decides it.

use tidegate_core::{AffinityKey, ClientContext, Principal, RawJson};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ServerFacts;

use crate::config::{RemoteConfig, Sharing, TransportConfig};
use crate::session::DeclaredClient;
use crate::session::era_affinity::{SessionUse, declared_capabilities, session_use};

/// The clients that share a connection: one, unless the configuration says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClientKey {
    /// `None` where all principals share.
    pub(crate) principal: Option<Principal>,
    pub(crate) identity: ClientIdentity,
    /// Whether the server is used in a legacy session.
    pub(crate) in_session: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientIdentity {
    /// A client with a session.
    Session(AffinityKey),
    /// A client without a session is recognized by its connection to the gateway, if that is its own,
    /// and by what it declares.
    Declared {
        connection: Option<AffinityKey>,
        info: Option<RawJson>,
        capabilities: RawJson,
    },
    /// All clients with these capabilities.
    Capabilities(RawJson),
    /// One call.
    Call(AffinityKey),
}

impl ClientKey {
    /// The key of a client; `None` if its calls use the catalog connection, which all clients share.
    pub(crate) fn for_client(
        config: &RemoteConfig,
        facts: &ServerFacts,
        principal: &Principal,
        client: &ClientContext,
    ) -> Option<Self> {
        let is_process = matches!(config.transport, TransportConfig::Stdio(_));
        let in_session = session_use(config, facts, client) != SessionUse::Never;
        let sharing = config.effective_sharing();
        let shares_catalog_connection = match sharing {
            // A server at a URL that supports both eras needs a session for its legacy clients.
            Sharing::Shared => is_process || in_session == (facts.revision.era() == Era::Legacy),
            // Without a session, a server at a URL keeps nothing for a client.
            Sharing::Session | Sharing::Principal | Sharing::Call => !is_process && !in_session,
        };
        if shares_catalog_connection {
            return None;
        }
        let capabilities = declared_capabilities(config, client);
        let session = client.affinity.filter(|_| client.era == Era::Legacy);
        let identity = match (sharing, session) {
            (Sharing::Session, Some(affinity)) => ClientIdentity::Session(affinity),
            (Sharing::Session, None) => ClientIdentity::Declared {
                connection: client.affinity,
                info: client.client_info.clone(),
                capabilities,
            },
            (Sharing::Principal | Sharing::Shared, _) => ClientIdentity::Capabilities(capabilities),
            (Sharing::Call, _) => ClientIdentity::Call(AffinityKey::generate()),
        };
        Some(Self {
            principal: (sharing != Sharing::Shared).then(|| principal.clone()),
            identity,
            in_session,
        })
    }

    /// The session or connection of the client to the gateway, if it has one.
    pub(crate) fn affinity(&self) -> Option<AffinityKey> {
        match &self.identity {
            ClientIdentity::Session(affinity) => Some(*affinity),
            ClientIdentity::Declared { connection, .. } => *connection,
            ClientIdentity::Capabilities(_) | ClientIdentity::Call(_) => None,
        }
    }

    /// Whether two clients differ at most in what they declare.
    pub(crate) fn is_similar(&self, other: &Self) -> bool {
        let kind = |key: &Self| std::mem::discriminant(&key.identity);
        self.principal == other.principal
            && self.in_session == other.in_session
            && self.affinity() == other.affinity()
            && kind(self) == kind(other)
    }

    /// Whether the client declares nothing about itself. The server sees no difference between it and
    /// the gateway.
    pub(crate) fn is_anonymous(&self) -> bool {
        match &self.identity {
            ClientIdentity::Declared {
                connection: None,
                info: None,
                capabilities,
            } => capabilities.as_str() == "{}",
            _ => false,
        }
    }

    /// What is declared to the server on a connection with this key.
    pub(crate) fn declaration(
        &self,
        config: &RemoteConfig,
        client: &ClientContext,
    ) -> DeclaredClient {
        let is_one_client = !matches!(self.identity, ClientIdentity::Capabilities(_));
        DeclaredClient {
            capabilities: declared_capabilities(config, client),
            info: client.client_info.clone().filter(|_| is_one_client),
        }
    }
}

#[cfg(test)]
mod tests;
