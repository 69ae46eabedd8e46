//! How often a server is asked for its lists.

use std::time::Instant;

use serde_json::{Value, json};
use tidegate_testkit::fixture::program;

use crate::support::fixture::config;
use crate::support::{Server, Session};

const READS: usize = 50;

/// Reads of unlisted URIs reload the lists of the client's own process, but not each time.
#[test]
fn reads_of_unlisted_uris_cause_a_bounded_number_of_list_requests() {
    let source = json!({ "command": program(), "args": ["--no-list-changed"] });
    let server = Server::with_config(&config(&json!({ "fixture": source })));
    let session = Session::open(server.address, "/mcp", "2025-11-25");
    let list_requests = || {
        let arguments = json!({ "method": "resources/list" });
        let call = json!({ "name": "fixture__received_messages", "arguments": arguments });
        let result = session.request("tools/call", &call).result();
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str::<Vec<Value>>(&text).unwrap().len()
    };
    let before = list_requests();
    let started = Instant::now();
    for _ in 0..READS {
        let read = session.request("resources/read", &json!({ "uri": "nobody://x" }));
        assert!(read.json()["error"].is_object());
    }
    // At most one each second, and those at the start of the process.
    let bound = before + 3 + usize::try_from(started.elapsed().as_secs()).unwrap();
    let after = list_requests();
    assert!(
        after <= bound,
        "{after} list requests, at most {bound} expected"
    );
    server.stop();
}
