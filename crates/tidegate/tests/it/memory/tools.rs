//! The tools and their errors.

use serde_json::{Value, json};

use super::User;
use crate::support::Server;
use crate::support::proc::poll_for;

#[test]
fn entries_are_stored_retrieved_listed_found_and_deleted() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    let stored = user.call(
        "store",
        json!({ "key": "likes/tea", "value": "green, no sugar", "tags": ["taste", "drink", "taste"] }),
    );
    assert_eq!(stored["replaced"], false);
    assert_eq!(stored["uri"], "plugin://memory/entries/likes%2Ftea");
    let entry = user.call("retrieve", json!({ "key": "likes/tea" }));
    assert_eq!(entry["value"], "green, no sugar");
    assert_eq!(entry["tags"], json!(["drink", "taste"]));
    assert_eq!(entry["namespace"], "default");
    assert!(entry.get("expires").is_none(), "{entry}");
    let again = user.call("store", json!({ "key": "likes/tea", "value": "black" }));
    assert_eq!(again["replaced"], true);
    assert_eq!(user.keys(json!({})), ["likes/tea"]);
    assert_eq!(user.found("black"), ["likes/tea"]);
    assert_eq!(
        user.call("delete", json!({ "key": "likes/tea" }))["deleted"],
        true
    );
    assert_eq!(
        user.call("delete", json!({ "key": "likes/tea" }))["deleted"],
        false
    );
    let fault = user.fault("retrieve", json!({ "key": "likes/tea" }));
    assert!(fault.contains("no entry `likes/tea`"), "{fault}");
    server.stop();
}

/// Tools that replace or delete something are marked as destructive.
#[test]
fn destructive_tools_are_annotated() {
    let server = Server::start_shipped();
    let tools = User::of(&server).ask("tools/list", json!({})).result();
    let tools = tools["tools"].as_array().unwrap();
    let is_destructive = |tool: &&Value| tool["annotations"]["destructiveHint"] == true;
    let names = tools
        .iter()
        .filter(is_destructive)
        .map(|tool| &tool["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["store", "delete", "clear"]);
    for tool in tools.iter().filter(|tool| !is_destructive(tool)) {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    server.stop();
}

/// Numbers keep their digits and objects their order, in tools and in resources (S0.14, X16).
#[test]
fn values_are_kept_byte_for_byte() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    let value = r#"{"z":1.50,"a":[12345678901234567890,-0.0,1e400],"é":null}"#;
    // Not with a JSON library, which would parse the numbers.
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"store","arguments":{{"key":"exact","value":{value}}}}}}}"#
    );
    let answer = user.post().with_mcp_headers().send(body.as_bytes());
    assert_eq!(answer.result()["isError"], false, "{answer:?}");
    let retrieved = user.tool("retrieve", json!({ "key": "exact" }));
    assert!(
        retrieved.body.contains(&format!("\"value\":{value}")),
        "{}",
        retrieved.body
    );
    let item = user.read("plugin://memory/entries/exact");
    assert_eq!(item["text"], value);
    assert_eq!(item["mimeType"], "application/json");
    server.stop();
}

/// S0.14 with X16: the type follows the value; what is neither text nor JSON is a blob.
#[test]
fn entries_are_resources_with_their_type() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    for (key, value, mime, text) in [
        ("text", json!("a\nb"), "text/plain", Some("a\nb")),
        ("empty", json!(""), "text/plain", Some("")),
        ("list", json!([1, 2]), "application/json", Some("[1,2]")),
        ("number", json!(42), "application/octet-stream", None),
    ] {
        user.store(key, value);
        let item = user.read(&format!("plugin://memory/entries/{key}"));
        assert_eq!(item["mimeType"], mime, "{item}");
        match text {
            Some(text) => assert_eq!(item["text"], text, "{item}"),
            None => assert_eq!(item["blob"], "NDI=", "{item}"),
        }
    }
    user.call(
        "store",
        json!({ "key": "k l", "value": 1, "namespace": "work" }),
    );
    for uri in [
        "plugin://memory/namespaces/work/entries/k%20l",
        "plugin://memory/namespaces/work/entries/k l",
    ] {
        assert_eq!(user.read(uri)["uri"], uri);
    }
    for missing in [
        "plugin://memory/entries/none",
        "plugin://memory/entries/k%20l",
    ] {
        let answer = user.ask("resources/read", json!({ "uri": missing }));
        assert_eq!(answer.json()["error"]["data"]["uri"], missing, "{answer:?}");
    }
    let template = "plugin://memory/entries/{key}";
    assert_eq!(user.completed(template, "key", "e", json!({})), ["empty"]);
    let template = "plugin://memory/namespaces/{namespace}/entries/{key}";
    assert_eq!(
        user.completed(template, "namespace", "w", json!({})),
        ["work"]
    );
    let context = json!({ "namespace": "work" });
    assert_eq!(user.completed(template, "key", "", context), ["k l"]);
    for (uri, words) in [
        (
            "plugin://memory/memory_stats",
            "is a resource, not a template",
        ),
        (
            "plugin://memory/entries/{nokey}",
            "nothing named `plugin://memory/entries/{nokey}`",
        ),
        (
            "plugin://memory/namespaces/{ns}/entries/{key}",
            "nothing named",
        ),
    ] {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": uri },
            "argument": { "name": "key", "value": "" },
        });
        let answer = user.ask("completion/complete", params).json();
        let message = answer["error"]["message"].as_str();
        assert!(message.is_some_and(|text| text.contains(words)), "{answer}");
    }
    server.stop();
}

