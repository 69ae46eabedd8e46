//! The names of a server's tools, prompts and resources: its own, or those at `/mcp`.
//!
//! Responses are converted to the server's own names, so that records can be compared.

use serde_json::Value;

/// URI prefix of resources created by calls. Whether they are listed yet determines how their URI
/// is rewritten.
pub(super) const CREATED_PREFIX: &str = "demo://resource/session/";

/// URI prefixes of the resources of the gateway.
const BUILT_IN: [&str; 3] = [
    "resource://system/",
    "plugin://system/",
    "gateway://gateway/",
];

/// Members that contain a URI.
const URI_MEMBERS: [&str; 3] = ["uri", "resourceUri", "ui/resourceUri"];

/// A naming scheme.
#[derive(Clone, Copy, Debug)]
pub(super) enum Names {
    /// The server's own names.
    Own,
    /// The names at `/mcp`.
    AtAllSources {
        source: &'static str,
        /// The scheme of the server's URIs; empty if it is the only server.
        scheme: &'static str,
        /// Whether an earlier source has the same URIs.
        is_second: bool,
    },
}

impl Names {
    /// The names at `/mcp` of a server that is the only one.
    pub(super) fn alone_at_all_sources(source: &'static str) -> Self {
        Self::AtAllSources {
            source,
            scheme: "",
            is_second: false,
        }
    }

    pub(super) fn tool(&self, own: &str) -> String {
        match self {
            Self::Own => own.to_owned(),
            Self::AtAllSources { source, .. } => format!("{source}__{own}"),
        }
    }

    pub(super) fn prompt(&self, own: &str) -> String {
        match self {
            Self::Own => own.to_owned(),
            Self::AtAllSources { source, .. } => format!("{source}/{own}"),
        }
    }

    pub(super) fn uri(&self, own: &str) -> String {
        match self {
            // Listed under another URI, which the gateway chooses.
            Self::AtAllSources { source, .. } if own.starts_with("ui://") => {
                format!("gateway://{source}/{own}")
            }
            _ => format!("{}{own}", self.qualifier()),
        }
    }

    fn qualifier(&self) -> String {
        match self {
            Self::AtAllSources {
                source,
                is_second: true,
                ..
            } => format!("gateway://{source}/"),
            Self::Own | Self::AtAllSources { .. } => String::new(),
        }
    }

    /// Keeps the server's entries of a list, with its own names.
    pub(super) fn own(&self, member: &str, entries: &mut Vec<Value>) {
        let Self::AtAllSources { scheme, .. } = self else {
            return;
        };
        let (key, before, scheme) = match member {
            "tools" => ("name", self.tool(""), ""),
            "prompts" => ("name", self.prompt(""), ""),
            "resources" => ("uri", self.qualifier(), *scheme),
            _ => ("uriTemplate", self.qualifier(), *scheme),
        };
        entries.retain_mut(|entry| {
            let own = entry[key]
                .as_str()
                .and_then(|name| name.strip_prefix(&before));
            let is_built_in = |own: &str| BUILT_IN.iter().any(|built_in| own.starts_with(built_in));
            let is_own = |own: &&str| own.starts_with(scheme) && !is_built_in(own);
            match own.filter(is_own).map(str::to_owned) {
                Some(own) => {
                    entry[key] = own.into();
                    if scheme.is_empty() {
                        self.own_uris(entry);
                    }
                    true
                }
                None => false,
            }
        });
    }

    /// Converts every URI of a response to the server's own. An unqualified URI of a second source
    /// is marked, because it must be qualified.
    pub(super) fn own_uris(&self, value: &mut Value) {
        let Self::AtAllSources {
            source,
            scheme,
            is_second,
        } = self
        else {
            return;
        };
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match member {
                        Value::String(uri) if URI_MEMBERS.contains(&key.as_str()) => {
                            *uri = dequalified(uri, source, *is_second, scheme.is_empty());
                        }
                        other => self.own_uris(other),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.own_uris(item)),
            _ => {}
        }
    }
}

fn dequalified(uri: &str, source: &str, is_second: bool, is_alone: bool) -> String {
    let own = uri.strip_prefix(&format!("gateway://{source}/"));
    if let Some(own) = uri.strip_prefix(&format!("ui://{source}/")) {
        return format!("ui://{own}");
    }
    match own {
        Some(own) if is_second || is_alone || is_created(own) => own.to_owned(),
        None if is_second && !is_created(uri) => format!("not qualified: {uri}"),
        _ => uri.to_owned(),
    }
}

fn is_created(uri: &str) -> bool {
    uri.starts_with(CREATED_PREFIX)
}
