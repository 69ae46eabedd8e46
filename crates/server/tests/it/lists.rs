//! Lists: pagination, names, and that every listed entry works.

use serde_json::{Value, json};
use tidegate_testkit::{Client, FakeSource, LEGACY, NEWEST_LEGACY, ScriptedTool, TestGateway};

use crate::support::{expect_error, expect_result, standard};

/// All entries of a list, and the number of its pages.
async fn list_all(client: &Client, method: &str, member: &str) -> (Vec<Value>, usize) {
    let (mut entries, mut pages, mut cursor) = (Vec::new(), 0, None);
    loop {
        let params = match &cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => json!({}),
        };
        let result = expect_result(client.modern(method, params).send().await).await;
        entries.extend(result[member].as_array().unwrap().iter().cloned());
        pages += 1;
        match result.get("nextCursor") {
            Some(next) => cursor = Some(next.as_str().unwrap().to_owned()),
            None => return (entries, pages),
        }
    }
}

#[tokio::test]
async fn pages_of_a_long_list_have_every_entry_once() {
    let gateway = TestGateway::with(FakeSource::empty().many_tools(95))
        .page_size(10)
        .start()
        .await;
    let (tools, pages) = list_all(&gateway.client(), "tools/list", "tools").await;
    assert_eq!(pages, 10);
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expected: Vec<_> = (0..95)
        .map(|number| format!("fake__tool-{number:03}"))
        .collect();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn a_last_page_that_is_full_has_no_cursor() {
    let gateway = TestGateway::with(FakeSource::empty().many_tools(20))
        .page_size(10)
        .start()
        .await;
    assert_eq!(
        list_all(&gateway.client(), "tools/list", "tools").await.1,
        2
    );
}

#[tokio::test]
async fn a_cursor_is_only_valid_for_its_list_and_survives_changes_of_it() {
    let source = FakeSource::empty().many_tools(20).resource("fake://a", "a");
    let gateway = TestGateway::with(source.clone())
        .page_size(10)
        .start()
        .await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    let first = expect_result(
        gateway
            .client()
            .modern("tools/list", json!({}))
            .send()
            .await,
    )
    .await;
    let cursor = &first["nextCursor"];
    for (method, cursor) in [
        ("resources/list", cursor),
        ("prompts/list", cursor),
        ("tools/list", &json!("")),
        ("tools/list", &json!("nonsense")),
        ("tools/list", &json!(7)),
    ] {
        let params = json!({ "cursor": cursor });
        expect_error(
            gateway.client().modern(method, params.clone()).send().await,
            200,
            -32602,
        )
        .await;
        expect_error(session.request(method, params).send().await, 200, -32602).await;
    }
    let _source = source.tool(ScriptedTool::new("new"));
    let params = json!({ "cursor": cursor });
    let second = gateway.client().modern("tools/list", params).send().await;
    let second = expect_result(second).await;
    let names = second["tools"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 10);
    assert_eq!(names[0], "fake__tool-010");
    assert!(second["nextCursor"].is_string());
}

/// The next page continues after the last entry of the previous one, wherever that is now.
#[tokio::test]
async fn no_entry_is_skipped_or_repeated_when_a_list_changes_between_two_pages() {
    let tools = |names: &[&str]| {
        let tools = names.iter().map(|name| ScriptedTool::new(name));
        tools.fold(FakeSource::empty(), FakeSource::tool)
    };
    let (first, second) = (tools(&["a", "b"]), tools(&["c", "d", "e", "f"]));
    let gateway = TestGateway::with(first.clone())
        .fake_source("second", second)
        .page_size(3)
        .start()
        .await;
    let page = |cursor: Value| {
        let client = gateway.client();
        async move {
            let params = match cursor.is_null() {
                true => json!({}),
                false => json!({ "cursor": cursor }),
            };
            let result = expect_result(client.modern("tools/list", params).send().await).await;
            let names = result["tools"].as_array().unwrap().iter();
            let names: Vec<_> = names
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect();
            (names, result["nextCursor"].clone())
        }
    };
    let (names, cursor) = page(Value::Null).await;
    assert_eq!(names, ["fake__a", "fake__b", "second__c"]);
    let _first = first.tool(ScriptedTool::new("new"));
    let (names, _) = page(cursor).await;
    assert_eq!(names, ["second__d", "second__e", "second__f"]);
}

#[tokio::test]
async fn everything_listed_works_in_every_revision() {
    let (gateway, _) = standard().await;
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let resources = session.exchange("resources/list", json!({})).await;
        for resource in resources["result"]["resources"].as_array().unwrap() {
            let read = session
                .exchange("resources/read", json!({ "uri": resource["uri"] }))
                .await;
            assert_eq!(
                read["result"]["contents"][0]["uri"], resource["uri"],
                "{revision}"
            );
        }
        let prompts = session.exchange("prompts/list", json!({})).await;
        for prompt in prompts["result"]["prompts"].as_array().unwrap() {
            let got = session
                .exchange("prompts/get", json!({ "name": prompt["name"] }))
                .await;
            assert!(got["result"]["messages"].is_array(), "{got}");
            let reference = json!({ "type": "ref/prompt", "name": prompt["name"] });
            let params = json!({ "ref": reference, "argument": { "name": "a", "value": "" } });
            let completed = session.exchange("completion/complete", params).await;
            assert_eq!(completed["result"]["completion"]["total"], 2);
        }
        let templates = session
            .exchange("resources/templates/list", json!({}))
            .await;
        for template in templates["result"]["resourceTemplates"].as_array().unwrap() {
            let reference = json!({ "type": "ref/resource", "uri": template["uriTemplate"] });
            let params = json!({ "ref": reference, "argument": { "name": "id", "value": "" } });
            let completed = session.exchange("completion/complete", params).await;
            assert!(
                completed["result"]["completion"]["values"].is_array(),
                "{completed}"
            );
        }
    }
}

