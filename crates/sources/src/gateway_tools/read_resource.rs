//! `read_resource`: the contents of a resource, in parts that fit a model's context.

mod excerpt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_core::{
    GatewayHandle, Operation, RawJson, Reply, TemplateValues, UriTemplate, truncate_for_message,
};

use super::relay::{RelayedRequest, relay};
use crate::declarations::{ToolCall, ToolError, error_result};
use crate::tokens;
use excerpt::Excerpt;

const DEFAULT_TOKENS: usize = 10_000;
const MAX_TOKENS: usize = 100_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadResourceArguments {
    /// URI, or URI template.
    uri: String,
    /// Values for the variables of a template.
    #[serde(default)]
    arguments: TemplateValues,
    /// Index of the first character to return; default: 0.
    offset: Option<usize>,
    /// Maximum number of characters.
    limit: Option<usize>,
    /// Maximum number of tokens; default: 10000, maximum: 100000.
    max_tokens: Option<usize>,
}

pub(super) async fn read(
    gateway: &GatewayHandle,
    tool_call: ToolCall<'_>,
    arguments: ReadResourceArguments,
) -> Result<Reply, ToolError> {
    let uri = match arguments.uri.contains('{') {
        true => expand(&arguments.uri, &arguments.arguments).map_err(ToolError::Reported)?,
        false => arguments.uri,
    };
    let max_tokens = arguments.max_tokens.unwrap_or(DEFAULT_TOKENS);
    let excerpt = Excerpt {
        offset: arguments.offset.unwrap_or(0),
        max_chars: arguments.limit.unwrap_or(usize::MAX).max(1),
        max_tokens: max_tokens.clamp(1, MAX_TOKENS),
    };
    tokens::load().await;
    let request = RelayedRequest {
        params: vec![("uri", RawJson::string(&uri).to_string())],
        operation: Operation::Resource { uri },
    };
    let convert = move |result| to_tool_result(&result, excerpt);
    Ok(relay(gateway, tool_call.call(), request, convert).await?)
}

/// The URI of a template. The error is a message for the caller.
fn expand(template: &str, values: &TemplateValues) -> Result<String, String> {
    let parsed = UriTemplate::parse(template);
    let parsed =
        parsed.map_err(|error| format!("`{}`: {error}", truncate_for_message(template)))?;
    let expanded = parsed.expand(values);
    expanded.map_err(|missing| format!("{missing}: pass it in `arguments`"))
}

fn to_tool_result(result: &RawJson, excerpt: Excerpt) -> RawJson {
    let Ok(result) = result.read::<Value>() else {
        return error_result("the source returned invalid resource contents");
    };
    let items = result["contents"].as_array().map(Vec::as_slice);
    let content = excerpt.content(items.unwrap_or_default());
    json!({ "content": content, "isError": false }).into()
}
