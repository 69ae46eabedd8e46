//! The part of a resource's contents that a call asks for, within its limits.

use serde_json::{Value, json};

use crate::tokens;

/// Larger binary items are described instead of returned.
const MAX_BLOB_LENGTH: usize = 4 * 1024 * 1024;

#[derive(Clone, Copy)]
pub(super) struct Excerpt {
    /// The first character, counted over all text items.
    pub(super) offset: usize,
    pub(super) max_chars: usize,
    pub(super) max_tokens: usize,
}

impl Excerpt {
    /// The content of the tool result: the excerpt, treating all text items as one text, and a note
    /// about the remainder.
    pub(super) fn content(self, items: &[Value]) -> Vec<Value> {
        let mut content = Vec::new();
        let (mut chars_left, mut tokens_left) = (self.max_chars, self.max_tokens);
        // The end of the excerpt so far, and of the items visited so far.
        let (mut end, mut items_end) = (self.offset, 0);
        // Binary items are part of the first excerpt, or of every excerpt if there is no text.
        let has_text = items.iter().any(|item| item["text"].is_string());
        let include_blobs = self.offset == 0 || !has_text;
        for item in items {
            let Some(text) = item["text"].as_str() else {
                let blob = item["blob"].as_str().filter(|_| include_blobs);
                content.extend(blob.map(|blob| binary_content(item, blob)));
                continue;
            };
            let (item_start, length) = (items_end, text.chars().count());
            items_end += length;
            // The item ends before the offset.
            if end < item_start || end > items_end || (end == items_end && length > 0) {
                continue;
            }
            let rest = &text[byte_offset(text, end - item_start)..];
            let included = prefix_within(&rest[..byte_offset(rest, chars_left)], tokens_left);
            let included_chars = included.chars().count();
            chars_left -= included_chars;
            tokens_left = tokens_left.saturating_sub(tokens::count(included));
            end += included_chars;
            content.push(text_content(included));
            if end < items_end || chars_left == 0 || tokens_left == 0 {
                break;
            }
        }
        if has_text {
            let texts = items.iter().filter_map(|item| item["text"].as_str());
            let total = texts.map(|text| text.chars().count()).sum();
            let note = remainder_note(self.offset, end, total);
            content.extend(note.map(|note| text_content(&note)));
        }
        content
    }
}

/// A prefix within the token limit, but at least one character, so that reading makes progress.
fn prefix_within(text: &str, max_tokens: usize) -> &str {
    match tokens::prefix(text, max_tokens) {
        "" => &text[..byte_offset(text, 1)],
        prefix => prefix,
    }
}

/// The byte offset of a character, or the end.
fn byte_offset(text: &str, character: usize) -> usize {
    let at = text.char_indices().nth(character);
    at.map_or(text.len(), |(at, _)| at)
}

fn text_content(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn remainder_note(offset: usize, end: usize, total: usize) -> Option<String> {
    if offset > 0 && offset >= total {
        return Some(format!(
            "[offset {offset} is past the end: the text has {total} characters]"
        ));
    }
    (end < total).then(|| {
        format!("[characters {offset} to {end} of {total}; continue with \"offset\": {end}]")
    })
}

fn binary_content(item: &Value, blob: &str) -> Value {
    let mime = item["mimeType"]
        .as_str()
        .unwrap_or("application/octet-stream");
    if blob.len() > MAX_BLOB_LENGTH {
        let size = blob.len() / 4 * 3;
        let note = format!("[{size} bytes of {mime}: too large to return]");
        return text_content(&note);
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

    fn texts(items: &[Value], offset: usize, max_chars: usize, max_tokens: usize) -> Vec<String> {
        let excerpt = Excerpt {
            offset,
            max_chars,
            max_tokens,
        };
        let content = excerpt.content(items);
        let text = |content: &Value| content["text"].as_str().unwrap().to_owned();
        content.iter().map(text).collect()
    }

    /// For any limits, the excerpts stay within them and add up to the whole text.
    #[test]
    fn reads_several_texts_as_one_in_parts() {
        let items = ["one two ", "", "three", " four five"].map(|text| json!({ "text": text }));
        let whole = "one two three four five";
        for (max_chars, max_tokens) in [(3, 100), (100, 2), (1, 1), (8, 100), (100, 100)] {
            let (mut read, mut offset) = (String::new(), 0);
            while offset < whole.len() {
                let mut excerpt = texts(&items, offset, max_chars, max_tokens);
                excerpt.retain(|text| !text.starts_with('['));
                let excerpt = excerpt.concat();
                assert!(!excerpt.is_empty(), "{max_chars} {max_tokens} {offset}");
                assert!(excerpt.len() <= max_chars);
                assert!(tokens::count(&excerpt) <= max_tokens.max(1));
                offset += excerpt.len();
                read += &excerpt;
            }
            assert_eq!(read, whole, "{max_chars} {max_tokens}");
        }
        assert_eq!(
            texts(&items, 23, 9, 9),
            ["[offset 23 is past the end: the text has 23 characters]"]
        );
    }
}
