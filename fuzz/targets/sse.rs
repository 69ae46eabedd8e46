//! Events do not depend on how their bytes are split, and none exceeds the limit.
//!
//! The first byte of an input selects where the rest is split.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_mcp::sse::{EventTooLarge, SseDecoder, SseEvent};

const LIMIT: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, bytes)) = bytes.split_first() else {
        return;
    };
    let (head, tail) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let whole = read(&[bytes]);
    assert_eq!(read(&[head, tail]), whole);
    for event in whole.unwrap_or_default() {
        // An invalid UTF-8 byte becomes a replacement character of three bytes.
        assert!(event.data.len() <= 3 * LIMIT, "an event exceeds its limit");
    }
});

fn read(chunks: &[&[u8]]) -> Result<Vec<SseEvent>, EventTooLarge> {
    let mut decoder = SseDecoder::new(LIMIT);
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(decoder.push(chunk)?);
    }
    Ok(events)
}
