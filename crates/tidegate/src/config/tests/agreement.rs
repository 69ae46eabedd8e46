//! The JSON Schema and the reader give the same verdict about a file.

use serde_json::Value;

use super::load_with;
use super::schema::Validator;
use crate::config::Flags;

const VARIABLES: &[(&str, &str)] = &[
    ("KEY", "0123456789abcdef0123456789abcdef"),
    ("TOKEN", "t0ken-value"),
];

/// Snippets that both accept.
const VALID: &[&str] = &[
    "",
    "# only a comment\n",
    "{}",
    "sources: { a: { command: x, env: { A: 1, B: 1.50, C: true, D: text } } }",
    "sources: { a: { command: x, args: [1, -2.5, false, text] } }",
    "sources: { a: { url: 'http://x', headers: { X-Version: 2 } } }",
    "sources: { a: { command: x, args: ['--token=${env:TOKEN}'], cwd: '${TOKEN}' } }",
    "sources: { a: { command: '${TOKEN}' } }",
    "sources: { a: { url: 'https://x/${env:TOKEN}/mcp' } }",
    "sources: { a: { url: 'https://x.example:8443/mcp?a=b' } }",
    "limits: { call_timeout: 1.5s }",
    "limits: { call_timeout: 2 minutes, session_idle_timeout: 1h30m }",
    "limits: { max_sessions: 1, max_json_depth: 128, max_message_bytes: 1024 }",
    "limits: { page_size: 10000, startup_wait: 0s }",
    "sources: { a: { kind: capability-index, expose: [summary, 'capability-index://stats'] } }",
    "sources: { a: { kind: memory, quota: { max_entries: 1, max_tags: 0 } } }",
    "sources: { a: { kind: files, folder: ., max_files: 1 } }",
    "sources: { a: { command: x, max_retries: 10, breaker: { failure_threshold: 0 } } }",
    "mcpServers: { a: { command: x, args: [1], env: { A: 1 }, alwaysAllow: [] } }",
    "mcpServers: { a: { type: http, url: 'https://x/mcp', headers: { A: b } } }",
    "mcpServers: { a: { command: x, url: null, disabled: false } }",
    "mcpServers: { a: { disabled: true } }",
    "public_url: https://mcp.example.com/team",
    "auth: { keys: { ada: '${env:KEY}' } }",
    "endpoint: { gateway_tools: true }",
];

/// Snippets that both reject.
const INVALID: &[&str] = &[
    "[]",
    "text",
    "sources: { a: { command: x, env: { A: [1] } } }",
    "sources: { a: { command: x, env: { A: null } } }",
    "sources: { a: { command: x, args: [{}] } }",
    "sources: { a: { command: x, args: text } }",
    "sources: { a: { command: 5 } }",
    "sources: { a: { command: '' } }",
    "sources: { a: { command: x, cwd: 5 } }",
    "sources: { a: { url: 'ftp://x' } }",
    "sources: { a: { url: x.example/mcp } }",
    "sources: { a: { url: 'https://ada:pw@x/mcp' } }",
    "sources: { a: { url: '' } }",
    "limits: { call_timeout: 2M }",
    "limits: { call_timeout: 2 months }",
    "limits: { call_timeout: '1.s' }",
    "limits: { call_timeout: 1.5 }",
    "limits: { max_sessions: 0 }",
    "limits: { max_sessions: 1000001 }",
    "limits: { max_sessions: 1.5 }",
    "limits: { max_json_depth: 129 }",
    "limits: { max_message_bytes: 1023 }",
    "limits: { page_size: 10001 }",
    "sources: { a: { kind: capability-index, expose: [sumary] } }",
    "sources: { a: { kind: memory, quota: { max_entries: 0 } } }",
    "sources: { a: { kind: memory, quota: { max_tags: 1001 } } }",
    "sources: { a: { kind: files, folder: ., max_files: 0 } }",
    "sources: { a: { kind: files, folder: '' } }",
    "sources: { a: { kind: files, folder: ., exclude: [5] } }",
    "sources: { a: { kind: files, root: . } }",
    "sources: { a: { command: x, max_retries: 11 } }",
    "sources: { a: { command: x, breaker: { failure_threshold: -1 } } }",
    "sources: { a: { command: x, max_connections: 0 } }",
    "mcpServers: { a: {} }",
    "mcpServers: { a: { type: http } }",
    "mcpServers: { a: { comand: x } }",
    "mcpServers: { a: { command: x, url: 'http://x' } }",
    "mcpServers: { a: { command: x, headers: { A: b } } }",
    "mcpServers: { a: { url: 'http://x', args: [a] } }",
    "mcpServers: { a: { url: 'ftp://x' } }",
    "mcpServers: { a: { command: x, disabled: maybe } }",
    "public_url: mcp.example.com",
    "public_url: ftp://mcp.example.com",
    "public_url: https://ada@mcp.example.com",
    "auth: { keys: {} }",
    "auth: { keys: { Ada: '${env:KEY}' } }",
    "auth: { keys: { local: '${env:KEY}' } }",
    "auth: { keys: { ada: the-key-itself-is-here } }",
    "endpoint: { search_tools: true }",
];

#[test]
fn schema_and_reader_agree() {
    let validator = Validator::new();
    let cases = VALID.iter().map(|text| (text, true));
    let cases = cases.chain(INVALID.iter().map(|text| (text, false)));
    let mut disagreements = Vec::new();
    for (text, expected) in cases {
        let document: Value = serde_saphyr::from_str(text).unwrap_or(Value::Null);
        let loaded = load_with(text, &Flags::default(), VARIABLES);
        let verdicts = (validator.accepts(&document), loaded.is_ok());
        if verdicts != (expected, expected) {
            disagreements.push((text, expected, verdicts, loaded.err()));
        }
    }
    assert!(
        disagreements.is_empty(),
        "(text, expected, (schema, reader), problems): {disagreements:#?}"
    );
}
