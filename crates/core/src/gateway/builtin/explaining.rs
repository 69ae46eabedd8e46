//! `gateway://gateway/explain/{+uri}`: where a URI leads, as a resource that any client can read.

use std::time::Duration;

use serde_json::json;

use super::super::view::View;
use crate::{
    CacheScope, Call, Catalog, CatalogEntry, Error, Features, List, Object, Outcome, RawJson,
    Reply, Result,
};

const TEMPLATE: &str = "gateway://gateway/explain/{+uri}";
const AT_HOME: &str = "explain/";

/// What the protocol lets a completion hold.
const MOST_VALUES: usize = 100;

pub(super) fn catalog() -> Catalog {
    let definition = json!({
        "uriTemplate": TEMPLATE,
        "name": "explain",
        "title": "Where a URI leads",
        "description": "Which source answers for a URI, by which rule, and which others would \
            have had it.",
        "mimeType": "application/json",
    });
    Catalog {
        features: Features {
            resources: true,
            completions: true,
            ..Features::default()
        },
        scope: CacheScope::Public,
        templates: vec![CatalogEntry {
            key: TEMPLATE.to_owned(),
            definition: definition.into(),
        }],
        ..Catalog::default()
    }
}

pub(super) fn read(view: &View, uri: &str) -> Result<Reply> {
    let asked = uri.strip_prefix(AT_HOME).filter(|asked| !asked.is_empty());
    let asked = asked.ok_or_else(|| Error::resource_not_found(uri))?;
    let text = format!("{:#}", view.explain(asked));
    let result = json!({
        "contents": [{ "uri": uri, "mimeType": "application/json", "text": text }],
    });
    let result = Outcome::cacheable(result.into(), Duration::ZERO, CacheScope::Private);
    Ok(Reply::Done(result))
}

/// The URIs that are listed and begin with what has been typed.
pub(super) fn complete(view: &View, call: &Call) -> Result<Reply> {
    let params = call.params.object().unwrap_or_default();
    let argument = params.get("argument");
    let argument = argument.and_then(|text| Object::parse(text).ok());
    let typed = argument.and_then(|argument| argument.string("value"));
    let typed = typed.unwrap_or_default();
    let listed = view.listed(List::Resources);
    let mut values: Vec<_> = listed.filter(|uri| uri.starts_with(&typed)).collect();
    values.sort_unstable();
    let total = values.len();
    values.truncate(MOST_VALUES);
    let completion = json!({ "values": values, "total": total, "hasMore": total > MOST_VALUES });
    let result = RawJson::from(json!({ "completion": completion }));
    Ok(Reply::Done(Outcome::complete(result)))
}