#[test]
fn lists_are_filtered_and_paginated() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    for (key, tags) in [
        ("user.name", json!(["a"])),
        ("user.mail", json!(["a", "b"])),
        ("project/x/notes", json!([])),
        ("project/y", json!(["b"])),
    ] {
        user.call("store", json!({ "key": key, "value": 1, "tags": tags }));
    }
    user.call(
        "store",
        json!({ "key": "elsewhere", "value": 1, "namespace": "other" }),
    );
    for (arguments, expected) in [
        (
            json!({ "pattern": "user.*" }),
            &["user.mail", "user.name"][..],
        ),
        (
            json!({ "pattern": "user.[m-n]???" }),
            &["user.mail", "user.name"],
        ),
        (json!({ "pattern": "user.{mail,phone}" }), &["user.mail"]),
        (json!({ "pattern": "project/*" }), &["project/y"]),
        (
            json!({ "pattern": "project/**" }),
            &["project/x/notes", "project/y"],
        ),
        (json!({ "pattern": "**/notes" }), &["project/x/notes"]),
        (json!({ "tags": ["a", "b"] }), &["user.mail"]),
        (json!({ "namespace": "other" }), &["elsewhere"]),
        (json!({ "namespace": "none" }), &[]),
    ] {
        assert_eq!(user.keys(arguments.clone()), expected, "{arguments}");
    }
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    for page_number in 0.. {
        assert!(page_number < 10, "the pages do not end: {seen:?}");
        let mut arguments = json!({ "limit": 2 });
        if let Some(cursor) = cursor.as_str() {
            arguments["cursor"] = cursor.into();
        }
        let page = user.call("list", arguments);
        seen.extend(super::keys(&page["entries"]));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(
        seen,
        [
            "project/x/notes",
            "project/y",
            "user.mail",
            "user.name",
            "elsewhere"
        ]
    );
    let fault = user.fault("list", json!({ "pattern": "[a" }));
    assert!(fault.contains("`pattern` is not a valid glob"), "{fault}");
    server.stop();
}

#[test]
fn any_query_is_valid() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    user.call(
        "store",
        json!({ "key": "fruit", "value": { "kind": "Äpfel" }, "tags": ["red"] }),
    );
    for (query, expected) in [
        ("apfel", &["fruit"][..]),
        ("red kind", &["fruit"]),
        ("\"fruit\" OR (", &["fruit"]),
        ("fru*", &["fruit"]),
        ("key:fruit", &["fruit"]),
        ("nothing", &[]),
        ("\"", &[]),
        ("NEAR(", &[]),
        ("*)", &[]),
        ("'; --", &[]),
        ("", &[]),
    ] {
        assert_eq!(user.found(query), expected, "{query}");
    }
    server.stop();
}

#[test]
fn expired_entries_are_removed() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    let stored = user.call(
        "store",
        json!({ "key": "k", "value": "fleeting", "ttl": "1s" }),
    );
    assert!(stored["expires"].is_string(), "{stored}");
    user.call("store", json!({ "key": "long", "value": 1, "ttl": 3600 }));
    assert_eq!(user.stats()["expiring_soon"], 2);
    poll_for("the entry to expire", || {
        (user.keys(json!({})) == ["long"]).then_some(())
    });
    user.fault("retrieve", json!({ "key": "k" }));
    assert!(user.found("fleeting").is_empty());
    assert_eq!(user.stats()["total_entries"], 1);
    for (wrong, fault) in [
        (json!(0), "`ttl` must be more than 0 seconds"),
        (json!("soon"), "`ttl`: `soon` is not a duration; write"),
        (json!("2M"), "`ttl`: `2M`: the unit `M` is ambiguous"),
        (
            json!("999999999days"),
            "`ttl` is too large: the limit is 36600 days",
        ),
        (json!(1e30), "`ttl` is too large: the limit is 36600 days"),
    ] {
        let arguments = json!({ "key": "k", "value": 1, "ttl": wrong });
        let message = user.fault("store", arguments);
        assert!(message.starts_with(fault), "{message}");
    }
    server.stop();
}

