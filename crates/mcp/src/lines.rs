//! The framing of stdio: one message a line. Splits a stream of bytes, and never holds more than
//! the longest line allowed.

use bytes::{Buf, Bytes, BytesMut};

/// Bytes that are kept of either end of a line that is too long.
const EDGE: usize = 256;

/// One line, or what is left of one that was too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Text(Bytes),
    /// How it began and how it ended; all else has been thrown away.
    TooLong {
        head: Bytes,
        tail: Bytes,
    },
}

/// Cuts bytes into lines as they come.
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    partial: BytesMut,
    /// The end so far of a line that is too long; its beginning is the partial line.
    overflow: Option<BytesMut>,
}

impl LineSplitter {
    /// Lines may have up to `limit` bytes, the line break not counted.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: BytesMut::new(),
            overflow: None,
        }
    }

    /// Takes the next bytes and gives the lines that are complete now. Blank lines are nothing.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.take(&bytes[..end]);
            lines.extend(self.finish());
            bytes = &bytes[end + 1..];
        }
        self.take(bytes);
        lines
    }

    /// The end of the input: a last line without a line break is a line.
    pub fn finish(&mut self) -> Option<Line> {
        let line = self.partial.split().freeze();
        if let Some(tail) = self.overflow.take() {
            let tail = tail.freeze();
            return Some(Line::TooLong { head: line, tail });
        }
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then_some(Line::Text(line))
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.overflow.is_none() && self.partial.len() + bytes.len() <= self.limit {
            return self.partial.extend_from_slice(bytes);
        }
        if self.overflow.is_none() {
            let all = std::mem::take(&mut self.partial);
            let head = all.iter().chain(bytes).take(EDGE.min(self.limit));
            self.partial = head.copied().collect();
            self.overflow = Some(last(&all).into());
        }
        let tail = self.overflow.get_or_insert_default();
        tail.extend_from_slice(last(bytes));
        let surplus = tail.len().saturating_sub(EDGE);
        tail.advance(surplus);
    }
}

fn last(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(EDGE)..]
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
    fn a_line_that_is_too_long_costs_only_itself() {
        let lines = split(4, &[b"ab\ntoo ", b"long", b"\n\n \r\ncd\nef"]);
        let text = |text: &'static str| Line::Text(Bytes::from_static(text.as_bytes()));
        let too_long = Line::TooLong {
            head: Bytes::from_static(b"too "),
            tail: Bytes::from_static(b"too long"),
        };
        assert_eq!(lines, [text("ab"), too_long, text("cd"), text("ef")]);
    }

    #[test]
    fn of_a_line_that_is_too_long_the_edges_are_kept() {
        let long: Vec<u8> = (0..=u8::MAX)
            .filter(|byte| *byte != b'\n')
            .cycle()
            .take(5000)
            .collect();
        let chunks: Vec<_> = long.chunks(300).chain([&b"\n"[..]]).collect();
        let [Line::TooLong { head, tail }] = &split(1000, &chunks)[..] else {
            panic!("one line was too long");
        };
        assert_eq!(head, &long[..EDGE]);
        assert_eq!(tail, &long[long.len() - EDGE..]);
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
