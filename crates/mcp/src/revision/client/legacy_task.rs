//! Tasks of 2025-11-25. The gateway calls tools that require it as tasks and polls for the result.

use std::time::Duration;

use tidegate_core::{Object, RawJson};

use super::super::methods::Method;
use super::request::{OutboundRequest, RequestEncoder};

/// The key of `_meta` that names the task of a message.
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Longer results are not checked for a created task.
const MAX_CREATED_BYTES: usize = 16 * 1024;

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyTask {
    pub id: String,
    pub status: LegacyTaskStatus,
    /// Changes whenever the state of the task does.
    pub state_key: String,
    /// The poll interval that the server requested.
    pub poll_interval: Option<Duration>,
}

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyTaskStatus {
    Working,
    /// The task asks a question, on the stream of the request for its result.
    InputRequired,
    Ended,
}

impl LegacyTask {
    /// The task that a call created; `None` if the result is the result of the call itself.
    pub fn from_call_result(result: &RawJson) -> Option<Self> {
        // A cheap check first: few calls create a task.
        let text = result.as_str();
        if text.len() > MAX_CREATED_BYTES || !text.contains("\"taskId\"") {
            return None;
        }
        let members = result.object()?;
        if members.get("content").is_some() {
            return None;
        }
        Self::parse(&Object::parse(members.get("task")?).ok()?)
    }

    /// Parses the result of `tasks/get`.
    pub fn from_task_result(result: &RawJson) -> Option<Self> {
        Self::parse(&result.object()?)
    }

    fn parse(task: &Object<'_>) -> Option<Self> {
        let status = task.string("status")?;
        let parts = ["status", "statusMessage", "lastUpdatedAt"];
        let parts = parts.map(|member| task.get(member).unwrap_or_default());
        Some(Self {
            id: task.string("taskId")?,
            state_key: parts.join("\n"),
            poll_interval: task
                .get("pollInterval")
                .and_then(|interval| interval.parse().ok())
                .map(Duration::from_millis),
            status: match status.as_str() {
                "working" => LegacyTaskStatus::Working,
                "input_required" => LegacyTaskStatus::InputRequired,
                _ => LegacyTaskStatus::Ended,
            },
        })
    }
}

/// The task that a question belongs to, if it names one.
pub fn related_task(params: &RawJson) -> Option<String> {
    let members = params.object()?;
    let meta = Object::parse(members.get("_meta")?).ok()?;
    Object::parse(meta.get(RELATED_TASK)?)
        .ok()?
        .string("taskId")
}

/// The result without the name of its task.
pub fn without_related_task(result: &RawJson) -> RawJson {
    let changed = result.object().and_then(|mut members| {
        let mut meta = Object::parse(members.get("_meta")?).ok()?;
        meta.remove(RELATED_TASK)?;
        let meta = meta.write();
        match meta.as_str() {
            "{}" => drop(members.remove("_meta")),
            meta => members.set("_meta", meta.to_owned()),
        }
        Some(members.write())
    });
    changed.unwrap_or_else(|| result.clone())
}

/// Requests for tasks.
impl RequestEncoder {
    pub fn get_task(&self, id: u64, task: &str) -> OutboundRequest {
        self.encode_with_task(id, Method::TasksGet, task)
    }

    pub fn task_result(&self, id: u64, task: &str) -> OutboundRequest {
        self.encode_with_task(id, Method::TasksResult, task)
    }

    pub fn cancel_task(&self, id: u64, task: &str) -> OutboundRequest {
        self.encode_with_task(id, Method::TasksCancel, task)
    }

    fn encode_with_task(&self, id: u64, method: Method, task: &str) -> OutboundRequest {
        let mut params = Object::default();
        params.set("taskId", RawJson::string(task).as_str().to_owned());
        self.encode(id, method, params, None)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn distinguishes_created_tasks_from_results() {
        let task = json!({ "taskId": "t", "status": "working", "pollInterval": 20 });
        let created = LegacyTask::from_call_result(&json!({ "task": task }).into()).unwrap();
        assert_eq!(created.status, LegacyTaskStatus::Working);
        assert_eq!(created.poll_interval, Some(Duration::from_millis(20)));
        assert_eq!(
            LegacyTask::from_task_result(&task.clone().into()).unwrap(),
            created
        );
        for result in [
            json!({ "content": [], "task": task }),
            json!({ "task": {} }),
            json!({}),
        ] {
            assert!(
                LegacyTask::from_call_result(&result.clone().into()).is_none(),
                "{result}"
            );
        }
    }

    #[test]
    fn reads_and_removes_the_related_task() {
        let meta = json!({ RELATED_TASK: { "taskId": "t" } });
        let params = RawJson::from(json!({ "message": "m", "_meta": meta }));
        assert_eq!(related_task(&params).as_deref(), Some("t"));
        assert_eq!(without_related_task(&params).as_str(), r#"{"message":"m"}"#);
        let other = RawJson::copy_of(r#"{ "message": "m", "_meta": {"a":1} }"#);
        assert_eq!(related_task(&other), None);
        assert_eq!(without_related_task(&other), other);
    }
}
