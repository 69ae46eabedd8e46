//! How deep a JSON text nests, without building anything.
//!
//! The raw parser skips values without recursion, so it would let any depth through to whoever
//! parses the value later. This scan is the guard.

use memchr::memchr2;

/// Whether arrays and objects nest deeper than `limit`. Works on any bytes; text that is no JSON is
/// the parser's to refuse.
pub(crate) fn is_deeper_than(text: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => rest = after_string(after),
            _ => {}
        }
    }
    false
}

/// What follows a string whose beginning was just before. Most of a text is in strings, so they are
/// not looked at byte by byte.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        if rest[at] == b'"' {
            return &rest[at + 1..];
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_nesting_and_not_brackets_in_strings() {
        assert!(!is_deeper_than(b"[[1]]", 2));
        assert!(is_deeper_than(b"[[[1]]]", 2));
        assert!(is_deeper_than(br#"{"a":{"b":{}}}"#, 2));
        assert!(!is_deeper_than(br#"["[[[[", "\"[[[[", "\\"]"#, 1));
        assert!(!is_deeper_than(b"[][][][]", 1));
        assert!(is_deeper_than(&b"[".repeat(10_000), 64));
    }
}
