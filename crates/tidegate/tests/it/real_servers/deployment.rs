//! All servers behind one gateway, and each of them directly.

use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::thread;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::client::{Client, ClientCapabilities, Era};
use super::program::Program;
use super::server_kind::ServerKind;
use super::transport::{Http, SseTransport, StdioTransport, Transport};
use super::web_pages::WebPages;
use super::workspace;
use crate::support::tools::{Tools, peer};
use crate::support::{Home, Running, Server};

/// On a busy machine servers start slowly, and the first call waits for them.
pub(super) const STARTUP_WAIT: &str = "limits: { startup_wait: 2m }\n";

/// The gateway and the servers that tests share.
pub(super) struct Deployment {
    gateway: Option<Server>,
    http_servers: HttpServers,
    pub(super) pages: WebPages,
    tools: Tools,
    locks: [Mutex<()>; ServerKind::ALL.len()],
}

/// The servers with an address.
struct HttpServers {
    everything: (Running, SocketAddr),
    sse: (Running, SocketAddr),
    fastmcp: (Running, SocketAddr),
}

impl Deployment {
    /// The instance that all tests share, running while any of them uses it.
    pub(super) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Deployment>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock();
        shared.upgrade().unwrap_or_else(|| {
            let deployment = Arc::new(Self::start());
            *shared = Arc::downgrade(&deployment);
            deployment
        })
    }

    fn start() -> Self {
        let (home, tools) = (Home::new(), Tools::find());
        workspace::create_files(&home);
        workspace::create_repository(&home);
        workspace::create_memory(&home);
        let http_servers = HttpServers::start(&home, &tools);
        let sources: Vec<_> = ServerKind::ALL
            .iter()
            .map(|server| {
                let source = http_servers.source(*server, &home, &tools);
                format!("  {}: {source}\n", server.source())
            })
            .collect();
        let config = format!("{STARTUP_WAIT}sources:\n{}", sources.concat());
        home.write("tidegate.yaml", &config);
        Self {
            gateway: Some(Server::start_in(home, &[])),
            http_servers,
            pages: WebPages::serve(),
            tools,
            locks: Default::default(),
        }
    }

    /// Waits for exclusive use of a server. Scripts change its data and lists; and over stdio with
    /// several calls in flight a log message belongs to none of them.
    pub(super) fn lock(&self, server: ServerKind) -> MutexGuard<'_, ()> {
        let turn = &self.locks[server as usize];
        turn.lock()
    }

    /// Waits for exclusive use of all servers.
    pub(super) fn lock_all(&self) -> Vec<MutexGuard<'_, ()>> {
        ServerKind::ALL.map(|server| self.lock(server)).into()
    }

    pub(super) fn gateway(&self) -> &Server {
        self.gateway.as_ref().unwrap()
    }

    pub(super) fn home(&self) -> &Home {
        &self.gateway().home
    }

    /// A client connected directly to a server.
    pub(super) fn directly(
        &self,
        server: ServerKind,
        era: Era,
        capabilities: ClientCapabilities,
    ) -> Client {
        let transport: Box<dyn Transport> = match server {
            ServerKind::EverythingHttp => {
                Box::new(Http::to(self.http_servers.everything.1, "/mcp"))
            }
            ServerKind::EverythingSse => {
                Box::new(SseTransport::to(self.http_servers.sse.1, "/sse"))
            }
            ServerKind::FastMcpHttp => Box::new(Http::to(self.http_servers.fastmcp.1, "/mcp")),
            _ => {
                let mut command =
                    Program::of(server, self.home(), &self.tools).command(self.home());
                Box::new(StdioTransport::start(&mut command))
            }
        };
        self.client(transport, era, capabilities)
    }

    /// A client of the gateway at one of its paths.
    pub(super) fn through(&self, path: &str, era: Era, capabilities: ClientCapabilities) -> Client {
        let transport = Box::new(Http::to(self.gateway().address, path));
        self.client(transport, era, capabilities)
    }

    fn client(
        &self,
        transport: Box<dyn Transport>,
        era: Era,
        capabilities: ClientCapabilities,
    ) -> Client {
        let folder = workspace::other_files(self.home());
        let roots = json!([{ "uri": format!("file://{}", folder.display()), "name": "other" }]);
        Client::new(transport, era, capabilities).with_roots(roots)
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        let Some(gateway) = self.gateway.take() else {
            return;
        };
        if thread::panicking() {
            // It ends the servers it started.
            gateway.process.signal(Signal::TERM);
            gateway.process.end();
        } else {
            gateway.stop();
        }
    }
}

impl HttpServers {
    fn start(home: &Home, tools: &Tools) -> Self {
        let everything = |transport: &str| {
            let mut command = home.command(tools.node());
            command.arg("--import").arg(peer("on_loopback.mjs"));
            command.arg(tools.npm("server-everything/dist/index.js"));
            let running = Running::start(command.arg(transport));
            let address = address(&running.stderr.find("http://"));
            (running, address)
        };
        let mut fastmcp = tools.python_peer(home, "python-servers", "fastmcp_server.py");
        let fastmcp = Running::start(fastmcp.arg("--http"));
        Self {
            everything: everything("streamableHttp"),
            sse: everything("sse"),
            fastmcp: {
                let address = address(&fastmcp.stdout.find("http://"));
                (fastmcp, address)
            },
        }
    }

    /// A server as a source of the configuration.
    fn source(&self, server: ServerKind, home: &Home, tools: &Tools) -> Value {
        let url =
            |address: SocketAddr, path: &str| json!({ "url": format!("http://{address}{path}") });
        match server {
            ServerKind::EverythingHttp => url(self.everything.1, "/mcp"),
            ServerKind::EverythingSse => url(self.sse.1, "/sse"),
            ServerKind::FastMcpHttp => url(self.fastmcp.1, "/mcp"),
            _ => Program::of(server, home, tools).source(),
        }
    }
}

fn address(line: &str) -> SocketAddr {
    let (_, rest) = line.split_once("http://").unwrap();
    let address = rest.split('/').next().unwrap();
    address.parse().unwrap()
}
