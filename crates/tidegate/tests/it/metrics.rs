//! Metrics and logs of calls: the documented names, at `GET /metrics` and in the log.

mod exposition;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::fixture::{Fixture, before, call};
use crate::support::messages::{Modern, STATS};
use crate::support::proc::poll_for;
use crate::support::{Answer, Home, Post, Running, Server, Session};
use exposition::Exposition;

const READS: &str = "plugin_resource_reads_total";
const CALLS: &str = "tidegate_calls_total";
const LISTS: &str = "mcp_resources_list_requests_total";
const LIST_COUNT: &str = "mcp_resources_list_duration_seconds_count";

/// The keys of an admin and of another principal.
const ADA: &str = "k3y-0f-ada-that-nobody-may-see";
const BOB: &str = "k3y-0f-bob-that-nobody-may-see";

fn get(server: &Server) -> Post {
    server.post().at("/metrics").method("GET")
}

/// As a modern scraper requests it.
fn get_open(server: &Server) -> Post {
    let open = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
    get(server).header("Accept", open)
}

#[track_caller]
fn scrape(server: &Server) -> Exposition {
    let answer = get_open(server).send(b"");
    assert_eq!(answer.status, 200, "{answer:?}");
    Exposition::read(&answer.body)
}

fn read(server: &Server, uri: &str) -> Answer {
    server.modern("resources/read", json!({ "uri": uri }))
}

/// S0.31 and S0.32: reads are counted by plugin, resource and status, including failed ones.
/// A.5.2: and timed, once each.
#[test]
fn successful_and_failed_reads_are_counted() {
    let server = Server::with_config("sources: { notes: { kind: memory } }\n");
    read(&server, STATS).result();
    read(&server, STATS).result();
    assert!(read(&server, "plugin://system/nope").json()["error"].is_object());
    assert!(read(&server, "plugin://nobody/here").json()["error"].is_object());
    let kept = json!({ "key": "whose-birthday", "value": 1 });
    call(server.post(), "notes__store", &kept).result();
    read(&server, "plugin://notes/memory_stats").result();
    read(&server, "plugin://notes/entries/whose-birthday").result();
    assert!(read(&server, "plugin://notes/entries/nobodys").json()["error"].is_object());
    let text = get_open(&server).send(b"").body;
    assert!(
        !text.contains("birthday") && !text.contains("nobody"),
        "{text}"
    );
    let page = Exposition::read(&text);
    for (plugin, resource, status, count) in [
        ("system", "stats", "success", 2.0),
        ("system", "stats", "failure", 0.0),
        ("system", "unknown", "failure", 1.0),
        ("unknown", "unknown", "failure", 1.0),
        ("notes", "memory_stats", "success", 1.0),
        ("notes", "entries/{key}", "success", 1.0),
        ("notes", "entries/{key}", "failure", 1.0),
    ] {
        let labels = [
            ("plugin", plugin),
            ("resource", resource),
            ("status", status),
        ];
        assert_eq!(page.value(READS, &labels), count, "{labels:?}");
    }
    let read = [("source", "notes"), ("method", "resources/read")];
    let calls = |outcome| page.value(CALLS, &[read[0], read[1], ("outcome", outcome)]);
    assert_eq!(
        [calls("success"), calls("rejected"), calls("failed")],
        [2.0, 1.0, 0.0]
    );
    assert_eq!(
        page.value("tidegate_call_duration_seconds_count", &read),
        3.0
    );
    let errors = |step| [("step", step), ("kind", "resource_not_found")];
    assert_eq!(page.value("tidegate_errors_total", &errors("serve")), 2.0);
    assert_eq!(page.value("tidegate_errors_total", &errors("resolve")), 1.0);
    assert_eq!(
        page.value("tidegate_calls_in_flight", &[("source", "notes")]),
        0.0
    );
    server.stop();
}

