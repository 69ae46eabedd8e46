//! `read_resource`: a resource's contents, in parts that fit a model's context.

mod expand;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_core::{Ask, Lookout, RawJson, Reply};

use super::relay::{Inner, relay};
use crate::declare::{Asking, Stop, fault};
use crate::tokens;

const USUAL_TOKENS: usize = 10_000;
const MOST_TOKENS: usize = 100_000;

/// A larger binary is told of, not given: no model reads it.
const LARGEST_BLOB: usize = 4 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The URI, or the text of a template.
    uri: String,
    /// The variables of a template.
    #[serde(default)]
    arguments: BTreeMap<String, String>,
    /// The first character to give, counted from 0.
    offset: Option<usize>,
    /// How many characters at most.
    limit: Option<usize>,
    /// How many tokens at most: 10000 by default, up to 100000.
    max_tokens: Option<usize>,
}

/// Which part of a text is wanted.
#[derive(Clone, Copy)]
struct Part {
    offset: usize,
    limit: usize,
    tokens: usize,
}

pub(super) async fn read(
    lookout: &Lookout,
    asking: Asking<'_>,
    arguments: Arguments,
) -> Result<Reply, Stop> {
    let uri = match arguments.uri.contains('{') {
        true => expand::expand(&arguments.uri, &arguments.arguments).map_err(Stop::Fault)?,
        false => arguments.uri,
    };
    let wanted = arguments.max_tokens.unwrap_or(USUAL_TOKENS);
    let part = Part {
        offset: arguments.offset.unwrap_or(0),
        limit: arguments.limit.unwrap_or(usize::MAX),
        tokens: wanted.clamp(1, MOST_TOKENS),
    };
    tokens::ready().await;
    let inner = Inner {
        params: vec![("uri", RawJson::string(&uri).to_string())],
        ask: Ask::Resource { uri },
    };
    let turn = move |result| as_tool_result(&result, part);
    Ok(relay(lookout, asking.call(), inner, turn).await)
}

fn as_tool_result(result: &RawJson, part: Part) -> RawJson {
    let Ok(result) = result.read::<Value>() else {
        return fault("the resource could not be read");
    };
    let contents = result["contents"].as_array().into_iter().flatten();
    let content = contents.flat_map(|item| as_content(item, part));
    json!({ "content": content.collect::<Value>(), "isError": false }).into()
}

fn as_content(item: &Value, part: Part) -> Vec<Value> {
    match (item["text"].as_str(), item["blob"].as_str()) {
        (Some(text), _) => cut(text, part),
        (None, Some(blob)) => vec![binary(item, blob)],
        (None, None) => Vec::new(),
    }
}

/// The part of a text that is wanted and fits, and a word on the rest.
fn cut(text: &str, part: Part) -> Vec<Value> {
    let said = |text: &str| json!({ "type": "text", "text": text });
    let total = text.chars().count();
    if part.offset >= total && part.offset > 0 {
        let note = format!(
            "[the text has {total} characters: nothing begins at {}]",
            part.offset
        );
        return vec![said(&note)];
    }
    let from = |text: &str, count| {
        text.char_indices()
            .nth(count)
            .map_or(text.len(), |(at, _)| at)
    };
    let rest = &text[from(text, part.offset)..];
    let wanted = &rest[..from(rest, part.limit)];
    let given = tokens::within(wanted, part.tokens);
    let end = part.offset + given.chars().count();
    let mut content = vec![said(given)];
    if end < total {
        let start = part.offset;
        content.push(said(&format!(
            "[characters {start} to {end} of {total}; go on with \"offset\": {end}]"
        )));
    }
    content
}

fn binary(item: &Value, blob: &str) -> Value {
    let mime = item["mimeType"]
        .as_str()
        .unwrap_or("application/octet-stream");
    if blob.len() > LARGEST_BLOB {
        let size = blob.len() / 4 * 3;
        let note = format!("[{size} bytes of {mime}: too much to give here]");
        return json!({ "type": "text", "text": note });
    }
    let kind = mime.split('/').next().unwrap_or_default();
    match kind {
        "image" | "audio" => json!({ "type": kind, "data": blob, "mimeType": mime }),
        _ => json!({ "type": "resource", "resource": item }),
    }
}
