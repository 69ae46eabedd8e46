//! Limits the nesting of JSON without parsing it.
//!
//! The raw parser skips values without recursion, so it accepts any depth. This scan protects the
//! recursive parsers that read the values later.

use memchr::memchr2;

/// Whether arrays and objects nest deeper than `limit`. Accepts any bytes; the parser rejects
/// invalid JSON.
pub(crate) fn exceeds_depth(text: &[u8], limit: usize) -> bool {
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
            b'"' => rest = skip_string(after),
            _ => {}
        }
    }
    false
}

/// The bytes after a string; `rest` starts after its opening quote. Most bytes of a message are in
/// strings, so this uses `memchr`.
fn skip_string(mut rest: &[u8]) -> &[u8] {
    while let Some(position) = memchr2(b'"', b'\\', rest) {
        if rest[position] == b'"' {
            return &rest[position + 1..];
        }
        rest = rest.get(position + 2..).unwrap_or_default();
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_nesting_but_not_brackets_in_strings() {
        assert!(!exceeds_depth(b"[[1]]", 2));
        assert!(exceeds_depth(b"[[[1]]]", 2));
        assert!(exceeds_depth(br#"{"a":{"b":{}}}"#, 2));
        assert!(!exceeds_depth(br#"["[[[[", "\"[[[[", "\\"]"#, 1));
        assert!(!exceeds_depth(b"[][][][]", 1));
        assert!(exceeds_depth(&b"[".repeat(10_000), 64));
    }
}
