//! The block `mcpServers`, as MCP clients write it. Fields that only some clients know are ignored.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::OrderedMap;
use tidegate_policy::CallPolicy;
use tidegate_upstream::RemoteSection;

use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::kinds::{RemoteSource, SourceSettings};
use super::sources::{self, ConfiguredSource};

/// A server in the format of MCP clients.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping of fields")]
pub(crate) struct ServerSection {
    /// The program to run as the server.
    #[schemars(extend("examples" = ["npx"]))]
    command: Option<String>,
    /// Arguments of the program.
    #[schemars(extend("examples" = [["-y", "@modelcontextprotocol/server-everything"]]))]
    args: Option<Vec<String>>,
    /// Environment variables of the program. Values may contain references, as in `sources`.
    #[schemars(extend("examples" = [{ "API_TOKEN": "${API_TOKEN}" }]))]
    env: Option<OrderedMap<String>>,
    /// The working directory of the program.
    #[schemars(extend("examples" = ["/srv/app"]))]
    cwd: Option<PathBuf>,
    /// The URL of the server's MCP endpoint, instead of a `command`.
    url: Option<String>,
    /// Headers of every request to the server, for a server with a `url`.
    headers: Option<OrderedMap<String>>,
    /// Leave the server out.
    #[schemars(extend("default" = false))]
    disabled: Option<bool>,
}

/// Adds the servers to the sources.
pub(crate) fn check(
    servers: OrderedMap<ServerSection>,
    sources: &mut Vec<ConfiguredSource>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) {
    for (name, server) in servers.0 {
        if server.disabled == Some(true) {
            continue;
        }
        let path = ["mcpServers", name.as_str()];
        let id = to_source_id(&name);
        if sources.iter().any(|source| source.id.as_str() == id) {
            let message =
                format!("`{name}`: the source id `{id}` is already used; rename one of them");
            diagnostics.key(&path, message);
        }
        let id = sources::parse_id(&id).map_err(|message| diagnostics.key(&path, message));
        let policy = CallPolicy::default();
        let remote = RemoteSource::check(server.into(), policy, &path, context, diagnostics);
        if let (Ok(id), Some(remote)) = (id, remote) {
            sources.push(ConfiguredSource {
                id,
                settings: SourceSettings::Remote(Box::new(remote)),
                endpoint: None,
            });
        }
    }
}

/// The name in lower case, with `-` for characters that an id cannot have.
fn to_source_id(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.chars()
        .map(|c| if is_valid(c) { c } else { '-' })
        .collect()
}

impl From<ServerSection> for RemoteSection {
    fn from(server: ServerSection) -> Self {
        Self {
            command: server.command,
            args: server.args,
            env: server.env,
            cwd: server.cwd,
            url: server.url,
            headers: server.headers,
            ..Self::default()
        }
    }
}
