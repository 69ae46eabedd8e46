//! What a resource holds: text or bytes, and what kind of.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::{CacheScope, Error, RawJson, Result};

/// The contents of a resource.
#[derive(Debug)]
pub(crate) struct Body {
    contents: Contents,
    /// Where it is not the one declared.
    mime: Option<String>,
    /// How long it holds and for whom, where that is not as declared.
    hint: Option<(Duration, CacheScope)>,
}

#[derive(Debug)]
enum Contents {
    Text(String),
    Bytes(Vec<u8>),
}

impl Body {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            contents: Contents::Text(text.into()),
            mime: None,
            hint: None,
        }
    }

    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self {
            contents: Contents::Bytes(bytes),
            mime: None,
            hint: None,
        }
    }

    pub(crate) fn json<T: Serialize>(value: &T) -> Result<Self> {
        let text = serde_json::to_string(value).map_err(|cause| {
            Error::internal("the resource could not be written as JSON").with_cause(cause)
        })?;
        Ok(Self::text(text))
    }

    /// A JSON value as a resource (S0.14, X16): a string is its text, an object or an array is JSON,
    /// anything else is bytes.
    pub(crate) fn value(value: &RawJson) -> Self {
        let mime = mime_of_value(value);
        let body = match value.read::<String>() {
            Ok(text) => Self::text(text),
            Err(_) if mime == OCTETS => Self::bytes(value.as_str().as_bytes().to_vec()),
            Err(_) => Self::text(value.as_str()),
        };
        body.of_type(mime)
    }

    /// The type of these contents, whatever the declaration says.
    #[must_use]
    pub(crate) fn of_type(mut self, mime: impl Into<String>) -> Self {
        self.mime = Some(mime.into());
        self
    }

    /// How long these contents hold, whatever the declaration says.
    #[must_use]
    pub(crate) fn kept_for(mut self, time: Duration, scope: CacheScope) -> Self {
        self.hint = Some((time, scope));
        self
    }

    pub(crate) fn hint(&self) -> Option<(Duration, CacheScope)> {
        self.hint
    }

    /// As an item of `contents`.
    pub(crate) fn item(self, uri: &str, declared: &str) -> Value {
        let mime = self.mime.as_deref().unwrap_or(declared);
        match self.contents {
            Contents::Text(text) => json!({ "uri": uri, "mimeType": mime, "text": text }),
            Contents::Bytes(bytes) => {
                json!({ "uri": uri, "mimeType": mime, "blob": STANDARD.encode(bytes) })
            }
        }
    }
}

const OCTETS: &str = "application/octet-stream";

/// The type of a JSON value as a resource (S0.14).
fn mime_of_value(value: &RawJson) -> &'static str {
    match value.as_str().trim_start().as_bytes().first() {
        Some(b'"') => "text/plain",
        Some(b'{' | b'[') => "application/json",
        _ => OCTETS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0.14, X16.
    #[test]
    fn the_type_of_a_value_follows_its_kind() {
        let item = |text: &str| {
            let value = RawJson::parse(text.to_owned()).unwrap();
            Body::value(&value).item("a://b", "x/y")
        };
        let text =
            |mime: &str, text: &str| json!({ "uri": "a://b", "mimeType": mime, "text": text });
        assert_eq!(item("\"a\\nb\""), text("text/plain", "a\nb"));
        assert_eq!(item("\"\""), text("text/plain", ""));
        assert_eq!(
            item("{\"a\":1.50}"),
            text("application/json", "{\"a\":1.50}")
        );
        assert_eq!(item("[1]"), text("application/json", "[1]"));
        let bytes = json!({ "uri": "a://b", "mimeType": OCTETS, "blob": "NDI=" });
        assert_eq!(item("42"), bytes);
    }
}
