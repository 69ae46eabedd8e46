//! Content blocks of tool results and prompt messages as text.

use serde_json::Value;

/// A content block: its text, or a note about a block that is not text.
pub(super) enum ContentText {
    Text(String),
    Note(String),
}

pub(super) fn content_text(content: &Value) -> ContentText {
    let string = |member: &str| content[member].as_str();
    let kind = string("type").unwrap_or("content without a type");
    let text = match kind {
        "text" => string("text"),
        "resource_link" => string("uri"),
        "resource" => content["resource"]["text"].as_str(),
        _ => None,
    };
    match text {
        Some(text) => ContentText::Text(text.to_owned()),
        None => {
            let mime = string("mimeType").or(content["resource"]["mimeType"].as_str());
            let mime = mime.map(|mime| format!(", {mime}")).unwrap_or_default();
            ContentText::Note(format!("({kind}{mime}: use --json to see it)"))
        }
    }
}
