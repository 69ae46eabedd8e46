//! The file as it is written: every field may be missing, and no value has been judged.
//!
//! The doc comments here are the text of the reference and of the JSON Schema. Knows no defaults
//! but for showing them, and nothing of flags or variables.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use tidegate_core::Naming;

use super::endpoint::RawEndpoint;
use super::entries::Entries;
use super::limits::RawLimits;
use super::log::RawLog;
use super::{auth, listen, mcp_servers, sources};

/// The configuration of Tidegate, `tidegate.yaml`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(title = "tidegate.yaml")]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct Raw {
    /// The address and port that clients connect to over HTTP. An address that other machines can
    /// reach needs `auth`.
    #[schemars(extend("default" = listen::DEFAULT.to_string()))]
    pub(crate) listen: Option<String>,

    /// The URL under which clients reach Tidegate, when it stands behind a proxy. Its host joins
    /// `allowed_hosts`.
    pub(crate) public_url: Option<String>,

    /// Further values of the `Host` header that requests may carry, as `host` (with any port) or
    /// `host:port`. The address of `listen` and the host of `public_url` are always allowed.
    #[schemars(extend("default" = []))]
    pub(crate) allowed_hosts: Option<Vec<String>>,

    /// The web pages whose scripts may call Tidegate, by their origin: `scheme://host` or
    /// `scheme://host:port`.
    #[schemars(extend("default" = []))]
    pub(crate) allowed_origins: Option<Vec<String>>,

    /// Who may come in. Without it, whoever reaches the address is the principal `local`.
    #[serde(default, deserialize_with = "not_empty")]
    #[schemars(with = "auth::RawAuth")]
    pub(crate) auth: Option<auth::RawAuth>,

    /// Also serve the `/sse` and `/messages` endpoints, for clients that know only the HTTP
    /// transport of 2024.
    #[schemars(extend("default" = false))]
    pub(crate) legacy_sse: Option<bool>,

    /// What is logged. Logs go to stderr.
    pub(crate) log: Option<RawLog>,

    /// The bounds of what clients may use.
    pub(crate) limits: Option<RawLimits>,

    /// What Tidegate offers to clients, by the id that its names begin with. The order decides
    /// the order of lists. The source `system` is always there and is not listed.
    #[schemars(extend("default" = {}))]
    pub(crate) sources: Option<Entries<sources::RawSource>>,

    /// How tools and prompts are called where all sources are seen at once. `prefixed`:
    /// `source__tool` and `source/prompt`. `native`: by their own names; of two with the same name
    /// the one of the earlier source keeps it, and the other has its prefix.
    #[schemars(extend("default" = "prefixed"))]
    pub(crate) naming: Option<RawNaming>,

    /// What `/mcp` shows of its tools. A source has an `endpoint` of its own, for `/mcp/{source}`.
    pub(crate) endpoint: Option<RawEndpoint>,

    /// Servers as Claude Desktop, Cursor and others write them, taken as they are. Each becomes a
    /// source, after those of `sources`; its id is its name in lower case, with `-` for what an id
    /// cannot have.
    #[serde(rename = "mcpServers")]
    #[schemars(extend("default" = {}))]
    pub(crate) mcp_servers: Option<Entries<mcp_servers::RawServer>>,

    /// The keys that seal what clients carry for Tidegate, such as the place in a list. The first
    /// seals, all of them open: put a new one first, and take the old one away a day later. Each is
    /// a reference, `${env:NAME}` or `${file:PATH}`, to at least 32 characters. Several gateways with
    /// the same keys open each other's. When none is given, there are some in the data folder.
    #[schemars(extend("default" = []))]
    pub(crate) seal_keys: Option<Vec<String>>,

    /// The folder that Tidegate keeps its data in. A relative path starts at the folder of this
    /// file. When it is not given: `$XDG_DATA_HOME/tidegate`, else `~/.local/share/tidegate`.
    pub(crate) data_dir: Option<String>,
}

// No doc comments: they would become the reference text of the field above.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawNaming {
    Prefixed,
    Native,
}

impl From<RawNaming> for Naming {
    fn from(raw: RawNaming) -> Self {
        match raw {
            RawNaming::Prefixed => Self::Prefixed,
            RawNaming::Native => Self::Native,
        }
    }
}

/// Reads a field that may be left out but not left empty: an `auth:` with nothing under it would
/// look like protection and be none.
fn not_empty<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(from).map(Some)
}
