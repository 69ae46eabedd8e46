//! The declaration of a resource.

use std::time::Duration;

use serde_json::json;
use tidegate_core::{BoxFuture, CacheScope, Caller, CatalogEntry, Outcome, RawJson, Result};

use super::{ResourceContents, catalog_entry};

/// A resource with a fixed URI.
pub(crate) struct DeclaredResource<S: 'static> {
    pub(crate) uri: String,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) mime: &'static str,
    /// The cache lifetime of its contents.
    pub(crate) ttl: Duration,
    pub(crate) scope: CacheScope,
    /// Listed for and readable by administrators only.
    pub(crate) admin_only: bool,
    pub(crate) read: for<'a> fn(&'a S, &'a Caller) -> BoxFuture<'a, Result<ResourceContents>>,
}

impl<S> DeclaredResource<S> {
    pub(super) fn entry(&self) -> CatalogEntry {
        let definition = json!({
            "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime,
        });
        catalog_entry(&self.uri, definition)
    }

    pub(super) async fn read(&self, state: &S, caller: &Caller) -> Result<Outcome> {
        let contents = (self.read)(state, caller).await?;
        let (ttl, scope) = contents.cache_hint().unwrap_or((self.ttl, self.scope));
        let result = json!({ "contents": [contents.into_item(&self.uri, self.mime)] });
        Ok(Outcome::cacheable(RawJson::from(result), ttl, scope))
    }
}
