//! The names of a server's tools, prompts and resources: its own, or those at `/mcp`.
//!
//! Responses are converted to the server's own names, so that records can be compared.

use serde_json::Value;

/// URI prefix of resources created by calls. Whether they are listed yet determines how their URI
/// is rewritten.
pub(super) const CREATED_PREFIX: &str = "demo://resource/session/";

/// A naming scheme.
#[derive(Clone, Copy, Debug)]
pub(super) enum Names {
    /// The server's own names.
    Own,
    /// The names at `/mcp`.
    AtAllSources {
        source: &'static str,
        /// The scheme of the server's URIs.
        scheme: &'static str,
        /// Whether an earlier source has the same URIs.
        is_second: bool,
    },
}

impl Names {
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
        format!("{}{own}", self.qualifier())
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
            match own.filter(|own| own.starts_with(scheme)).map(str::to_owned) {
                Some(own) => {
                    entry[key] = own.into();
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
            source, is_second, ..
        } = self
        else {
            return;
        };
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match member {
                        Value::String(uri) if key == "uri" => {
                            *uri = dequalified(uri, source, *is_second);
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

fn dequalified(uri: &str, source: &str, is_second: bool) -> String {
    let own = uri.strip_prefix(&format!("gateway://{source}/"));
    match own {
        Some(own) if is_second || own.starts_with(CREATED_PREFIX) => own.to_owned(),
        None if is_second && !uri.starts_with(CREATED_PREFIX) => format!("not qualified: {uri}"),
        _ => uri.to_owned(),
    }
}
