//! The capability index: content, token limits, cache, and configuration.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tidegate_sources::tokens;
use tidegate_testkit::fixture::Fixture;
use tokio::time::timeout;

use crate::support::inspector::inspect;
use crate::support::messages::{LEGACY, Modern, watching};
use crate::support::proc::poll_for;
use crate::support::{Events, Home, PATIENCE, Running, Server, Session};
use crate::walk::client::ModernClient;
use crate::walk::{Pages, all, list};

const SUMMARY: &str = "capability-index://summary";
const FULL: &str = "capability-index://full";
const STATS: &str = "capability-index://stats";

/// Stands for no configuration file.
const NO_FILE: &str = "";

/// A gateway with an index and a folder with this many files.
fn with_files(count: usize, index: &str) -> Server {
    let config = format!(
        "sources:\n  docs: {{ kind: files, folder: ./docs }}\n  index: {{ kind: capability-index, {index} }}\n"
    );
    let home = Home::with_config(&config);
    fs::create_dir(home.path().join("docs")).unwrap();
    for number in 0..count {
        home.write(&format!("docs/report-{number}.md"), "# A report\n");
    }
    Server::start_in(home, &[])
}

fn read(server: &Server, uri: &str) -> Value {
    let read = server
        .modern("resources/read", json!({ "uri": uri }))
        .result();
    assert_eq!(read["contents"][0]["uri"], uri);
    read
}

fn text(server: &Server, uri: &str) -> String {
    let text = &read(server, uri)["contents"][0]["text"];
    text.as_str().unwrap().to_owned()
}

fn stats(server: &Server) -> Value {
    serde_json::from_str(&text(server, STATS)).unwrap()
}

fn uris(server: &Server) -> Vec<String> {
    let mut client = ModernClient::new(server, "/mcp");
    let entries = list(&mut client, "resources/list", "resources", Pages::Large);
    all(&entries, "uri")
}

/// S3.6: disabled by default; then it is neither listed nor readable.
#[test]
fn disabled_by_default() {
    let entry = "sources: { index: { kind: capability-index } }\n";
    for config in ["{}", entry] {
        let server = Server::with_config(config);
        assert!(!uris(&server).iter().any(|uri| uri.contains("capability")));
        let answer = server.modern("resources/read", json!({ "uri": SUMMARY }));
        assert_eq!(answer.error()["code"], -32602, "{answer:?}");
        let alone = server.post().at("/mcp/index");
        let alone = Modern::new("resources/list", json!({})).post(alone);
        assert_eq!(alone.status, 404, "{alone:?}");
        server.stop();
    }
}

/// S3.7, X20: a flag overrides a variable, which overrides the file; older variable names are
/// accepted too.
#[test]
fn enabled_by_flag_variable_or_file() {
    let entry = "sources: { index: { kind: capability-index, enabled: true, cache_ttl: 1m } }\n";
    type Case<'a> = (
        &'a str,
        &'a [&'a str],
        &'a [(&'a str, &'a str)],
        Option<u64>,
    );
    let cases: [Case; 9] = [
        (NO_FILE, &["--resources-enabled"], &[], Some(300)),
        (
            NO_FILE,
            &[],
            &[("TIDEGATE_RESOURCES_ENABLED", "TRUE")],
            Some(300),
        ),
        (
            NO_FILE,
            &["--resources-cache-ttl", "7s"],
            &[("NEXS_RESOURCES_ENABLED", "On")],
            Some(7),
        ),
        ("{}", &["--resources-enabled"], &[], Some(300)),
        (
            "{}",
            &["--resources-enabled", "--resources-cache-ttl", "7s"],
            &[("TIDEGATE_RESOURCES_CACHE_TTL", "8s")],
            Some(7),
        ),
        (
            "{}",
            &[],
            &[("TIDEGATE_RESOURCES_ENABLED", "true")],
            Some(300),
        ),
        (
            "{}",
            &[],
            &[
                ("NEXS_RESOURCES_ENABLED", "true"),
                ("NEXS_RESOURCES_CACHE_TTL", "9s"),
            ],
            Some(9),
        ),
        (entry, &[], &[], Some(60)),
        (
            entry,
            &["--resources-enabled=false"],
            &[("TIDEGATE_RESOURCES_ENABLED", "true")],
            None,
        ),
    ];
    for (config, flags, variables, ttl) in cases {
        let home = match config {
            NO_FILE => Home::new(),
            text => Home::with_config(text),
        };
        let all = [&["serve", "--listen", "127.0.0.1:0"], flags].concat();
        let mut command = home.tidegate(&all);
        command.envs(variables.iter().copied());
        let server = Server::of(home, Running::start(&mut { command }));
        let listed = uris(&server).iter().any(|uri| uri == SUMMARY);
        assert_eq!(listed, ttl.is_some(), "{config} {flags:?} {variables:?}");
        if let Some(ttl) = ttl {
            assert_eq!(stats(&server)["cache"]["ttlSeconds"], ttl);
        }
        server.stop();
    }
}

