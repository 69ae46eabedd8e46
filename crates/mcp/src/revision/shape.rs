//! The shape of a result in each revision: what is added for the newer, taken away for the older.

mod content;
mod tools;

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::value::RawValue;
use tidegate_core::{CacheHint, CacheScope, Object, Outcome, RawJson};

use super::meta::key;
use super::multi_round_trip::encode_outcome;
use super::{Era, Method, Revision};
use crate::RequestId;

/// Who we say we are.
pub(super) static SERVER_INFO: LazyLock<String> = LazyLock::new(|| {
    serde_json::json!({
        "name": "tidegate",
        "title": "Tidegate",
        "version": env!("CARGO_PKG_VERSION"),
    })
    .to_string()
});

/// A result as `revision` writes it; none if this client cannot take it.
pub(super) fn result(
    revision: Revision,
    method: Method,
    outcome: &Outcome,
    subscription: Option<&RequestId>,
) -> Option<RawJson> {
    match revision.era() {
        Era::Modern => modern(method, outcome, subscription),
        Era::Legacy => legacy(revision, method, outcome),
    }
}

fn modern(method: Method, outcome: &Outcome, subscription: Option<&RequestId>) -> Option<RawJson> {
    let worded = encode_outcome(outcome.clone());
    let (raw, kind, hint) = match &worded {
        Outcome::Complete { result, hint } => (result, "\"complete\"", *hint),
        Outcome::InputRequired(result) if may_ask(method) => (result, "\"input_required\"", None),
        Outcome::Task(result) if method == Method::ToolsCall => (result, "\"task\"", None),
        Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => return None,
    };
    let mut result = raw.object()?;
    match method {
        Method::Discover => result.set("supportedVersions", supported_versions()),
        Method::ToolsList => tools::without_execution(&mut result),
        _ => {}
    }
    result.set("resultType", kind);
    let complete = matches!(outcome, Outcome::Complete { .. });
    if complete && is_cacheable(method) {
        let hint = hint.unwrap_or(CacheHint {
            ttl: std::time::Duration::ZERO,
            scope: CacheScope::Private,
        });
        result.set("ttlMs", hint.ttl.as_millis().to_string());
        result.set("cacheScope", scope(hint.scope));
    }
    let meta = modern_meta(result.get("_meta"), subscription);
    result.set("_meta", meta);
    Some(result.write())
}

fn modern_meta(meta: Option<&str>, subscription: Option<&RequestId>) -> String {
    let mut meta = meta
        .and_then(|meta| Object::parse(meta).ok())
        .unwrap_or_default();
    meta.set(key::SERVER_INFO, SERVER_INFO.as_str());
    if let Some(id) = subscription {
        meta.set(key::SUBSCRIPTION_ID, id.as_str());
    }
    meta.write().as_str().to_owned()
}

fn legacy(revision: Revision, method: Method, outcome: &Outcome) -> Option<RawJson> {
    let Outcome::Complete { result: raw, .. } = outcome else {
        return None;
    };
    let mut result = raw.object()?;
    if method == Method::Initialize {
        return Some(initialize(revision, result));
    }
    for modern_only in ["resultType", "ttlMs", "cacheScope"] {
        result.remove(modern_only);
    }
    if let Some(meta) = result
        .get("_meta")
        .map(|meta| without(meta, key::SERVER_INFO))
    {
        match meta.as_str() {
            "{}" => drop(result.remove("_meta")),
            _ => result.set("_meta", meta),
        }
    }
    match method {
        Method::ToolsList => {
            tools::without_execution(&mut result);
            tools::older(revision, &mut result);
        }
        Method::ToolsCall => content::older_result(revision, &mut result),
        Method::PromptsGet => content::older_messages(revision, &mut result),
        _ => {}
    }
    Some(result.write())
}

/// Edits each object in a member that is a list, if the member is concerned at all.
fn edit_items(
    result: &mut Object<'_>,
    member: &'static str,
    concerned: impl Fn(&str) -> bool,
    edit: impl Fn(&mut Object<'_>),
) {
    let Some(list) = result.get(member).filter(|list| concerned(list)) else {
        return;
    };
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(list) else {
        return;
    };
    let edited: Vec<_> = items
        .into_iter()
        .map(|item| match Object::parse(item.get()) {
            Ok(mut object) => {
                edit(&mut object);
                object.write().as_str().to_owned()
            }
            Err(_) => item.get().to_owned(),
        })
        .collect();
    let edited = format!("[{}]", edited.join(","));
    result.set(member, edited);
}

/// The answer to a handshake, made from what the gateway says of itself.
fn initialize(revision: Revision, mut discovered: Object<'_>) -> RawJson {
    let mut capabilities = discovered
        .remove("capabilities")
        .unwrap_or(Cow::Borrowed("{}"));
    if !revision.has_completions_capability() {
        capabilities = without(&capabilities, "completions").into();
    }
    // They go with requests that say so themselves.
    capabilities = without(&capabilities, "extensions").into();
    let mut result = Object::default();
    let version = format!("\"{revision}\"");
    result.set("protocolVersion", version);
    result.set("capabilities", capabilities);
    result.set("serverInfo", SERVER_INFO.as_str());
    if let Some(instructions) = discovered.remove("instructions") {
        result.set("instructions", instructions);
    }
    result.write()
}

fn without(object: &str, member: &str) -> String {
    match Object::parse(object) {
        Ok(mut members) => {
            members.remove(member);
            members.write().as_str().to_owned()
        }
        Err(_) => object.to_owned(),
    }
}

/// Whether a source may ask its client something before it answers.
fn may_ask(method: Method) -> bool {
    matches!(
        method,
        Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead
    )
}

fn is_cacheable(method: Method) -> bool {
    matches!(
        method,
        Method::Discover
            | Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::TemplatesList
            | Method::ResourcesRead
    )
}

fn scope(scope: CacheScope) -> &'static str {
    match scope {
        CacheScope::Public => "\"public\"",
        CacheScope::Private => "\"private\"",
    }
}

fn supported_versions() -> String {
    let versions: Vec<_> = Revision::supported().collect();
    serde_json::Value::from(versions).to_string()
}
