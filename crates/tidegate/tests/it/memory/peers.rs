//! Foreign clients use the source: the command line of MCP Inspector and the TypeScript SDK.

use serde_json::{Value, json};

use super::{STATS, User};
use crate::support::inspector::inspect;
use crate::support::tools::Tools;
use crate::support::{Running, Server};

#[test]
fn inspector_uses_memory_in_both_eras() {
    let server = Server::start_shipped();
    for era in ["legacy", "modern"] {
        let stored = [
            "--tool-name",
            "memory__store",
            "--tool-arg",
            "key=tea",
            "value=green",
        ];
        let done = inspect(&server, era, "tools/call", &stored);
        assert_eq!(done["structuredContent"]["key"], "tea", "{done}");
        let read = inspect(&server, era, "resources/read", &["--uri", STATS]);
        assert!(
            read["contents"][0]["text"]
                .as_str()
                .unwrap()
                .contains("total_entries"),
            "{read}"
        );
        let entry = ["--uri", "plugin://memory/entries/tea"];
        let read = inspect(&server, era, "resources/read", &entry);
        assert_eq!(read["contents"][0]["text"], "green", "{read}");
        let prompt = [
            "--prompt-name",
            "memory/memory_search",
            "--prompt-args",
            "query=tea",
        ];
        let got = inspect(&server, era, "prompts/get", &prompt);
        assert_eq!(
            got["messages"][1]["content"]["resource"]["text"], "green",
            "{got}"
        );
    }
    let tools = inspect(&server, "modern", "tools/list", &["--strict"]);
    assert!(tools.to_string().contains("memory__clear"));
    server.stop();
}

/// Validates results against their schemas and answers the elicitation.
#[test]
fn typescript_sdk_uses_memory_in_both_eras() {
    let server = Server::start_shipped();
    for era in ["legacy", "modern"] {
        User::of(&server).store("left", json!("over"));
        let mut command = Tools::find().node_peer(&server.home, "memory.mjs");
        command.args(["--url", &server.url(), "--era", era]);
        let ended = Running::start(&mut command).end().expect_code(0);
        let found: Value = serde_json::from_str(&ended.stdout).unwrap();
        let expected = json!({
            "stored": "plugin://memory/entries/tea",
            "retrieved": { "kind": "green", "cups": 2 },
            "listed": ["left", "tea"],
            "found": ["tea"],
            "read": "application/json",
            "completed": ["tea"],
            "context": 3,
            "asked": "Permanently delete all 2 entries in your memory?",
            "cleared": 2,
            "updated": "plugin://memory/entries/tea",
        });
        assert_eq!(found, expected, "{}", ended.stderr);
    }
    server.stop();
}
