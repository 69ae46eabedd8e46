//! What a server says without being asked.

use tidegate_core::{Change, Code, LogLevel, RawJson};

use super::super::Method;
use super::super::meta::{key, own};
use super::super::methods::Kind;
use crate::{RequestId, codes};

/// A notification of a server, in the core's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
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
    /// The stream of changes begins.
    Acknowledged,
    /// Something we have no use for.
    Other,
}

/// Reads a notification. A malformed one is nothing.
pub fn said(method: &str, params: Option<&RawJson>) -> Said {
    let empty = RawJson::empty_object();
    let params = params.unwrap_or(&empty);
    read(method, params).unwrap_or(Said::Other)
}

fn read(method: &str, params: &RawJson) -> Option<Said> {
    let mut members = params.object()?;
    let method = Method::ALL
        .iter()
        .find(|known| known.name() == method && known.row().kind == Kind::Notice)?;
    Some(match method {
        Method::Progress => {
            let token = members.remove(key::PROGRESS_TOKEN)?.into_owned();
            Said::Progress {
                token,
                params: members.write(),
            }
        }
        Method::LogMessage => {
            let level = members.string("level")?.parse().ok()?;
            Said::Log {
                level,
                params: own(params.as_str()),
            }
        }
        Method::ToolsChanged => Said::Change(Change::Tools),
        Method::PromptsChanged => Said::Change(Change::Prompts),
        Method::ResourcesChanged => Said::Change(Change::Resources),
        Method::ResourceUpdated => Said::Change(Change::Updated(members.string("uri")?.into())),
        Method::Elicited => Said::Elicited(members.string("elicitationId")?),
        Method::Acknowledged => Said::Acknowledged,
        _ => return None,
    })
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
