//! Classifies and lifts arbitrary headers with an arbitrary body; invalid input must be rejected.
//!
//! An input is lines of `name: value`, a blank line, and a body.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tidegate_mcp::revision::{Classification, StandardHeaders, classify, lift_modern};
use tidegate_mcp::{DecodeLimits, decode_single};

const LIMITS: DecodeLimits = DecodeLimits {
    max_depth: 64,
    max_batch: 16,
};

fuzz_target!(|bytes: &[u8]| {
    let (head, body) = halves(bytes);
    let Ok(headers) = StandardHeaders::parse(head.split(|byte| *byte == b'\n').filter_map(header))
    else {
        return;
    };
    let Ok(message) = decode_single(Bytes::copy_from_slice(body), LIMITS) else {
        return;
    };
    if matches!(classify(&message, &headers), Ok(Classification::Modern)) {
        lift_modern(message, Some(&headers)).ok();
    }
});

fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.windows(2).position(|pair| pair == b"\n\n") {
        Some(end) => (&bytes[..end], &bytes[end + 2..]),
        None => (bytes, b""),
    }
}

fn header(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((
        std::str::from_utf8(&line[..colon]).ok()?,
        &line[colon + 1..],
    ))
}
