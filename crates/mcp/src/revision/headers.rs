//! The standard headers of a request, each at most once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tidegate_core::{Code, Error, Result, truncate_for_message};

/// The headers that say what the body says, so that others need not parse it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandardHeaders {
    pub version: Option<String>,
    pub session: Option<String>,
    pub method: Option<String>,
    pub name: Option<String>,
    /// The headers `Mcp-Param-…`, by what follows, in lower case.
    pub params: BTreeMap<String, String>,
}

impl StandardHeaders {
    /// Picks the standard headers. One that stands twice, or is not text, is an error: two readers
    /// could disagree on it.
    pub fn read<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self> {
        let mut found = Self::default();
        for (name, value) in headers {
            let lower = name.to_ascii_lowercase();
            let Some(slot) = found.slot(&lower) else {
                continue;
            };
            let value = std::str::from_utf8(value)
                .ok()
                .filter(|value| value.bytes().all(is_plain))
                .ok_or_else(|| {
                    mismatch(format!(
                        "the header `{}` is not text",
                        truncate_for_message(name)
                    ))
                })?;
            if slot.is_taken() {
                let message = format!(
                    "the header `{}` stands more than once",
                    truncate_for_message(name)
                );
                return Err(mismatch(message));
            }
            slot.put(value.trim_matches([' ', '\t']).to_owned());
        }
        Ok(found)
    }

    /// Where the value of a header goes; none for the headers that are not ours.
    fn slot(&mut self, name: &str) -> Option<Slot<'_>> {
        match name {
            "mcp-protocol-version" => Some(Slot::One(&mut self.version)),
            "mcp-session-id" => Some(Slot::One(&mut self.session)),
            "mcp-method" => Some(Slot::One(&mut self.method)),
            "mcp-name" => Some(Slot::One(&mut self.name)),
            _ => {
                let param = name.strip_prefix("mcp-param-")?;
                Some(Slot::Param(self.params.entry(param.to_owned())))
            }
        }
    }
}

enum Slot<'a> {
    One(&'a mut Option<String>),
    Param(Entry<'a, String, String>),
}

impl Slot<'_> {
    fn is_taken(&self) -> bool {
        match self {
            Self::One(slot) => slot.is_some(),
            Self::Param(entry) => matches!(entry, Entry::Occupied(_)),
        }
    }

    fn put(self, value: String) {
        match self {
            Self::One(slot) => *slot = Some(value),
            Self::Param(entry) => drop(entry.insert_entry(value)),
        }
    }
}

/// What a header may carry as it is; the rest goes in base64.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t')
}

/// A header that contradicts the body.
pub(super) fn mismatch(message: String) -> Error {
    Error::client(Code::HeaderMismatch, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_ignore_case_values_are_trimmed_and_duplicates_are_refused() {
        let read = |headers: &[(&str, &str)]| {
            StandardHeaders::read(
                headers
                    .iter()
                    .map(|(name, value)| (*name, value.as_bytes())),
            )
        };
        let headers = read(&[
            ("MCP-METHOD", " tools/list\t"),
            ("Accept", "x"),
            ("accept", "y"),
        ])
        .unwrap();
        assert_eq!(headers.method.as_deref(), Some("tools/list"));
        assert_eq!(
            read(&[("Mcp-Name", "a"), ("mcp-name", "a")])
                .unwrap_err()
                .code(),
            Code::HeaderMismatch
        );
    }

    proptest! {
        #[test]
        fn any_headers_are_read_or_refused(headers in prop::collection::vec((".*", any::<Vec<u8>>()), 0..6)) {
            StandardHeaders::read(headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()))).ok();
        }
    }
}
