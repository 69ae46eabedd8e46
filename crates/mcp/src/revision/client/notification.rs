//! Notifications of a server, and responses to its requests that belong to no client.

use std::collections::BTreeSet;

use tidegate_core::{Change, Declined, LoggingLevel, Object, RawJson, bounded_list};

use super::super::meta::keys;
use super::super::methods::{Method, MethodKind, may_be_extension};
use super::super::question::encode_answer;
use crate::request_id::RequestId;

/// Task ids in one acknowledgement.
const MAX_TASKS: usize = 10_000;

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
        /// The tasks that it covers.
        tasks: BTreeSet<String>,
    },
    /// The state of a task, on the change stream of a request.
    Task {
        request: Option<u64>,
        id: String,
        task: RawJson,
    },
    /// A notification of an extension that the gateway does not know.
    Extension {
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
        return ServerNotification::Extension {
            method: method.to_owned(),
            params: RawJson::copy_of(params.as_str()),
        };
    }
    parse_known(method, params).unwrap_or(ServerNotification::Other)
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
            tasks: acknowledged_tasks(&members).unwrap_or_default(),
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

fn acknowledged_tasks(members: &Object<'_>) -> Option<BTreeSet<String>> {
    let filter = Object::parse(members.get("notifications")?).ok()?;
    let tasks = bounded_list::<String>(filter.get("taskIds")?, MAX_TASKS);
    Some(tasks.ok()?.into_iter().collect())
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
