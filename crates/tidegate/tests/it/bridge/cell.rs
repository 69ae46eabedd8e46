//! One cell of the table while it is tried: a client, a server, and the conversations between them.

use std::rc::Rc;

use serde_json::{Value, json};

use super::clients::{Client, Way};
use super::peer::Peer;
use super::servers::{HASTY, Server, World};
use super::wire::Wire;
use crate::support::Server as Gateway;

/// All cells of one client, with a gateway of its own: on a pipe to a server, nothing tells to which
/// of several calls a word belongs.
pub(super) struct Row {
    client: &'static Client,
    world: Rc<World>,
    /// For a client that does not start one itself.
    gateway: Option<Gateway>,
    able: Option<Peer>,
    quiet: Option<Peer>,
}

impl Row {
    pub(super) fn of(client: &'static Client, world: &Rc<World>) -> Self {
        Self {
            client,
            gateway: (client.way != Way::Stdio).then(|| Gateway::with_config(&world.config())),
            world: Rc::clone(world),
            able: None,
            quiet: None,
        }
    }

    /// Begins anew, because nobody knows what is still on its way.
    pub(super) fn reopen(&mut self) {
        self.able = None;
        self.quiet = None;
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
        if self.row.able.is_none() || self.client().way != Way::Stdio {
            self.row.able = Some(
                Box::pin(self.open(self.client().abilities(), "", &self.row.world.config())).await,
            );
        }
        let source = self.server().name;
        let peer = self.row.able.as_mut().unwrap();
        source.clone_into(&mut peer.source);
        peer
    }

    /// A client that can be asked nothing.
    pub(super) async fn quiet(&mut self) -> &mut Peer {
        if self.row.quiet.is_none() || self.client().way != Way::Stdio {
            self.row.quiet =
                Some(Box::pin(self.open(json!({}), "", &self.row.world.config())).await);
        }
        let source = self.server().name;
        let peer = self.row.quiet.as_mut().unwrap();
        source.clone_into(&mut peer.source);
        peer
    }

    /// A client that can answer, before a source that does not wait for long.
    pub(super) async fn able_before_the_hasty(&mut self) -> &mut Peer {
        if self.client().way != Way::Stdio {
            let peer = Box::pin(self.open(self.client().abilities(), HASTY, "")).await;
            return self.row.able.insert(peer);
        }
        let source = format!("{}{HASTY}", self.server().name);
        let peer = self.able().await;
        peer.source = source;
        peer
    }

    /// The client that can answer, as it was left.
    pub(super) fn able_as_it_is(&mut self) -> &mut Peer {
        self.row.able.as_mut().expect("it was opened")
    }

    /// A client of its own, which can go away.
    pub(super) async fn another(&self) -> Peer {
        let server = std::slice::from_ref(self.server());
        Box::pin(self.open(json!({}), "", &World::config_of(server))).await
    }

    async fn open(&self, capabilities: Value, behind: &str, config: &str) -> Peer {
        let client = self.client();
        let source = format!("{}{behind}", self.server().name);
        let wire = match (&self.row.gateway, client.way) {
            (None, _) => Wire::stdio(config),
            (Some(gateway), Way::Sse) => Wire::sse(gateway.address).await,
            (Some(gateway), _) => {
                Wire::http(gateway.address, &format!("/mcp/{source}"), client.revision)
            }
        };
        let mut peer = Peer::new(wire, client.revision, capabilities);
        peer.source = source;
        peer.sees_all = matches!(client.way, Way::Sse | Way::Stdio);
        peer.batches = client.way == Way::Batches;
        peer.greet().await;
        peer
    }
}