/// Errors name the argument, without internal types.
#[test]
fn invalid_arguments_are_named() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    for (tool, arguments, fault) in [
        (
            "store",
            json!({ "key": 1, "value": 1 }),
            "`key` must be a string",
        ),
        (
            "store",
            json!({ "tags": [1] }),
            "`key` is missing; `value` is missing; `tags` must be an array of strings",
        ),
        (
            "list",
            json!({ "limit": -1 }),
            "`limit` must be an integer from 1 to 1000",
        ),
        (
            "search",
            json!({ "query": "a", "limit": 0 }),
            "`limit` must be an integer from 1 to 100",
        ),
        (
            "store",
            json!({ "key": "k", "value": 1, "ttl": true }),
            "`ttl` must be a number or a string",
        ),
    ] {
        assert_eq!(user.fault(tool, arguments), fault);
    }
    // In JSON an integer may be written like this.
    user.call("search", json!({ "query": "a", "limit": 1.0 }));
    let home = &server.home;
    home.run(&["call", "memory__store", "key=5", "value=5"])
        .expect_code(0);
    let kept = user.call("retrieve", json!({ "key": "5" }));
    assert_eq!(kept["value"], 5, "a value of any type is accepted");
    user.call("retrieve", json!({ "key": "5", "namespace": null }));
    server.stop();
}

#[test]
fn quotas_are_enforced() {
    let server = Server::with_config(
        "sources: { memory: { kind: memory, quota: { max_entries: 2, max_bytes: 2KiB, max_key_bytes: 8, \
         max_value_bytes: 1500, max_tags: 1, max_tag_bytes: 3 } } }\n",
    );
    let user = User::of(&server);
    let long = "x".repeat(1_400);
    for (arguments, part) in [
        (
            json!({ "key": "", "value": 1 }),
            "`key` must have 1 to 8 bytes",
        ),
        (
            json!({ "key": "123456789", "value": 1 }),
            "`key` must have 1 to 8 bytes",
        ),
        (
            json!({ "key": "a\u{7}", "value": 1 }),
            "no control characters",
        ),
        (
            json!({ "key": "k", "value": "x".repeat(1_500) }),
            "the value has 1502 bytes; the limit is 1500 bytes",
        ),
        (
            json!({ "key": "k", "value": 1, "tags": ["a", "b"] }),
            "the limit is 1",
        ),
        (
            json!({ "key": "k", "value": 1, "tags": ["abcd"] }),
            "a tag must have 1 to 3 bytes",
        ),
        (
            json!({ "key": "k", "value": 1, "namespace": "a/b" }),
            "`namespace` must have",
        ),
        (json!({ "key": "k" }), "`value` is missing"),
        (
            json!({ "key": "k", "value": 1, "tll": 3 }),
            "unknown field `tll`; expected `key`",
        ),
    ] {
        let fault = user.fault("store", arguments);
        assert!(fault.contains(part), "{fault}");
    }
    user.store("a", json!(long));
    let fault = user.fault("store", json!({ "key": "b", "value": long }));
    assert!(fault.contains("quota of 2.0KB exceeded"), "{fault}");
    user.store("b", json!(1));
    let fault = user.fault("store", json!({ "key": "c", "value": 1 }));
    assert!(fault.contains("quota of 2 entries exceeded"), "{fault}");
    user.store("b", json!(2));
    user.call("delete", json!({ "key": "a" }));
    user.store("c", json!(1));
    let stats = user.stats();
    assert_eq!(stats["total_entries"], 2);
    assert_eq!(stats["quota"]["entries"], 2);
    server.stop();
}

#[test]
fn prompts_contain_stored_entries() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    let messages = |name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        user.ask("prompts/get", params).result()["messages"].take()
    };
    let none = messages("memory_context", json!({}));
    assert_eq!(none[0]["content"]["text"], "Memory has no entries.");
    user.store("tea", json!("green"));
    user.store("coffee", json!({ "kind": "black" }));
    let found = messages("memory_search", json!({ "query": "green tea" }));
    assert_eq!(found.as_array().unwrap().len(), 2, "{found}");
    let resource = &found[1]["content"]["resource"];
    assert_eq!(resource["uri"], "plugin://memory/entries/tea");
    assert_eq!(resource["text"], "green");
    let newest = messages("memory_context", json!({}));
    assert_eq!(
        newest[1]["content"]["resource"]["uri"],
        "plugin://memory/entries/coffee"
    );
    let topic = messages("memory_context", json!({ "topic": "black" }));
    assert_eq!(
        topic[1]["content"]["resource"]["mimeType"],
        "application/json"
    );
    let missing = json!({ "name": "memory_search" });
    assert_eq!(
        user.ask("prompts/get", missing).json()["error"]["code"],
        -32602
    );
    server.stop();
}
