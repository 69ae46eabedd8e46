//! The JSON Schema accepts the same files as the program, checked with a real validator.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

use super::load_text;
use crate::config::schema;

pub(super) struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    pub(super) fn new() -> Self {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        let location = "tidegate.schema.json";
        compiler
            .add_resource(location, schema().to_value())
            .unwrap();
        let index = compiler.compile(location, &mut schemas).unwrap();
        Self { schemas, index }
    }

    pub(super) fn accepts(&self, document: &Value) -> bool {
        self.schemas.validate(document, self.index).is_ok()
    }
}

#[test]
fn accepts_valid_files() {
    let validator = Validator::new();
    for document in [
        json!({}),
        json!({ "sources": null, "limits": null, "log": null, "listen": null }),
        json!({ "sources": {} }),
        json!({ "listen": "127.0.0.1:1", "log": { "level": "debug" }, "naming": "native" }),
        json!({ "limits": { "max_message_bytes": "4MiB", "max_header_bytes": 16384,
            "call_timeout": "1m 30s", "page_size": 5 } }),
        json!({ "sources": { "a": { "command": "npx", "args": ["x"], "env": { "T": "1" },
            "call_timeout": "5s", "breaker": { "failure_threshold": 0 }, "sharing": "shared" } } }),
        json!({ "sources": { "a": { "kind": "remote", "url": "http://127.0.0.1:1/mcp",
            "headers": { "X-A": "b" }, "era": "modern", "endpoint": { "gateway_tools": true } } } }),
        json!({ "sources": { "a": { "kind": "memory" }, "b": { "kind": "memory",
            "quota": { "max_entries": 5 }, "endpoint": { "exposure": "search" } } } }),
        json!({ "sources": { "a": { "kind": "files", "folder": ".", "include": ["*.md"] } } }),
        json!({ "sources": { "a": { "kind": "prompts", "folder": "p" } } }),
        json!({ "sources": { "a": { "kind": "capability-index", "enabled": true } } }),
        json!({ "mcpServers": { "My Server": { "command": "x", "alwaysAllow": [] } } }),
    ] {
        assert!(validator.accepts(&document), "{document}");
        let loaded = load_text(&document.to_string());
        assert!(loaded.is_ok(), "{document}: {loaded:?}");
    }
}

#[test]
fn rejects_what_the_program_rejects() {
    let validator = Validator::new();
    for document in [
        json!([]),
        json!({ "lisen": "127.0.0.1:1" }),
        json!({ "auth": null }),
        json!({ "auth": {} }),
        json!({ "log": { "level": "loud" } }),
        json!({ "log": { "levle": "info" } }),
        json!({ "legacy_sse": "yes" }),
        json!({ "limits": { "max_mesage_bytes": "4MiB" } }),
        json!({ "limits": { "max_message_bytes": "4M" } }),
        json!({ "limits": { "call_timeout": 30 } }),
        json!({ "limits": { "call_timeout": "30" } }),
        json!({ "limits": { "max_sessions": -1 } }),
        json!({ "sources": { "a": {} } }),
        json!({ "sources": { "a": null } }),
        json!({ "sources": { "A": { "kind": "memory" } } }),
        json!({ "sources": { "system": { "kind": "memory" } } }),
        json!({ "sources": { "a": { "kind": "nope" } } }),
        json!({ "sources": { "a": { "comand": "npx" } } }),
        json!({ "sources": { "a": { "command": "npx", "arg": [] } } }),
        json!({ "sources": { "a": { "command": "npx", "url": "http://x" } } }),
        json!({ "sources": { "a": { "command": "npx", "headers": {} } } }),
        json!({ "sources": { "a": { "url": "http://x", "args": [] } } }),
        json!({ "sources": { "a": { "url": "http://x", "era": "old" } } }),
        json!({ "sources": { "a": { "kind": "remote" } } }),
        json!({ "sources": { "a": { "kind": "memory", "command": "npx" } } }),
        json!({ "sources": { "a": { "kind": "memory", "root": "." } } }),
        json!({ "sources": { "a": { "kind": "memory", "quota": { "entries": 1 } } } }),
        json!({ "sources": { "a": { "kind": "files" } } }),
        json!({ "sources": { "a": { "kind": "files", "folder": ".", "breaker": {} } } }),
        json!({ "sources": { "a": { "kind": "memory", "endpoint": { "pinnned": [] } } } }),
    ] {
        assert!(!validator.accepts(&document), "{document}");
        assert!(load_text(&document.to_string()).is_err(), "{document}");
    }
}

#[test]
fn has_one_variant_for_each_form_of_each_kind() {
    let schema = schema().to_value();
    let variants = &schema["properties"]["sources"]["additionalProperties"]["oneOf"];
    let kinds: Vec<_> = variants
        .as_array()
        .unwrap()
        .iter()
        .map(|variant| {
            assert_eq!(variant["additionalProperties"], false, "{variant}");
            variant["properties"]["kind"]["const"].as_str().unwrap()
        })
        .collect();
    let expected = [
        "remote",
        "remote",
        "files",
        "capability-index",
        "memory",
        "prompts",
    ];
    assert_eq!(kinds, expected);
}
