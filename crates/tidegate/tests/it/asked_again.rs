//! What a server says was asked wrongly is asked once more, the way it wants it; and what cannot be
//! asked rightly is not offered.

use serde_json::json;
use tidegate_testkit::fixture::program;

use crate::support::fixture::{Fixture, at_fixture, before, call, config, heard};
use crate::support::messages::Modern;
use crate::support::{Post, Server, Session};

fn tools(post: Post) -> Vec<String> {
    let list = Modern::new("tools/list", json!({})).post(post).result();
    let tools = list["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// §2.9: a tool that marks headers wrongly cannot be called over HTTP without a session, and is left
/// out; elsewhere nobody looks at the marks.
#[test]
fn tools_with_wrong_marks_are_left_out_where_marks_count() {
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
    let told: Vec<_> = log
        .lines()
        .filter(|line| line.contains("left out"))
        .collect();
    for wrong in ["wrong_name", "wrong_type", "wrong_place"] {
        assert!(told.iter().any(|line| line.contains(wrong)), "{log}");
    }
    assert!(told.iter().all(|line| line.contains("source=\"modern\"")));
    modern.stop();
    legacy.stop();
}

/// §4.11: a server has changed a schema and told nobody. The call works all the same.
#[test]
fn a_call_with_headers_of_an_old_list_is_made_again_with_those_of_the_new() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let gateway = before(&fixture);
    let region = || {
        let post = at_fixture(&gateway).header("Mcp-Param-Region", "north");
        call(post, "test_custom_header", &json!({ "region": "north" }))
    };
    region().result();
    call(
        at_fixture(&gateway),
        "test_trigger_silent_change",
        &json!({}),
    )
    .result();
    region().result();
    let calls = fixture.heard("tools/call");
    let made = calls
        .iter()
        .filter(|call| call["params"]["name"] == "test_custom_header");
    assert_eq!(made.count(), 3, "one of three was refused");
    gateway.stop();
    fixture.stop();
}

/// §4.11: it is the gateway's fault, and the client is not told to mend its request.
#[test]
fn what_is_refused_twice_is_a_fault_of_the_gateway() {
    for era in ["modern", "legacy"] {
        for code in ["-32020", "-32022"] {
            let complaint = ["--reject", code, "--reject-method", "tools/call"];
            let twice = ["--reject-times", "2"];
            let fixture = Fixture::start(&[&["--era", era][..], &complaint, &twice].concat());
            let gateway = before(&fixture);
            let refused = call(at_fixture(&gateway), "test_simple_text", &json!({}));
            assert_eq!(refused.status, 200, "{refused:?}");
            assert_eq!(refused.json()["error"]["code"], -32603, "{refused:?}");
            gateway.stop();
            fixture.stop();
        }
    }
}

/// §4.11: a server that does not speak the revision any more is asked how it speaks, and asked again.
#[test]
fn a_call_in_a_revision_that_is_not_spoken_any_more_is_made_again() {
    for era in ["modern", "legacy"] {
        let complaint = ["--reject", "-32022", "--reject-method", "tools/call"];
        let fixture = Fixture::start(&[&["--era", era][..], &complaint].concat());
        let gateway = before(&fixture);
        let session = Session::open(gateway.address, "/mcp/fixture", "2025-06-18");
        let params = json!({ "name": "test_simple_text", "arguments": {} });
        let answer = session.request("tools/call", &params);
        assert!(answer.body.contains("\"result\""), "{era}: {answer:?}");
        gateway.process.stderr.find("the source is there");
        let asked = heard(at_fixture(&gateway), "server/discover").len();
        assert!(asked >= 2, "{era}: asked {asked} times how it speaks");
        gateway.stop();
        fixture.stop();
    }
}

/// §4.11: a session that the server forgot is opened anew, and what does no more when it is asked
/// twice is.
#[test]
fn a_reading_outlives_the_session_it_was_asked_in() {
    let fixture = Fixture::start(&["--era", "legacy", "--no-get-stream"]);
    let gateway = before(&fixture);
    let forget = || call(at_fixture(&gateway), "fault_404_session", &json!({})).result();
    forget();
    let uri = json!({ "uri": "test://static-text" });
    Modern::new("resources/read", uri)
        .post(at_fixture(&gateway))
        .result();
    gateway.process.stderr.find("the source is there");
    forget();
    let lost = call(at_fixture(&gateway), "test_simple_text", &json!({})).json();
    assert_eq!(lost["error"]["data"]["kind"], "source_failed", "{lost}");
    gateway.process.stderr.find("the source is there");
    call(at_fixture(&gateway), "test_simple_text", &json!({})).result();
    gateway.stop();
    fixture.stop();
}