/// S3.1–S3.5: three resources, each within its token limit, however much there is.
#[test]
fn texts_stay_within_their_token_limits() {
    for count in [0, 40, 1_500] {
        let server = with_files(count, "enabled: true");
        let of_index: Vec<_> = uris(&server)
            .into_iter()
            .filter(|uri| uri.starts_with("capability-index"))
            .collect();
        assert_eq!(of_index, [SUMMARY, FULL, STATS]);
        let summary = text(&server, SUMMARY);
        assert!(tokens::count(&summary) <= 3_000, "{summary}");
        for part in ["## Sources", "| docs |", "## Keywords", "## Recent changes"] {
            assert!(summary.contains(part), "{part}: {summary}");
        }
        let stats = text(&server, STATS);
        assert!(tokens::count(&stats) < 1_000, "{stats}");
        let stats: Value = serde_json::from_str(&stats).unwrap();
        // The folder itself counts too.
        assert_eq!(stats["sources"]["docs"]["resources"], count + 1);
        assert!(stats["toolTokens"].as_u64().unwrap() > 0);
        let all = full(&server);
        for number in 0..count {
            assert!(all.contains(&format!("/report-{number}.md`")), "{number}");
        }
        server.stop();
    }
}

/// A change has the time at which it was detected, however late it is read; and percent-encoding
/// does not create words.
#[test]
fn changes_have_the_time_of_their_detection() {
    let server = with_files(2, "enabled: true, cache_ttl: 0s");
    let session = Session::open(server.address, "/mcp", "2025-11-25");
    let change_in = |summary: &Value| {
        let summary = summary["contents"][0]["text"].as_str().unwrap();
        let line = summary.lines().find(|line| line.contains("rota.md` added"));
        line.map(str::to_owned)
    };
    // Each kind of client is compared with what it has read before.
    let read_early = || change_in(&read(&server, SUMMARY));
    let read_late = || {
        let answer = session.request("resources/read", &json!({ "uri": SUMMARY }));
        change_in(&answer.result())
    };
    assert_eq!((read_early(), read_late()), (None, None));
    let listen = Modern::new("subscriptions/listen", watching(&[SUMMARY]));
    let mut events = Events::of(listen.open(server.post()));
    events.find("notifications/subscriptions/acknowledged");
    server.home.write("docs/on call rota.md", "# Rota\n");
    let is_new_file = |uri: &String| uri.ends_with("on%20call%20rota.md");
    // The first notification may be about the initial state.
    loop {
        events.find("notifications/resources/updated");
        if uris(&server).iter().any(is_new_file) {
            break;
        }
    }
    let change = read_early().expect("the change is in the summary");
    poll_for("a later second", || {
        let now = stats(&server)["generatedAt"].as_str().unwrap().to_owned();
        (!change.contains(&now)).then_some(())
    });
    assert_eq!(read_late(), Some(change));
    let all = full(&server);
    let words = all.lines().find(|line| line.starts_with("Vocabulary: "));
    let words: Vec<_> = words.unwrap().split([' ', ',']).collect();
    assert!(
        words.contains(&"rota") && !words.contains(&"20rota"),
        "{all}"
    );
    server.stop();
}

