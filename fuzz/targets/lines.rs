//! Lines do not depend on how their bytes are split, and none exceeds the limit.
//!
//! The first byte of an input selects where the rest is split.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_mcp::lines::{Line, LineSplitter};

const LIMIT: usize = 32;

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, bytes)) = bytes.split_first() else {
        return;
    };
    let (head, tail) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let whole = split(&[bytes]);
    assert_eq!(split(&[head, tail]), whole);
    for line in whole {
        if let Line::Text(text) = line {
            assert!(text.len() <= LIMIT, "a line exceeds its limit");
        }
    }
});

fn split(chunks: &[&[u8]]) -> Vec<Line> {
    let mut splitter = LineSplitter::new(LIMIT);
    let mut lines: Vec<_> = chunks
        .iter()
        .flat_map(|chunk| splitter.push(chunk))
        .collect();
    lines.extend(splitter.finish());
    lines
}
