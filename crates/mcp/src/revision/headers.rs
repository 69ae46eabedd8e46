//! The standard headers of a request, each at most once.

use tidegate_core::{Code, Error, Result};

/// The headers that say what the body says, so that others need not parse it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandardHeaders {
    pub version: Option<String>,
    pub session: Option<String>,
    pub method: Option<String>,
    pub name: Option<String>,
}

impl StandardHeaders {
    /// Picks the standard headers. One that stands twice, or is not text, is an error: two readers
    /// could disagree on it.
    pub fn read<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self> {
        let mut found = Self::default();
        for (name, value) in headers {
            let slot = match name.to_ascii_lowercase().as_str() {
                "mcp-protocol-version" => &mut found.version,
                "mcp-session-id" => &mut found.session,
                "mcp-method" => &mut found.method,
                "mcp-name" => &mut found.name,
                _ => continue,
            };
            let value = std::str::from_utf8(value)
                .ok()
                .filter(|value| value.bytes().all(is_plain))
                .ok_or_else(|| mismatch(format!("the header `{name}` is not text")))?;
            if slot
                .replace(value.trim_matches([' ', '\t']).to_owned())
                .is_some()
            {
                return Err(mismatch(format!(
                    "the header `{name}` stands more than once"
                )));
            }
        }
        Ok(found)
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
