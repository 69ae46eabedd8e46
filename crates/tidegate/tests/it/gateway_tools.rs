//! The built-in gateway tools, for clients that support only tools, and the exposure of other
//! tools.

mod relayed;

use serde_json::{Value, json};
use tidegate_sources::tokens;

use crate::support::fixture::{Fixture, config};
use crate::support::messages::{GATEWAY_TOOLS, Modern};
use crate::support::{Home, Server};
use crate::walk::all;

/// A gateway in front of a fixture, with additional configuration.
fn before(fixture: &Fixture, more: &Value) -> Server {
    let mut all: Value =
        serde_json::from_str(&config(&json!({ "fixture": { "url": fixture.url() } }))).unwrap();
    for (key, value) in more.as_object().unwrap() {
        match key.as_str() {
            "of_source" => all["sources"]["fixture"]["endpoint"] = value.clone(),
            _ => all[key] = value.clone(),
        }
    }
    let gateway = Server::with_config(&all.to_string());
    gateway.process.stderr.find("source connected");
    gateway
}

fn tools(server: &Server, path: &str) -> Vec<String> {
    let list = Modern::new("tools/list", json!({})).post(server.post().at(path));
    all(list.result()["tools"].as_array().unwrap(), "name")
}

fn call(server: &Server, tool: &str, arguments: &Value) -> Value {
    let call = json!({ "name": tool, "arguments": arguments });
    server.modern("tools/call", call).result()
}

/// The first text of a result.
fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn gateway_tools_are_listed_last_and_only_at_the_endpoint_of_all_sources() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let server = before(&fixture, &json!({}));
    let listed = tools(&server, "/mcp");
    assert_eq!(listed[listed.len() - GATEWAY_TOOLS.len()..], GATEWAY_TOOLS);
    let at_source = tools(&server, "/mcp/fixture");
    assert!(
        !at_source.iter().any(|name| name.starts_with("gateway__")),
        "{at_source:?}"
    );
    let list = server.modern("tools/list", json!({})).result();
    for tool in list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .take(GATEWAY_TOOLS.len())
    {
        let reads = tool["name"] != "gateway__call_tool";
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
    }
    server.stop();
    let switched = json!({
        "endpoint": { "gateway_tools": false },
        "of_source": { "gateway_tools": true },
    });
    let server = before(&fixture, &switched);
    assert!(
        !tools(&server, "/mcp")
            .iter()
            .any(|name| name.starts_with("gateway__"))
    );
    let at_source = tools(&server, "/mcp/fixture");
    assert_eq!(
        at_source[at_source.len() - GATEWAY_TOOLS.len()..],
        GATEWAY_TOOLS
    );
    let search = json!({ "name": "gateway__search", "arguments": { "query": "health" } });
    let found = Modern::new("tools/call", search)
        .post(server.post().at("/mcp/fixture"))
        .result();
    assert!(
        !text(&found).contains("system"),
        "only this endpoint is searched: {found}"
    );
    server.stop();
    fixture.stop();
}

/// Tools that are not listed are found by search and can be called by name.
#[test]
fn endpoint_can_list_a_part_of_its_tools() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let search =
        json!({ "endpoint": { "exposure": "search", "pinned": ["fixture__test_simple*"] } });
    let server = before(&fixture, &search);
    let listed = tools(&server, "/mcp");
    let expected: Vec<_> = ["fixture__test_simple_text"]
        .into_iter()
        .chain(GATEWAY_TOOLS)
        .collect();
    assert_eq!(listed, expected);
    let found = call(
        &server,
        "gateway__search",
        &json!({ "query": "system health", "kind": "tool" }),
    );
    let found: Value = serde_json::from_str(text(&found)).unwrap();
    let first = &found["results"][0];
    assert_eq!(
        (&first["kind"], &first["name"]),
        (&json!("tool"), &json!("system__health"))
    );
    assert_eq!(first["inputSchema"]["type"], "object");
    call(&server, "system__health", &json!({}));
    let discovered = server.modern("server/discover", json!({})).result();
    let message = discovered["instructions"].as_str().unwrap();
    assert!(
        message.contains("find one with `gateway__search`"),
        "{message}"
    );
    assert!(tokens::count(message) <= 300, "{message}");
    server.stop();
    let hybrid =
        |limit: usize| json!({ "endpoint": { "exposure": "hybrid", "max_listed_tools": limit } });
    for (limit, has_fixture) in [(1, false), (100, true)] {
        let server = before(&fixture, &hybrid(limit));
        let listed = tools(&server, "/mcp");
        assert!(
            listed.iter().any(|name| name == "system__health"),
            "{listed:?}"
        );
        let fixtures = listed.iter().any(|name| name.starts_with("fixture__"));
        assert_eq!(fixtures, has_fixture, "{listed:?}");
        server.stop();
    }
    fixture.stop();
}

