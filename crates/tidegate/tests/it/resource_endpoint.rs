//! `GET /v1/resource?uri=`, and the HTTP statuses of errors (S0.27, X3).

use std::io::Read as _;

use serde_json::json;

use crate::support::fixture::{Fixture, before};
use crate::support::http::OpenResponse;
use crate::support::messages::HEALTH;
use crate::support::{Answer, Home, Running, Server, Session};

const ENDPOINT: &str = "/v1/resource";
const KEY: &str = "a-key-of-ada-with-thirty-two-bytes";

fn open(gateway: &Server, query: &str) -> OpenResponse {
    let path = format!("{ENDPOINT}?{query}");
    gateway.post().method("GET").at(&path).open(b"")
}

fn get(gateway: &Server, query: &str) -> Answer {
    open(gateway, query).answer()
}

/// The status and the body of an error: that of MCP, which repeats the status.
#[track_caller]
fn assert_error(answer: &Answer, status: u16, kind: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let error = answer.error();
    assert_eq!(error["data"]["kind"], kind, "{error}");
    assert_eq!(error["data"]["httpStatus"], status, "{error}");
    assert!(
        error["code"].is_i64() && error["message"].is_string(),
        "{error}"
    );
    assert!(error["data"]["correlationId"].is_string(), "{error}");
}

