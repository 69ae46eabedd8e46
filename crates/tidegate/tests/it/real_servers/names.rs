//! The names under which a server's things are found: its own, or those of the whole gateway.
//!
//! What comes back is turned into the server's own names, so that records can be compared.

use serde_json::Value;

/// How URIs begin of what a call makes: it may be listed by then, or not, which decides how its URI
/// leads back.
pub(super) const MADE: &str = "demo://resource/session/";

/// How things are called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Names {
    /// As the server calls them.
    Own,
    /// As `/mcp` calls them.
    OfAll {
        source: &'static str,
        /// How the server's own URIs begin.
        scheme: &'static str,
        /// Whether another source before it has the same URIs.
        second: bool,
    },
}

impl Names {
    pub(super) fn tool(&self, own: &str) -> String {
        match self {
            Self::Own => own.to_owned(),
            Self::OfAll { source, .. } => format!("{source}__{own}"),
        }
    }

    pub(super) fn prompt(&self, own: &str) -> String {
        match self {
            Self::Own => own.to_owned(),
            Self::OfAll { source, .. } => format!("{source}/{own}"),
        }
    }

    pub(super) fn uri(&self, own: &str) -> String {
        format!("{}{own}", self.qualifier())
    }

    fn qualifier(&self) -> String {
        match self {
            Self::OfAll {
                source,
                second: true,
                ..
            } => format!("gateway://{source}/"),
            Self::Own | Self::OfAll { .. } => String::new(),
        }
    }

    /// Of a list, what is the server's, under its own names.
    pub(super) fn own(&self, member: &str, entries: &mut Vec<Value>) {
        let Self::OfAll { scheme, .. } = self else {
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

    /// Turns every URI in an answer into the server's own. One that was left as it is stays wrong
    /// on purpose: a second source's URIs must name it.
    pub(super) fn own_uris(&self, value: &mut Value) {
        let Self::OfAll { source, second, .. } = self else {
            return;
        };
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match member {
                        Value::String(uri) if key == "uri" => {
                            *uri = dequalified(uri, source, *second);
                        }
                        other => self.own_uris(other),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|one| self.own_uris(one)),
            _ => {}
        }
    }
}

fn dequalified(uri: &str, source: &str, second: bool) -> String {
    let own = uri.strip_prefix(&format!("gateway://{source}/"));
    match own {
        Some(own) if second || own.starts_with(MADE) => own.to_owned(),
        None if second && !uri.starts_with(MADE) => format!("not qualified: {uri}"),
        _ => uri.to_owned(),
    }
}
