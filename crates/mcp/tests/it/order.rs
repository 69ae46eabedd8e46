//! The order of the checks of a stateless request, 6a to 6e: with any set of faults, the first in the
//! order decides. Clients test it, for what they do next depends on it.

use bytes::Bytes;
use tidegate_core::Code;
use tidegate_mcp::revision::{Classification, StandardHeaders, classify, lift_modern};
use tidegate_mcp::{Limits, Message, Revision, decode_one};

const LIMITS: Limits = Limits {
    depth: 16,
    batch: 1,
};

/// The faults in the order of the checks, and what each is.
const FAULTS: [(&str, Code); 5] = [
    ("6a: no capabilities", Code::MalformedMeta),
    ("6b: another version in the header", Code::HeaderMismatch),
    ("6c: a version that nobody has", Code::UnsupportedRevision),
    ("6d: another method in the header", Code::HeaderMismatch),
    ("6e: a method that is gone", Code::MethodNotFound),
];

#[test]
fn the_first_fault_decides() {
    for set in 0_u32..1 << FAULTS.len() {
        let has = |fault: usize| set & (1 << fault) != 0;
        let first = FAULTS.iter().enumerate().find(|(at, _)| has(*at));
        let (message, headers) = request(has);
        let framing = classify(&message, &headers).expect("it can be told apart");
        assert_eq!(framing, Classification::Modern);
        let outcome = lift_modern(message, Some(&headers)).map_err(|(_, error)| error.code());
        let faults: Vec<_> = (0..FAULTS.len()).filter(|at| has(*at)).collect();
        match first {
            None => assert!(outcome.is_ok()),
            Some((_, (name, code))) => {
                assert_eq!(outcome.err(), Some(*code), "{name} among {faults:?}");
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
    let message = decode_one(Bytes::from(body.to_string()), LIMITS).expect("a message");
    (message, headers)
}
