//! `get_prompt`: a prompt's messages, as what a tool gives back.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_core::{GatewayHandle, Operation, RawJson, Reply};

use super::relay::{Inner, relay};
use crate::declare::{Asking, Stop, fault};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The prompt's name, as `gateway__search` tells it.
    name: String,
    /// The prompt's arguments.
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

pub(super) async fn get(
    gateway_handle: &GatewayHandle,
    asking: Asking<'_>,
    Arguments { name, arguments }: Arguments,
) -> Result<Reply, Stop> {
    let inner = Inner {
        params: vec![
            ("name", RawJson::string(&name).to_string()),
            ("arguments", json!(arguments).to_string()),
        ],
        operation: Operation::Prompt { name },
    };
    Ok(relay(gateway_handle, asking.call(), inner, |result| {
        as_tool_result(&result)
    })
    .await?)
}

/// Each message as it is, under a word on who says it.
fn as_tool_result(result: &RawJson) -> RawJson {
    let Ok(mut result) = result.read::<Value>() else {
        return fault("the prompt could not be read");
    };
    let messages = result["messages"].as_array_mut().map(std::mem::take);
    let content = messages
        .unwrap_or_default()
        .into_iter()
        .flat_map(|message| {
            let role = message["role"].as_str().unwrap_or("user");
            let said_by = json!({ "type": "text", "text": format!("[{role}]") });
            [said_by, message["content"].clone()]
        });
    json!({ "content": content.collect::<Value>(), "isError": false }).into()
}
