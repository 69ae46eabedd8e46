//! `tidegate stdio`: what comes in is answered line by line, whatever it is.

use std::fs;

use serde_json::{Value, json};

use crate::support::home::program;
use crate::support::messages::{HEALTH, LEGACY, STATS, watching};
use crate::support::{Home, Running, Stdio};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// Checks a refusal: a number for programs, words for people, and an id to find it in the log.
#[track_caller]
fn refused(stdio: &Stdio, code: i64, words: &str) -> Value {
    let said = stdio.hear();
    assert_eq!(said["error"]["code"], code, "{said}");
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
    let correlation = said["error"]["data"]["correlationId"].as_str().unwrap();
    stdio.process.stderr.find(correlation);
    said
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
fn an_empty_input_ends_well() {
    let ended = Stdio::start().end();
    assert_eq!(ended.stdout, "");
}

#[test]
fn the_last_line_needs_no_end() {
    let mut stdio = Stdio::start();
    stdio.write(PING.as_bytes());
    assert_eq!(stdio.end().stdout, format!("{PONG}\n"));
}

#[test]
fn half_a_line_at_the_end_is_refused() {
    let mut stdio = Stdio::start();
    stdio.write(&PING.as_bytes()[..20]);
    stdio.process.close_stdin();
    refused(&stdio, -32700, "not JSON");
    stdio.end();
}

#[test]
fn half_a_message_is_refused_and_the_next_is_answered() {
    let mut stdio = Stdio::start();
    stdio.write(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"meth\n");
    refused(&stdio, -32700, "not JSON");
    stdio.ping();
    stdio.end();
}

/// 100 MB of one line are never held: the line is dropped while it comes.
#[test]
fn a_line_of_100_megabytes_is_refused_and_not_held() {
    let mut stdio = Stdio::start();
    let megabyte = vec![b'a'; 1 << 20];
    stdio.write(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#);
    for _ in 0..100 {
        stdio.write(&megabyte);
    }
    stdio.write(b"\"}}\n");
    refused(&stdio, -32600, "limit of 4194304 bytes");
    stdio.ping();
    let most = most_memory(stdio.process.id());
    assert!(most < 64 << 20, "it held {most} bytes at most");
    stdio.end();
}

/// The most memory that a process has held so far.
fn most_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() * 1024
}

#[test]
fn a_deep_array_is_refused() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let mut stdio = Stdio::start();
    stdio.write(format!("{deep}\n").as_bytes());
    refused(&stdio, -32600, "nests deeper than 64");
    let inside = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":{deep}}}}}"#);
    stdio.write(format!("{inside}\n").as_bytes());
    let said = refused(&stdio, -32600, "nests deeper than 64");
    assert_eq!(said["id"], 7, "its client waits for an answer to 7");
    // Not even closed.
    stdio.write(format!("{}\n", "[".repeat(10_000)).as_bytes());
    refused(&stdio, -32600, "nests deeper than 64");
    stdio.ping();
    stdio.end();
}

/// Two readers of such a message could see two different ones.
#[test]
fn duplicate_keys_are_refused() {
    let mut stdio = Stdio::start();
    stdio.write(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"method\":\"tools/list\"}\n");
    refused(&stdio, -32600, "`method`");
    stdio.write(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"id\":8,\"method\":\"ping\"}\n");
    refused(&stdio, -32600, "`id`");
    let read = format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{{"uri":"a:b","uri":"{STATS}"}}}}"#
    );
    stdio.write(format!("{read}\n").as_bytes());
    let said = refused(&stdio, -32602, "`uri`");
    assert_eq!(said["id"], 8);
    stdio.end();
}

#[test]
fn what_is_no_message_is_refused() {
    let mut stdio = Stdio::start();
    for (line, code, words) in [
        (&b"7"[..], -32600, "object"),
        (b"\"ping\"", -32600, "object"),
        (b"{}", -32600, "jsonrpc"),
        (b"\xff\xfe", -32700, "UTF-8"),
        (b"ping", -32700, "not JSON"),
        (b"[]", -32600, "empty"),
        (
            b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            -32600,
            "2.0",
        ),
    ] {
        stdio.write(&[line, b"\n"].concat());
        refused(&stdio, code, words);
    }
    stdio.ping();
    stdio.end();
}

#[test]
fn empty_lines_are_passed_over() {
    let mut stdio = Stdio::start();
    stdio.write(b"\n\r\n  \n");
    stdio.write(format!("{PING}\r\n").as_bytes());
    assert_eq!(stdio.end().stdout, format!("{PONG}\n"));
}

/// At its most talkative, the log stays on stderr.
#[test]
fn the_output_has_messages_alone() {
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

/// One client may change its mind: requests of both eras on one pipe, each answered in its own.
#[test]
fn both_eras_alternate() {
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

/// A client that leaves in good order leaves nothing to warn of, whatever it listened to. Several
/// times, because what ends at the same moment may end in any order.
#[test]
fn a_clean_end_warns_of_nothing() {
    for _ in 0..10 {
        let mut stdio = Stdio::start();
        stdio.initialize(LEGACY[3]);
        let done = stdio.request("resources/subscribe", &json!({ "uri": HEALTH }));
        assert_eq!(done["result"], json!({}), "{done}");
        stdio.listen(watching(&[HEALTH]));
        stdio.end();
    }
}

/// Calls under way when the input ends are answered before the program ends.
#[test]
fn many_calls_at_once_are_all_answered() {
    let mut stdio = Stdio::start();
    let read = json!({ "uri": STATS });
    for id in 0..200 {
        stdio.say(&json!({
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
