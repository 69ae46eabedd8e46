//! The block `mcpServers`, as MCP clients write it. Fields that only some clients know are ignored.

use std::path::PathBuf;

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::json;
use tidegate_config::{OrderedMap, Scalar};
use tidegate_policy::CallPolicy;
use tidegate_upstream::RemoteSection;

use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::kinds::{RemoteSource, SourceSettings};
use super::server_ids::ServerIds;
use super::sources::{self, ConfiguredSource};
use super::suggest::{nearest, unknown_field};
use super::tree::Value;

/// A server in the format of MCP clients.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping of fields")]
#[schemars(transform = require_target)]
pub(crate) struct ServerSection {
    /// The program to run as the server. May contain references, as in `sources`.
    #[schemars(extend("examples" = ["npx"]))]
    command: Option<String>,
    /// Arguments of the program. They may contain references, as in `sources`.
    #[schemars(extend("examples" = [["-y", "@modelcontextprotocol/server-everything"]]))]
    args: Option<Vec<Scalar>>,
    /// Environment variables of the program. Values may contain references, as in `sources`.
    #[schemars(extend("examples" = [{ "API_TOKEN": "${API_TOKEN}" }]))]
    env: Option<OrderedMap<Scalar>>,
    /// The working directory of the program.
    #[schemars(extend("examples" = ["/srv/app"]))]
    cwd: Option<PathBuf>,
    /// The URL of the server's MCP endpoint, instead of a `command`.
    url: Option<String>,
    /// Headers of every request to the server, for a server with a `url`.
    headers: Option<OrderedMap<Scalar>>,
    /// Leave the server out.
    #[schemars(extend("default" = false))]
    disabled: Option<bool>,
}

/// The fields that are read. Those of other clients are ignored.
const FIELDS: [&str; 7] = [
    "command", "args", "env", "cwd", "url", "headers", "disabled",
];

/// Requires a `command` or a `url`, with the fields that belong to it, unless the server is disabled.
fn require_target(schema: &mut Schema) {
    let absent = json!({ "type": "null" });
    let url_pattern = RemoteSection::URL_PATTERN;
    let forms = json!([
        { "required": ["disabled"], "properties": { "disabled": { "const": true } } },
        { "required": ["command"], "properties": {
            "command": { "type": "string", "pattern": r"\S" }, "url": absent, "headers": absent,
        } },
        { "required": ["url"], "properties": {
            "url": { "type": "string", "pattern": url_pattern }, "command": absent,
            "args": absent, "env": absent, "cwd": absent,
        } },
    ]);
    schema.insert("anyOf".to_owned(), forms);
}

/// Adds the servers to the sources.
pub(crate) fn check(
    servers: OrderedMap<ServerSection>,
    sources: &mut Vec<ConfiguredSource>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) {
    let configured = sources.iter().map(|source| &source.id);
    let names = servers.0.iter().map(|(name, _)| name.as_str());
    let mut ids = ServerIds::new(configured, names);
    for (name, server) in servers.0 {
        if server.disabled == Some(true) {
            continue;
        }
        let path = ["mcpServers", name.as_str()];
        let id = ids.assign(&name);
        if sources.iter().any(|source| source.id.as_str() == id) {
            let message =
                format!("`{name}`: the source id `{id}` is already used; rename one of them");
            diagnostics.key(&path, message);
        }
        let is_derived = id != name;
        let id = sources::parse_id(&id).map_err(|message| diagnostics.key(&path, message));
        if report_misspelled(&path, diagnostics) {
            continue;
        }
        let policy = CallPolicy::default();
        let remote = RemoteSource::check(server.into(), policy, &path, context, diagnostics);
        if let (Ok(id), Some(remote)) = (id, remote) {
            sources.push(ConfiguredSource {
                id,
                settings: SourceSettings::Remote(Box::new(remote)),
                endpoint: None,
                original_name: is_derived.then_some(name),
            });
        }
    }
}

/// Reports fields that look like misspelled ones. Other unknown fields belong to other clients.
fn report_misspelled(path: &[&str], diagnostics: &mut Diagnostics) -> bool {
    let keys: Vec<String> = match diagnostics.tree().find(path).map(|node| &node.value) {
        Some(Value::Map(entries)) => entries.iter().map(|entry| entry.key.clone()).collect(),
        _ => Vec::new(),
    };
    let is_misspelled =
        |key: &&String| !FIELDS.contains(&key.as_str()) && nearest(key, &FIELDS).is_some();
    let misspelled: Vec<&String> = keys.iter().filter(is_misspelled).collect();
    for key in &misspelled {
        let path = [path, &[key.as_str()]].concat();
        diagnostics.key(&path, unknown_field(&path.join("."), key, &FIELDS));
    }
    !misspelled.is_empty()
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
