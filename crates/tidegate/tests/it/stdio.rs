//! `tidegate stdio`: every line is answered, valid or not.

use serde_json::{Value, json};

use crate::support::home::program;
use crate::support::messages::{HEALTH, LEGACY, STATS, watching};
use crate::support::proc::peak_memory;
use crate::support::{Home, Running, Stdio};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// Checks an error: a code, a message and a correlation id that is in the log.
#[track_caller]
fn assert_rejected(stdio: &Stdio, code: i64, text: &str) -> Value {
    let error = stdio.receive();
    assert_eq!(error["error"]["code"], code, "{error}");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains(text), "{message}");
    let correlation = error["error"]["data"]["correlationId"].as_str().unwrap();
    stdio.process.stderr.find(correlation);
    error
}

#[test]
fn one_line_from_a_shell_is_answered() {
    let home = Home::new();
    let mut shell = home.command("sh");
    shell.args([
        "-c",
        &format!(r#"printf '%s\n' '{PING}' | "$0" stdio"#),
        program(),
    ]);
    let ended = Running::start(&mut shell).end().expect_code(0);
    assert_eq!(ended.stdout, format!("{PONG}\n"));
}

#[test]
fn empty_input_ends_cleanly() {
    let ended = Stdio::start().end();
    assert_eq!(ended.stdout, "");
}

#[test]
fn last_line_needs_no_terminator() {
    let mut stdio = Stdio::start();
    stdio.write(PING.as_bytes());
    assert_eq!(stdio.end().stdout, format!("{PONG}\n"));
}

#[test]
fn incomplete_last_line_is_rejected() {
    let mut stdio = Stdio::start();
    stdio.write(&PING.as_bytes()[..20]);
    stdio.process.close_stdin();
    assert_rejected(&stdio, -32700, "invalid JSON");
    stdio.end();
}

#[test]
fn incomplete_message_is_rejected_and_the_next_is_answered() {
    let mut stdio = Stdio::start();
    stdio.write(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"meth\n");
    assert_rejected(&stdio, -32700, "invalid JSON");
    stdio.ping();
    stdio.end();
}

/// A line of 100 MB is never buffered: it is discarded while it is read.
#[test]
fn line_of_100_megabytes_is_rejected_without_buffering() {
    let mut stdio = Stdio::start();
    let megabyte = vec![b'a'; 1 << 20];
    stdio.write(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#);
    for _ in 0..100 {
        stdio.write(&megabyte);
    }
    stdio.write(b"\"}}\n");
    assert_rejected(&stdio, -32600, "limit of 4194304 bytes");
    stdio.ping();
    let peak = peak_memory(stdio.process.id());
    assert!(peak < 64 << 20, "peak memory was {peak} bytes");
    stdio.end();
}

#[test]
fn deep_nesting_is_rejected() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let mut stdio = Stdio::start();
    stdio.write(format!("{deep}\n").as_bytes());
    assert_rejected(&stdio, -32600, "nests deeper than 64");
    let inside = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":{deep}}}}}"#);
    stdio.write(format!("{inside}\n").as_bytes());
    let error = assert_rejected(&stdio, -32600, "nests deeper than 64");
    assert_eq!(error["id"], 7, "the client waits for a response to 7");
    // Not even closed.
    stdio.write(format!("{}\n", "[".repeat(10_000)).as_bytes());
    assert_rejected(&stdio, -32600, "nests deeper than 64");
    stdio.ping();
    stdio.end();
}

/// Two parsers could read such a message differently.
#[test]
fn duplicate_keys_are_rejected() {
    let mut stdio = Stdio::start();
    stdio.write(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"method\":\"tools/list\"}\n");
    assert_rejected(&stdio, -32600, "`method`");
    stdio.write(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"id\":8,\"method\":\"ping\"}\n");
    assert_rejected(&stdio, -32600, "`id`");
    let read = format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{{"uri":"a:b","uri":"{STATS}"}}}}"#
    );
    stdio.write(format!("{read}\n").as_bytes());
    let error = assert_rejected(&stdio, -32602, "`uri`");
    assert_eq!(error["id"], 8);
    stdio.end();
}

#[test]
fn invalid_messages_are_rejected() {
    let mut stdio = Stdio::start();
    for (line, code, text) in [
        (&b"7"[..], -32600, "object"),
        (b"\"ping\"", -32600, "object"),
        (b"{}", -32600, "jsonrpc"),
        (b"\xff\xfe", -32700, "UTF-8"),
        (b"ping", -32700, "invalid JSON"),
        (b"[]", -32600, "empty"),
        (
            b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            -32600,
            "2.0",
        ),
    ] {
        stdio.write(&[line, b"\n"].concat());
        assert_rejected(&stdio, code, text);
    }
    stdio.ping();
    stdio.end();
}

#[test]
fn empty_lines_are_ignored() {
    let mut stdio = Stdio::start();
    stdio.write(b"\n\r\n  \n");
    stdio.write(format!("{PING}\r\n").as_bytes());
    assert_eq!(stdio.end().stdout, format!("{PONG}\n"));
}

/// Even with trace logging, the log stays on stderr.
#[test]
fn output_contains_only_messages() {
    let home = Home::with_config("log: { level: trace }\n");
    let mut stdio = Stdio::start_in(home);
    stdio.initialize(LEGACY[3]);
    let found = stdio.request("tools/list", &json!({}));
    assert!(found["result"]["tools"].is_array(), "{found}");
    let missing = stdio.request("resources/read", &json!({ "uri": "no:such" }));
    assert_eq!(missing["error"]["code"], -32002, "{missing}");
    let ended = stdio.end();
    assert!(ended.stderr.contains("DEBUG"), "{}", ended.stderr);
    for line in ended.stdout.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
    }
}

/// Requests of both eras on one connection, each answered in its own era.
#[test]
fn both_eras_alternate_on_one_connection() {
    let mut stdio = Stdio::start();
    let modern = stdio.modern("tools/list", json!({}));
    assert_eq!(modern["result"]["resultType"], "complete", "{modern}");
    stdio.initialize(LEGACY[2]);
    for _ in 0..2 {
        let legacy = stdio.request("tools/list", &json!({}));
        assert!(legacy["result"].get("resultType").is_none(), "{legacy}");
        let modern = stdio.modern("tools/list", json!({}));
        assert_eq!(modern["result"]["resultType"], "complete", "{modern}");
        assert_eq!(modern["result"]["tools"][0]["name"], "system__health");
    }
    stdio.end();
}

/// A client that ends cleanly causes no warnings, whatever it subscribed to. Repeated, because
/// concurrent shutdown steps can end in any order.
#[test]
fn clean_end_causes_no_warnings() {
    for _ in 0..10 {
        let mut stdio = Stdio::start();
        stdio.initialize(LEGACY[3]);
        let done = stdio.request("resources/subscribe", &json!({ "uri": HEALTH }));
        assert_eq!(done["result"], json!({}), "{done}");
        stdio.listen(watching(&[HEALTH]));
        stdio.end();
    }
}

/// In-flight calls are answered after the input ends.
#[test]
fn in_flight_calls_are_answered_after_the_input_ends() {
    let mut stdio = Stdio::start();
    let read = json!({ "uri": STATS });
    for id in 0..200 {
        stdio.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": read,
        }));
    }
    let ended = stdio.end();
    let mut ids: Vec<u64> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| message["result"]["contents"].is_array())
        .filter_map(|message| message["id"].as_u64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, Vec::from_iter(0..200));
}
