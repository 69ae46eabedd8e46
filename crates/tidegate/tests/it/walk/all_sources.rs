//! A gateway with every built-in source and some content in each.

use std::fs;

use serde_json::{Value, json};

use super::client::Client;
use crate::support::Home;
use crate::support::messages::HEALTH;

const SOURCES: &str = "sources:
  memory: { kind: memory }
  docs: { kind: files, folder: ./docs }
  words: { kind: prompts, folder: ./words }
  index: { kind: capability-index, enabled: true }
";

/// An endpoint and what it lists.
pub(super) struct Endpoint {
    pub(super) path: &'static str,
    tools: &'static [&'static str],
    /// The numbers of prompts, resources and templates.
    pub(super) counts: [usize; 3],
}

const MEMORY: &[&str] = &["store", "retrieve", "list", "search", "delete", "clear"];

/// All sources, and each source alone.
pub(super) const ENDPOINTS: [Endpoint; 6] = [
    Endpoint {
        path: "/mcp",
        tools: &[
            "memory__store",
            "memory__retrieve",
            "memory__list",
            "memory__search",
            "memory__delete",
            "memory__clear",
            "system__health",
            "gateway__search",
            "gateway__list_resources",
            "gateway__read_resource",
            "gateway__get_prompt",
            "gateway__call_tool",
        ],
        counts: [4, 3 + 4 + 2 + 3 + 3, 2 + 1 + 3 + 1],
    },
    Endpoint {
        path: "/mcp/system",
        tools: &["health"],
        counts: [0, 3, 0],
    },
    Endpoint {
        path: "/mcp/memory",
        tools: MEMORY,
        counts: [2, 3, 2],
    },
    Endpoint {
        path: "/mcp/docs",
        tools: &[],
        counts: [0, 4, 1],
    },
    Endpoint {
        path: "/mcp/words",
        tools: &[],
        counts: [2, 2, 0],
    },
    Endpoint {
        path: "/mcp/index",
        tools: &[],
        counts: [0, 3, 3],
    },
];

impl Endpoint {
    pub(super) fn tools(&self) -> Vec<String> {
        self.tools.iter().map(|&name| name.to_owned()).collect()
    }

    /// Whether the endpoint declares a list.
    pub(super) fn has(&self, key: &str) -> bool {
        match key {
            "tools" => !self.tools.is_empty(),
            "prompts" => self.counts[0] > 0,
            _ => self.counts[1] > 0,
        }
    }
}

/// A home with the content of these sources, and a secret outside of them.
pub(super) fn home(more: &str) -> Home {
    let home = Home::with_config(&format!("{more}{SOURCES}"));
    for folder in ["docs/deep", "words/tides"] {
        fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    home.write("docs/read me.md", "# Docs\n");
    home.write("docs/deep/er.json", "{\"deep\":true}");
    fs::write(home.path().join("docs/dot.png"), b"\x89PNG\r\n\x1a\n\0\xff").unwrap();
    home.write(
        "words/greet.md",
        "---\ndescription: Greets someone\narguments:\n  - name: who\n    required: true\n    \
         suggestions: [Ada, Bob]\n---\nSay hello to {{who}}.\n",
    );
    home.write(
        "words/tides/SKILL.md",
        "---\nname: tides\ndescription: Knows the tides\n---\nLook at the moon.\n",
    );
    home.write("words/tides/table.md", "High at six.\n");
    home.write("secret.txt", "SECRET");
    home
}

/// Adds entries to the memory source.
pub(super) fn add_memory_entries(client: &mut dyn Client, endpoint: &Endpoint) {
    let store = match endpoint.path {
        "/mcp" => "memory__store",
        "/mcp/memory" => "store",
        _ => return,
    };
    for (key, namespace) in [("walk", "default"), ("scratch", "scratch")] {
        let arguments = json!({ "key": key, "value": { "is": key }, "namespace": namespace });
        let call = json!({ "name": store, "arguments": arguments });
        client.request("tools/call", call);
    }
}

/// Valid arguments for each tool.
pub(super) fn arguments(tool: &str) -> Value {
    let own = tool.rsplit("__").next().unwrap();
    match own {
        "health" | "list" | "list_resources" => json!({}),
        "store" => json!({ "key": "walk", "value": [1, "two"], "tags": ["a"], "ttl": "1h" }),
        "retrieve" | "delete" => json!({ "key": "walk" }),
        "search" => json!({ "query": "walk" }),
        "clear" => json!({ "namespace": "scratch" }),
        "read_resource" => json!({ "uri": HEALTH, "limit": 10 }),
        "get_prompt" => json!({ "name": "words/greet", "arguments": { "who": "Ada" } }),
        "call_tool" => json!({ "name": "system__health", "arguments": {} }),
        other => panic!("no arguments for {other}"),
    }
}
