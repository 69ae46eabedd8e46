//! `tidegate call`: what a tool answers.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;
use tidegate_core::{List, Object, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::answer::Answer;
use super::given::Given;
use super::lists::{entries, key};
use super::place::Place;
use super::unknown::{advice, explained, spellings};
use crate::cli::Exit;

/// The result, as far as it is printed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    #[serde(default)]
    content: Vec<Value>,
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

/// A content on a terminal: its words, or words about it.
pub(super) enum Shown {
    Text(String),
    Other(String),
}

pub(super) async fn answer(
    place: &Place,
    tool: &str,
    given: &Given,
    json: bool,
) -> anyhow::Result<Answer> {
    let operation = Operation::Tool {
        name: tool.to_owned(),
    };
    let schema = match given.depends() {
        true => input_schema(place, tool).await,
        false => None,
    };
    let arguments = given.json(&schema.unwrap_or_default());
    let params = params(tool, &arguments);
    let result = match place.ask(Method::ToolsCall, operation, params).await {
        Ok(result) => result,
        Err(error) => return Err(explained(place, List::Tools, tool, &error).await),
    };
    let called: Called = result
        .read()
        .context("the source's answer is no result of a tool")?;
    let failed = called.is_error;
    let mut answer = match json {
        true => Answer::json(&result),
        false => as_text(&called),
    };
    if failed {
        answer.exit = Exit::Failed;
        // Some servers say in a result that they have no such tool.
        if let Some(advice) = advice(place, List::Tools, tool).await {
            answer.words += &format!("tidegate: no tool `{tool}` is listed; {advice}\n");
        }
    }
    Ok(answer)
}

/// What a tool takes, if it is listed.
async fn input_schema(place: &Place, tool: &str) -> Option<Value> {
    let tools = entries(place, List::Tools).await.ok()?;
    let is_meant = |one: &&RawJson| {
        let name = key(List::Tools, one);
        name.is_some_and(|name| spellings(List::Tools, &name).any(|one| one == tool))
    };
    let members = tools.iter().find(is_meant)?.object()?;
    serde_json::from_str(members.get("inputSchema")?).ok()
}

/// The parameters of a request for something with arguments.
pub(super) fn params(name: &str, arguments: &RawJson) -> RawJson {
    let mut params = Object::default();
    params.set("name", RawJson::string(name).as_str().to_owned());
    params.set("arguments", arguments.as_str().to_owned());
    params.write()
}

/// Text is data, unless the tool failed; what is not text is only told of.
fn as_text(called: &Called) -> Answer {
    let mut answer = Answer::of("");
    for content in &called.content {
        match shown(content) {
            Shown::Text(text) if !called.is_error => {
                answer.data.extend(text.into_bytes());
                answer.data.push(b'\n');
            }
            Shown::Text(text) => answer.words += &format!("{text}\n"),
            Shown::Other(about) => answer.words += &format!("{about}\n"),
        }
    }
    match &called.structured_content {
        Some(structured) if called.content.is_empty() => {
            answer.data = format!("{structured:#}\n").into_bytes();
        }
        _ => {}
    }
    answer
}

pub(super) fn shown(content: &Value) -> Shown {
    let word = |member: &str| content[member].as_str();
    let kind = word("type").unwrap_or("content without a type");
    let text = match kind {
        "text" => word("text"),
        "resource_link" => word("uri"),
        "resource" => content["resource"]["text"].as_str(),
        _ => None,
    };
    match text {
        Some(text) => Shown::Text(text.to_owned()),
        None => {
            let mime = word("mimeType").or(content["resource"]["mimeType"].as_str());
            let mime = mime.map(|mime| format!(", {mime}")).unwrap_or_default();
            Shown::Other(format!("({kind}{mime}: --json shows it)"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(result: Value) -> (String, String) {
        let answer = as_text(&serde_json::from_value(result).unwrap());
        (String::from_utf8(answer.data).unwrap(), answer.words)
    }

    #[test]
    fn text_is_data_and_the_rest_is_told_of() {
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
        let (data, words) = text(json!({ "content": [{ "type": "text", "text": "5" }, image] }));
        assert_eq!(data, "5\n");
        assert_eq!(words, "(image, image/png: --json shows it)\n");
    }

    #[test]
    fn what_is_only_structured_is_printed() {
        let (data, _) = text(json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!(data, "{\n  \"a\": 1\n}\n");
    }

    #[test]
    fn a_failure_is_no_data() {
        let content = json!([{ "type": "text", "text": "no" }]);
        let told = text(json!({ "content": content, "isError": true }));
        assert_eq!(told, (String::new(), "no\n".to_owned()));
    }
}
