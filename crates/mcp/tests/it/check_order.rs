//! The order of the checks of a modern request, 6a to 6e: of several faults, the first in the order
//! decides the error. Clients rely on it to choose their next step.

use bytes::Bytes;
use tidegate_core::Code;
use tidegate_mcp::revision::{Classification, StandardHeaders, classify, lift_modern};
use tidegate_mcp::{DecodeLimits, Message, Revision, decode_single};

const LIMITS: DecodeLimits = DecodeLimits {
    max_depth: 16,
    max_batch: 1,
};

/// The faults in the order of the checks, and their codes.
const FAULTS: [(&str, Code); 5] = [
    ("6a: no capabilities", Code::MalformedMeta),
    ("6b: wrong version in the header", Code::HeaderMismatch),
    ("6c: unknown version", Code::UnsupportedRevision),
    ("6d: wrong method in the header", Code::HeaderMismatch),
    ("6e: removed method", Code::MethodNotFound),
];

#[test]
fn the_first_fault_decides_the_error() {
    for set in 0_u32..1 << FAULTS.len() {
        let has = |fault: usize| set & (1 << fault) != 0;
        let first = FAULTS.iter().enumerate().find(|(index, _)| has(*index));
        let (message, headers) = request(has);
        let classification = classify(&message, &headers).expect("cannot be classified");
        assert_eq!(classification, Classification::Modern);
        let result = lift_modern(message, Some(&headers)).map_err(|(_, error)| error.code());
        let faults: Vec<_> = (0..FAULTS.len()).filter(|index| has(*index)).collect();
        match first {
            None => assert!(result.is_ok()),
            Some((_, (name, code))) => {
                assert_eq!(result.err(), Some(*code), "{name} among {faults:?}");
            }
        }
    }
}

fn request(has: impl Fn(usize) -> bool) -> (Message, StandardHeaders) {
    let version = if has(2) {
        "v999"
    } else {
        Revision::NEWEST.as_str()
    };
    let method = if has(4) { "ping" } else { "tools/list" };
    let mut meta = serde_json::json!({ "io.modelcontextprotocol/protocolVersion": version });
    if !has(0) {
        meta["io.modelcontextprotocol/clientCapabilities"] = serde_json::json!({});
    }
    let body = serde_json::json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": { "_meta": meta },
    });
    let headers = StandardHeaders {
        version: Some(if has(1) { "v998" } else { version }.to_owned()),
        method: Some(if has(3) { "tools/call" } else { method }.to_owned()),
        ..StandardHeaders::default()
    };
    let message = decode_single(Bytes::from(body.to_string()), LIMITS).expect("not a message");
    (message, headers)
}
