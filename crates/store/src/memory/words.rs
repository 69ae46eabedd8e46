//! The words of a value, and of a question, for the full text.

/// The text of a JSON value: its keys, strings, numbers and words, each with its exact spelling.
pub(super) fn words_of(json: &str) -> String {
    let mut words = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find(|c: char| !is_structure(c)) {
        rest = &rest[start..];
        let end = match rest.starts_with('"') {
            true => end_of_string(rest),
            false => rest.find(is_structure).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        match serde_json::from_str::<String>(token) {
            Ok(text) => words.push_str(&text),
            Err(_) => words.push_str(token),
        }
        words.push(' ');
        rest = after;
    }
    words
}

fn is_structure(c: char) -> bool {
    matches!(c, '{' | '}' | '[' | ']' | ',' | ':') || c.is_ascii_whitespace()
}

/// Where a string ends that begins here.
fn end_of_string(text: &str) -> usize {
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

/// Words that a question may have. More would not make it clearer.
const MOST_WORDS: usize = 32;

/// What someone looks for, as two questions for FTS5: with all of the words, and with any. Each
/// word is quoted, so that nothing in it is syntax, and may be the beginning of a longer one.
pub(super) fn questions(text: &str) -> Option<[String; 2]> {
    let separates = |c: char| c.is_whitespace() || c.is_control() || c.is_ascii_punctuation();
    let words = text
        .split(separates)
        .filter(|word| word.contains(char::is_alphanumeric))
        .take(MOST_WORDS);
    let quoted: Vec<_> = words.map(|word| format!("\"{word}\"*")).collect();
    (!quoted.is_empty()).then(|| [quoted.join(" AND "), quoted.join(" OR ")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_give_their_words() {
        for (json, words) in [
            (r#""two words""#, "two words "),
            (r#"{"a":[1.50,true,"x\ny"]}"#, "a 1.50 true x\ny "),
            (r#"{"q\"":"é:,{}"}"#, "q\" é:,{} "),
            ("12345678901234567890", "12345678901234567890 "),
            ("null", "null "),
            (r#"[ { } , "" ]"#, " "),
        ] {
            assert_eq!(words_of(json), words, "{json}");
        }
    }

    #[test]
    fn nothing_in_a_question_is_syntax() {
        let all = |text| questions(text).map(|[all, _]| all);
        assert_eq!(all("red  apple").unwrap(), r#""red"* AND "apple"*"#);
        assert_eq!(
            all("a\" OR key:b*").unwrap(),
            r#""a"* AND "OR"* AND "key"* AND "b"*"#
        );
        assert_eq!(all("NEAR(x, 2)").unwrap(), r#""NEAR"* AND "x"* AND "2"*"#);
        for nothing in ["", "  ", "\"", "***", "^", "\0", "-- ;"] {
            assert_eq!(all(nothing), None, "{nothing:?}");
        }
    }
}
