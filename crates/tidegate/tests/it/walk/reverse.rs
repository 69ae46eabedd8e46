//! What is not listed for a principal cannot be read by it, in any spelling.

use serde_json::{Value, json};

use super::all_sources;
use crate::support::messages::{LEGACY, Modern};
use crate::support::{Answer, Server, Session};

const ADA: &str = "key-of-ada-0123456789";
const BOB: &str = "key-of-bob-0123456789";

const CONFIG: &str = "auth:
  keys: { ada: '${env:ADA_KEY}', bob: '${env:BOB_KEY}' }
  admins: [ada]
";

/// Spellings of a URI: native, qualified, encoded, in upper case and others.
fn spellings(source: &str, uri: &str) -> Vec<String> {
    let encoded = uri.replacen("://", "%3A%2F%2F", 1);
    let (scheme, rest) = uri.split_once("://").unwrap();
    let one_letter = format!("{scheme}://{}", rest.replacen('e', "%65", 1));
    vec![
        uri.to_owned(),
        format!("gateway://{source}/{uri}"),
        format!("gateway://{source}/{encoded}"),
        format!("gateway://gateway/{uri}"),
        format!("gateway://{source}/gateway://{source}/{uri}"),
        format!("{}://{rest}", scheme.to_uppercase()),
        format!("{uri}/"),
        format!("{uri}?"),
        format!("{uri}#x"),
        format!("{uri}%00"),
        one_letter,
        encoded,
        format!(" {uri}"),
    ]
}

/// What is not listed for Bob: the memories of others, resources for admins, files outside of the
/// folders, unexposed index pages.
fn hidden(server: &Server) -> Vec<(&'static str, String)> {
    let home = server.home.path().display();
    let outside = [
        format!("file://{home}/secret.txt"),
        format!("file://{home}/docs/../secret.txt"),
        format!("file://{home}/docs/%2e%2e/secret.txt"),
        format!("file://{home}/docs/deep/../../secret.txt"),
        format!("file://{home}/tidegate.yaml"),
        format!("file://localhost{home}/secret.txt"),
    ];
    let of_words = [
        "skill://words/tides/../../secret.txt",
        "skill://words/tides/%2e%2e/%2e%2e/secret.txt",
    ];
    let of_memory = [
        "plugin://memory/memory_dump",
        "plugin://memory/entries/adas",
        "plugin://memory/namespaces/default/entries/adas",
    ];
    let of_index = ["capability-index://full", "capability-index://full?page=1"];
    let mut all: Vec<_> = outside.map(|uri| ("docs", uri)).into();
    let named = |source: &'static str| move |uri: &&str| (source, (*uri).to_owned());
    all.extend(of_words.iter().map(named("words")));
    all.extend(of_memory.iter().map(named("memory")));
    all.extend(of_index.iter().map(named("index")));
    all
}

fn start() -> Server {
    let home = all_sources::home(CONFIG);
    let config = home.path().join("tidegate.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let exposed = "enabled: true, expose: [summary, stats]";
    std::fs::write(&config, text.replace("enabled: true", exposed)).unwrap();
    let mut command = home.tidegate(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("ADA_KEY", ADA).env("BOB_KEY", BOB);
    let process = crate::support::Running::start(&mut command);
    Server::of(home, process)
}

fn send(server: &Server, key: &str, path: &str, method: &str, params: Value) -> Answer {
    let post = server.post().at(path);
    let post = post.header("Authorization", &format!("Bearer {key}"));
    Modern::new(method, params).post(post)
}

#[track_caller]
fn assert_rejected(answer: &Value, uri: &str) {
    assert!(answer["result"].is_null(), "{uri}: {answer}");
    let text = answer.to_string();
    for secret in ["SECRET", "adas value", "admins:"] {
        assert!(!text.contains(secret), "{uri}: {answer}");
    }
}

#[test]
fn unlisted_resources_cannot_be_read() {
    let server = start();
    let value = json!({ "key": "adas", "value": "adas value" });
    let store = json!({ "name": "memory__store", "arguments": value });
    send(&server, ADA, "/mcp", "tools/call", store).result();
    let dump = json!({ "uri": "plugin://memory/memory_dump" });
    let dump = send(&server, ADA, "/mcp", "resources/read", dump).result();
    assert!(dump.to_string().contains("adas value"), "{dump}");
    let sessions: Vec<_> = LEGACY
        .map(|revision| Session::open_as(server.address, "/mcp", revision, Some(BOB)))
        .into();
    for (source, uri) in hidden(&server) {
        for spelled in spellings(source, &uri) {
            for path in ["/mcp", &format!("/mcp/{source}")] {
                let read = json!({ "uri": spelled });
                assert_rejected(
                    &send(&server, BOB, path, "resources/read", read).json(),
                    &spelled,
                );
            }
            let read = json!({ "name": "gateway__read_resource", "arguments": { "uri": spelled } });
            let read = send(&server, BOB, "/mcp", "tools/call", read).result();
            assert_eq!(read["isError"], true, "{spelled}: {read}");
        }
        for session in &sessions {
            let answer = session.request("resources/read", &json!({ "uri": uri }));
            assert_rejected(&answer.json(), &uri);
        }
    }
    assert_no_leak(&server);
    server.stop();
}

/// Nor through a list, a search, a completion or statistics.
fn assert_no_leak(server: &Server) {
    let call = |name: &str, arguments: Value| {
        let call = json!({ "name": name, "arguments": arguments });
        send(server, BOB, "/mcp", "tools/call", call)
            .result()
            .to_string()
    };
    let found = call("memory__search", json!({ "query": "adas value" }));
    assert!(!found.contains("adas value"), "{found}");
    assert!(!call("memory__list", json!({})).contains("adas"));
    let found_by_search = call(
        "gateway__search",
        json!({ "query": "memory dump of everyone" }),
    );
    assert!(
        !found_by_search.contains("memory_dump"),
        "{found_by_search}"
    );
    let resources = call("gateway__list_resources", json!({}));
    assert!(!resources.contains("memory_dump"), "{resources}");
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "plugin://memory/entries/{key}" },
        "argument": { "name": "key", "value": "" },
    });
    let offered = send(server, BOB, "/mcp", "completion/complete", complete).result();
    assert_eq!(offered["completion"]["values"], json!([]), "{offered}");
    let stats = json!({ "uri": "plugin://memory/memory_stats" });
    let stats = send(server, BOB, "/mcp", "resources/read", stats).result();
    let stats = stats["contents"][0]["text"].as_str().unwrap().to_owned();
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["total_entries"], 0, "{stats}");
}