/// S2.27: requests for the list of resources are counted by status, and timed.
#[test]
fn resource_lists_are_counted_and_timed() {
    let server = Server::start();
    server.modern("resources/list", json!({})).result();
    server.modern("tools/list", json!({})).result();
    let wrong = server.modern("resources/list", json!({ "cursor": "nonsense" }));
    assert!(wrong.json()["error"].is_object());
    let page = scrape(&server);
    assert_eq!(page.value(LISTS, &[("status", "success")]), 1.0);
    assert_eq!(page.value(LISTS, &[("status", "failure")]), 1.0);
    assert_eq!(page.value(LIST_COUNT, &[("provider", "gateway")]), 2.0);
    server.stop();
}

/// S2.27: a server is a provider of its own, timed when its list is loaded. Calls to it are counted
/// under its name; sessions are counted while they are open.
#[test]
fn server_has_its_own_metrics() {
    let fixture = Fixture::start(&[]);
    let gateway = before(&fixture);
    let session = Session::open(gateway.address, "/mcp", "2025-11-25");
    assert!(call(gateway.post(), "fixture__nope", &json!({})).json()["error"].is_object());
    call(
        gateway.post(),
        "fixture__received_messages",
        &json!({ "method": "x" }),
    )
    .result();
    let page = scrape(&gateway);
    assert!(page.value(LIST_COUNT, &[("provider", "fixture")]) >= 1.0);
    let calls = |source, outcome| {
        let labels = [
            ("source", source),
            ("method", "tools/call"),
            ("outcome", outcome),
        ];
        page.value(CALLS, &labels)
    };
    assert_eq!(calls("fixture", "success"), 1.0);
    assert_eq!(calls("gateway", "rejected"), 1.0, "unknown tool");
    let errors = [("step", "resolve"), ("kind", "unknown_target")];
    assert_eq!(page.value("tidegate_errors_total", &errors), 1.0);
    let of = |kind, component| [("kind", kind), ("component", component)];
    assert_eq!(page.value("tidegate_health", &of("source", "fixture")), 1.0);
    assert_eq!(
        page.value("tidegate_component_sessions", &of("gateway", "transports")),
        1.0
    );
    assert_eq!(
        page.value("tidegate_component_connects", &of("source", "fixture")),
        1.0
    );
    assert!(
        page.value(
            "tidegate_catalog_entries",
            &[("source", "fixture"), ("list", "tools")]
        ) > 1.0
    );
    session.end();
    let page = scrape(&gateway);
    assert_eq!(
        page.value("tidegate_component_sessions", &of("gateway", "transports")),
        0.0
    );
    fixture.stop();
    poll_for("the server to be reported as down", || {
        let health = scrape(&gateway).value("tidegate_health", &of("source", "fixture"));
        (health < 1.0).then_some(())
    });
    gateway.stop();
}

/// Requests rejected before a call are counted by the step that rejected them.
#[test]
fn rejected_requests_are_counted_by_step() {
    let server = Server::start();
    server.post().with_mcp_headers().send(b"{");
    server
        .post()
        .with_mcp_headers()
        .header("Host", "evil.example")
        .send(b"{}");
    server
        .post()
        .header("Content-Type", "text/plain")
        .send(b"{}");
    server.modern("no/such/method", json!({}));
    let page = scrape(&server);
    for (step, kind) in [
        ("decode", "parse_error"),
        ("accept", "foreign_origin"),
        ("accept", "unsupported_media"),
        ("resolve", "method_not_found"),
    ] {
        let labels = [("step", step), ("kind", kind)];
        assert_eq!(
            page.value("tidegate_errors_total", &labels),
            1.0,
            "{step} {kind}"
        );
    }
    server.stop();
}

