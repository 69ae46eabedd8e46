//! `call_tool`: calls any tool by name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use tidegate_core::{GatewayHandle, Operation, RawJson, Reply};

use super::relay::{RelayedRequest, relay};
use crate::declarations::{ToolCall, ToolError};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallToolArguments {
    /// Tool name as returned by `gateway__search`.
    name: String,
    /// Arguments for the tool, matching its input schema.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    arguments: Option<Box<RawValue>>,
}

pub(super) async fn call(
    gateway: &GatewayHandle,
    tool_call: ToolCall<'_>,
    CallToolArguments { name, arguments }: CallToolArguments,
) -> Result<Reply, ToolError> {
    if matches!(name.as_str(), "gateway__call_tool" | "gateway.call_tool") {
        return Err(ToolError::reported(
            "`call_tool` cannot call itself; name another tool",
        ));
    }
    let arguments = arguments.as_deref().map_or("{}", RawValue::get).to_owned();
    let request = RelayedRequest {
        params: vec![
            ("name", RawJson::string(&name).to_string()),
            ("arguments", arguments),
        ],
        operation: Operation::Tool { name },
    };
    Ok(relay(gateway, tool_call.call(), request, |result| result).await?)
}
