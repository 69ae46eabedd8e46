//! Events do not depend on how their bytes arrive, and none is larger than allowed.
//!
//! The first byte of an input says where the rest is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_mcp::sse::{Decoder, Event, TooLarge};

const LIMIT: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, bytes)) = bytes.split_first() else {
        return;
    };
    let (head, tail) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let whole = read(&[bytes]);
    assert_eq!(read(&[head, tail]), whole);
    for event in whole.unwrap_or_default() {
        // A byte that is not UTF-8 becomes a replacement character of three.
        assert!(event.data.len() <= 3 * LIMIT, "an event beyond its limit");
    }
});

fn read(chunks: &[&[u8]]) -> Result<Vec<Event>, TooLarge> {
    let mut decoder = Decoder::new(LIMIT);
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(decoder.push(chunk)?);
    }
    Ok(events)
}
