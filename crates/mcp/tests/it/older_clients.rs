//! Content that a revision does not have is never sent to its clients.

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
        .expect("not a request id");
    let correlation_id = CorrelationId::generate();
    let lowering = Lowering::new(
        revision,
        method,
        id,
        correlation_id,
        &ClientContext::default(),
    );
    let message = lowering.outcome(&Outcome::complete(result.into()));
    let mut response: Value = serde_json::from_str(message.json()).expect("not JSON");
    response["result"].take()
}

fn block_types(content: &Value) -> Vec<&str> {
    let blocks = content.as_array().expect("not a list of blocks");
    blocks
        .iter()
        .filter_map(|block| block["type"].as_str())
        .collect()
}

fn tool_result(revision: Revision, block: &Value) -> Value {
    let text = json!({ "type": "text", "text": "before" });
    result(
        revision,
        Method::ToolsCall,
        json!({ "content": [text, block] }),
    )
}

fn prompt(revision: Revision, block: &Value) -> Value {
    let messages = json!([{ "role": "user", "content": block }]);
    result(
        revision,
        Method::PromptsGet,
        json!({ "messages": messages }),
    )
}

#[test]
fn audio_is_sent_only_to_revisions_that_have_it() {
    let audio = json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" });
    for revision in Revision::ALL {
        let has_audio = revision >= V2025_03_26;
        let tool = tool_result(revision, &audio);
        let tool = block_types(&tool["content"]);
        assert_eq!(tool.len(), 2, "{revision}: a block is missing");
        assert_eq!(tool.contains(&"audio"), has_audio, "{revision}");
        let prompt = prompt(revision, &audio);
        let is_audio = prompt["messages"][0]["content"]["type"] == "audio";
        assert_eq!(is_audio, has_audio, "{revision}");
    }
}

#[test]
fn resource_links_are_sent_only_to_revisions_that_have_them() {
    let link = json!({ "type": "resource_link", "uri": "file:///a.txt", "name": "a.txt" });
    for revision in Revision::ALL {
        let has_links = revision >= V2025_06_18;
        let tool = tool_result(revision, &link);
        let types = block_types(&tool["content"]);
        assert_eq!(types.len(), 2, "{revision}: a block is missing");
        assert_eq!(types.contains(&"resource_link"), has_links, "{revision}");
        assert!(
            tool.to_string().contains("file:///a.txt"),
            "{revision}: the URI is missing"
        );
        let prompt = prompt(revision, &link);
        let is_link = prompt["messages"][0]["content"]["type"] == "resource_link";
        assert_eq!(is_link, has_links, "{revision}");
    }
}

/// Before 2026-07-28 structured content is an object, and so is the type of its schema.
#[test]
fn legacy_structured_content_is_an_object() {
    for structured in [json!([1, 2]), json!("text"), json!(7), json!(null)] {
        for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
            let members = json!({ "content": [], "structuredContent": structured });
            let result = result(revision, Method::ToolsCall, members);
            let content = result.get("structuredContent");
            assert!(
                content.is_none_or(Value::is_object),
                "{revision}: {structured}"
            );
        }
        let members = json!({ "content": [], "structuredContent": structured });
        let result = result(V2026_07_28, Method::ToolsCall, members);
        assert_eq!(result.get("structuredContent"), Some(&structured));
    }
}

#[test]
fn legacy_output_schemas_describe_an_object() {
    let tool = json!({
        "name": "numbers",
        "inputSchema": { "type": "object" },
        "outputSchema": { "type": "array", "items": { "type": "number" } },
    });
    for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
        let result = result(revision, Method::ToolsList, json!({ "tools": [tool] }));
        let schema = result["tools"][0].get("outputSchema");
        assert!(
            schema.is_none_or(|schema| schema["type"] == "object"),
            "{revision}"
        );
    }
    let result = result(V2026_07_28, Method::ToolsList, json!({ "tools": [tool] }));
    assert_eq!(result["tools"][0]["outputSchema"], tool["outputSchema"]);
}

/// An output schema and the results it describes are wrapped together or removed together.
#[test]
fn wrapped_results_match_their_schema() {
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

/// References inside a schema start at its root, which changes when the schema is wrapped.
#[test]
fn references_resolve_after_a_schema_is_wrapped() {
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
        let result = result(revision, Method::ToolsList, json!({ "tools": [tool] }));
        if let Some(schema) = result["tools"][0].get("outputSchema") {
            assert!(schema.pointer("/$defs/N").is_some(), "{revision}: {schema}");
        }
    }
}