/// Long texts are read in parts, by characters and by tokens; other content as it is.
#[test]
fn resource_is_read_in_parts() {
    let home = Home::with_config("sources: { docs: { kind: files, folder: ./docs } }\n");
    std::fs::create_dir(home.path().join("docs")).unwrap();
    let long: String = (0..5_000)
        .map(|number| format!("Wörter und {number}\n"))
        .collect();
    home.write("docs/long.txt", &long);
    std::fs::write(home.path().join("docs/dot.png"), b"\x89PNG\r\n\x1a\n\0\xff").unwrap();
    let server = Server::start_in(home, &[]);
    let root = format!("file://{}/docs", server.home.path().display());
    let uri = format!("{root}/long.txt");
    let read = |more: Value| {
        let mut arguments = json!({ "uri": uri });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call(&server, "gateway__read_resource", &arguments)
    };
    let (mut all, mut offset) = (String::new(), 0);
    loop {
        let part = read(json!({ "offset": offset, "max_tokens": 5_000 }));
        assert!(tokens::count(text(&part)) <= 5_000);
        assert!(!text(&part).is_empty(), "no progress at offset {offset}");
        all += text(&part);
        offset = all.chars().count();
        match part["content"][1]["text"].as_str() {
            None => break,
            Some(note) => assert!(note.contains(&format!("\"offset\": {offset}")), "{note}"),
        }
    }
    assert_eq!(all, long);
    assert_eq!(text(&read(json!({ "offset": 2, "limit": 4 }))), "rter");
    let template = format!("{root}/{{+path}}");
    let arguments = json!({ "uri": template, "arguments": { "path": "dot.png" } });
    let image = call(&server, "gateway__read_resource", &arguments);
    assert_eq!(image["content"][0]["type"], "image", "{image}");
    assert_eq!(image["content"][0]["mimeType"], "image/png");
    // `offset` applies to text; an image is returned whole.
    let arguments = json!({ "uri": format!("{root}/dot.png"), "offset": 3 });
    let with_offset = call(&server, "gateway__read_resource", &arguments);
    assert_eq!(with_offset, image);
    let missing = call(
        &server,
        "gateway__read_resource",
        &json!({ "uri": template }),
    );
    assert_eq!(
        text(&missing),
        "missing template variable `path`: pass it in `arguments`"
    );
    let arguments = json!({ "uri": template, "arguments": { "path": "no where" } });
    let nothing = call(&server, "gateway__read_resource", &arguments);
    let message = format!(
        "`{root}/no%20where`: no resource has this URI; find resources with `gateway__list_resources` \
         or `gateway__search`"
    );
    assert_eq!(
        (&nothing["isError"], text(&nothing)),
        (&json!(true), message.as_str())
    );
    server.stop();
}

#[test]
fn invalid_arguments_are_tool_errors() {
    let server = Server::start();
    for (tool, arguments, message) in [
        ("gateway__search", json!({}), "`query` is missing"),
        (
            "gateway__search",
            json!({ "query": " " }),
            "`query` must not be empty",
        ),
        (
            "gateway__search",
            json!({ "query": "x", "limit": 0 }),
            "`limit` must be an integer from 1 to 50",
        ),
        (
            "gateway__search",
            json!({ "query": "x", "limit": 51 }),
            "`limit` must be an integer from 1 to 50",
        ),
        (
            "gateway__search",
            json!({ "query": "x", "source": "nobody" }),
            "no source named `nobody`; available:",
        ),
        (
            "gateway__call_tool",
            json!({ "name": "nobody" }),
            "no tool named `nobody`",
        ),
        (
            "gateway__call_tool",
            json!({ "name": "gateway__call_tool" }),
            "`call_tool` cannot call itself",
        ),
        (
            "gateway__get_prompt",
            json!({ "name": "nobody" }),
            "no prompt named `nobody`",
        ),
        (
            "gateway__list_resources",
            json!({ "limit": "many" }),
            "`limit` must be an integer of at least 0",
        ),
        (
            "gateway__list_resources",
            json!({ "offset": -1 }),
            "`offset` must be an integer of at least 0",
        ),
        (
            "gateway__search",
            json!({ "query": "x", "kind": "tools" }),
            "`kind` must be one of `tool`, `prompt`, `resource`, `template`",
        ),
        (
            "gateway__list_resources",
            json!({ "source": "nobody" }),
            "no source named `nobody`; available:",
        ),
        // Rejected as by the tool itself.
        (
            "gateway__call_tool",
            json!({ "name": "memory__store", "arguments": ["k1", 1, [], null, null] }),
            "`arguments` must be an object",
        ),
        (
            "gateway__call_tool",
            json!({ "name": "memory__retrieve", "arguments": "x" }),
            "`arguments` must be an object",
        ),
        (
            "gateway__get_prompt",
            json!({ "name": "memory/memory_search", "arguments": ["x"] }),
            "`arguments` must be an object of strings",
        ),
    ] {
        let result = call(&server, tool, &arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains(message), "{result}");
    }
    server.stop();
}
