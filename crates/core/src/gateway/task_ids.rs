//! The ids of tasks. A client gets each id sealed for its principal; it resolves to the source
//! that created the task.

use std::sync::Arc;
use std::time::Duration;

use crate::json::map_member;
use crate::names::NameMap;
use crate::{
    Caller, Catalog, Code, Error, ErrorOrigin, Object, Operation, Outcome, Principal, RawJson,
    Request, Result, Seal, SourceId, TokenPurpose, UnsealError,
};

/// The name of the protocol's tasks extension.
pub(super) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The bounds of an id's lifetime, which follows the `ttlMs` of the task.
const MIN_TASK_ID_LIFETIME: Duration = Duration::from_secs(24 * 3600);
const MAX_TASK_ID_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

const TASK_ID_MEMBER: &str = "taskId";

/// Separates the source from the task id in a sealed id. No source id contains it.
const SEPARATOR: char = '\0';

/// Seals the task ids of one source for one client.
pub(super) struct TaskIds {
    seal: Arc<Seal>,
    principal: Principal,
    source: SourceId,
    /// The sealed id in the client's request, if the request is about a task.
    requested: Option<String>,
}

impl TaskIds {
    /// For a reply that may contain a task id; `None` if it cannot.
    pub(super) fn for_reply(
        seal: &Arc<Seal>,
        request: &Request,
        source: &SourceId,
        catalog: &Catalog,
    ) -> Option<Self> {
        let requested = match &request.operation {
            Operation::Task { id, .. } => Some(id.clone()),
            Operation::Tool { .. } if catalog.features.tasks => None,
            _ => return None,
        };
        Some(Self {
            seal: Arc::clone(seal),
            principal: request.caller.principal.clone(),
            source: source.clone(),
            requested,
        })
    }

    /// The outcome with the client's task id in place of the source's.
    pub(super) fn seal_in(&self, outcome: Outcome) -> Result<Outcome> {
        Ok(match outcome {
            Outcome::Task(result) => Outcome::Task(self.seal_new(&result)?),
            Outcome::Complete { result, hint } => Outcome::Complete {
                result: self.restore_requested(&result).unwrap_or(result),
                hint,
            },
            Outcome::InputRequired(_) | Outcome::Question { .. } => outcome,
        })
    }

    /// A new task, under an id that only this principal can use.
    fn seal_new(&self, result: &RawJson) -> Result<RawJson> {
        let mut task = result.object().unwrap_or_default();
        let id = task.string(TASK_ID_MEMBER).ok_or_else(|| {
            let message = "the source created a task without an id";
            Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
        })?;
        let payload = format!("{}{SEPARATOR}{id}", self.source);
        let (purpose, lifetime) = (TokenPurpose::Task, lifetime(&task));
        let token = self
            .seal
            .seal(purpose, &self.principal, lifetime, payload.as_bytes());
        task.set(TASK_ID_MEMBER, RawJson::string(&token).as_str().to_owned());
        Ok(task.write())
    }

    /// A known task, under the id in the request; `None` if the result names no task.
    fn restore_requested(&self, result: &RawJson) -> Option<RawJson> {
        with_task_id(self.requested.as_ref()?, result)
    }
}

/// A task under another id; `None` if it has no id.
pub(super) fn with_task_id(id: &str, task: &RawJson) -> Option<RawJson> {
    let id = RawJson::string(id);
    let task = map_member(task.as_str(), TASK_ID_MEMBER, |_| {
        Some(id.as_str().to_owned())
    });
    task.map(|text| RawJson::copy_of(&text))
}

fn lifetime(task: &Object<'_>) -> Duration {
    let ttl = task.get("ttlMs").and_then(|ttl| ttl.parse().ok());
    let lifetime = ttl.map_or(MIN_TASK_ID_LIFETIME, Duration::from_millis);
    lifetime.clamp(MIN_TASK_ID_LIFETIME, MAX_TASK_ID_LIFETIME)
}

/// The source of a sealed id, by its number in `names`, and the task's native id.
pub(super) fn open(
    seal: &Seal,
    names: &NameMap,
    caller: &Caller,
    token: &str,
) -> Result<(usize, String)> {
    let payload = match seal.open(TokenPurpose::Task, &caller.principal, token) {
        Ok(payload) => String::from_utf8(payload).ok(),
        Err(UnsealError::Foreign) => None,
        Err(UnsealError::Expired) => return Err(invalid("the task id has expired")),
    };
    let task = payload.and_then(|payload| {
        let (source, id) = payload.split_once(SEPARATOR)?;
        Some((names.source_named(source)?, id.to_owned()))
    });
    task.ok_or_else(|| invalid("no task of yours has this id"))
}

fn invalid(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}