/// Whatever clients send, the number of series stays the same, and none contains their input.
#[test]
fn client_input_does_not_become_a_label() {
    let server = Server::start();
    let send_unknown_names = |name: &str| {
        read(&server, &format!("plugin://system/{name}"));
        read(&server, &format!("plugin://{name}/x"));
        read(&server, &format!("{name}://x"));
        call(server.post(), name, &json!({ name: name }));
        server.modern(&format!("{name}/list"), json!({}));
        server.modern("prompts/get", json!({ "name": name }));
        let args = json!({ "ref": { "type": "ref/resource", "uri": name }, "argument": { "name": name, "value": name } });
        server.modern("completion/complete", args);
        let server = server.post().at(&format!("/mcp/{name}"));
        server.with_mcp_headers().send(b"{}");
    };
    send_unknown_names("first");
    let known = scrape(&server).series();
    for number in 0..20 {
        send_unknown_names(&format!("guess{number}"));
    }
    let text = get_open(&server).send(b"").body;
    assert_eq!(Exposition::read(&text).series(), known);
    assert!(!text.contains("guess") && !text.contains("first"), "{text}");
    server.stop();
}

/// With `auth:` only admins see the page; it contains no keys.
#[test]
fn page_is_only_for_admins_with_auth() {
    let config = "auth: { keys: { ada: '${env:ADA}', bob: '${env:BOB}' }, admins: [ada] }\n";
    let home = Home::with_config(config);
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    let process = Running::start(command.env("ADA", ADA).env("BOB", BOB));
    let server = Server::of(home, process);
    let with = |key: &str| get_open(&server).header("Authorization", &format!("Bearer {key}"));
    let bob = server
        .post()
        .header("Authorization", &format!("Bearer {BOB}"));
    Modern::new("resources/read", json!({ "uri": STATS }))
        .post(bob)
        .result();
    for (refused, status) in [
        (get(&server), 401),
        (with("wr0ng-key-wr0ng-key"), 401),
        (with(BOB), 403),
        (with(ADA).header("Host", "evil.example"), 403),
        (with(ADA).header("Origin", "https://evil.example"), 403),
    ] {
        let answer = refused.send(b"");
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(!answer.body.contains("tidegate_calls"), "{answer:?}");
    }
    let answer = with(ADA).send(b"");
    assert_eq!(answer.status, 200);
    let page = Exposition::read(&answer.body);
    let stats = [
        ("plugin", "system"),
        ("resource", "stats"),
        ("status", "success"),
    ];
    assert_eq!(page.value(READS, &stats), 1.0);
    for name in [ADA, BOB, "wr0ng", "ada", "bob", "plugin://system/stats"] {
        let values = answer.body.lines().filter(|line| !line.starts_with('#'));
        assert!(!values.clone().any(|line| line.contains(name)), "{name}");
    }
    server.stop();
}

