//! The ids of calls that go on after their answer: a client carries one sealed, for itself alone,
//! and it leads back to the one source that gave it out.

use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::find::Target;
use super::rewrite::member;
use super::view::View;
use crate::{
    Caller, Code, Error, ErrorOrigin, Object, Operation, Outcome, Principal, RawJson, Request,
    Result, Seal, SourceId, TokenPurpose, UnsealError,
};

/// The name of all this among the extensions of the protocol.
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// How long an id is good at least, and at most. The source forgets the task itself before.
const GOOD_FOR: Duration = Duration::from_secs(24 * 3600);
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

const ID: &str = "taskId";

/// Ends the source's name in a sealed id: no name has it.
const END: char = '\0';

/// Gives the ids of one source's tasks to one client, and takes them away again.
pub(super) struct TaskIds {
    seal: Arc<Seal>,
    principal: Principal,
    source: SourceId,
    /// The id under which the client asks, where it asks about a task.
    spelled: Option<String>,
}

impl TaskIds {
    /// What is needed for an answer that may have such an id; none if it cannot.
    pub(super) fn of(
        shared: &Shared,
        view: &View,
        request: &Request,
        target: &Target,
    ) -> Option<Self> {
        let spelled = match &request.operation {
            Operation::Task { id, .. } => Some(id.clone()),
            Operation::Tool { .. } if view.part(target.source)?.catalog.features.tasks => None,
            _ => return None,
        };
        Some(Self {
            seal: Arc::clone(&shared.config.seal),
            principal: request.caller.principal.clone(),
            source: shared.sources[target.source].0.clone(),
            spelled,
        })
    }

    /// An outcome with the client's id in place of the source's.
    pub(super) fn outcome(&self, outcome: Outcome) -> Result<Outcome> {
        Ok(match outcome {
            Outcome::Task(result) => Outcome::Task(self.sealed(&result)?),
            Outcome::Complete { result, hint } => Outcome::Complete {
                result: self.spelled(&result).unwrap_or(result),
                hint,
            },
            asked @ (Outcome::InputRequired(_) | Outcome::Question { .. }) => asked,
        })
    }

    /// A new task, under an id that this client alone can use.
    fn sealed(&self, result: &RawJson) -> Result<RawJson> {
        let mut task = result.object().unwrap_or_default();
        let id = task.string(ID).ok_or_else(|| {
            let message = "the source began a task without an id";
            Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
        })?;
        let payload = format!("{}{END}{id}", self.source);
        let cache_lifetime = cache_lifetime(&task);
        let token = self.seal.seal(
            TokenPurpose::Task,
            &self.principal,
            cache_lifetime,
            payload.as_bytes(),
        );
        task.set(ID, RawJson::string(&token).as_str().to_owned());
        Ok(task.write())
    }

    /// A known task, under the id that the client asks with; none if the answer names no task.
    fn spelled(&self, result: &RawJson) -> Option<RawJson> {
        under(self.spelled.as_ref()?, result)
    }
}

/// A task under another id; none if nothing there names a task.
pub(super) fn under(id: &str, task: &RawJson) -> Option<RawJson> {
    let id = RawJson::string(id);
    let turned = member(task.as_str(), ID, |_| Some(id.as_str().to_owned()));
    turned.map(|text| RawJson::copy_of(&text))
}

fn cache_lifetime(task: &Object<'_>) -> Duration {
    let kept = task.get("ttlMs").and_then(|ttl| ttl.parse().ok());
    let kept = kept.map_or(GOOD_FOR, Duration::from_millis);
    kept.clamp(GOOD_FOR, LONGEST)
}

/// The source that a client's id leads to, and the id there.
pub(super) fn open(
    shared: &Shared,
    view: &View,
    caller: &Caller,
    token: &str,
) -> Result<(usize, String)> {
    let seal = &shared.config.seal;
    let opened = match seal.open(TokenPurpose::Task, &caller.principal, token) {
        Ok(payload) => String::from_utf8(payload).ok(),
        Err(UnsealError::Foreign) => None,
        Err(UnsealError::Expired) => {
            return Err(refused("the task is too old: its id has expired"));
        }
    };
    let found = opened.and_then(|payload| {
        let (source, id) = payload.split_once(END)?;
        let mut parts = view.parts().iter();
        let part = parts.find(|part| part.id.as_str() == source)?;
        Some((part.source, id.to_owned()))
    });
    found.ok_or_else(|| refused("no task that you began here has this id"))
}

fn refused(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}
