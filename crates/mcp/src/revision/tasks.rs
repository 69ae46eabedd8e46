//! Calls that go on after their answer: an extension of the modern era, and what an older revision
//! had in its place, which no client of ours is offered.

use tidegate_core::{
    Code, Error, GatewayOperation, Object, Operation, RawJson, Result, TaskOperation,
};

use super::Method;
use super::lift::{invalid, required};

/// The extension's name.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether capabilities, of a client or of a server, have tasks among their extensions.
pub fn declares(capabilities: &RawJson) -> bool {
    let extensions = capabilities.object().and_then(|all| {
        let extensions = Object::parse(all.get("extensions")?).ok()?;
        Some(extensions.get(EXTENSION).is_some())
    });
    extensions.unwrap_or_default()
}

/// Whether a request is for clients alone that know tasks.
pub(super) fn is_about(operation: &Operation) -> bool {
    match operation {
        Operation::Task { .. } => true,
        Operation::Gateway(GatewayOperation::Listen(filter)) => !filter.tasks.is_empty(),
        _ => false,
    }
}

/// The answer to whoever asks about a task and does not say that it knows what one is.
pub(super) fn undeclared() -> Error {
    let needed = serde_json::json!({ "extensions": { EXTENSION: {} } });
    Error::client(
        Code::MissingCapability,
        format!("this is for clients that declare the extension `{EXTENSION}`"),
    )
    .with_data(serde_json::json!({ "requiredCapabilities": needed }))
}

/// What a request about a task asks.
pub(super) fn ask(operation: TaskOperation, params: &Object<'_>) -> Result<Operation> {
    let answers = params.get("inputResponses");
    if operation == TaskOperation::Update
        && !answers.is_some_and(|answers| answers.starts_with('{'))
    {
        return Err(invalid("`inputResponses` must be an object"));
    }
    let id = required(params, "taskId")?;
    Ok(Operation::Task { operation, id })
}

pub(super) fn method(operation: TaskOperation) -> Method {
    match operation {
        TaskOperation::Get => Method::TasksGet,
        TaskOperation::Update => Method::TasksUpdate,
        TaskOperation::Cancel => Method::TasksCancel,
    }
}

/// Whether a tool, by its definition, can be called as a task alone.
pub(super) fn is_required(definition: &RawJson) -> bool {
    let execution = definition.object().and_then(|tool| {
        let execution = Object::parse(tool.get("execution")?).ok()?;
        execution.string("taskSupport")
    });
    execution.as_deref() == Some("required")
}

/// The capabilities of a client with a session, without tasks: those of its revision end here, and
/// the extension is not for it.
pub(super) fn without(capabilities: RawJson) -> RawJson {
    let turned = capabilities.object().and_then(|mut members| {
        let extensions = members.get("extensions");
        let extensions = extensions.and_then(|all| Object::parse(all).ok());
        let mut extensions = extensions.unwrap_or_default();
        let is_declared = extensions.remove(EXTENSION).is_some();
        let extensions = extensions.write();
        if is_declared {
            members.set("extensions", extensions.as_str().to_owned());
        }
        let changed = members.remove("tasks").is_some() || is_declared;
        changed.then(|| members.write())
    });
    turned.unwrap_or(capabilities)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_declared_as_an_extension_is_not_declared() {
        let declares = |capabilities| declares(&RawJson::from(capabilities));
        assert!(declares(json!({ "extensions": { EXTENSION: {} } })));
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
    fn a_session_has_no_tasks() {
        let without = |text: &str| without(RawJson::copy_of(text)).as_str().to_owned();
        let both = r#"{"roots":{},"tasks":{"list":{}},"extensions":{"a.b/c":{},"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(without(both), r#"{"roots":{},"extensions":{"a.b/c":{}}}"#);
        let neither = r#"{ "roots": {} }"#;
        assert_eq!(without(neither), neither);
    }

    #[test]
    fn a_tool_says_how_it_must_be_called() {
        let required = |support: &str| {
            let execution = json!({ "taskSupport": support });
            is_required(&json!({ "name": "t", "execution": execution }).into())
        };
        assert!(required("required"));
        assert!(!required("optional"));
        assert!(!is_required(&json!({ "name": "t" }).into()));
    }
}
