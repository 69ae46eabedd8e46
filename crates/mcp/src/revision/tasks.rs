//! Tasks: the extension of the modern era. The tasks of 2025-11-25 are used with servers only
//! (`client::legacy_task`) and never offered to clients.

use tidegate_core::{
    Code, Error, GatewayOperation, Object, Operation, RawJson, Result, TaskOperation,
};

use super::methods::Method;
use super::params::{invalid_params, required_string};

const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether the capabilities of a client or a server declare the extension.
pub fn declares_tasks(capabilities: &RawJson) -> bool {
    let extensions = capabilities.object().and_then(|members| {
        let extensions = Object::parse(members.get("extensions")?).ok()?;
        Some(extensions.get(TASKS_EXTENSION).is_some())
    });
    extensions.unwrap_or_default()
}

/// Whether only a client that declares tasks may request this.
pub(super) fn requires_tasks(operation: &Operation) -> bool {
    match operation {
        Operation::Task { .. } => true,
        Operation::Gateway(GatewayOperation::Listen(filter)) => !filter.tasks.is_empty(),
        _ => false,
    }
}

/// The error for a client that uses tasks without declaring them.
pub(super) fn tasks_not_declared() -> Error {
    let required = serde_json::json!({ "extensions": { TASKS_EXTENSION: {} } });
    Error::client(
        Code::MissingCapability,
        format!("this client did not declare the extension `{TASKS_EXTENSION}`"),
    )
    .with_data(serde_json::json!({ "requiredCapabilities": required }))
}

/// The operation of a `tasks/…` request.
pub(super) fn parse_operation(operation: TaskOperation, params: &Object<'_>) -> Result<Operation> {
    let answers = params.get("inputResponses");
    if operation == TaskOperation::Update
        && !answers.is_some_and(|answers| answers.starts_with('{'))
    {
        return Err(invalid_params("`inputResponses` must be an object"));
    }
    let id = required_string(params, "taskId")?;
    Ok(Operation::Task { operation, id })
}

pub(super) fn method_of(operation: TaskOperation) -> Method {
    match operation {
        TaskOperation::Get => Method::TasksGet,
        TaskOperation::Update => Method::TasksUpdate,
        TaskOperation::Cancel => Method::TasksCancel,
    }
}

/// Whether a tool can only be called as a task, by its definition.
pub(super) fn must_be_task(definition: &RawJson) -> bool {
    let support = definition.object().and_then(|tool| {
        let execution = Object::parse(tool.get("execution")?).ok()?;
        execution.string("taskSupport")
    });
    support.as_deref() == Some("required")
}

/// The capabilities of a legacy client, or those it is told, without tasks: they are not offered to it.
pub(super) fn without_tasks(capabilities: RawJson) -> RawJson {
    let changed = capabilities.object().and_then(|mut members| {
        let extensions = members.get("extensions");
        let extensions = extensions.and_then(|text| Object::parse(text).ok());
        let mut extensions = extensions.unwrap_or_default();
        let is_declared = extensions.remove(TASKS_EXTENSION).is_some();
        let extensions = extensions.write();
        match extensions.as_str() {
            _ if !is_declared => {}
            "{}" => drop(members.remove("extensions")),
            extensions => members.set("extensions", extensions.to_owned()),
        }
        let is_changed = members.remove("tasks").is_some() || is_declared;
        is_changed.then(|| members.write())
    });
    changed.unwrap_or(capabilities)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tasks_are_declared_only_as_an_extension() {
        let declares = |capabilities| declares_tasks(&RawJson::from(capabilities));
        assert!(declares(json!({ "extensions": { TASKS_EXTENSION: {} } })));
        for other in [
            json!({}),
            json!({ "tasks": {} }),
            json!({ "extensions": { "com.example/tasks": {} } }),
            json!({ "extensions": [] }),
        ] {
            assert!(!declares(other));
        }
    }

    #[test]
    fn removes_tasks_from_capabilities() {
        let without = |text: &str| without_tasks(RawJson::copy_of(text)).as_str().to_owned();
        let both = r#"{"roots":{},"tasks":{"list":{}},"extensions":{"a.b/c":{},"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(without(both), r#"{"roots":{},"extensions":{"a.b/c":{}}}"#);
        let tasks = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(without(tasks), "{}");
        let neither = r#"{ "roots": {} }"#;
        assert_eq!(without(neither), neither);
    }

    #[test]
    fn only_required_task_support_forces_a_task() {
        let required = |support: &str| {
            let execution = json!({ "taskSupport": support });
            must_be_task(&json!({ "name": "t", "execution": execution }).into())
        };
        assert!(required("required"));
        assert!(!required("optional"));
        assert!(!must_be_task(&json!({ "name": "t" }).into()));
    }
}
