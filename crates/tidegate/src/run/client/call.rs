//! `tidegate call`: calls a tool and prints its result.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;
use tidegate_core::{List, Operation, RawJson, Scope};
use tidegate_mcp::revision::Method;

use super::arguments::{ToolArguments, named_params};
use super::confirm::{PlannedCall, can_ask, confirm, is_destructive};
use super::connection::GatewayConnection;
use super::content::{ContentText, content_text};
use super::lists::{entries, entries_of, entry_key};
use super::output::CommandOutput;
use super::suggestions::{Suggestion, explain_error, spellings, suggest};
use crate::cli::Exit;

/// What to call.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) tool: String,
    pub(super) arguments: ToolArguments,
    /// Do not ask before a destructive tool.
    pub(super) yes: bool,
}

/// The members of a result that are printed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    #[serde(default)]
    content: Vec<Value>,
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

pub(super) async fn run(
    connection: &GatewayConnection,
    call: &ToolCall,
    json: bool,
) -> anyhow::Result<CommandOutput> {
    let ToolCall {
        tool,
        arguments,
        yes,
    } = call;
    let ask = !yes && can_ask();
    let definition = match ask || arguments.depend_on_schema() {
        true => definition(connection, tool).await,
        false => None,
    };
    let schema = definition.as_ref().and_then(input_schema);
    let arguments = arguments.to_json(&schema.unwrap_or_default());
    if ask && !is_confirmed(connection, tool, definition.as_ref(), &arguments).await? {
        return Ok(CommandOutput::failure(&format!("`{tool}` was not called")));
    }
    let operation = Operation::Tool { name: tool.clone() };
    let params = named_params(tool, &arguments);
    let result = connection
        .request(Method::ToolsCall, operation, params)
        .await;
    let result = match result {
        Ok(result) => result,
        Err(error) => return Err(explain_error(connection, List::Tools, tool, &error).await),
    };
    let parsed: ToolResult = result
        .read()
        .context("the source sent an invalid tool result")?;
    let mut output = match json {
        true => CommandOutput::json(&result),
        false => to_text(&parsed),
    };
    if parsed.is_error {
        output.exit = Exit::Failure;
        // Some servers report an unknown tool in a result.
        match suggest(connection, List::Tools, tool).await {
            Suggestion::None => {}
            found => output.messages += &format!("tidegate: no tool `{tool}` is listed; {found}\n"),
        }
    }
    Ok(output)
}

/// Asks the user, if the tool is marked as destructive.
async fn is_confirmed(
    connection: &GatewayConnection,
    tool: &str,
    listed: Option<&RawJson>,
    arguments: &RawJson,
) -> anyhow::Result<bool> {
    let call = PlannedCall::new(tool, arguments.clone());
    let inner = match call.tool == tool {
        true => None,
        false => definition(connection, &call.tool).await,
    };
    let is_marked = inner.as_ref().or(listed).is_some_and(is_destructive);
    Ok(!is_marked || confirm(&call).await?)
}

/// The definition of a tool, if it is listed.
async fn definition(connection: &GatewayConnection, tool: &str) -> Option<RawJson> {
    if let Some((id, native)) = connection.source_of(tool) {
        // The list of one source does not wait for the others.
        let tools = entries_of(connection, Scope::Source(id), List::Tools)
            .await
            .ok()?;
        return tools
            .into_iter()
            .find(|entry| entry_key(List::Tools, entry).is_some_and(|name| name == native));
    }
    let tools = entries(connection, List::Tools).await.ok()?;
    tools.into_iter().find(|entry| {
        let name = entry_key(List::Tools, entry);
        name.is_some_and(|name| spellings(List::Tools, &name).any(|spelling| spelling == tool))
    })
}

fn input_schema(definition: &RawJson) -> Option<Value> {
    serde_json::from_str(definition.object()?.get("inputSchema")?).ok()
}

/// Text is data, unless the tool failed; other content becomes a note.
fn to_text(result: &ToolResult) -> CommandOutput {
    let mut output = CommandOutput::data("");
    for content in &result.content {
        match content_text(content) {
            ContentText::Text(text) if !result.is_error => {
                output.data.extend(text.into_bytes());
                output.data.push(b'\n');
            }
            ContentText::Text(text) => output.messages += &format!("{text}\n"),
            ContentText::Note(note) => output.messages += &format!("{note}\n"),
        }
    }
    match &result.structured_content {
        Some(structured) if result.content.is_empty() => {
            output.data = format!("{structured:#}\n").into_bytes();
        }
        _ => {}
    }
    output
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(result: Value) -> (String, String) {
        let output = to_text(&serde_json::from_value(result).unwrap());
        (String::from_utf8(output.data).unwrap(), output.messages)
    }

    #[test]
    fn prints_text_as_data_and_notes_other_content() {
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
        let (data, messages) = text(json!({ "content": [{ "type": "text", "text": "5" }, image] }));
        assert_eq!(data, "5\n");
        assert_eq!(messages, "(image, image/png: use --json to see it)\n");
    }

    #[test]
    fn prints_structured_content_without_other_content() {
        let (data, _) = text(json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!(data, "{\n  \"a\": 1\n}\n");
    }

    #[test]
    fn prints_a_tool_error_as_a_message() {
        let content = json!([{ "type": "text", "text": "no" }]);
        let printed = text(json!({ "content": content, "isError": true }));
        assert_eq!(printed, (String::new(), "no\n".to_owned()));
    }
}
