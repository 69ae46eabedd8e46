//! `get_prompt`: the messages of a prompt as a tool result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_core::{GatewayHandle, Operation, RawJson, Reply};

use super::relay::{RelayedRequest, relay};
use crate::declarations::{ToolCall, ToolError, error_result};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetPromptArguments {
    /// Prompt name as returned by `gateway__search`.
    name: String,
    /// Arguments for the prompt.
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

pub(super) async fn get(
    gateway: &GatewayHandle,
    tool_call: ToolCall<'_>,
    GetPromptArguments { name, arguments }: GetPromptArguments,
) -> Result<Reply, ToolError> {
    let request = RelayedRequest {
        params: vec![
            ("name", RawJson::string(&name).to_string()),
            ("arguments", json!(arguments).to_string()),
        ],
        operation: Operation::Prompt { name },
    };
    let convert = |result| to_tool_result(&result);
    Ok(relay(gateway, tool_call.call(), request, convert).await?)
}

/// Each message's content unchanged, preceded by its role as text.
fn to_tool_result(result: &RawJson) -> RawJson {
    let Ok(mut result) = result.read::<Value>() else {
        return error_result("the source returned an invalid prompt");
    };
    let messages = result["messages"].as_array_mut().map(std::mem::take);
    let content = messages
        .unwrap_or_default()
        .into_iter()
        .flat_map(|message| {
            let role = message["role"].as_str().unwrap_or("user");
            let role = json!({ "type": "text", "text": format!("[{role}]") });
            [role, message["content"].clone()]
        });
    json!({ "content": content.collect::<Value>(), "isError": false }).into()
}
