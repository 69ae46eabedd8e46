//! `tidegate get`: prints the messages of a prompt.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;
use tidegate_core::{List, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::arguments::named_params;
use super::connection::GatewayConnection;
use super::content::{ContentText, content_text};
use super::output::CommandOutput;
use super::suggestions::explain_error;

/// The members of a result that are printed.
#[derive(Deserialize)]
struct PromptResult {
    messages: Vec<PromptMessage>,
}

#[derive(Deserialize)]
struct PromptMessage {
    role: String,
    content: Value,
}

pub(super) async fn run(
    connection: &GatewayConnection,
    prompt: &str,
    arguments: &RawJson,
    json: bool,
) -> anyhow::Result<CommandOutput> {
    let operation = Operation::Prompt {
        name: prompt.to_owned(),
    };
    let params = named_params(prompt, arguments);
    let result = connection
        .request(Method::PromptsGet, operation, params)
        .await;
    let result = match result {
        Ok(result) => result,
        Err(error) => return Err(explain_error(connection, List::Prompts, prompt, &error).await),
    };
    match json {
        true => Ok(CommandOutput::json(&result)),
        false => Ok(CommandOutput::data(to_text(&result)?)),
    }
}

/// Each content block on a line, after the role of its message.
fn to_text(result: &RawJson) -> anyhow::Result<String> {
    let PromptResult { messages } = result
        .read()
        .context("the source sent an invalid prompt result")?;
    let mut text = String::new();
    for PromptMessage { role, content } in messages {
        let contents = match content {
            Value::Array(contents) => contents,
            content => vec![content],
        };
        for content in &contents {
            let (ContentText::Text(line) | ContentText::Note(line)) = content_text(content);
            text += &format!("{role}: {line}\n");
        }
    }
    Ok(text)
}