/// All pages of the full index, following their links.
fn full(server: &Server) -> String {
    let (mut all, mut uri) = (String::new(), FULL.to_owned());
    for _ in 0..100 {
        let page = text(server, &uri);
        assert!(tokens::count(&page) <= 40_000);
        let next = page.rsplit_once("Next: `").map(|(_, next)| next);
        let next = next.map(|next| next.trim_end().trim_end_matches('`').to_owned());
        all += &page;
        match next {
            None => return all,
            Some(next) => uri = next,
        }
    }
    panic!("more than 100 pages");
}

/// S3.9, S3.10, S3.21, X21: a text is cached until something changes, at most for its lifetime,
/// which the result states.
#[test]
fn texts_are_cached_until_something_changes() {
    let server = with_files(3, "enabled: true, cache_ttl: 1h");
    let first = read(&server, SUMMARY);
    let again = read(&server, SUMMARY);
    assert_eq!(first["contents"], again["contents"]);
    let (before, after) = (
        first["ttlMs"].as_u64().unwrap(),
        again["ttlMs"].as_u64().unwrap(),
    );
    assert!(after <= before && before <= 3_600_000, "{before} {after}");
    let cache = &stats(&server)["cache"];
    assert_eq!((&cache["hits"], &cache["misses"]), (&json!(1), &json!(2)));
    server.stop();
    let uncached = with_files(3, "enabled: true, cache_ttl: 0s");
    read(&uncached, SUMMARY);
    read(&uncached, SUMMARY);
    assert_eq!(stats(&uncached)["cache"]["misses"], 3);
    uncached.stop();
}

/// S3.17: subscribers are notified of changes of the index, which they can then read.
#[test]
fn subscribers_are_notified_of_changes() {
    let server = with_files(1, "enabled: true");
    assert!(text(&server, SUMMARY).contains("None since"));
    let listen = watching(&[SUMMARY, STATS]);
    let listen = Modern::new("subscriptions/listen", listen);
    let mut events = Events::of(listen.open(server.post()));
    events.find("notifications/subscriptions/acknowledged");
    let wait_for_change = |events: &mut Events, what: &str| {
        let words = format!("/tidal-wave.md` {what}");
        // The first notification may be about the initial state.
        while !text(&server, SUMMARY).contains(&words) {
            let updated = events.find("notifications/resources/updated");
            let uri = updated["params"]["uri"].as_str().unwrap();
            assert!([SUMMARY, STATS].contains(&uri), "{updated}");
        }
    };
    server.home.write("docs/tidal-wave.md", "# New\n");
    wait_for_change(&mut events, "added");
    fs::remove_file(server.home.path().join("docs/tidal-wave.md")).unwrap();
    wait_for_change(&mut events, "removed");
    server.stop();
}

