//! Decodes arbitrary bytes and lifts them in every revision; invalid input must be rejected.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tidegate_core::ClientContext;
use tidegate_mcp::revision::{lift_legacy, lift_modern};
use tidegate_mcp::{Era, Inbound, DecodeLimits, Message, Revision, decode};

const LIMITS: DecodeLimits = DecodeLimits {
    max_depth: 64,
    max_batch: 16,
};

fuzz_target!(|bytes: &[u8]| {
    for revision in Revision::ALL
        .into_iter()
        .filter(|revision| revision.era() == Era::Legacy)
    {
        for message in messages(bytes) {
            lift_legacy(message, revision, ClientContext::default()).ok();
        }
    }
    for message in messages(bytes) {
        lift_modern(message, None).ok();
    }
});

fn messages(bytes: &[u8]) -> Vec<Message> {
    match decode(Bytes::copy_from_slice(bytes), LIMITS) {
        Ok(Inbound::Single(message)) => vec![message],
        Ok(Inbound::Batch(messages)) => {
            assert!(messages.len() <= LIMITS.max_batch, "a batch exceeds its limit");
            messages.into_iter().filter_map(Result::ok).collect()
        }
        Err(_) => Vec::new(),
    }
}
