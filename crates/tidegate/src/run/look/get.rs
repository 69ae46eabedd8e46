//! `tidegate get`: the messages of a prompt.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;
use tidegate_core::{List, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::answer::Answer;
use super::call::{Shown, shown};
use super::place::Place;
use super::unknown::explained;

/// The result, as far as it is printed.
#[derive(Deserialize)]
struct Prompt {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Value,
}

pub(super) async fn answer(
    place: &Place,
    prompt: &str,
    arguments: &RawJson,
    json: bool,
) -> anyhow::Result<Answer> {
    let operation = Operation::Prompt {
        name: prompt.to_owned(),
    };
    let params = super::call::params(prompt, arguments);
    let result = match place.ask(Method::PromptsGet, operation, params).await {
        Ok(result) => result,
        Err(error) => return Err(explained(place, List::Prompts, prompt, &error).await),
    };
    match json {
        true => Ok(Answer::json(&result)),
        false => Ok(Answer::of(text(&result)?)),
    }
}

/// Each message after the one who says it.
fn text(result: &RawJson) -> anyhow::Result<String> {
    let Prompt { messages } = result.read().context("the source's answer is no prompt")?;
    let mut text = String::new();
    for Message { role, content } in messages {
        let contents = match content {
            Value::Array(contents) => contents,
            one => vec![one],
        };
        for content in &contents {
            let (Shown::Text(words) | Shown::Other(words)) = shown(content);
            text += &format!("{role}: {words}\n");
        }
    }
    Ok(text)
}
