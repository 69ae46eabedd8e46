//! The whole file as written: every field is optional, and no value has been checked. The doc
//! comments are the text of the reference and of the JSON Schema.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use tidegate_config::{OrderedMap, Scalar};
use tidegate_core::Naming;

use super::auth::AuthSection;
use super::composed::Composed;
use super::endpoint::EndpointSection;
use super::http::HttpSection;
use super::limits::LimitsFields;
use super::listen;
use super::log::LogSection;
use super::mcp_servers::ServerSection;
use super::sources::{ID_PATTERN, RESERVED_IDS, SourceVariants};
use super::web;

/// The configuration of Tidegate, `tidegate.yaml`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(title = "tidegate.yaml", extend("type" = ["object", "null"]))]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct Document {
    /// The address and port of the HTTP endpoint. An address that other machines can reach needs
    /// `auth`.
    #[schemars(with = "Option<String>", extend("default" = listen::DEFAULT.to_string()))]
    // A bare port is read as text, for a better message.
    pub(crate) listen: Option<Scalar>,

    /// The URL at which clients reach Tidegate, if it runs behind a reverse proxy. Its host is added
    /// to `allowed_hosts`.
    #[schemars(extend("examples" = ["https://mcp.example.com"], "pattern" = web::PUBLIC_URL_PATTERN))]
    pub(crate) public_url: Option<String>,

    /// Additional values of the `Host` header to accept, as `host` (any port) or `host:port`. The
    /// address of `listen` and the host of `public_url` are always accepted.
    #[schemars(extend("default" = [], "examples" = [["gateway.internal"]]))]
    pub(crate) allowed_hosts: Option<Vec<String>>,

    /// Origins of web pages whose scripts may call Tidegate, as `scheme://host` or
    /// `scheme://host:port`.
    #[schemars(extend("default" = [], "examples" = [["https://chat.example.com"]]))]
    pub(crate) allowed_origins: Option<Vec<String>>,

    /// Authentication. Without it, everyone who reaches the address is the principal `local`.
    #[serde(default, deserialize_with = "not_empty")]
    #[schemars(with = "AuthSection")]
    pub(crate) auth: Option<AuthSection>,

    /// Also serve the endpoints `/sse` and `/messages`, for clients that support only the deprecated
    /// HTTP+SSE transport.
    #[schemars(extend("default" = false))]
    pub(crate) legacy_sse: Option<bool>,

    /// Responses over HTTP.
    pub(crate) http: Option<HttpSection>,

    /// Logging. Logs go to stderr.
    pub(crate) log: Option<LogSection>,

    /// Limits and timeouts.
    #[expect(dead_code, reason = "its fields are read by several components")]
    limits: Option<Composed<LimitsFields>>,

    /// The sources that Tidegate offers to clients, by their ids. Lists are in the order of the
    /// sources. Without `sources` and `mcpServers`, there is one source, `memory`. The source
    /// `system` is always there and is not listed.
    #[schemars(extend("propertyNames" = { "pattern": ID_PATTERN, "not": { "enum": RESERVED_IDS } }))]
    pub(crate) sources: Option<OrderedMap<Composed<SourceVariants>>>,

    /// Names of tools and prompts at `/mcp`, where all sources are listed together. `prefixed`:
    /// `source__tool` and `source/prompt`. `native`: the names of the sources; if two sources have
    /// the same name, the first one keeps it and the other gets a prefix.
    #[schemars(extend("default" = "prefixed"))]
    pub(crate) naming: Option<NamingSetting>,

    /// What `/mcp` shows of the tools. Each source can have an `endpoint` of its own, for
    /// `/mcp/{source}`.
    pub(crate) endpoint: Option<EndpointSection>,

    /// Servers in the format of Claude Desktop, Cursor and other clients. Each becomes a source,
    /// after those in `sources`. Any name is accepted: if it is not a valid id, the id is derived from
    /// it (lower case, `-` for other characters, a hash where needed) and shown at start-up. Fields
    /// that only some clients know are ignored.
    #[serde(rename = "mcpServers")]
    pub(crate) mcp_servers: Option<OrderedMap<ServerSection>>,

    /// Keys that encrypt the state that clients carry for Tidegate, such as list cursors and parked
    /// calls. The first key encrypts; any of them decrypts. To rotate, put a new key first and
    /// remove the old one a day later. Each is a reference, `${env:NAME}` or `${file:PATH}`, to at
    /// least 32 characters. Gateways that share their keys accept each other's state. By default
    /// keys are generated and stored in the data folder.
    #[schemars(extend("default" = [], "examples" = [["${env:SEAL_KEY}"]]))]
    pub(crate) seal_keys: Option<Vec<String>>,

    /// The folder for data. A relative path starts at the folder of this file. The default is
    /// `$XDG_DATA_HOME/tidegate`, or else `~/.local/share/tidegate`.
    #[schemars(extend("examples" = ["/var/lib/tidegate"]))]
    pub(crate) data_dir: Option<String>,
}

// No doc comments: they would replace the reference text of the field.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NamingSetting {
    Prefixed,
    Native,
}

impl From<NamingSetting> for Naming {
    fn from(setting: NamingSetting) -> Self {
        match setting {
            NamingSetting::Prefixed => Self::Prefixed,
            NamingSetting::Native => Self::Native,
        }
    }
}

/// Reads a field that may be absent but not empty: an `auth:` with nothing under it would look like
/// protection and give none.
fn not_empty<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
