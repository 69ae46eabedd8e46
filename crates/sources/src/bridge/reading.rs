//! `read_resource`: a resource's contents, in parts that fit a model's context.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_core::{
    GatewayHandle, Operation, RawJson, Reply, TemplateValues, UriTemplate, truncate_for_message,
};

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
    arguments: TemplateValues,
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
    gateway_handle: &GatewayHandle,
    asking: Asking<'_>,
    arguments: Arguments,
) -> Result<Reply, Stop> {
    let uri = match arguments.uri.contains('{') {
        true => expand(&arguments.uri, &arguments.arguments).map_err(Stop::Fault)?,
        false => arguments.uri,
    };
    let wanted = arguments.max_tokens.unwrap_or(USUAL_TOKENS);
    let part = Part {
        offset: arguments.offset.unwrap_or(0),
        limit: arguments.limit.unwrap_or(usize::MAX).max(1),
        tokens: wanted.clamp(1, MOST_TOKENS),
    };
    tokens::ready().await;
    let inner = Inner {
        params: vec![("uri", RawJson::string(&uri).to_string())],
        operation: Operation::Resource { uri },
    };
    let turn = move |result| as_tool_result(&result, part);
    Ok(relay(gateway_handle, asking.call(), inner, turn).await?)
}

/// The URI of a template; or what is wrong with the template or its arguments.
fn expand(template: &str, values: &TemplateValues) -> Result<String, String> {
    let parsed = UriTemplate::parse(template);
    let parsed =
        parsed.map_err(|error| format!("`{}`: {error}", truncate_for_message(template)))?;
    let expanded = parsed.expand(values);
    expanded.map_err(|missing| format!("{missing}: pass it in `arguments`"))
}

fn as_tool_result(result: &RawJson, part: Part) -> RawJson {
    let Ok(result) = result.read::<Value>() else {
        return fault("the resource could not be read");
    };
    let items = result["contents"].as_array().map(Vec::as_slice);
    let content = contents(items.unwrap_or_default(), part);
    json!({ "content": content, "isError": false }).into()
}

/// The part that is wanted and fits, of all texts as if they were one, and a word on the rest.
fn contents(items: &[Value], part: Part) -> Vec<Value> {
    let mut content = Vec::new();
    let (mut left, mut tokens) = (part.limit, part.tokens);
    let (mut seen, mut end) = (0, part.offset);
    // What is no text comes with the first part of the text, or by itself.
    let with_blobs = part.offset == 0 || items.iter().all(|item| !item["text"].is_string());
    for item in items {
        let Some(text) = item["text"].as_str() else {
            let blob = item["blob"].as_str().filter(|_| with_blobs);
            content.extend(blob.map(|blob| binary(item, blob)));
            continue;
        };
        let (start, count) = (seen, text.chars().count());
        seen += count;
        // It lies before what is wanted, or that has ended already.
        if end < start || end > seen || (end == seen && count > 0) {
            continue;
        }
        let rest = &text[place(text, end - start)..];
        let given = fitting(&rest[..place(rest, left)], tokens);
        left -= given.chars().count();
        tokens = tokens.saturating_sub(tokens::count(given));
        end += given.chars().count();
        content.push(said(given));
        if end < seen || left == 0 || tokens == 0 {
            break;
        }
    }
    let texts = items.iter().filter_map(|item| item["text"].as_str());
    let total: usize = texts.clone().map(|text| text.chars().count()).sum();
    if texts.count() == 0 {
        return content;
    }
    content.extend(note(part.offset, end, total).map(|note| said(&note)));
    content
}

/// The beginning of a text that has so many tokens, but one character at least: or nobody would
/// get on.
fn fitting(text: &str, tokens: usize) -> &str {
    match tokens::within(text, tokens) {
        "" => &text[..place(text, 1)],
        fitting => fitting,
    }
}

/// Where a character stands, or the end.
fn place(text: &str, character: usize) -> usize {
    let at = text.char_indices().nth(character);
    at.map_or(text.len(), |(at, _)| at)
}

fn said(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// A word on what was not given.
fn note(offset: usize, end: usize, total: usize) -> Option<String> {
    if offset > 0 && offset >= total {
        return Some(format!(
            "[the text has {total} characters: nothing begins at {offset}]"
        ));
    }
    (end < total)
        .then(|| format!("[characters {offset} to {end} of {total}; go on with \"offset\": {end}]"))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(items: &[Value], offset: usize, limit: usize, tokens: usize) -> Vec<String> {
        let part = Part {
            offset,
            limit,
            tokens,
        };
        let content = contents(items, part);
        let text = |one: &Value| one["text"].as_str().unwrap().to_owned();
        content.iter().map(text).collect()
    }

    /// Whatever the parts are, together they are the whole, and each is within its bounds.
    #[test]
    fn several_texts_are_read_on_as_one() {
        let items = ["one two ", "", "three", " four five"].map(|text| json!({ "text": text }));
        let whole = "one two three four five";
        for (limit, tokens) in [(3, 100), (100, 2), (1, 1), (8, 100), (100, 100)] {
            let (mut all, mut offset) = (String::new(), 0);
            while offset < whole.len() {
                let mut given = texts(&items, offset, limit, tokens);
                given.retain(|text| !text.starts_with('['));
                let given = given.concat();
                assert!(!given.is_empty(), "{limit} {tokens} {offset}");
                assert!(given.len() <= limit && tokens::count(&given) <= tokens.max(1));
                offset += given.len();
                all += &given;
            }
            assert_eq!(all, whole, "{limit} {tokens}");
        }
        assert_eq!(
            texts(&items, 23, 9, 9),
            ["[the text has 23 characters: nothing begins at 23]"]
        );
    }
}
