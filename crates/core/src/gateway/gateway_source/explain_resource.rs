//! `gateway://gateway/explain/{+uri}`: how a URI is resolved, as a resource that any client can
//! read.

use std::time::Duration;

use serde_json::json;

use crate::names::NameMap;
use crate::{
    CacheScope, Call, Catalog, CatalogEntry, Error, Features, List, Object, Outcome, RawJson,
    Reply, Result,
};

/// Listed as `gateway://gateway/explain/{+uri}`.
const EXPLAIN_TEMPLATE: &str = "explain/{+uri}";
const EXPLAIN_PREFIX: &str = "explain/";

/// The protocol's limit of completion values.
const MAX_COMPLETIONS: usize = 100;

pub(super) fn catalog() -> Catalog {
    let definition = json!({
        "uriTemplate": EXPLAIN_TEMPLATE,
        "name": "explain",
        "title": "How a URI is resolved",
        "description": "Which source serves a URI, by which rule, and which other sources have it.",
        "mimeType": "application/json",
    });
    Catalog {
        is_built_in: true,
        features: Features {
            resources: true,
            subscribe: true,
            completions: true,
            ..Features::default()
        },
        scope: CacheScope::Public,
        templates: vec![CatalogEntry {
            key: EXPLAIN_TEMPLATE.to_owned(),
            definition: definition.into(),
        }],
        ..Catalog::default()
    }
}

pub(super) fn read(names: &NameMap, uri: &str) -> Result<Reply> {
    let explained = uri
        .strip_prefix(EXPLAIN_PREFIX)
        .filter(|rest| !rest.is_empty());
    let explained = explained.ok_or_else(|| Error::resource_not_found(uri))?;
    let text = format!("{:#}", names.explain(explained));
    let result = json!({
        "contents": [{ "uri": uri, "mimeType": "application/json", "text": text }],
    });
    let outcome = Outcome::cacheable(result.into(), Duration::ZERO, CacheScope::Private);
    Ok(Reply::Done(outcome))
}

/// The listed URIs that start with this value.
pub(super) fn complete(names: &NameMap, call: &Call) -> Result<Reply> {
    let params = call.params.object().unwrap_or_default();
    let argument = params.get("argument");
    let argument = argument.and_then(|text| Object::parse(text).ok());
    let prefix = argument.and_then(|argument| argument.string("value"));
    let prefix = prefix.unwrap_or_default();
    let uris = names.entries(List::Resources).iter();
    let uris = uris.map(|entry| &*entry.name);
    let mut values: Vec<_> = uris.filter(|uri| uri.starts_with(&prefix)).collect();
    values.sort_unstable();
    let total = values.len();
    values.truncate(MAX_COMPLETIONS);
    let has_more = total > MAX_COMPLETIONS;
    let completion = json!({ "values": values, "total": total, "hasMore": has_more });
    let result = RawJson::from(json!({ "completion": completion }));
    Ok(Reply::Done(Outcome::complete(result)))
}
