//! What a server says without being asked.

use std::collections::BTreeSet;

use tidegate_core::{Change, Code, LogLevel, Object, RawJson, bounded_list};

use super::super::Method;
use super::super::meta::{key, own};
use super::super::methods::Kind;
use crate::{RequestId, codes};

/// More tasks than the gateway listens for on one stream.
const MOST_TASKS: usize = 10_000;

/// A notification of a server, in the core's client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerNotification {
    /// Progress of the request with this token.
    Progress {
        token: String,
        params: RawJson,
    },
    Log {
        level: LogLevel,
        params: RawJson,
    },
    Change(Change),
    /// What a user was sent to do elsewhere, under this id, is done.
    Elicited(String),
    /// What was asked under the id with this key is not asked any more.
    Withdrawn(String),
    /// A stream of changes begins.
    Acknowledged {
        /// The request that asked for it, where that is said.
        request: Option<u64>,
        /// The tasks that it tells of.
        tasks: BTreeSet<String>,
    },
    /// How a task is, on the stream of changes of a request.
    Task {
        request: Option<u64>,
        id: String,
        task: RawJson,
    },
    /// Something we have no use for.
    Other,
}

/// Reads a notification. A malformed one is nothing.
pub fn said(method: &str, params: Option<&RawJson>) -> ServerNotification {
    let empty = RawJson::empty_object();
    let params = params.unwrap_or(&empty);
    read(method, params).unwrap_or(ServerNotification::Other)
}

fn read(method: &str, params: &RawJson) -> Option<ServerNotification> {
    let mut members = params.object()?;
    // Either side may call off what it asked.
    let is_said = |known: &Method| known.row().kind == Kind::Notice || *known == Method::Cancelled;
    let method = Method::ALL
        .iter()
        .find(|known| known.name() == method && is_said(known))?;
    Some(match method {
        Method::Progress => {
            let token = members.remove(key::PROGRESS_TOKEN)?.into_owned();
            ServerNotification::Progress {
                token,
                params: members.write(),
            }
        }
        Method::LogMessage => {
            let level = members.string("level")?.parse().ok()?;
            ServerNotification::Log {
                level,
                params: own(params.as_str()),
            }
        }
        Method::ToolsChanged => ServerNotification::Change(Change::Tools),
        Method::PromptsChanged => ServerNotification::Change(Change::Prompts),
        Method::ResourcesChanged => ServerNotification::Change(Change::Resources),
        Method::ResourceUpdated => {
            ServerNotification::Change(Change::ResourceUpdated(members.string("uri")?.into()))
        }
        Method::Elicited => ServerNotification::Elicited(members.string("elicitationId")?),
        Method::Cancelled => {
            let id = RawJson::copy_of(members.get("requestId")?);
            ServerNotification::Withdrawn(RequestId::new(id)?.key())
        }
        Method::Acknowledged => ServerNotification::Acknowledged {
            request: asked_by(&members),
            tasks: acknowledged_tasks(&members).unwrap_or_default(),
        },
        Method::TaskChanged => ServerNotification::Task {
            request: asked_by(&members),
            id: members.string("taskId")?,
            task: own(params.as_str()),
        },
        _ => return None,
    })
}

/// The request whose stream something is said on. Some servers make a string of its number.
fn asked_by(members: &Object<'_>) -> Option<u64> {
    let meta = Object::parse(members.get("_meta")?).ok()?;
    let id = meta.get(key::SUBSCRIPTION_ID)?;
    id.trim_matches('"').parse().ok()
}

fn acknowledged_tasks(members: &Object<'_>) -> Option<BTreeSet<String>> {
    let filter = Object::parse(members.get("notifications")?).ok()?;
    let tasks = bounded_list::<String>(filter.get("taskIds")?, MOST_TASKS);
    Some(tasks.ok()?.into_iter().collect())
}

/// The answer to a question of a server that no client is there for: a ping is answered, and
/// everything else is not ours to answer.
pub fn unasked_answer(id: &RequestId, method: &str) -> String {
    let id = id.as_str();
    if method == Method::Ping.name() {
        return format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    }
    let number = codes::of(Code::MethodNotFound).legacy;
    let message = "no client is there to answer this";
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{number},"message":"{message}"}}}}"#)
}