/// S3.17: every resource of the index is notified once per change, although a server's lists are
/// loaded once per client class.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn each_change_is_notified_once_per_resource() {
    let fixture = Fixture::new().start().await;
    let url = fixture.url();
    let config = format!(
        "sources:\n  other: {{ url: '{url}' }}\n  index: {{ kind: capability-index, enabled: true }}\n"
    );
    let server = Server::with_config(&config);
    let session = Session::open(server.address, "/mcp", "2025-06-18");
    session.request("tools/list", &json!({})).result();
    server.modern("tools/list", json!({})).result();
    let uris = [
        SUMMARY,
        FULL,
        STATS,
        "capability-index://full?page=1",
        "capability-index://elements/tools",
        "capability-index://elements/tools?source=other&query=new",
        "capability-index://elements/tools/other__new-1",
    ];
    let listen = Modern::new("subscriptions/listen", watching(&uris));
    let mut events = Events::of(listen.open(server.post()));
    events.find("notifications/subscriptions/acknowledged");
    let mut notifications = HashMap::<String, usize>::new();
    let changes = 4;
    for number in 1..=changes {
        let name = format!("new-{number}");
        fixture.add_tool(&name);
        // All of them, at least once after the tool was added.
        let mut missing: BTreeSet<_> = uris.into();
        while !missing.is_empty() {
            let updated = events.find("notifications/resources/updated");
            let uri = updated["params"]["uri"].as_str().unwrap();
            *notifications.entry(uri.to_owned()).or_default() += 1;
            if text(&server, "capability-index://elements/tools").contains(&name) {
                missing.remove(uri);
            }
        }
    }
    server.process.signal(rustix::process::Signal::TERM);
    while let Some(message) = events.next() {
        if message["method"] == "notifications/resources/updated" {
            let uri = message["params"]["uri"].as_str().unwrap();
            *notifications.entry(uri.to_owned()).or_default() += 1;
        }
    }
    for uri in uris {
        // One more may be about the initial state, or from a client class that is refreshed later.
        let count = notifications[uri];
        assert!(
            (changes..2 * changes).contains(&count),
            "{uri}: {notifications:?}"
        );
    }
    server.process.end().expect_code(0);
    fixture.stop().await;
}

/// S3.18: elements by kind, filtered, and by name, with completion that uses the arguments already
/// given, in every revision.
#[test]
fn elements_are_read_by_kind_and_name() {
    let server = with_files(3, "enabled: true");
    let of = |uri: &str| serde_json::from_str::<Value>(&text(&server, uri)).unwrap();
    let tools = of("capability-index://elements/tools");
    assert!(tools.to_string().contains("system__health"));
    let files = of("capability-index://elements/resources?source=docs&query=report%202");
    assert_eq!(files["elements"].as_array().unwrap().len(), 3, "{files}");
    assert!(
        files["elements"][0]["name"]
            .as_str()
            .unwrap()
            .ends_with("report-2.md")
    );
    let element = of("capability-index://elements/tools/system__health");
    assert_eq!(element["definition"]["name"], "system__health");
    assert!(element["tokens"].as_u64().unwrap() > 50);
    // An element contains its URI, and so do similar ones.
    let uri = files["elements"][0]["uri"].as_str().unwrap();
    let file = of(uri);
    assert_eq!(file["similar"].as_array().unwrap().len(), 3, "{file}");
    for wrong in [
        "elements/nothing",
        "elements/tools/nobody",
        "elements/tools?page=0",
        "elements/tools?page=2",
        "elements/tools?query=x&page=18446744073709551615",
        "full?page=2",
        "else",
    ] {
        let uri = format!("capability-index://{wrong}");
        let answer = server.modern("resources/read", json!({ "uri": uri }));
        assert_eq!(answer.error()["data"]["uri"], uri, "{answer:?}");
    }
    let none = of("capability-index://elements/tools?query=zyzzyva&page=1");
    assert_eq!(none["elements"], json!([]));
    let complete = |kind: &str, typed: &str| {
        json!({
            "ref": { "type": "ref/resource", "uri": "capability-index://elements/{type}/{name}" },
            "argument": { "name": "name", "value": typed },
            "context": { "arguments": { "type": kind } },
        })
    };
    for revision in LEGACY {
        let session = Session::open(server.address, "/mcp", revision);
        let values = |kind: &str, typed: &str| {
            let answer = session.request("completion/complete", &complete(kind, typed));
            answer.result()["completion"]["values"].clone()
        };
        assert_eq!(
            values("tools", "sys"),
            json!(["system__health"]),
            "{revision}"
        );
        assert_eq!(values("prompts", ""), json!([]), "{revision}");
        assert_eq!(
            values("resources", "resource://system/h")
                .as_array()
                .unwrap()
                .len(),
            1
        );
    }
    server.stop();
}

