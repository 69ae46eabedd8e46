//! The standard headers of a request.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tidegate_core::{Code, Error, Result, truncate_for_message};

/// The headers that repeat parts of the body, so that proxies need not parse it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandardHeaders {
    pub version: Option<String>,
    pub session: Option<String>,
    pub method: Option<String>,
    pub name: Option<String>,
    /// The headers `Mcp-Param-…`, by their names without the prefix, in lower case.
    pub params: BTreeMap<String, String>,
}

impl StandardHeaders {
    /// Extracts the standard headers. A header that is duplicated or not printable ASCII is an
    /// error, because two readers could disagree on its value.
    pub fn parse<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self> {
        let mut standard = Self::default();
        for (name, value) in headers {
            let lower = name.to_ascii_lowercase();
            let Some(slot) = standard.slot(&lower) else {
                continue;
            };
            let value = std::str::from_utf8(value)
                .ok()
                .filter(|value| value.bytes().all(is_printable))
                .ok_or_else(|| {
                    header_mismatch(format!(
                        "header `{}` is not printable ASCII",
                        truncate_for_message(name)
                    ))
                })?;
            if slot.is_taken() {
                let message = format!(
                    "header `{}` appears more than once",
                    truncate_for_message(name)
                );
                return Err(header_mismatch(message));
            }
            slot.put(value.trim_matches([' ', '\t']).to_owned());
        }
        Ok(standard)
    }

    /// The place of a header's value; `None` for other headers.
    fn slot(&mut self, name: &str) -> Option<HeaderSlot<'_>> {
        match name {
            "mcp-protocol-version" => Some(HeaderSlot::Field(&mut self.version)),
            "mcp-session-id" => Some(HeaderSlot::Field(&mut self.session)),
            "mcp-method" => Some(HeaderSlot::Field(&mut self.method)),
            "mcp-name" => Some(HeaderSlot::Field(&mut self.name)),
            _ => {
                let param = name.strip_prefix("mcp-param-")?;
                Some(HeaderSlot::Param(self.params.entry(param.to_owned())))
            }
        }
    }
}

enum HeaderSlot<'a> {
    Field(&'a mut Option<String>),
    Param(Entry<'a, String, String>),
}

impl HeaderSlot<'_> {
    fn is_taken(&self) -> bool {
        match self {
            Self::Field(slot) => slot.is_some(),
            Self::Param(entry) => matches!(entry, Entry::Occupied(_)),
        }
    }

    fn put(self, value: String) {
        match self {
            Self::Field(slot) => *slot = Some(value),
            Self::Param(entry) => drop(entry.insert_entry(value)),
        }
    }
}

/// Other characters are sent in base64.
fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t')
}

/// The error for a header that is malformed or does not match the body.
pub(super) fn header_mismatch(message: String) -> Error {
    Error::client(Code::HeaderMismatch, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ignores_case_of_names_trims_values_and_rejects_duplicates() {
        let parse = |headers: &[(&str, &str)]| {
            StandardHeaders::parse(
                headers
                    .iter()
                    .map(|(name, value)| (*name, value.as_bytes())),
            )
        };
        let headers = parse(&[
            ("MCP-METHOD", " tools/list\t"),
            ("Accept", "x"),
            ("accept", "y"),
        ])
        .unwrap();
        assert_eq!(headers.method.as_deref(), Some("tools/list"));
        assert_eq!(
            parse(&[("Mcp-Name", "a"), ("mcp-name", "a")])
                .unwrap_err()
                .code(),
            Code::HeaderMismatch
        );
    }

    proptest! {
        #[test]
        fn never_panics_on_any_headers(headers in prop::collection::vec((".*", any::<Vec<u8>>()), 0..6)) {
            StandardHeaders::parse(headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()))).ok();
        }
    }
}
