//! The declaration of one resource.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tidegate_core::{BoxFuture, CacheScope, Entry, Error, Outcome, RawJson, Result};

use super::entry;

/// A resource with a fixed URI.
pub(crate) struct Resource<S: 'static> {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) mime: &'static str,
    /// How long a copy stays good, and for whom.
    pub(crate) ttl: Duration,
    pub(crate) scope: CacheScope,
    pub(crate) read: for<'a> fn(&'a S) -> BoxFuture<'a, Result<Body>>,
}

/// What a resource holds.
pub(crate) struct Body(String);

impl Body {
    pub(crate) fn json<T: Serialize>(value: &T) -> Result<Self> {
        serde_json::to_string(value).map(Self).map_err(|cause| {
            Error::internal("the resource could not be written as JSON").caused_by(cause)
        })
    }
}

impl<S> Resource<S> {
    pub(super) fn entry(&self) -> Entry {
        let definition = json!({
            "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime,
        });
        entry(self.uri, definition)
    }

    pub(super) async fn read(&self, state: &S) -> Result<Outcome> {
        let Body(text) = (self.read)(state).await?;
        let result = json!({
            "contents": [{ "uri": self.uri, "mimeType": self.mime, "text": text }],
        });
        Ok(Outcome::cacheable(
            RawJson::from(result),
            self.ttl,
            self.scope,
        ))
    }
}
