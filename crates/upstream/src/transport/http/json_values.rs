//! Cuts bytes into JSON objects and arrays, one after the other, scanning each byte once.

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

/// The state of the scan.
#[derive(Default)]
pub(super) struct JsonValues {
    buffer: BytesMut,
    /// How far the buffer has been scanned, and the state there.
    scanned: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl JsonValues {
    /// Adds bytes and returns the values that they complete.
    pub(super) fn push(&mut self, data: &[u8]) -> Vec<Bytes> {
        self.buffer.extend_from_slice(data);
        let mut complete = Vec::new();
        while let Some(end) = self.find_end() {
            complete.push(self.buffer.split_to(end).freeze());
            self.scanned = 0;
        }
        complete
    }

    /// Bytes of the value that is not complete yet.
    pub(super) fn incomplete_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Where the first complete value ends.
    fn find_end(&mut self) -> Option<usize> {
        while let Some(byte) = self.buffer.get(self.scanned) {
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
                        return Some(self.scanned + 1);
                    }
                }
                _ => {}
            }
            self.scanned += 1;
        }
        None
    }

    /// Skips to the end of a string, or to the end of the buffer. Most of a value is strings, so
    /// they are not scanned byte by byte.
    fn skip_string(&mut self) {
        if std::mem::take(&mut self.escaped) {
            self.scanned += 1;
            return;
        }
        let unscanned = &self.buffer[self.scanned..];
        match memchr2(b'"', b'\\', unscanned) {
            Some(at) => {
                self.escaped = unscanned[at] == b'\\';
                self.in_string = self.escaped;
                self.scanned += at + 1;
            }
            None => self.scanned = self.buffer.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values_wherever_the_bytes_are_cut() {
        let text = r#"{"a":"}\"{"} [1,{"b":[]}]
{}"#;
        let expected = [r#"{"a":"}\"{"}"#, r#" [1,{"b":[]}]"#, "\n{}"];
        for size in 1..=text.len() {
            let mut values = JsonValues::default();
            let chunks = text.as_bytes().chunks(size);
            let complete: Vec<_> = chunks.flat_map(|chunk| values.push(chunk)).collect();
            assert_eq!(complete, expected, "chunks of {size} bytes");
            assert_eq!(values.incomplete_bytes(), 0);
        }
    }
}
