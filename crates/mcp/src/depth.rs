//! How deep a JSON text nests, without building anything.
//!
//! The raw parser skips values without recursion, so it would let any depth through to whoever
//! parses the value later. This scan is the guard.

/// Whether arrays and objects nest deeper than `limit`. Works on any bytes; text that is no JSON is
/// the parser's to refuse.
pub(crate) fn is_deeper_than(text: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    false
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
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
