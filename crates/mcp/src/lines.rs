//! The framing of stdio: one message per line. Buffers at most one line of the maximum length.

use std::borrow::Cow;

use bytes::{Buf, Bytes, BytesMut};

/// Bytes kept from each end of a line that is too long.
const KEPT_BYTES: usize = 256;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Text(Bytes),
    /// Exceeded the limit: its first and last bytes.
    TooLong {
        head: Bytes,
        tail: Bytes,
    },
}

/// Splits a stream of bytes into lines.
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    partial: BytesMut,
    /// The last bytes so far of a line that is too long; `partial` then has its first bytes.
    overflow: Option<BytesMut>,
}

impl LineSplitter {
    /// `limit` is the maximum length of a line in bytes, without its line break.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: BytesMut::new(),
            overflow: None,
        }
    }

    /// Adds bytes and returns the lines that are complete now. Blank lines are skipped.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.append(&bytes[..end]);
            lines.extend(self.finish());
            bytes = &bytes[end + 1..];
        }
        self.append(bytes);
        lines
    }

    /// Ends the line; at the end of the input, returns a last line without a line break.
    pub fn finish(&mut self) -> Option<Line> {
        let line = self.partial.split().freeze();
        if let Some(tail) = self.overflow.take() {
            let tail = tail.freeze();
            return Some(Line::TooLong { head: line, tail });
        }
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then_some(Line::Text(line))
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.overflow.is_none() && self.partial.len() + bytes.len() <= self.limit {
            return self.partial.extend_from_slice(bytes);
        }
        if self.overflow.is_none() {
            let line = std::mem::take(&mut self.partial);
            let head = line.iter().chain(bytes).take(KEPT_BYTES.min(self.limit));
            self.partial = head.copied().collect();
            self.overflow = Some(last_bytes(&line).into());
        }
        let tail = self.overflow.get_or_insert_default();
        tail.extend_from_slice(last_bytes(bytes));
        let surplus = tail.len().saturating_sub(KEPT_BYTES);
        tail.advance(surplus);
    }
}

fn last_bytes(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(KEPT_BYTES)..]
}

/// JSON without line breaks. Strings in valid JSON contain no line breaks, so nothing is lost.
pub fn single_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) {
        json.replace(['\n', '\r'], " ").into()
    } else {
        json.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(limit: usize, chunks: &[&[u8]]) -> Vec<Line> {
        let mut splitter = LineSplitter::new(limit);
        let mut lines: Vec<_> = chunks
            .iter()
            .flat_map(|chunk| splitter.push(chunk))
            .collect();
        lines.extend(splitter.finish());
        lines
    }

    #[test]
    fn a_line_that_is_too_long_does_not_affect_others() {
        let lines = split(4, &[b"ab\ntoo ", b"long", b"\n\n \r\ncd\nef"]);
        let text = |text: &'static str| Line::Text(Bytes::from_static(text.as_bytes()));
        let too_long = Line::TooLong {
            head: Bytes::from_static(b"too "),
            tail: Bytes::from_static(b"too long"),
        };
        assert_eq!(lines, [text("ab"), too_long, text("cd"), text("ef")]);
    }

    #[test]
    fn keeps_both_ends_of_a_line_that_is_too_long() {
        let long: Vec<u8> = (0..=u8::MAX)
            .filter(|byte| *byte != b'\n')
            .cycle()
            .take(5000)
            .collect();
        let chunks: Vec<_> = long.chunks(300).chain([&b"\n"[..]]).collect();
        let [Line::TooLong { head, tail }] = &split(1000, &chunks)[..] else {
            panic!("expected one oversized line");
        };
        assert_eq!(head, &long[..KEPT_BYTES]);
        assert_eq!(tail, &long[long.len() - KEPT_BYTES..]);
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(bytes: Vec<u8>, cuts in prop::collection::vec(0_usize..64, 0..8)) {
            let whole = split(16, &[&bytes]);
            let mut rest = &bytes[..];
            let mut chunks = Vec::new();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                chunks.push(head);
                rest = tail;
            }
            chunks.push(rest);
            prop_assert_eq!(split(16, &chunks), whole);
        }
    }
}
