//! The framing of stdio: one message a line. Splits a stream of bytes, and never holds more than
//! the longest line allowed.

use bytes::{Bytes, BytesMut};

/// One line, or the news that one was too long and has been thrown away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Text(Bytes),
    TooLong,
}

/// Cuts bytes into lines as they come.
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    partial: BytesMut,
    overflowing: bool,
}

impl LineSplitter {
    /// Lines may have up to `limit` bytes, the line break not counted.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: BytesMut::new(),
            overflowing: false,
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
        if std::mem::take(&mut self.overflowing) {
            self.partial.clear();
            return Some(Line::TooLong);
        }
        let line = self.partial.split().freeze();
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then_some(Line::Text(line))
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.overflowing || self.partial.len() + bytes.len() > self.limit {
            self.overflowing = true;
            self.partial = BytesMut::new();
        } else {
            self.partial.extend_from_slice(bytes);
        }
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
    fn a_line_that_is_too_long_costs_only_itself() {
        let lines = split(4, &[b"ab\ntoo ", b"long", b"\n\n \r\ncd\nef"]);
        let text = |text: &'static str| Line::Text(Bytes::from_static(text.as_bytes()));
        assert_eq!(lines, [text("ab"), Line::TooLong, text("cd"), text("ef")]);
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
