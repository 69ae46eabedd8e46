//! What an older client cannot take is not sent to it, whatever form it gets instead.

use serde_json::{Value, json};
use tidegate_core::{ClientContext, CorrelationId, Outcome, RawJson};
use tidegate_mcp::revision::Method;
use tidegate_mcp::{Lowering, RequestId, Revision};

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// The result of a complete outcome, as a client of `revision` sees it.
fn result(revision: Revision, method: Method, result: Value) -> Value {
    let id = RawJson::parse("1")
        .ok()
        .and_then(RequestId::new)
        .expect("an id");
    let correlation = CorrelationId::fresh();
    let lowering = Lowering::new(revision, method, id, correlation, &ClientContext::default());
    let frame = lowering.outcome(&Outcome::complete(result.into()));
    let mut answer: Value = serde_json::from_str(frame.json()).expect("an answer is JSON");
    answer["result"].take()
}

fn types(content: &Value) -> Vec<&str> {
    let parts = content.as_array().expect("a list of parts");
    parts
        .iter()
        .filter_map(|part| part["type"].as_str())
        .collect()
}

fn tool_result(revision: Revision, part: &Value) -> Value {
    let text = json!({ "type": "text", "text": "before" });
    result(
        revision,
        Method::ToolsCall,
        json!({ "content": [text, part] }),
    )
}

fn prompt(revision: Revision, part: &Value) -> Value {
    let messages = json!([{ "role": "user", "content": part }]);
    result(
        revision,
        Method::PromptsGet,
        json!({ "messages": messages }),
    )
}

#[test]
fn sound_is_not_sent_where_there_is_none() {
    let sound = json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" });
    for revision in Revision::ALL {
        let has_sound = revision >= V2025_03_26;
        let tool = tool_result(revision, &sound);
        let tool = types(&tool["content"]);
        assert_eq!(tool.len(), 2, "{revision}: nothing is lost");
        assert_eq!(tool.contains(&"audio"), has_sound, "{revision}");
        let prompt = prompt(revision, &sound);
        let is_sound = prompt["messages"][0]["content"]["type"] == "audio";
        assert_eq!(is_sound, has_sound, "{revision}");
    }
}

#[test]
fn links_are_not_sent_where_there_are_none() {
    let link = json!({ "type": "resource_link", "uri": "file:///a.txt", "name": "a.txt" });
    for revision in Revision::ALL {
        let has_links = revision >= V2025_06_18;
        let tool = tool_result(revision, &link);
        let types = types(&tool["content"]);
        assert_eq!(types.len(), 2, "{revision}: nothing is lost");
        assert_eq!(types.contains(&"resource_link"), has_links, "{revision}");
        assert!(
            tool.to_string().contains("file:///a.txt"),
            "{revision}: the URI is told"
        );
        let prompt = prompt(revision, &link);
        let is_link = prompt["messages"][0]["content"]["type"] == "resource_link";
        assert_eq!(is_link, has_links, "{revision}");
    }
}

/// Before the newest revision a structured result is an object, and so is its schema's type.
#[test]
fn structured_results_are_objects_where_they_must_be() {
    for structured in [json!([1, 2]), json!("text"), json!(7), json!(null)] {
        for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
            let members = json!({ "content": [], "structuredContent": structured });
            let seen = result(revision, Method::ToolsCall, members);
            let content = seen.get("structuredContent");
            assert!(
                content.is_none_or(Value::is_object),
                "{revision}: {structured}"
            );
        }
        let members = json!({ "content": [], "structuredContent": structured });
        let seen = result(V2026_07_28, Method::ToolsCall, members);
        assert_eq!(seen.get("structuredContent"), Some(&structured));
    }
}

#[test]
fn schemas_of_results_are_of_objects_where_they_must_be() {
    let tool = json!({
        "name": "numbers",
        "inputSchema": { "type": "object" },
        "outputSchema": { "type": "array", "items": { "type": "number" } },
    });
    for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
        let seen = result(revision, Method::ToolsList, json!({ "tools": [tool] }));
        let schema = seen["tools"][0].get("outputSchema");
        assert!(
            schema.is_none_or(|schema| schema["type"] == "object"),
            "{revision}"
        );
    }
    let seen = result(V2026_07_28, Method::ToolsList, json!({ "tools": [tool] }));
    assert_eq!(seen["tools"][0]["outputSchema"], tool["outputSchema"]);
}

/// A schema and the results it describes are changed alike, or both are left out.
#[test]
fn a_result_still_fits_its_schema() {
    let tool = json!({
        "name": "numbers",
        "inputSchema": { "type": "object" },
        "outputSchema": { "type": "array", "items": { "type": "number" } },
    });
    for revision in [V2025_06_18, V2025_11_25] {
        let listed = result(revision, Method::ToolsList, json!({ "tools": [tool] }));
        let called = json!({ "content": [], "structuredContent": [1, 2] });
        let called = result(revision, Method::ToolsCall, called);
        match (
            listed["tools"][0].get("outputSchema"),
            called.get("structuredContent"),
        ) {
            (None, None) => {}
            (Some(schema), Some(content)) => {
                assert_eq!(schema["properties"]["result"], tool["outputSchema"]);
                assert_eq!(content["result"], json!([1, 2]));
            }
            (schema, content) => panic!("{revision}: {schema:?} and {content:?}"),
        }
    }
}

/// A pointer inside a schema starts at its root; in another root it must lead to the same place.
#[test]
fn no_reference_dangles_after_a_schema_is_wrapped() {
    let tool = json!({
        "name": "numbers",
        "inputSchema": { "type": "object" },
        "outputSchema": {
            "type": "array",
            "items": { "$ref": "#/$defs/N" },
            "$defs": { "N": { "type": "number" } },
        },
    });
    for revision in [V2025_06_18, V2025_11_25] {
        let seen = result(revision, Method::ToolsList, json!({ "tools": [tool] }));
        if let Some(schema) = seen["tools"][0].get("outputSchema") {
            assert!(schema.pointer("/$defs/N").is_some(), "{revision}: {schema}");
        }
    }
}
