//! A call that a server rejects as malformed is retried once in the requested form; tools that
//! cannot be called correctly are not listed.

use serde_json::json;
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, at_fixture, before, call, config, received_for};
use crate::support::messages::Modern;
use crate::support::{Post, Server, Session};

fn tools(post: Post) -> Vec<String> {
    let list = Modern::new("tools/list", json!({})).post(post).result();
    let tools = list["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// §2.9: a tool with invalid header annotations cannot be called over modern HTTP and is not
/// listed there; elsewhere annotations do not matter.
#[test]
fn tools_with_invalid_annotations_are_not_listed_over_modern_http() {
    let modern = Fixture::start(&["--era", "modern", "--invalid-header-annotations"]);
    let legacy = Fixture::start(&["--era", "legacy", "--invalid-header-annotations"]);
    let pipe = json!({ "command": program(), "args": ["--invalid-header-annotations"] });
    let gateway = Server::with_config(&config(&json!({
        "modern": { "url": modern.url() }, "legacy": { "url": legacy.url() }, "pipe": pipe,
    })));
    for (source, listed) in [("modern", false), ("legacy", true), ("pipe", true)] {
        let tools = tools(gateway.post().at(&format!("/mcp/{source}")));
        let has = |name: &str| tools.iter().any(|tool| tool == name);
        for wrong in ["wrong_name", "wrong_type", "wrong_place"] {
            assert_eq!(has(wrong), listed, "{source}: {tools:?}");
        }
        assert!(has("test_custom_header"), "{source}: {tools:?}");
    }
    let log = gateway.stop().stderr;
    let warnings: Vec<_> = log
        .lines()
        .filter(|line| line.contains("left out"))
        .collect();
    for wrong in ["wrong_name", "wrong_type", "wrong_place"] {
        assert!(warnings.iter().any(|line| line.contains(wrong)), "{log}");
    }
    assert!(
        warnings
            .iter()
            .all(|line| line.contains("source=\"modern\""))
    );
    modern.stop();
    legacy.stop();
}

/// §4.11: a server changed a schema without notification. The call still works.
#[test]
fn call_with_outdated_headers_is_retried_with_current_ones() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let gateway = before(&fixture);
    let call_with_region = || {
        let post = at_fixture(&gateway).header("Mcp-Param-Region", "north");
        call(post, "test_custom_header", &json!({ "region": "north" }))
    };
    call_with_region().result();
    call(
        at_fixture(&gateway),
        "test_trigger_silent_change",
        &json!({}),
    )
    .result();
    call_with_region().result();
    let calls = fixture.received_for("tools/call");
    let made = calls
        .iter()
        .filter(|call| call["params"]["name"] == "test_custom_header");
    assert_eq!(made.count(), 3, "one of three was rejected");
    gateway.stop();
    fixture.stop();
}

/// §4.11: the error is the gateway's; the client is not told to change its request.
#[test]
fn call_rejected_twice_is_an_internal_error() {
    for era in ["modern", "legacy"] {
        for code in ["-32020", "-32022"] {
            let rejection = ["--reject", code, "--reject-method", "tools/call"];
            let twice = ["--reject-times", "2"];
            let fixture = Fixture::start(&[&["--era", era][..], &rejection, &twice].concat());
            let gateway = before(&fixture);
            let refused = call(at_fixture(&gateway), "test_simple_text", &json!({}));
            assert_eq!(refused.status, 200, "{refused:?}");
            assert_eq!(refused.json()["error"]["code"], -32603, "{refused:?}");
            gateway.stop();
            fixture.stop();
        }
    }
}

/// §4.11: a server that no longer supports the revision is probed again, and the call retried.
#[test]
fn call_in_an_unsupported_revision_is_retried() {
    for era in ["modern", "legacy"] {
        let rejection = ["--reject", "-32022", "--reject-method", "tools/call"];
        let fixture = Fixture::start(&[&["--era", era][..], &rejection].concat());
        let gateway = before(&fixture);
        let session = Session::open(gateway.address, "/mcp/fixture", "2025-06-18");
        let params = json!({ "name": "test_simple_text", "arguments": {} });
        let answer = session.request("tools/call", &params);
        assert!(answer.body.contains("\"result\""), "{era}: {answer:?}");
        let asked = received_for(at_fixture(&gateway), "server/discover").len();
        assert!(asked >= 2, "{era}: {asked} probes");
        gateway.stop();
        fixture.stop();
    }
}

/// §4.11: a session that the server forgot is reopened, and idempotent requests are retried.
#[test]
fn read_is_retried_after_a_forgotten_session() {
    let fixture = Fixture::start(&["--era", "legacy", "--no-get-stream"]);
    let gateway = before(&fixture);
    let forget = || call(at_fixture(&gateway), "fault_404_session", &json!({})).result();
    forget();
    let uri = json!({ "uri": "test://static-text" });
    Modern::new("resources/read", uri)
        .post(at_fixture(&gateway))
        .result();
    forget();
    let lost = call(at_fixture(&gateway), "test_simple_text", &json!({})).json();
    assert_eq!(lost["error"]["data"]["kind"], "source_failed", "{lost}");
    call(at_fixture(&gateway), "test_simple_text", &json!({})).result();
    gateway.stop();
    fixture.stop();
}