/// Text is sent as its MIME type, a blob as its bytes, several contents as the result.
#[test]
fn reads_resources_of_every_form() {
    let fixture = Fixture::start(&[]);
    let gateway = before(&fixture);
    let text = get(&gateway, "uri=test://static-text");
    assert_eq!(text.status, 200, "{text:?}");
    assert_eq!(text.body, "A text that fixture keeps.");
    assert_eq!(
        text.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    let health = get(&gateway, &format!("uri={HEALTH}"));
    assert_eq!(health.header("content-type"), Some("application/json"));
    assert_eq!(health.header("cache-control"), Some("no-store"));
    assert_eq!(health.json()["overallStatus"], "Healthy");
    let image = open(&gateway, "uri=test%3A%2F%2Fstatic-binary");
    assert_eq!(image.header("content-type"), Some("image/png"));
    let mut bytes = Vec::new();
    image.body().read_to_end(&mut bytes).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n"), "{bytes:?}");
    let folder = get(&gateway, "uri=test://folder");
    assert_eq!(folder.header("content-type"), Some("application/json"));
    let contents = folder.json()["contents"].clone();
    assert_eq!(contents.as_array().unwrap().len(), 2, "{contents}");
    assert_eq!(contents[1]["text"], "The second of two.");
    // A URI with a query of its own, and one that names its source.
    let found = get(&gateway, "uri=test://search%3Fq%3Da%26lang%3Db");
    assert_eq!(found.body, "What was found for ?q=a&lang=b.");
    let qualified = get(&gateway, "uri=gateway://fixture/test://static-text");
    assert_eq!(qualified.body, text.body);
    let head = gateway.post().method("HEAD");
    let head = head
        .at(&format!("{ENDPOINT}?uri=test://static-text"))
        .open(b"");
    assert_eq!(
        (head.status, head.header("content-length")),
        (200, Some("26"))
    );
    gateway.stop();
    fixture.stop();
}

/// A page of a source must not run in the origin of the gateway.
#[test]
fn a_page_cannot_run_scripts_in_the_origin_of_the_gateway() {
    let fixture = Fixture::start(&["--apps"]);
    let gateway = before(&fixture);
    let listed = gateway.modern("resources/list", json!({})).result();
    let resources = listed["resources"].as_array().unwrap().iter();
    let page = { resources }.find_map(|resource| {
        let uri = resource["uri"].as_str()?;
        uri.starts_with("ui://").then_some(uri)
    });
    let answer = get(&gateway, &format!("uri={}", page.unwrap()));
    let kind = answer.header("content-type").unwrap();
    assert!(kind.starts_with("text/html;"), "{answer:?}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("sandbox"), "{policy}");
    assert!(policy.contains("default-src 'none'"), "{policy}");
    gateway.stop();
    fixture.stop();
}

/// S0.27: a bad URI 400, an unknown source or resource 404, a failure of the source 500.
#[test]
fn errors_have_the_status_that_describes_them() {
    let failing = ["--reject", "-32603", "--reject-method", "resources/read"];
    let fixture = Fixture::start(&failing);
    let gateway = before(&fixture);
    let answer = get(&gateway, "uri=test://static-text");
    assert_error(&answer, 500, "source");
    let correlation = answer.error()["data"]["correlationId"].to_string();
    gateway.process.stderr.find(correlation.trim_matches('"'));
    for query in [
        "",
        "uri=",
        "uri",
        "uri=a://b&uri=a://b",
        "uri=a://b&c=d",
        "uri=%ff",
    ] {
        assert_error(&get(&gateway, query), 400, "invalid_request");
    }
    for uri in ["notes", "plugin://system", "file:", "other://a%0ab"] {
        assert_error(&get(&gateway, &format!("uri={uri}")), 400, "malformed_uri");
    }
    for uri in [
        "plugin://nobody/stats",
        "plugin://system/nothing",
        "gateway://nobody/test://static-text",
        "test://nothing-like-this",
    ] {
        let answer = get(&gateway, &format!("uri={uri}"));
        assert_error(&answer, 404, "resource_not_found");
        assert_eq!(answer.error()["data"]["uri"], uri);
    }
    let post = gateway.post().at("/v1/resource?uri=a://b").send(b"");
    assert_error(&post, 405, "method_not_allowed");
    assert_eq!(post.header("allow"), Some("GET"));
    gateway.stop();
    fixture.stop();
}

#[test]
fn a_resource_that_needs_input_gets_a_clear_error() {
    for era in ["modern", "both"] {
        let fixture = Fixture::start(&["--era", era]);
        let gateway = before(&fixture);
        let answer = get(&gateway, "uri=test://input-required");
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.error()["code"], -32021, "{answer:?}");
        gateway.stop();
        fixture.stop();
    }
}

#[test]
fn an_unreachable_source_is_unavailable() {
    let fixture = Fixture::start(&[]);
    let gateway = before(&fixture);
    assert_eq!(get(&gateway, "uri=test://static-text").status, 200);
    fixture.stop();
    let answer = get(&gateway, "uri=test://static-text");
    assert_error(&answer, 503, "source_down");
    gateway.stop();
}

/// S0.26: the same authentication, and the same checks of origin and host, as for other requests.
#[test]
fn requests_are_authenticated_and_their_origin_is_checked() {
    let home = Home::with_config("auth: { keys: { ada: '${env:ADA}' } }\nsources: {}\n");
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    let process = Running::start(command.env("ADA", KEY));
    let gateway = Server::of(home, process);
    let query = format!("uri={HEALTH}");
    let answer = get(&gateway, &query);
    assert_error(&answer, 401, "unauthenticated");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    let with = |name: &str, value: &str| {
        let request = gateway
            .post()
            .method("GET")
            .at(&format!("{ENDPOINT}?{query}"));
        let request = request.header("Authorization", &format!("Bearer {KEY}"));
        request.header(name, value).send(b"")
    };
    assert_eq!(with("Accept", "*/*").status, 200);
    assert_error(
        &with("Origin", "http://evil.example"),
        403,
        "foreign_origin",
    );
    assert_error(&with("Host", "evil.example"), 403, "foreign_origin");
    assert_error(&with("Sec-Fetch-Site", "cross-site"), 403, "foreign_origin");
    gateway.stop();
}

/// Reads are counted and logged like those of other clients.
#[test]
fn reads_are_observed() {
    let gateway = Server::start();
    assert_eq!(get(&gateway, "uri=plugin://system/stats").status, 200);
    gateway
        .process
        .stderr
        .find("plugin_resource_read_completed");
    let metrics = gateway.post().method("GET").at("/metrics").send(b"").body;
    let counted = metrics.lines().any(|line| {
        line.contains("resources/read") && line.contains("_total") && line.ends_with(" 1")
    });
    assert!(counted, "{metrics}");
    gateway.stop();
}

/// X3: by default a JSON-RPC error has the status of the specification, and says in its data which one
/// describes it.
#[test]
fn errors_of_calls_have_the_status_of_the_specification() {
    let gateway = Server::start();
    let session = Session::open(gateway.address, "/mcp", "2025-11-25");
    for (uri, status) in [("a://b", 404), ("notes", 400)] {
        let params = json!({ "uri": uri });
        let answers = [
            gateway.modern("resources/read", params.clone()),
            session.request("resources/read", &params),
        ];
        for answer in answers {
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(answer.error()["data"]["httpStatus"], status, "{answer:?}");
        }
    }
    gateway.stop();
}

/// X3: with `mapped`, the status describes the error.
#[test]
fn errors_of_calls_can_have_the_status_that_describes_them() {
    let gateway = Server::with_config("http: { error_status: mapped }\nsources: {}\n");
    let session = Session::open(gateway.address, "/mcp", "2025-11-25");
    for (method, params, status) in [
        ("resources/read", json!({ "uri": "a://b" }), 404),
        ("resources/read", json!({ "uri": "notes" }), 400),
        ("resources/read", json!({ "uri": 7 }), 400),
        ("tools/call", json!({ "name": "nothing" }), 404),
        ("prompts/get", json!({ "name": "nothing" }), 404),
        ("resources/read", json!({ "uri": HEALTH }), 200),
    ] {
        let answers = [
            gateway.modern(method, params.clone()),
            session.request(method, &params),
        ];
        for answer in answers {
            assert_eq!(answer.status, status, "{method} {params}: {answer:?}");
            if status != 200 {
                assert_eq!(answer.error()["data"]["httpStatus"], status, "{answer:?}");
            }
        }
    }
    gateway.stop();
}

/// Members that a server gave stay, and so do data that are not an object.
#[test]
fn the_data_of_a_server_is_kept() {
    for (data, expected_status) in [
        (
            json!({ "httpStatus": "their own", "why": [1.50, null] }),
            json!("their own"),
        ),
        (json!({ "why": 7 }), json!(500)),
        (json!("a text"), json!(null)),
        (json!([1, 2]), json!(null)),
    ] {
        let text = data.to_string();
        let failing = ["--reject", "-32603", "--reject-method", "resources/read"];
        let failing = [&failing[..], &["--reject-data", &text]].concat();
        let fixture = Fixture::start(&failing);
        let gateway = before(&fixture);
        let answer = get(&gateway, "uri=test://static-text");
        assert_eq!(answer.status, 500, "{answer:?}");
        let kept = answer.error()["data"].clone();
        assert_eq!(kept["httpStatus"], expected_status, "{kept}");
        match data.as_object() {
            Some(members) => assert!(members.iter().all(|(key, value)| kept[key] == *value)),
            None => assert_eq!(kept, data),
        }
        gateway.stop();
        fixture.stop();
    }
}
