//! Notifications of a server, and responses to its requests that belong to no client.

use std::collections::BTreeSet;

use tidegate_core::{
    Change, Declined, ExtensionMembers, LoggingLevel, Object, RawJson, bounded_list,
};

use super::super::change_filter::extension_members;
use super::super::meta::keys;
use super::super::methods::{Method, MethodKind, may_be_extension};
use super::super::question::encode_answer;
use crate::request_id::RequestId;

/// Task ids in one acknowledgement.
const MAX_TASKS: usize = 10_000;

/// Resources in one acknowledgement.
const MAX_URIS: usize = 100_000;

/// A notification of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerNotification {
    /// Progress of the request with this token.
    Progress {
        token: String,
        params: RawJson,
    },
    Log {
        level: LoggingLevel,
        params: RawJson,
    },
    Change(Change),
    /// The URL elicitation with this id is complete.
    ElicitationComplete(String),
    /// The server cancels its request whose id has this key.
    Cancelled(String),
    /// A change stream begins.
    Acknowledged {
        /// The request that opened it, if the server names it.
        request: Option<u64>,
        /// The resources that it covers, if the server says so.
        uris: Option<BTreeSet<String>>,
        /// The tasks that it covers.
        tasks: BTreeSet<String>,
        /// The members of its filter that extensions define.
        extension_members: ExtensionMembers,
    },
    /// The state of a task, on the change stream of a request.
    Task {
        request: Option<u64>,
        id: String,
        task: RawJson,
    },
    /// A notification of an extension that the gateway does not know.
    Extension {
        /// The request on whose change stream it was sent, if the server names one.
        request: Option<u64>,
        method: String,
        params: RawJson,
    },
    /// Malformed or without use.
    Other,
}

pub fn parse_notification(method: &str, params: Option<&RawJson>) -> ServerNotification {
    let empty = RawJson::empty_object();
    let params = params.unwrap_or(&empty);
    if may_be_extension(method) {
        return parse_extension(method, params);
    }
    parse_known(method, params).unwrap_or(ServerNotification::Other)
}

/// The id of a change stream is removed: it is the gateway's own.
fn parse_extension(method: &str, params: &RawJson) -> ServerNotification {
    let request = params.object().and_then(|members| subscription(&members));
    let without_subscription = || {
        let mut members = params.object()?;
        let meta = members.remove("_meta")?;
        let mut meta = Object::parse(&meta).ok()?;
        meta.remove(keys::SUBSCRIPTION_ID);
        if !meta.is_empty() {
            members.set("_meta", meta.write().as_str().to_owned());
        }
        Some(members.write())
    };
    let params = match request {
        Some(_) => without_subscription(),
        None => None,
    }
    .unwrap_or_else(|| RawJson::copy_of(params.as_str()));
    ServerNotification::Extension {
        request,
        method: method.to_owned(),
        params,
    }
}

fn parse_known(method: &str, params: &RawJson) -> Option<ServerNotification> {
    let mut members = params.object()?;
    // Both sides may cancel their requests.
    let is_sent_by_servers = |method: &Method| {
        method.spec().kind == MethodKind::ServerNotification || *method == Method::Cancelled
    };
    let method = Method::ALL
        .iter()
        .find(|known| known.name() == method && is_sent_by_servers(known))?;
    Some(match method {
        Method::Progress => {
            let token = members.remove(keys::PROGRESS_TOKEN)?.into_owned();
            ServerNotification::Progress {
                token,
                params: members.write(),
            }
        }
        Method::LogMessage => {
            let level = members.string("level")?.parse().ok()?;
            ServerNotification::Log {
                level,
                params: RawJson::copy_of(params.as_str()),
            }
        }
        Method::ToolsChanged => ServerNotification::Change(Change::Tools),
        Method::PromptsChanged => ServerNotification::Change(Change::Prompts),
        Method::ResourcesChanged => ServerNotification::Change(Change::Resources),
        Method::ResourceUpdated => {
            ServerNotification::Change(Change::ResourceUpdated(members.string("uri")?.into()))
        }
        Method::ElicitationComplete => {
            ServerNotification::ElicitationComplete(members.string("elicitationId")?)
        }
        Method::Cancelled => {
            let id = RawJson::copy_of(members.get("requestId")?);
            ServerNotification::Cancelled(RequestId::new(id)?.key())
        }
        Method::Acknowledged => ServerNotification::Acknowledged {
            request: subscription(&members),
            uris: acknowledged_uris(&members),
            tasks: acknowledged_tasks(&members).unwrap_or_default(),
            extension_members: acknowledged_members(&members).unwrap_or_default(),
        },
        Method::TaskChanged => ServerNotification::Task {
            request: subscription(&members),
            id: members.string("taskId")?,
            task: RawJson::copy_of(params.as_str()),
        },
        _ => return None,
    })
}

/// The request whose change stream a notification belongs to. Some servers send its id as a string.
fn subscription(members: &Object<'_>) -> Option<u64> {
    let meta = Object::parse(members.get("_meta")?).ok()?;
    let id = meta.get(keys::SUBSCRIPTION_ID)?;
    id.trim_matches('"').parse().ok()
}

/// A filter without resources covers none; without a filter, nothing is known.
fn acknowledged_uris(members: &Object<'_>) -> Option<BTreeSet<String>> {
    let filter = Object::parse(members.get("notifications")?).ok()?;
    let Some(uris) = filter.get("resourceSubscriptions") else {
        return Some(BTreeSet::new());
    };
    let uris = bounded_list::<String>(uris, MAX_URIS).ok()?;
    Some(uris.into_iter().collect())
}

fn acknowledged_tasks(members: &Object<'_>) -> Option<BTreeSet<String>> {
    let filter = Object::parse(members.get("notifications")?).ok()?;
    let tasks = bounded_list::<String>(filter.get("taskIds")?, MAX_TASKS);
    Some(tasks.ok()?.into_iter().collect())
}

fn acknowledged_members(members: &Object<'_>) -> Option<ExtensionMembers> {
    let filter = Object::parse(members.get("notifications")?).ok()?;
    Some(extension_members(&filter))
}

/// The response to a server's request that belongs to no client: a result for a ping, an error for
/// everything else.
pub fn answer_without_client(id: &RequestId, method: &str) -> String {
    if method == Method::Ping.name() {
        let id = id.as_str();
        return format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    }
    encode_answer(id, Err(Declined::no_client()))
}
