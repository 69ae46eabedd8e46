//! Results in each revision: adds the members that a revision requires and replaces or removes
//! members it does not have.

mod content;
mod edit;
mod tools;

use std::time::Duration;

use tidegate_core::{CacheHint, CacheScope, Era, Object, Outcome, RawJson};

use super::meta::{GATEWAY_INFO, keys};
use super::methods::Method;
use super::multi_round_trip::encode_outcome;
use super::tasks::without_tasks;
use super::version::Revision;
use crate::request_id::RequestId;

/// Encodes a result for `revision`; `None` if it cannot be expressed there.
pub(super) fn encode_result(
    revision: Revision,
    method: Method,
    outcome: &Outcome,
    subscription: Option<&RequestId>,
) -> Option<RawJson> {
    match revision.era() {
        Era::Modern => modern_result(method, outcome, subscription),
        Era::Legacy => legacy_result(revision, method, outcome),
    }
}

fn modern_result(
    method: Method,
    outcome: &Outcome,
    subscription: Option<&RequestId>,
) -> Option<RawJson> {
    let encoded = encode_outcome(outcome.clone());
    let (raw, result_type, hint) = match &encoded {
        Outcome::Complete { result, hint } => (result, "\"complete\"", *hint),
        Outcome::InputRequired(result) if may_require_input(method) => {
            (result, "\"input_required\"", None)
        }
        Outcome::Task(result) if method == Method::ToolsCall => (result, "\"task\"", None),
        Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => return None,
    };
    let mut result = raw.object()?;
    match method {
        Method::Discover => result.set("supportedVersions", supported_versions()),
        Method::ToolsList => tools::remove_execution(&mut result),
        _ => {}
    }
    let has_own_type = method == Method::Extension && result.get("resultType").is_some();
    if !has_own_type {
        result.set("resultType", result_type);
    }
    let is_complete = matches!(outcome, Outcome::Complete { .. });
    if is_complete && is_cacheable(method) {
        let hint = hint.unwrap_or(CacheHint {
            ttl: Duration::ZERO,
            scope: CacheScope::Private,
        });
        result.set("ttlMs", hint.ttl.as_millis().to_string());
        result.set("cacheScope", cache_scope(hint.scope));
    }
    let meta = modern_meta(result.get("_meta"), subscription);
    result.set("_meta", meta);
    Some(result.write())
}

fn modern_meta(meta: Option<&str>, subscription: Option<&RequestId>) -> String {
    let mut meta = meta
        .and_then(|meta| Object::parse(meta).ok())
        .unwrap_or_default();
    meta.set(keys::SERVER_INFO, GATEWAY_INFO.as_str());
    if let Some(id) = subscription {
        meta.set(keys::SUBSCRIPTION_ID, id.as_str());
    }
    meta.write().as_str().to_owned()
}

fn legacy_result(revision: Revision, method: Method, outcome: &Outcome) -> Option<RawJson> {
    let Outcome::Complete { result: raw, .. } = outcome else {
        return None;
    };
    let mut result = raw.object()?;
    if method == Method::Initialize {
        return Some(initialize_result(revision, result));
    }
    for modern_only in ["resultType", "ttlMs", "cacheScope"] {
        result.remove(modern_only);
    }
    if let Some(meta) = result
        .get("_meta")
        .map(|meta| without_member(meta, keys::SERVER_INFO))
    {
        match meta.as_str() {
            "{}" => drop(result.remove("_meta")),
            _ => result.set("_meta", meta),
        }
    }
    match method {
        Method::ToolsList => {
            tools::remove_execution(&mut result);
            tools::downgrade_definitions(revision, &mut result);
        }
        Method::ToolsCall => content::downgrade_tool_result(revision, &mut result),
        Method::PromptsGet => content::downgrade_prompt(revision, &mut result),
        _ => {}
    }
    Some(result.write())
}

/// The result of a handshake, converted from the result of discover. Members that the gateway does not
/// know are kept.
fn initialize_result(revision: Revision, mut discovered: Object<'_>) -> RawJson {
    let capabilities = discovered.remove("capabilities");
    let mut capabilities = match capabilities {
        Some(capabilities) => without_tasks(RawJson::copy_of(&capabilities)),
        None => RawJson::empty_object(),
    };
    if !revision.has_completions_capability() {
        capabilities = RawJson::copy_of(&without_member(capabilities.as_str(), "completions"));
    }
    let mut result = Object::default();
    let version = format!("\"{revision}\"");
    result.set("protocolVersion", version);
    result.set("capabilities", capabilities.as_str().to_owned());
    result.set("serverInfo", GATEWAY_INFO.as_str());
    for (member, value) in discovered.iter() {
        result.set(member, value.to_owned());
    }
    result.write()
}

fn without_member(object: &str, member: &str) -> String {
    match Object::parse(object) {
        Ok(mut members) => {
            members.remove(member);
            members.write().as_str().to_owned()
        }
        Err(_) => object.to_owned(),
    }
}

/// Whether the result of a method may be `input_required`.
fn may_require_input(method: Method) -> bool {
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
            | Method::SkillsList
            | Method::SkillsGet
    )
}

fn cache_scope(scope: CacheScope) -> &'static str {
    match scope {
        CacheScope::Public => "\"public\"",
        CacheScope::Private => "\"private\"",
    }
}

fn supported_versions() -> String {
    let versions: Vec<_> = Revision::supported().collect();
    serde_json::Value::from(versions).to_string()
}
