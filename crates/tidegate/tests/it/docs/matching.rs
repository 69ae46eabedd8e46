//! Compares what a command printed with what a page shows, in substance.
//!
//! `…` stands for any text. Times, ids and other values that differ from run to run are equal to
//! each other. White space counts only as a separator.

/// Fails unless `actual` is what the page shows.
#[track_caller]
pub(super) fn assert_matches(place: &str, shown: &str, actual: &str) {
    if !matches(shown, actual) {
        panic!("{place}: the page shows\n{shown}\nbut the output is\n{actual}");
    }
}

pub(super) fn matches(shown: &str, actual: &str) -> bool {
    let (shown, actual) = (normalized(shown), normalized(actual));
    let mut parts = shown.split('…').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = actual.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The text with single spaces, and placeholders for values that differ from run to run.
fn normalized(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().map(without_volatile).collect();
    words.join(" ")
}

fn without_volatile(word: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+');
    let mut result = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (value, after) = rest.split_at(end);
        result.push_str(if is_volatile(value) { "VALUE" } else { value });
        let separator = after.find(is_part).unwrap_or(after.len());
        result.push_str(&after[..separator]);
        rest = &after[separator..];
    }
    result
}

fn is_volatile(value: &str) -> bool {
    is_time(value) || is_hex_id(value) || is_random_id(value)
}

/// `2026-11-16T00:04:03.040Z`, with or without a fraction.
fn is_time(value: &str) -> bool {
    let shape = "dddd-dd-ddTdd:dd:dd";
    value.len() > shape.len()
        && value.chars().zip(shape.chars()).all(|(c, s)| match s {
            'd' => c.is_ascii_digit(),
            _ => c == s,
        })
}

fn is_hex_id(value: &str) -> bool {
    value.len() >= 12 && value.chars().all(|c| c.is_ascii_hexdigit())
}

/// A long mixture of both cases and digits. A session id has 32 characters, and rarely no digit.
fn is_random_id(value: &str) -> bool {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    value.len() >= 24
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
        && (has(char::is_ascii_digit) || value.len() == 32)
        && !value.contains([':', '.'])
}

#[test]
fn compares_in_substance() {
    for (shown, actual) in [
        ("a  b\n", "a b"),
        ("at 2026-11-16T00:04:03.040Z", "at 2027-01-02T03:04:05Z"),
        (
            r#"{"id":"ac1e8f9bc0f08cce"}"#,
            r#"{"id":"0123456789abcdef"}"#,
        ),
        ("first …\n… last", "first and then last"),
        ("first\n…", "first\nsecond\nthird"),
    ] {
        assert!(matches(shown, actual), "{shown} / {actual}");
    }
    for (shown, actual) in [
        ("a", "a b"),
        ("first … last", "first and then more"),
        ("5 tools", "6 tools"),
    ] {
        assert!(!matches(shown, actual), "{shown} / {actual}");
    }
}
