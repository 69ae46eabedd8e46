//! Servers as MCP clients write them: the block `mcpServers`, taken as it is.
//!
//! Knows the fields that several clients share; what else one of them writes there is let be.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::entries::Entries;
use super::policy::RemotePolicy;
use super::problem::Diagnostics;
use super::remote::{RawRemote, Server};
use super::sources::{self, Source, SourceKind};

/// A server as a client writes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping of fields")]
pub(crate) struct RawServer {
    /// The program that is the server.
    command: Option<String>,
    /// The arguments of the program.
    args: Option<Vec<String>>,
    /// Variables for the program.
    env: Option<Entries<String>>,
    /// The folder the program runs in.
    cwd: Option<PathBuf>,
    /// The address of the server's endpoint.
    url: Option<String>,
    /// Headers for every request to the server.
    headers: Option<Entries<String>>,
    /// Whether to leave the server out.
    disabled: Option<bool>,
}

/// The servers as sources, beside those that are there already.
pub(crate) fn check(
    raw: Entries<RawServer>,
    sources: &mut Vec<Source>,
    diagnostics: &mut Diagnostics,
) {
    for (name, server) in raw.0 {
        if server.disabled == Some(true) {
            continue;
        }
        let path = ["mcpServers", name.as_str()];
        let id = sources::id_from(&name);
        if let Err(message) = sources::check_id(&id) {
            diagnostics.key(&path, message);
        }
        if sources.iter().any(|source| source.id == id) {
            let message = format!("`{name}` would be the source `{id}`, which is there already");
            diagnostics.key(&path, format!("{message}; rename one of them"));
        }
        match remote(server).check() {
            Ok(remote) => sources.push(Source {
                id,
                kind: SourceKind::Remote(Server {
                    written: ("mcpServers", name),
                    remote,
                    policy: RemotePolicy::default(),
                }),
            }),
            Err(message) => diagnostics.key(&path, format!("`mcpServers.{name}` {message}")),
        }
    }
}

fn remote(server: RawServer) -> RawRemote {
    RawRemote {
        command: server.command,
        args: server.args,
        env: server.env,
        cwd: server.cwd,
        url: server.url,
        headers: server.headers,
        ..RawRemote::default()
    }
}
