//! The declaration of one resource.

use std::time::Duration;

use serde_json::json;
use tidegate_core::{BoxFuture, CacheScope, Caller, CatalogEntry, Outcome, RawJson, Result};

use super::{Body, entry};

/// A resource with a fixed URI.
pub(crate) struct Resource<S: 'static> {
    pub(crate) uri: String,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) mime: &'static str,
    /// How long a copy stays good, and for whom.
    pub(crate) ttl: Duration,
    pub(crate) scope: CacheScope,
    /// Neither listed nor readable for anyone else.
    pub(crate) admin_only: bool,
    pub(crate) read: for<'a> fn(&'a S, &'a Caller) -> BoxFuture<'a, Result<Body>>,
}

impl<S> Resource<S> {
    pub(super) fn entry(&self) -> CatalogEntry {
        let definition = json!({
            "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime,
        });
        entry(&self.uri, definition)
    }

    pub(super) async fn read(&self, state: &S, caller: &Caller) -> Result<Outcome> {
        let body = (self.read)(state, caller).await?;
        let (ttl, scope) = body.hint().unwrap_or((self.ttl, self.scope));
        let result = json!({ "contents": [body.item(&self.uri, self.mime)] });
        Ok(Outcome::cacheable(RawJson::from(result), ttl, scope))
    }
}
