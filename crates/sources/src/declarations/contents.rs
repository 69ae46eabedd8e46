//! The contents of a resource: text or bytes, with a MIME type and a cache hint.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::{CacheScope, Error, RawJson, Result};

#[derive(Debug)]
pub(crate) struct ResourceContents {
    data: ContentData,
    /// Overrides the declared type.
    mime: Option<String>,
    /// Overrides the declared cache lifetime and scope.
    cache_hint: Option<(Duration, CacheScope)>,
}

#[derive(Debug)]
enum ContentData {
    Text(String),
    Bytes(Vec<u8>),
}

impl ResourceContents {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::new(ContentData::Text(text.into()))
    }

    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self::new(ContentData::Bytes(bytes))
    }

    fn new(data: ContentData) -> Self {
        Self {
            data,
            mime: None,
            cache_hint: None,
        }
    }

    pub(crate) fn json<T: Serialize>(value: &T) -> Result<Self> {
        let text = serde_json::to_string(value).map_err(|cause| {
            Error::internal("the resource could not be serialized as JSON").with_cause(cause)
        })?;
        Ok(Self::text(text))
    }

    /// A JSON value as a resource (S0.14, X16): a string is text, an object or an array is JSON,
    /// anything else is binary.
    pub(crate) fn from_json_value(value: &RawJson) -> Self {
        let mime = mime_of_json_value(value);
        let contents = match value.read::<String>() {
            Ok(text) => Self::text(text),
            Err(_) if mime == OCTET_STREAM => Self::bytes(value.as_str().as_bytes().to_vec()),
            Err(_) => Self::text(value.as_str()),
        };
        contents.with_mime(mime)
    }

    /// Overrides the declared MIME type.
    #[must_use]
    pub(crate) fn with_mime(mut self, mime: impl Into<String>) -> Self {
        self.mime = Some(mime.into());
        self
    }

    /// Overrides the declared cache lifetime and scope.
    #[must_use]
    pub(crate) fn with_cache_hint(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache_hint = Some((ttl, scope));
        self
    }

    pub(crate) fn cache_hint(&self) -> Option<(Duration, CacheScope)> {
        self.cache_hint
    }

    /// An item of the result's `contents`.
    pub(crate) fn into_item(self, uri: &str, declared_mime: &str) -> Value {
        let mime = self.mime.as_deref().unwrap_or(declared_mime);
        match self.data {
            ContentData::Text(text) => json!({ "uri": uri, "mimeType": mime, "text": text }),
            ContentData::Bytes(bytes) => {
                json!({ "uri": uri, "mimeType": mime, "blob": STANDARD.encode(bytes) })
            }
        }
    }
}

const OCTET_STREAM: &str = "application/octet-stream";

/// S0.14.
fn mime_of_json_value(value: &RawJson) -> &'static str {
    match value.as_str().trim_start().as_bytes().first() {
        Some(b'"') => "text/plain",
        Some(b'{' | b'[') => "application/json",
        _ => OCTET_STREAM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0.14, X16.
    #[test]
    fn derives_the_mime_type_from_the_json_type() {
        let item = |text: &str| {
            let value = RawJson::parse(text.to_owned()).unwrap();
            ResourceContents::from_json_value(&value).into_item("a://b", "x/y")
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
        let bytes = json!({ "uri": "a://b", "mimeType": OCTET_STREAM, "blob": "NDI=" });
        assert_eq!(item("42"), bytes);
    }
}
