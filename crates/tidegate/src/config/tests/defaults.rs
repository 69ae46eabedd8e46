//! The settings of valid files, and the defaults.

use std::time::Duration;

use serde_json::{Map, Value};
use tidegate_policy::CallTimeouts;
use tidegate_server::TransportLimits;

use super::load_text;
use crate::config::schema;

#[test]
fn an_empty_file_has_all_defaults() {
    for text in [
        "",
        "# nothing\n",
        "{}\n",
        "---\n",
        "sources:\nlimits:\nlog:\nlisten:\n",
    ] {
        let settings = load_text(text).unwrap();
        assert_eq!(settings.listen.to_string(), "127.0.0.1:8080", "{text}");
        assert_eq!(settings.limits, TransportLimits::default());
        assert_eq!(settings.call_timeouts, CallTimeouts::default());
        assert_eq!(settings.startup_wait, Duration::from_secs(5));
        assert_eq!(settings.page_size, 1000);
        assert!(settings.keys.is_empty() && settings.default_sources && !settings.legacy_sse);
    }
}

#[test]
fn all_fields_set() {
    let settings = load_text(
        "listen: localhost:9000\npublic_url: https://MCP.example.com/\n\
         allowed_hosts: [a.example, 'B.example:8443', mcp.example.com]\n\
         allowed_origins: ['https://chat.example:443']\nlegacy_sse: true\n\
         limits: { max_message_bytes: 64KiB, max_header_bytes: 16384, session_idle_timeout: 1h 30m, max_concurrent_calls: 7,\n\
           shutdown_timeout: 0s, call_timeout: 5s, page_size: 10 }\n",
    )
    .unwrap();
    assert_eq!(settings.listen.to_string(), "127.0.0.1:9000");
    assert_eq!(
        settings.public_url.unwrap().as_str(),
        "https://mcp.example.com"
    );
    assert_eq!(
        settings.allowed_hosts,
        ["a.example", "b.example:8443", "mcp.example.com"]
    );
    assert_eq!(settings.allowed_origins, ["https://chat.example"]);
    assert!(settings.legacy_sse);
    let expected = TransportLimits {
        max_message_bytes: 65536,
        max_header_bytes: 16384,
        session_idle_timeout: Duration::from_secs(5400),
        max_concurrent_calls: 7,
        shutdown_timeout: Duration::ZERO,
        ..TransportLimits::default()
    };
    assert_eq!(settings.limits, expected);
    assert_eq!(
        (settings.call_timeouts.call_timeout, settings.page_size),
        (Duration::from_secs(5), 10)
    );
}

#[test]
fn allows_the_host_of_the_public_url() {
    let settings = load_text("public_url: http://gate.example:8443/team\n").unwrap();
    assert_eq!(settings.allowed_hosts, ["gate.example"]);
}

#[test]
fn anchors_and_merges_are_not_duplicates() {
    let settings = load_text(
        "limits: &usual\n  max_concurrent_calls: 5\n  shutdown_timeout: 1s\nlog:\n  level: &level debug\n  format: json\n",
    );
    assert_eq!(settings.unwrap().limits.max_concurrent_calls, 5);
    let merged = load_text(
        "limits:\n  <<: { max_concurrent_calls: 5, max_sessions: 9 }\n  max_concurrent_calls: 6\n",
    )
    .unwrap();
    assert_eq!(
        (
            merged.limits.max_concurrent_calls,
            merged.limits.max_sessions
        ),
        (6, 9)
    );
}

#[test]
fn the_defaults_of_the_schema_are_the_real_ones() {
    let schema = schema();
    let defaults = defaults_of(schema.as_value()).to_string();
    assert!(defaults.contains("max_message_bytes"), "{defaults}");
    let written = load_text(&defaults).unwrap();
    assert_eq!(
        format!("{written:?}"),
        format!("{:?}", load_text("").unwrap())
    );
}

/// A file that sets each field to the default in the schema.
fn defaults_of(schema: &Value) -> Value {
    let mut file = Map::new();
    for (field, schema) in schema["properties"].as_object().unwrap() {
        let has_required = schema.get("required").is_some();
        let inner = schema.get("properties").filter(|_| !has_required);
        let inner = inner.map(|_| defaults_of(schema));
        let default = schema.get("default").cloned();
        let value = default.or(inner.filter(|inner| inner != &Value::Object(Map::new())));
        file.extend(value.map(|value| (field.clone(), value)));
    }
    Value::Object(file)
}

#[test]
fn stops_after_too_many_problems() {
    let text: String = (0..5_000).map(|n| format!("x{n}: 1\n")).collect();
    let problems = load_text(&text).unwrap_err();
    assert_eq!(problems.iter().count(), 101);
}

#[test]
fn a_short_maximum_duration_shortens_the_default_call_timeout() {
    let settings = load_text("limits: { max_call_duration: 30s }\n").unwrap();
    let thirty_seconds = Duration::from_secs(30);
    let expected = CallTimeouts {
        call_timeout: thirty_seconds,
        max_call_duration: thirty_seconds,
    };
    assert_eq!(settings.call_timeouts, expected);
}
