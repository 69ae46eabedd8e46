//! One cell of the table while it is tried: a client, a server, and the conversations between them.

use std::rc::Rc;

use serde_json::{Value, json};

use super::clients::{Client, Way};
use super::peer::Peer;
use super::servers::{Server, World};
use super::wire::Wire;
use crate::support::Server as Gateway;

/// All cells of one client, with gateways of its own: on a pipe to a server, nothing tells to which
/// of several calls a word belongs.
pub(super) struct Row {
    client: &'static Client,
    world: Rc<World>,
    /// For a client that does not start one itself.
    gateway: Option<Gateway>,
    /// One that waits for nobody for long.
    hasty_gateway: Option<Gateway>,
    able: Option<Peer>,
    quiet: Option<Peer>,
    hurried: Option<Peer>,
}

impl Row {
    pub(super) fn of(client: &'static Client, world: &Rc<World>) -> Self {
        let start = |config: String| {
            let needs_one = client.way != Way::Stdio;
            needs_one.then(|| Gateway::with_config(&config))
        };
        Self {
            client,
            gateway: start(world.config()),
            hasty_gateway: start(world.hasty_config()),
            world: Rc::clone(world),
            able: None,
            quiet: None,
            hurried: None,
        }
    }

    /// Begins anew, because nobody knows what is still on its way.
    pub(super) fn reopen(&mut self) {
        self.able = None;
        self.quiet = None;
        self.hurried = None;
    }
}

/// One cell.
pub(super) struct Cell<'a> {
    row: &'a mut Row,
    server: usize,
    /// A word that no other cell uses.
    pub(super) mark: String,
}

impl<'a> Cell<'a> {
    pub(super) fn new(row: &'a mut Row, server: usize) -> Self {
        let mark = row.world.mark();
        Self { row, server, mark }
    }

    pub(super) fn client(&self) -> &'static Client {
        self.row.client
    }

    pub(super) fn server(&self) -> &Server {
        &self.row.world.servers[self.server]
    }

    /// Arguments that carry the mark.
    pub(super) fn marked(&self, mut arguments: Value) -> Value {
        arguments["mark"] = self.mark.clone().into();
        arguments
    }

    /// A client that can answer all that its revision knows.
    pub(super) async fn able(&mut self) -> &mut Peer {
        let opened = match self.row.able.take().filter(|_| self.stays_open()) {
            Some(peer) => peer,
            None => self.open(self.client().abilities()).await,
        };
        self.before_this_server(|row| row.able.insert(opened))
    }

    /// A client that can be asked nothing.
    pub(super) async fn quiet(&mut self) -> &mut Peer {
        let opened = match self.row.quiet.take().filter(|_| self.stays_open()) {
            Some(peer) => peer,
            None => self.open(json!({})).await,
        };
        self.before_this_server(|row| row.quiet.insert(opened))
    }

    /// A client that can answer, but is not waited for for long.
    pub(super) async fn hurried(&mut self) -> &mut Peer {
        let opened = match self.row.hurried.take().filter(|_| self.stays_open()) {
            Some(peer) => peer,
            None => {
                let (able, world) = (self.client().abilities(), &self.row.world);
                let gateway = self.row.hasty_gateway.as_ref();
                Box::pin(self.open_at(gateway, &world.hasty_config(), able)).await
            }
        };
        self.before_this_server(|row| row.hurried.insert(opened))
    }

    /// A client of its own, which can do just that, and can go away.
    pub(super) async fn another(&self, capabilities: Value) -> Peer {
        let config = World::config_of(std::slice::from_ref(self.server()));
        Box::pin(self.open_at(self.row.gateway.as_ref(), &config, capabilities)).await
    }

    /// Whether one client is there for all cells: it costs a gateway to have another.
    fn stays_open(&self) -> bool {
        self.client().way == Way::Stdio
    }

    fn before_this_server(&mut self, peer: impl FnOnce(&mut Row) -> &mut Peer) -> &mut Peer {
        let source = self.server().name;
        let peer = peer(self.row);
        source.clone_into(&mut peer.source);
        peer
    }

    async fn open(&self, capabilities: Value) -> Peer {
        let config = self.row.world.config();
        Box::pin(self.open_at(self.row.gateway.as_ref(), &config, capabilities)).await
    }

    /// Opens a client of a gateway; on a pipe, of one with this configuration.
    async fn open_at(&self, gateway: Option<&Gateway>, config: &str, capabilities: Value) -> Peer {
        let (client, source) = (self.client(), self.server().name);
        let wire = match (gateway, client.way) {
            (None, _) => Wire::stdio(config),
            (Some(gateway), Way::Sse) => Wire::sse(gateway.address).await,
            (Some(gateway), _) => {
                Wire::http(gateway.address, &format!("/mcp/{source}"), client.revision)
            }
        };
        let mut peer = Peer::new(wire, client.revision, capabilities);
        source.clone_into(&mut peer.source);
        peer.sees_all = matches!(client.way, Way::Sse | Way::Stdio);
        peer.batches = client.way == Way::Batches;
        peer.greet().await;
        peer
    }
}