/// S3.18: pages are completed with the existing ones.
#[test]
fn element_pages_are_completed() {
    let server = with_files(250, "enabled: true");
    let pages = |chosen: Value| {
        let uri = "capability-index://elements/{type}{?source,query,page}";
        let params = json!({
            "ref": { "type": "ref/resource", "uri": uri },
            "argument": { "name": "page", "value": "" },
            "context": { "arguments": chosen },
        });
        let answer = server.modern("completion/complete", params).result();
        answer["completion"]["values"].clone()
    };
    assert_eq!(pages(json!({ "type": "resources" })), json!(["1", "2"]));
    let of_system = json!({ "type": "resources", "source": "system" });
    assert_eq!(pages(of_system), json!(["1"]));
    let last = read(&server, "capability-index://elements/resources?page=2");
    let last = last["contents"][0]["text"].as_str().unwrap();
    assert!(last.contains("report-"), "{last}");
    server.stop();
}

/// The command line of MCP Inspector and the Rust SDK read the index and use the gateway tools.
#[test]
fn inspector_reads_the_index() {
    let server = with_files(2, "enabled: true");
    for era in ["legacy", "modern"] {
        for uri in [SUMMARY, FULL, STATS, "capability-index://elements/tools"] {
            let read = inspect(&server, era, "resources/read", &["--uri", uri]);
            assert_eq!(read["contents"][0]["uri"], uri, "{era}: {read}");
        }
        let search = [
            "--tool-name",
            "gateway__search",
            "--tool-arg",
            "query=report",
        ];
        let found = inspect(&server, era, "tools/call", &search);
        assert!(found.to_string().contains("report-1.md"), "{era}: {found}");
    }
    server.stop();
}

#[tokio::test]
async fn rust_sdk_reads_the_index() {
    let server = with_files(2, "enabled: true");
    let everything = async {
        let transport = StreamableHttpClientTransport::from_uri(server.url());
        let mode = ClientLifecycleMode::Initialize;
        let mut client = ().serve_with_lifecycle(transport, mode).await.unwrap();
        for uri in [SUMMARY, FULL, STATS] {
            let read = ReadResourceRequestParams::new(uri);
            client.read_resource(read).await.unwrap();
        }
        let arguments = json!({ "uri": SUMMARY }).as_object().cloned().unwrap();
        let call = CallToolRequestParams::new("gateway__read_resource").with_arguments(arguments);
        let read = client.call_tool(call).await.unwrap();
        let read = serde_json::to_string(&read).unwrap();
        assert!(read.contains("# Capability index"), "{read}");
        client.close().await.unwrap();
    };
    timeout(PATIENCE, everything)
        .await
        .expect("the SDK client timed out");
    server.stop();
}

/// Invalid settings are reported with their location.
#[test]
fn invalid_settings_are_reported() {
    let home = Home::new();
    for (config, words) in [
        (
            "sources: { index: { kind: capability-index, expose: [sumary] } }",
            "unknown part `sumary`; use one of summary, full, stats, elements",
        ),
        (
            "sources: { a: { kind: capability-index }, b: { kind: capability-index } }",
            "there is already a capability index",
        ),
        (
            "endpoint: { exposure: search, gateway_tools: false }",
            "clients could not find tools that are not listed",
        ),
        (
            "endpoint: { pinned: [a] }",
            "`endpoint.pinned`: has no effect while all tools are listed",
        ),
    ] {
        home.write("tidegate.yaml", config);
        let checked = home.run(&["check"]).expect_code(2);
        assert!(checked.stderr.contains(words), "{}", checked.stderr);
    }
    // With a file or without.
    home.write("tidegate.yaml", "{}");
    for home in [home, Home::new()] {
        for (flag, words) in [
            ("--resources-cache-ttl=soon", "`soon` is not a duration"),
            (
                "--resources-enabled=maybe",
                "`maybe` is neither true (true, 1, yes, on) nor false (false, 0, no, off)",
            ),
        ] {
            let checked = home.run(&["check", flag]).expect_code(2);
            assert!(checked.stderr.contains(words), "{}", checked.stderr);
        }
    }
}
