//! Cuts bytes into JSON objects and arrays, one after the other, looking at each byte once.

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

/// What has come of a sequence of values.
#[derive(Default)]
pub(super) struct Values {
    buffer: BytesMut,
    /// How far the buffer has been looked at, and what was seen there.
    seen: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Values {
    /// Takes more bytes; gives the values that are complete with them.
    pub(super) fn push(&mut self, data: &[u8]) -> Vec<Bytes> {
        self.buffer.extend_from_slice(data);
        let mut complete = Vec::new();
        while let Some(end) = self.end() {
            complete.push(self.buffer.split_to(end).freeze());
            self.seen = 0;
        }
        complete
    }

    /// Bytes of a value that is not complete.
    pub(super) fn rest(&self) -> usize {
        self.buffer.len()
    }

    /// Where the first complete value ends.
    fn end(&mut self) -> Option<usize> {
        while let Some(byte) = self.buffer.get(self.seen) {
            match byte {
                _ if self.in_string => {
                    self.skip_string();
                    continue;
                }
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(self.seen + 1);
                    }
                }
                _ => {}
            }
            self.seen += 1;
        }
        None
    }

    /// Goes on to the end of a string, or of what has come of it. Most of a value is in strings, so
    /// they are not looked at byte by byte.
    fn skip_string(&mut self) {
        if std::mem::take(&mut self.escaped) {
            self.seen += 1;
            return;
        }
        let rest = &self.buffer[self.seen..];
        match memchr2(b'"', b'\\', rest) {
            Some(at) => {
                self.escaped = rest[at] == b'\\';
                self.in_string = self.escaped;
                self.seen += at + 1;
            }
            None => self.seen = self.buffer.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_wherever_the_bytes_are_cut() {
        let text = r#"{"a":"}\"{"} [1,{"b":[]}]
{}"#;
        let expected = [r#"{"a":"}\"{"}"#, r#" [1,{"b":[]}]"#, "\n{}"];
        for size in 1..=text.len() {
            let mut values = Values::default();
            let pieces = text.as_bytes().chunks(size);
            let found: Vec<_> = pieces.flat_map(|piece| values.push(piece)).collect();
            assert_eq!(found, expected, "pieces of {size}");
            assert_eq!(values.rest(), 0);
        }
    }
}
