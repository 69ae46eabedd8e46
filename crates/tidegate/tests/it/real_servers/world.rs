//! All servers behind one gateway, and each of them directly.

use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::thread;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::client::{Can, Client, Era};
use super::ground;
use super::page::Pages;
use super::program::Program;
use super::real::Real;
use super::wire::{Http, Old, Pipe, Wire};
use crate::support::tools::{Tools, peer};
use crate::support::{Home, Running, Server};

/// On a busy machine servers take their time to start, and the first call waits for them.
pub(super) const PATIENT: &str = "limits: { startup_wait: 2m }\n";

/// What is up while tests need it.
pub(super) struct World {
    gateway: Option<Server>,
    listening: Listening,
    pub(super) pages: Pages,
    tools: Tools,
    turns: [Mutex<()>; Real::ALL.len()],
}

/// The servers that are reached by an address.
struct Listening {
    everything: (Running, SocketAddr),
    sse: (Running, SocketAddr),
    fastmcp: (Running, SocketAddr),
}

impl World {
    /// The one that all tests share: there for as long as any of them has it.
    pub(super) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<World>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock();
        shared.upgrade().unwrap_or_else(|| {
            let world = Arc::new(Self::start());
            *shared = Arc::downgrade(&world);
            world
        })
    }

    fn start() -> Self {
        let (home, tools) = (Home::new(), Tools::find());
        ground::make_files(&home);
        ground::make_repository(&home);
        ground::make_memory(&home);
        let listening = Listening::start(&home, &tools);
        let sources: Vec<_> = Real::ALL
            .iter()
            .map(|real| {
                let source = listening.source(*real, &home, &tools);
                format!("  {}: {source}\n", real.source())
            })
            .collect();
        let config = format!("{PATIENT}sources:\n{}", sources.concat());
        home.write("tidegate.yaml", &config);
        Self {
            gateway: Some(Server::start_in(home, &[])),
            listening,
            pages: Pages::serve(),
            tools,
            turns: Default::default(),
        }
    }

    /// Waits until nobody else is at a server. Scripts change what it works on and what it lists; and
    /// on a pipe with several calls under way nobody can tell which of them a log message belongs to.
    pub(super) fn turn(&self, real: Real) -> MutexGuard<'_, ()> {
        let turn = &self.turns[real as usize];
        turn.lock()
    }

    /// Waits until nobody else is at any of them.
    pub(super) fn turns(&self) -> Vec<MutexGuard<'_, ()>> {
        Real::ALL.map(|real| self.turn(real)).into()
    }

    pub(super) fn gateway(&self) -> &Server {
        self.gateway.as_ref().unwrap()
    }

    pub(super) fn home(&self) -> &Home {
        &self.gateway().home
    }

    /// A client at the server itself.
    pub(super) fn directly(&self, real: Real, era: Era, can: Can) -> Client {
        let wire: Box<dyn Wire> = match real {
            Real::EverythingHttp => Box::new(Http::to(self.listening.everything.1, "/mcp")),
            Real::EverythingSse => Box::new(Old::to(self.listening.sse.1, "/sse")),
            Real::FastMcpHttp => Box::new(Http::to(self.listening.fastmcp.1, "/mcp")),
            _ => {
                let mut command = Program::of(real, self.home(), &self.tools).command(self.home());
                Box::new(Pipe::start(&mut command))
            }
        };
        self.client(wire, era, can)
    }

    /// A client of the gateway, at one of its paths.
    pub(super) fn through(&self, path: &str, era: Era, can: Can) -> Client {
        let wire = Box::new(Http::to(self.gateway().address, path));
        self.client(wire, era, can)
    }

    fn client(&self, wire: Box<dyn Wire>, era: Era, can: Can) -> Client {
        let folder = ground::other_files(self.home());
        let roots = json!([{ "uri": format!("file://{}", folder.display()), "name": "other" }]);
        Client::new(wire, era, can).with_roots(roots)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let Some(gateway) = self.gateway.take() else {
            return;
        };
        if thread::panicking() {
            // It takes what it started with it.
            gateway.process.signal(Signal::TERM);
            gateway.process.end();
        } else {
            gateway.stop();
        }
    }
}

impl Listening {
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

    /// A server as the configuration has it.
    fn source(&self, real: Real, home: &Home, tools: &Tools) -> Value {
        let url =
            |address: SocketAddr, path: &str| json!({ "url": format!("http://{address}{path}") });
        match real {
            Real::EverythingHttp => url(self.everything.1, "/mcp"),
            Real::EverythingSse => url(self.sse.1, "/sse"),
            Real::FastMcpHttp => url(self.fastmcp.1, "/mcp"),
            _ => Program::of(real, home, tools).source(),
        }
    }
}

fn address(line: &str) -> SocketAddr {
    let (_, rest) = line.split_once("http://").unwrap();
    let address = rest.split('/').next().unwrap();
    address.parse().unwrap()
}
