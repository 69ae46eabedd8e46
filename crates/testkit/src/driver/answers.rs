//! A client's answers to questions, in either era.
//!
//! Must not know: how questions and answers are sent.

use serde_json::{Map, Value, json};

/// The params of the continuation of a modern request; `None` if the result is complete.
pub(super) fn continuation_params(params: &Value, result: &Value) -> Option<Value> {
    if result["resultType"] != "input_required" {
        return None;
    }
    let questions = result["inputRequests"].as_object();
    let answers = questions
        .into_iter()
        .flatten()
        .map(|(name, question)| (name.clone(), answer(question)));
    let mut next = params.clone();
    next["inputResponses"] = Value::Object(answers.collect());
    match result.get("requestState") {
        Some(state) => next["requestState"] = state.clone(),
        None => drop(next.as_object_mut()?.remove("requestState")),
    }
    Some(next)
}

/// The answer to a question.
pub(super) fn answer(question: &Value) -> Value {
    match question["method"].as_str() {
        Some("elicitation/create") => {
            let content = default_content(&question["params"]["requestedSchema"]);
            json!({ "action": "accept", "content": content })
        }
        Some("sampling/createMessage") => json!({
            "role": "assistant", "model": "none", "stopReason": "endTurn",
            "content": { "type": "text", "text": "Nothing comes to mind." },
        }),
        Some("roots/list") => json!({ "roots": [] }),
        _ => panic!("unknown question: {question}"),
    }
}

/// Accepts a form with the defaults of its schema.
fn default_content(schema: &Value) -> Value {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let content: Map<_, _> = fields
        .map(|(name, field)| {
            let value = field.get("default").cloned();
            (name.clone(), value.unwrap_or_else(|| any_value(field)))
        })
        .collect();
    content.into()
}

/// A value for a field without a default.
fn any_value(field: &Value) -> Value {
    match field["type"].as_str() {
        Some("boolean") => true.into(),
        Some("integer" | "number") => 1.into(),
        _ => "yes".into(),
    }
}
