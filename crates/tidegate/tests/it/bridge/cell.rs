//! One cell of the table: a client, a server, and their connections.

use std::rc::Rc;

use serde_json::{Value, json};

use super::client_session::ClientSession;
use super::clients::{Client, Transport};
use super::servers::{Server, Servers};
use super::transport::ClientTransport;
use crate::support::Server as Gateway;

/// All cells of one client, with gateways of its own: over stdio nothing assigns a message of a
/// server to one of several calls.
pub(super) struct Row {
    client: &'static Client,
    servers: Rc<Servers>,
    /// For a client that does not start its own gateway.
    gateway: Option<Gateway>,
    /// A gateway with short timeouts.
    short_timeout_gateway: Option<Gateway>,
    with_capabilities: Option<ClientSession>,
    without_capabilities: Option<ClientSession>,
    with_short_timeouts: Option<ClientSession>,
}

impl Row {
    pub(super) fn of(client: &'static Client, servers: &Rc<Servers>) -> Self {
        let start = |config: String| {
            let needs_one = client.transport != Transport::Stdio;
            needs_one.then(|| Gateway::with_config(&config))
        };
        Self {
            client,
            gateway: start(servers.config()),
            short_timeout_gateway: start(servers.short_timeout_config()),
            servers: Rc::clone(servers),
            with_capabilities: None,
            without_capabilities: None,
            with_short_timeouts: None,
        }
    }

    /// Closes all connections, after a failure that leaves unknown messages in flight.
    pub(super) fn reopen(&mut self) {
        self.with_capabilities = None;
        self.without_capabilities = None;
        self.with_short_timeouts = None;
    }
}

/// One cell.
pub(super) struct Cell<'a> {
    row: &'a mut Row,
    server: usize,
    /// A string that no other cell uses.
    pub(super) mark: String,
}

impl<'a> Cell<'a> {
    pub(super) fn new(row: &'a mut Row, server: usize) -> Self {
        let mark = row.servers.mark();
        Self { row, server, mark }
    }

    pub(super) fn client(&self) -> &'static Client {
        self.row.client
    }

    pub(super) fn server(&self) -> &Server {
        &self.row.servers.all[self.server]
    }

    /// Adds the mark to arguments.
    pub(super) fn marked(&self, mut arguments: Value) -> Value {
        arguments["mark"] = self.mark.clone().into();
        arguments
    }

    /// A client with all capabilities of its revision.
    pub(super) async fn with_capabilities(&mut self) -> &mut ClientSession {
        let opened = match self
            .row
            .with_capabilities
            .take()
            .filter(|_| self.is_shared())
        {
            Some(peer) => peer,
            None => self.open(self.client().capabilities()).await,
        };
        self.select_server(|row| row.with_capabilities.insert(opened))
    }

    /// A client without capabilities.
    pub(super) async fn without_capabilities(&mut self) -> &mut ClientSession {
        let opened = match self
            .row
            .without_capabilities
            .take()
            .filter(|_| self.is_shared())
        {
            Some(peer) => peer,
            None => self.open(json!({})).await,
        };
        self.select_server(|row| row.without_capabilities.insert(opened))
    }

    /// A client with all capabilities at the gateway with short timeouts.
    pub(super) async fn with_short_timeouts(&mut self) -> &mut ClientSession {
        let opened = match self
            .row
            .with_short_timeouts
            .take()
            .filter(|_| self.is_shared())
        {
            Some(peer) => peer,
            None => {
                let (with_capabilities, servers) =
                    (self.client().capabilities(), &self.row.servers);
                let gateway = self.row.short_timeout_gateway.as_ref();
                Box::pin(self.open_at(gateway, &servers.short_timeout_config(), with_capabilities))
                    .await
            }
        };
        self.select_server(|row| row.with_short_timeouts.insert(opened))
    }

    /// A separate client with these capabilities, which a test may close.
    pub(super) async fn separate_client(&self, capabilities: Value) -> ClientSession {
        let config = Servers::config_of(std::slice::from_ref(self.server()));
        Box::pin(self.open_at(self.row.gateway.as_ref(), &config, capabilities)).await
    }

    /// Whether all cells share one client: over stdio each client costs a gateway process.
    fn is_shared(&self) -> bool {
        self.client().transport == Transport::Stdio
    }

    fn select_server(
        &mut self,
        peer: impl FnOnce(&mut Row) -> &mut ClientSession,
    ) -> &mut ClientSession {
        let source = self.server().name;
        let peer = peer(self.row);
        source.clone_into(&mut peer.source);
        peer
    }

    async fn open(&self, capabilities: Value) -> ClientSession {
        let config = self.row.servers.config();
        Box::pin(self.open_at(self.row.gateway.as_ref(), &config, capabilities)).await
    }

    /// Opens a client of a gateway; over stdio, of one with this configuration.
    async fn open_at(
        &self,
        gateway: Option<&Gateway>,
        config: &str,
        capabilities: Value,
    ) -> ClientSession {
        let (client, source) = (self.client(), self.server().name);
        let transport = match (gateway, client.transport) {
            (None, _) => ClientTransport::stdio(config),
            (Some(gateway), Transport::Sse) => ClientTransport::sse(gateway.address).await,
            (Some(gateway), _) => {
                ClientTransport::http(gateway.address, &format!("/mcp/{source}"), client.revision)
            }
        };
        let mut peer = ClientSession::new(transport, client.revision, capabilities);
        source.clone_into(&mut peer.source);
        peer.all_sources = matches!(client.transport, Transport::Sse | Transport::Stdio);
        peer.batches = client.transport == Transport::Batches;
        peer.open().await;
        peer
    }
}