/// On loopback without keys it is open, but not to pages of other origins.
#[test]
fn host_and_origin_are_checked_and_the_format_is_negotiated() {
    let server = Server::start();
    for (name, value) in [
        ("Host", "evil.example"),
        ("Origin", "https://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
    ] {
        assert_eq!(
            get(&server).header(name, value).send(b"").status,
            403,
            "{name}"
        );
    }
    assert_eq!(server.post().at("/metrics").send(b"").status, 405);
    let plain = get(&server).header("Accept", "*/*").send(b"");
    let open = get_open(&server).send(b"");
    let form = |answer: &Answer| answer.header("content-type").unwrap().to_owned();
    assert_eq!(form(&plain), "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(
        form(&open),
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    Exposition::read(&open.body);
    // In the older format the metadata has the name of the sample.
    assert!(
        plain
            .body
            .contains("# TYPE process_cpu_seconds_total counter\n")
    );
    assert!(plain.body.contains("# HELP process_cpu_seconds_total "));
    assert!(open.body.contains("# TYPE process_cpu_seconds counter\n"));
    assert!(open.body.ends_with("# EOF\n") && !plain.body.contains("# EOF"));
    server.stop();
}

/// The reference page lists every metric, with its labels and its type.
#[test]
fn every_metric_is_in_the_reference() {
    let fixture = Fixture::start(&[]);
    let gateway = before(&fixture);
    read(&gateway, "nobody://here");
    let page = scrape(&gateway);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
    let reference = fs::read_to_string(file).unwrap();
    let (_, table) = reference.split_once("## Metrics").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split(" | ").collect())
        .collect();
    for (name, family) in &page.families {
        let shown = match name.starts_with("tidegate_component_") {
            true => "tidegate_component_NAME".to_owned(),
            false if family.kind == "counter" => format!("{name}_total"),
            false => name.clone(),
        };
        let row = rows.iter().find(|row| row[0] == format!("| `{shown}`"));
        let row = row.unwrap_or_else(|| panic!("{shown} is missing in the reference"));
        let labels = row[2]
            .split(", ")
            .map(|label| label.trim_matches([' ', '`']));
        let labels: BTreeSet<_> = labels.filter(|label| !label.is_empty()).collect();
        assert_eq!(
            (row[1], labels),
            (family.kind.as_str(), family.labels()),
            "{name}"
        );
    }
    let shown = |row: &&Vec<&str>| {
        let name = row[0].trim_matches(['|', ' ', '`']);
        let family = name.strip_suffix("_total").unwrap_or(name);
        !name.ends_with("NAME") && !page.families.contains_key(family)
    };
    assert_eq!(
        rows.iter().find(shown),
        None,
        "every documented metric is scraped"
    );
    gateway.stop();
}

/// The fields of the event with this name.
fn event(log: &str, name: &str) -> Option<Value> {
    let events = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut matching = events.filter(|event: &Value| event["message"] == name);
    let found = matching.next();
    assert!(matching.next().is_none(), "{name} is logged once: {log}");
    found
}

fn logging(level: &str) -> Server {
    Server::with_config(&format!("log: {{ level: {level}, format: json }}\n"))
}

/// S0.29 and S0.30: the outcome of a read is logged once, with its target.
#[test]
fn reads_are_logged_once() {
    let server = logging("info");
    read(&server, STATS).result();
    let refused = read(&server, "plugin://system/nope").json();
    let log = server.stop().stderr;
    let done = event(&log, "plugin_resource_read_completed").unwrap();
    assert_eq!(done["level"], "INFO");
    assert_eq!(done["plugin"], "system");
    assert_eq!(done["resource"], "stats");
    assert_eq!(done["uri"], STATS);
    let failed = event(&log, "plugin_resource_read_failed").unwrap();
    assert_eq!(failed["level"], "INFO", "a mistake of the client");
    assert_eq!(failed["plugin"], "system");
    assert_eq!(failed["uri"], "plugin://system/nope");
    assert_eq!(failed["error"], refused["error"]["message"]);
    let id = refused["error"]["data"]["correlationId"].as_str().unwrap();
    assert_eq!(failed["correlation_id"], id);
    assert_eq!(
        log.matches(id).count(),
        1,
        "no error is logged twice: {log}"
    );
}

/// S2.28: a list of resources is logged when it starts and when it ends, with its size or its
/// error.
#[test]
fn resource_lists_are_logged() {
    let server = logging("debug");
    let listed = server.modern("resources/list", json!({})).result();
    let log = server.stop().stderr;
    let started = event(&log, "resources_list_started").unwrap();
    let done = event(&log, "resources_list_completed").unwrap();
    for event in [&started, &done] {
        assert_eq!(event["method"], "resources/list");
        assert!(event["timestamp"].is_string());
        assert_eq!(event["request_id"], started["request_id"]);
        assert!(
            event["request_id"]
                .as_str()
                .is_some_and(|id| !id.is_empty())
        );
    }
    assert!(
        done["duration"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0)
    );
    assert_eq!(
        done["resource_count"],
        listed["resources"].as_array().unwrap().len()
    );

    let server = logging("info");
    server.modern("resources/list", json!({})).result();
    let wrong = server
        .modern("resources/list", json!({ "cursor": "nonsense" }))
        .json();
    let log = server.stop().stderr;
    let failed = event(&log, "resources_list_failed").unwrap();
    assert_eq!(failed["method"], "resources/list");
    assert_eq!(failed["error"], wrong["error"]["message"]);
    assert_eq!(
        failed["request_id"],
        wrong["error"]["data"]["correlationId"]
    );
    assert_eq!(
        event(&log, "resources_list_started"),
        None,
        "not logged at info"
    );
}