#[tokio::test]
async fn an_unknown_resource_has_the_error_code_of_the_era() {
    let (gateway, _) = standard().await;
    let params = json!({ "uri": "fake://nothing" });
    let modern = gateway
        .client()
        .modern("resources/read", params.clone())
        .send()
        .await;
    let modern = expect_error(modern, 200, -32602).await;
    assert_eq!(modern["error"]["data"]["uri"], "fake://nothing");
    for revision in LEGACY {
        let session = gateway.client().initialize(revision).await;
        let legacy = expect_error(
            session
                .request("resources/read", params.clone())
                .send()
                .await,
            200,
            -32002,
        )
        .await;
        assert_eq!(legacy["error"]["data"]["uri"], "fake://nothing");
    }
}

#[tokio::test]
async fn lists_have_the_order_of_the_sources() {
    let gateway = TestGateway::with(FakeSource::empty().many_tools(2))
        .fake_source("another", FakeSource::empty().many_tools(2))
        .start()
        .await;
    let (tools, _) = list_all(&gateway.client(), "tools/list", "tools").await;
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expected = [
        "fake__tool-000",
        "fake__tool-001",
        "another__tool-000",
        "another__tool-001",
    ];
    assert_eq!(names, expected);
    let ambiguous = gateway.client().modern_call("tool-000", json!({}));
    expect_error(ambiguous.send().await, 200, -32602).await;
    for name in ["another__tool-000", "another.tool-000"] {
        expect_result(gateway.client().modern_call(name, json!({})).send().await).await;
    }
}

/// Clients send null for no arguments.
#[tokio::test]
async fn null_arguments_are_no_arguments() {
    let (gateway, _) = standard().await;
    let session = gateway.client().initialize(NEWEST_LEGACY).await;
    for (method, name) in [("tools/call", "fake__echo"), ("prompts/get", "fake/hello")] {
        let params = json!({ "name": name, "arguments": null });
        let modern = gateway.client().modern(method, params.clone()).send().await;
        expect_result(modern).await;
        expect_result(session.request(method, params).send().await).await;
    }
}

#[tokio::test]
async fn an_endpoint_may_end_with_a_slash() {
    let (gateway, _) = standard().await;
    for (with_slash, without) in [("/mcp/", "/mcp"), ("/mcp/fake/", "/mcp/fake")] {
        let mut lists = Vec::new();
        for path in [with_slash, without] {
            let client = gateway.client().at(path);
            let list = client.modern("tools/list", json!({})).send().await;
            lists.push(expect_result(list).await["tools"].clone());
        }
        assert_eq!(lists[0], lists[1]);
    }
}
