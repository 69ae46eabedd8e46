//! `call_tool`: any tool, by name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use tidegate_core::{GatewayHandle, Operation, RawJson, Reply};

use super::relay::{Inner, relay};
use crate::declare::{Asking, Stop};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The tool's name, as `gateway__search` tells it.
    name: String,
    /// What the tool takes, by its input schema.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    arguments: Option<Box<RawValue>>,
}

pub(super) async fn call(
    gateway_handle: &GatewayHandle,
    asking: Asking<'_>,
    Arguments { name, arguments }: Arguments,
) -> Result<Reply, Stop> {
    if matches!(name.as_str(), "gateway__call_tool" | "gateway.call_tool") {
        return Err(Stop::fault("call the tool itself, not `call_tool`"));
    }
    let arguments = arguments.as_deref().map_or("{}", RawValue::get).to_owned();
    let inner = Inner {
        params: vec![
            ("name", RawJson::string(&name).to_string()),
            ("arguments", arguments),
        ],
        operation: Operation::Tool { name },
    };
    Ok(relay(gateway_handle, asking.call(), inner, |result| result).await?)
}
