//! Text for the full-text index, and FTS5 match expressions.

/// The text of a JSON value: its keys, strings, numbers and literals, with their exact spelling.
pub(super) fn searchable_text(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find(|c: char| !is_structural(c)) {
        rest = &rest[start..];
        let end = match rest.starts_with('"') {
            true => string_end(rest),
            false => rest.find(is_structural).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        match serde_json::from_str::<String>(token) {
            Ok(string) => text.push_str(&string),
            Err(_) => text.push_str(token),
        }
        text.push(' ');
        rest = after;
    }
    text
}

fn is_structural(c: char) -> bool {
    matches!(c, '{' | '}' | '[' | ']' | ',' | ':') || c.is_ascii_whitespace()
}

/// The end of the JSON string that `text` starts with.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Further words of a query are ignored.
const MAX_QUERY_WORDS: usize = 32;

/// A query as FTS5 expressions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MatchExpressions {
    pub(super) all_words: String,
    pub(super) any_word: String,
}

impl MatchExpressions {
    /// Each word becomes a quoted prefix, so nothing in it is syntax. `None` without words.
    pub(super) fn new(query: &str) -> Option<Self> {
        let separates = |c: char| c.is_whitespace() || c.is_control() || c.is_ascii_punctuation();
        let words = query
            .split(separates)
            .filter(|word| word.contains(char::is_alphanumeric))
            .take(MAX_QUERY_WORDS);
        let prefixes: Vec<_> = words.map(|word| format!("\"{word}\"*")).collect();
        (!prefixes.is_empty()).then(|| Self {
            all_words: prefixes.join(" AND "),
            any_word: prefixes.join(" OR "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extracts_the_text_of_a_json_value() {
        for (json, text) in [
            (r#""two words""#, "two words "),
            (r#"{"a":[1.50,true,"x\ny"]}"#, "a 1.50 true x\ny "),
            (r#"{"q\"":"é:,{}"}"#, "q\" é:,{} "),
            ("12345678901234567890", "12345678901234567890 "),
            ("null", "null "),
            (r#"[ { } , "" ]"#, " "),
        ] {
            assert_eq!(searchable_text(json), text, "{json}");
        }
    }

    #[test]
    fn quotes_query_syntax() {
        let all = |query| MatchExpressions::new(query).map(|expressions| expressions.all_words);
        assert_eq!(all("red  apple").unwrap(), r#""red"* AND "apple"*"#);
        assert_eq!(
            all("a\" OR key:b*").unwrap(),
            r#""a"* AND "OR"* AND "key"* AND "b"*"#
        );
        assert_eq!(all("NEAR(x, 2)").unwrap(), r#""NEAR"* AND "x"* AND "2"*"#);
        for without_words in ["", "  ", "\"", "***", "^", "\0", "-- ;"] {
            assert_eq!(all(without_words), None, "{without_words:?}");
        }
    }
}
