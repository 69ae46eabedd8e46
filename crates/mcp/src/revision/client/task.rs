//! Tasks of a server with sessions: how they are asked after, and what it says of them.

use std::time::Duration;

use tidegate_core::{Object, RawJson};

use super::super::Method;
use super::{OutboundRequest, RequestEncoder};

/// The key of `_meta` that says which task a message is about.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Longer than what a server says of a task it has just begun.
const LONGEST: usize = 16 * 1024;

/// A task, by its server's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub status: Status,
    /// What differs when something has happened.
    pub mark: String,
    /// How long the server wants to be left alone before it is asked again.
    pub poll: Option<Duration>,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Working,
    /// It asks something, and is heard by whoever waits for its result.
    Asking,
    Over,
}

impl Task {
    /// The task that a call has become; none if the result is the call's own.
    pub fn created(result: &RawJson) -> Option<Self> {
        // A cheap look first: nearly every result is a call's own.
        let text = result.as_str();
        if text.len() > LONGEST || !text.contains("\"taskId\"") {
            return None;
        }
        let members = result.object()?;
        if members.get("content").is_some() {
            return None;
        }
        Self::read(&Object::parse(members.get("task")?).ok()?)
    }

    /// The answer to whoever asks how a task is.
    pub fn seen(result: &RawJson) -> Option<Self> {
        Self::read(&result.object()?)
    }

    fn read(task: &Object<'_>) -> Option<Self> {
        let status = task.string("status")?;
        let mark = ["status", "statusMessage", "lastUpdatedAt"];
        let mark = mark.map(|member| task.get(member).unwrap_or_default());
        Some(Self {
            id: task.string("taskId")?,
            mark: mark.join("\n"),
            poll: task
                .get("pollInterval")
                .and_then(|poll| poll.parse().ok())
                .map(Duration::from_millis),
            status: match status.as_str() {
                "working" => Status::Working,
                "input_required" => Status::Asking,
                _ => Status::Over,
            },
        })
    }
}

/// The task that a question is about, where it says so.
pub fn task_of(params: &RawJson) -> Option<String> {
    let members = params.object()?;
    let meta = Object::parse(members.get("_meta")?).ok()?;
    Object::parse(meta.get(RELATED)?).ok()?.string("taskId")
}

/// A result without a word of the task that it came from.
pub fn unrelated(result: &RawJson) -> RawJson {
    let turned = result.object().and_then(|mut members| {
        let mut meta = Object::parse(members.get("_meta")?).ok()?;
        meta.remove(RELATED)?;
        let meta = meta.write();
        match meta.as_str() {
            "{}" => drop(members.remove("_meta")),
            meta => members.set("_meta", meta.to_owned()),
        }
        Some(members.write())
    });
    turned.unwrap_or_else(|| result.clone())
}

/// Requests about a task.
impl RequestEncoder {
    pub fn task(&self, id: u64, task: &str) -> OutboundRequest {
        self.about_task(id, Method::TasksGet, task)
    }

    pub fn task_result(&self, id: u64, task: &str) -> OutboundRequest {
        self.about_task(id, Method::TasksResult, task)
    }

    pub fn cancel_task(&self, id: u64, task: &str) -> OutboundRequest {
        self.about_task(id, Method::TasksCancel, task)
    }

    fn about_task(&self, id: u64, method: Method, task: &str) -> OutboundRequest {
        let mut params = Object::default();
        params.set("taskId", RawJson::string(task).as_str().to_owned());
        self.write(id, method, params, None)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_is_told_from_a_result() {
        let task = json!({ "taskId": "t", "status": "working", "pollInterval": 20 });
        let created = Task::created(&json!({ "task": task }).into()).unwrap();
        assert_eq!(created.status, Status::Working);
        assert_eq!(created.poll, Some(Duration::from_millis(20)));
        assert_eq!(Task::seen(&task.clone().into()).unwrap(), created);
        for result in [
            json!({ "content": [], "task": task }),
            json!({ "task": {} }),
            json!({}),
        ] {
            assert!(Task::created(&result.clone().into()).is_none(), "{result}");
        }
    }

    #[test]
    fn a_question_says_which_task_it_is_about_and_a_result_does_not() {
        let meta = json!({ RELATED: { "taskId": "t" } });
        let about = RawJson::from(json!({ "message": "m", "_meta": meta }));
        assert_eq!(task_of(&about).as_deref(), Some("t"));
        assert_eq!(unrelated(&about).as_str(), r#"{"message":"m"}"#);
        let other = RawJson::copy_of(r#"{ "message": "m", "_meta": {"a":1} }"#);
        assert_eq!(task_of(&other), None);
        assert_eq!(unrelated(&other), other);
    }
}
