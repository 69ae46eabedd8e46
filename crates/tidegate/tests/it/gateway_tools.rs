//! The gateway's own tools: what clients use that know tools alone, and what is listed beside them.

mod relayed;

use serde_json::{Value, json};
use tidegate_sources::tokens;

use crate::support::fixture::{Fixture, config};
use crate::support::messages::{Modern, OWN_TOOLS as OWN};
use crate::support::{Home, Server};
use crate::walk::all;

/// A gateway before a fixture, with more in its configuration, and what stops both.
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

/// The text of the first content.
fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn they_stand_last_at_the_endpoint_of_all_and_are_not_at_others() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let server = before(&fixture, &json!({}));
    let listed = tools(&server, "/mcp");
    assert_eq!(listed[listed.len() - OWN.len()..], OWN);
    let alone = tools(&server, "/mcp/fixture");
    assert!(
        !alone.iter().any(|name| name.starts_with("gateway__")),
        "{alone:?}"
    );
    let list = server.modern("tools/list", json!({})).result();
    for tool in list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .take(OWN.len())
    {
        let reads = tool["name"] != "gateway__call_tool";
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
    }
    server.stop();
    let switched = json!({
        "endpoint": { "bridge_tools": false },
        "of_source": { "bridge_tools": true },
    });
    let server = before(&fixture, &switched);
    assert!(
        !tools(&server, "/mcp")
            .iter()
            .any(|name| name.starts_with("gateway__"))
    );
    let alone = tools(&server, "/mcp/fixture");
    assert_eq!(alone[alone.len() - OWN.len()..], OWN);
    let search = json!({ "name": "gateway__search", "arguments": { "query": "health" } });
    let found = Modern::new("tools/call", search)
        .post(server.post().at("/mcp/fixture"))
        .result();
    assert!(
        !text(&found).contains("system"),
        "only what is there: {found}"
    );
    server.stop();
    fixture.stop();
}

/// Whatever is not listed is found, and can be called by its name.
#[test]
fn an_endpoint_may_list_a_part() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let search =
        json!({ "endpoint": { "exposure": "search", "pinned": ["fixture__test_simple*"] } });
    let server = before(&fixture, &search);
    let listed = tools(&server, "/mcp");
    let expected: Vec<_> = ["fixture__test_simple_text"]
        .into_iter()
        .chain(OWN)
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
    let told = discovered["instructions"].as_str().unwrap();
    assert!(told.contains("find one with `gateway__search`"), "{told}");
    assert!(tokens::count(told) <= 300, "{told}");
    server.stop();
    let hybrid =
        |most: usize| json!({ "endpoint": { "exposure": "hybrid", "max_listed_tools": most } });
    for (most, has_fixture) in [(1, false), (100, true)] {
        let server = before(&fixture, &hybrid(most));
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

/// A long text comes in parts, by characters and by tokens; what is not text as what it is.
#[test]
fn a_resource_is_read_in_parts() {
    let home = Home::with_config("sources: { shelf: { kind: files, root: ./shelf } }\n");
    std::fs::create_dir(home.path().join("shelf")).unwrap();
    let long: String = (0..5_000)
        .map(|number| format!("Wörter und {number}\n"))
        .collect();
    home.write("shelf/long.txt", &long);
    std::fs::write(
        home.path().join("shelf/dot.png"),
        b"\x89PNG\r\n\x1a\n\0\xff",
    )
    .unwrap();
    let server = Server::start_in(home, &[]);
    let root = format!("file://{}/shelf", server.home.path().display());
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
    // Characters are of text; an image has none, and is there.
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
    let told = format!(
        "`{root}/no%20where`: no resource has this URI; find resources with `gateway__list_resources` \
         or `gateway__search`"
    );
    assert_eq!(
        (&nothing["isError"], text(&nothing)),
        (&json!(true), told.as_str())
    );
    server.stop();
}

#[test]
fn wrong_arguments_are_told_to_the_model() {
    let server = Server::start();
    for (tool, arguments, words) in [
        ("gateway__search", json!({}), "`query` is missing"),
        (
            "gateway__search",
            json!({ "query": " " }),
            "`query` must not be empty",
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
        // As the tool itself would be refused them.
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
        assert!(text(&result).contains(words), "{result}");
    }
    server.stop();
}
