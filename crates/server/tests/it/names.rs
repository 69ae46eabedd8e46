//! Names and URIs of several sources at one endpoint (design 6): every entry is reachable, and names
//! in responses lead back to their source.

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tidegate_core::Naming;
use tidegate_testkit::{Client, FakeSource, HttpResponse, ScriptedTool, TestGateway};

use crate::support::expect_result;

const SHARED: &str = "note://shared";

/// A source with the same tool, prompt, resource and template as every other such source.
fn twin(name: &str) -> FakeSource {
    let link = json!({ "content": [
        { "type": "resource_link", "uri": SHARED, "name": "shared" },
        { "type": "resource", "resource": { "uri": SHARED, "text": name } },
        { "type": "resource_link", "uri": "https://example.com/", "name": "elsewhere" },
        { "type": "text", "text": SHARED },
    ]});
    FakeSource::empty()
        .tool(ScriptedTool::new("find").returns(&link.to_string()))
        .prompt("greet")
        .resource(SHARED, name)
        .template("note://of/{name}")
}

async fn twins(first: &str, second: &str) -> TestGateway {
    TestGateway::with(FakeSource::empty())
        .fake_source(first, twin(first))
        .fake_source(second, twin(second))
        .start()
        .await
}

async fn list(client: &Client, method: &str, member: &str, key: &str) -> Vec<String> {
    let result = expect_result(client.modern(method, json!({})).send().await).await;
    let entries = result[member].as_array().unwrap().iter();
    entries
        .map(|entry| entry[key].as_str().unwrap().to_owned())
        .collect()
}

async fn read(client: &Client, uri: &str) -> Value {
    let read = client.modern("resources/read", json!({ "uri": uri }));
    expect_result(read.send().await).await["contents"][0].clone()
}

/// Asserts that a request has invalid parameters. Returns the error.
async fn expect_invalid_params(response: HttpResponse) -> Value {
    crate::support::expect_error(response, 200, -32602).await["error"].clone()
}

async fn call(client: &Client, tool: &str) -> Value {
    expect_result(client.modern_call(tool, json!({})).send().await).await
}

#[tokio::test]
async fn the_first_source_in_the_configuration_keeps_a_shared_name() {
    for (first, second) in [("ada", "bob"), ("bob", "ada")] {
        let gateway = twins(first, second).await;
        let client = gateway.client();
        let lost = format!("gateway://{second}/{SHARED}");
        let uris = list(&client, "resources/list", "resources", "uri").await;
        assert_eq!(uris, [SHARED, &lost]);
        let templates = "resources/templates/list";
        let templates = list(&client, templates, "resourceTemplates", "uriTemplate").await;
        let expected = format!("gateway://{second}/note://of/{{name}}");
        assert_eq!(templates[..2], ["note://of/{name}".to_owned(), expected]);
        let tools = list(&client, "tools/list", "tools", "name").await;
        assert_eq!(tools, [format!("{first}__find"), format!("{second}__find")]);
        let prompts = list(&client, "prompts/list", "prompts", "name").await;
        assert_eq!(
            prompts,
            [format!("{first}/greet"), format!("{second}/greet")]
        );

        assert_eq!(read(&client, SHARED).await["text"], first);
        let loser = read(&client, &lost).await;
        assert_eq!(
            (&loser["text"], &loser["uri"]),
            (&json!(second), &json!(lost))
        );
        let qualified = format!("gateway://{first}/{SHARED}");
        assert_eq!(read(&client, &qualified).await["uri"], qualified);
    }
}

/// Design 6.8: links and embedded resources of a source lead to that source.
#[tokio::test]
async fn uris_in_responses_lead_back_to_their_source() {
    let gateway = twins("ada", "bob").await;
    let client = gateway.client();
    for (tool, expected) in [
        ("ada__find", SHARED.to_owned()),
        ("bob__find", format!("gateway://bob/{SHARED}")),
    ] {
        let content = call(&client, tool).await["content"].clone();
        assert_eq!(content[0]["uri"], expected);
        assert_eq!(content[1]["resource"]["uri"], expected);
        assert_eq!(
            content[2]["uri"], "https://example.com/",
            "unknown URIs are unchanged"
        );
        assert_eq!(content[3]["text"], SHARED, "text is unchanged");
        let text = read(&client, &expected).await["text"].clone();
        assert_eq!(text, content[1]["resource"]["text"]);
    }
    let alone = client.at("/mcp/bob");
    let content = call(&alone, "find").await["content"].clone();
    assert_eq!(
        content[0]["uri"], SHARED,
        "the endpoint of one source uses native URIs"
    );
    assert_eq!(read(&alone, SHARED).await["text"], "bob");
}

#[tokio::test]
async fn an_error_contains_the_requested_uri() {
    let gateway = twins("ada", "bob").await;
    let client = gateway.client();
    let uri = "gateway://bob/note://nowhere";
    let error = expect_invalid_params(
        client
            .modern("resources/read", json!({ "uri": uri }))
            .send()
            .await,
    )
    .await;
    assert_eq!(error["data"]["uri"], uri, "{error}");
}

#[tokio::test]
async fn a_tool_can_be_called_by_several_names_unless_ambiguous() {
    let gateway = twins("ada", "bob").await;
    let client = gateway.client();
    for name in ["bob__find", "bob.find"] {
        assert!(call(&client, name).await["content"].is_array());
    }
    let ambiguous = client.modern_call("find", json!({})).send().await;
    assert!(
        expect_invalid_params(ambiguous).await["message"]
            .as_str()
            .unwrap()
            .contains("`find`")
    );
}

#[tokio::test]
async fn with_native_naming_only_conflicting_names_are_prefixed() {
    let gateway = TestGateway::with(FakeSource::empty())
        .fake_source("ada", twin("ada").prompt("only"))
        .fake_source("bob", twin("bob").tool(ScriptedTool::new("alone")))
        .naming(Naming::Native)
        .start()
        .await;
    let client = gateway.client();
    let tools = list(&client, "tools/list", "tools", "name").await;
    assert_eq!(tools, ["find", "bob__find", "alone"]);
    let prompts = list(&client, "prompts/list", "prompts", "name").await;
    assert_eq!(prompts, ["greet", "only", "bob/greet"]);
    let first = call(&client, "find").await;
    assert_eq!(
        first,
        call(&client, "ada__find").await,
        "the prefixed name always works"
    );
    assert_ne!(first, call(&client, "bob__find").await);
}

/// A tool that names this page, as hosts of different drafts read it.
fn tool_with_page(page: &str) -> ScriptedTool {
    let definition = json!({
        "name": "show", "description": "Shows.", "inputSchema": { "type": "object" },
        "_meta": {
            "ui": { "resourceUri": page },
            "ui/resourceUri": page,
            "openai/outputTemplate": page,
        },
    });
    ScriptedTool::new("show").with_definition(&definition.to_string())
}

/// The pages that the listed tools name.
async fn pages(client: &Client) -> Vec<String> {
    let tools = expect_result(client.modern("tools/list", json!({})).send().await).await;
    let tools = tools["tools"].as_array().unwrap().iter();
    let pages = tools.map(|tool| {
        let meta = &tool["_meta"];
        let page = &meta["ui"]["resourceUri"];
        assert_eq!(meta["ui/resourceUri"], *page);
        assert_eq!(meta["openai/outputTemplate"], *page);
        page.as_str().unwrap().to_owned()
    });
    pages.collect()
}

/// Design 6.4: a page that two sources have leads to its source by its first segment.
#[tokio::test]
async fn equal_pages_of_two_sources_lead_to_their_sources() {
    let page = "ui://view/page";
    let source = |text: &str| {
        let source = FakeSource::empty().tool(tool_with_page(page));
        source.resource(page, text)
    };
    let gateway = TestGateway::with(FakeSource::empty())
        .fake_source("ada", source("ada"))
        .fake_source("bob", source("bob"))
        .start()
        .await;
    let client = gateway.client();
    let uris = list(&client, "resources/list", "resources", "uri").await;
    assert_eq!(uris, ["ui://view/page", "ui://bob/view/page"]);
    assert_eq!(pages(&client).await, uris);
    for (uri, source) in uris.iter().zip(["ada", "bob"]) {
        let contents = read(&client, uri).await;
        assert_eq!(
            (&contents["uri"], &contents["text"]),
            (&json!(uri), &json!(source))
        );
        let prefixed = format!("ui://{source}/view/page");
        assert_eq!(read(&client, &prefixed).await["text"], source);
    }
    let alone = client.at("/mcp/bob");
    assert_eq!(read(&alone, page).await["uri"], page);
}

#[tokio::test]
async fn a_page_that_one_source_has_keeps_its_uri() {
    for page in ["ui://view/page", "ui://ada/page", "ui://page"] {
        for is_listed in [true, false] {
            let ada = FakeSource::empty().tool(tool_with_page(page));
            let ada = match is_listed {
                true => ada.resource(page, "ada"),
                false => ada,
            };
            let bob = FakeSource::empty().resource("ui://other/page", "bob");
            let gateway = TestGateway::with(FakeSource::empty())
                .fake_source("bob", bob)
                .fake_source("ada", ada)
                .start()
                .await;
            let client = gateway.client();
            assert_eq!(pages(&client).await, [page], "listed: {is_listed}");
            let asked = format!("gateway://gateway/explain/{page}");
            let explained = read(&client, &asked).await;
            let explained: Value =
                serde_json::from_str(explained["text"].as_str().unwrap()).unwrap();
            let (source, native) = (&explained["source"], &explained["uriThere"]);
            assert_eq!(
                (source, native),
                (&json!("ada"), &json!(page)),
                "{explained}"
            );
        }
    }
}

/// Two apps whose tools have the same names, as hosts call them: by their listed names, or by the names
/// in the app together with its page.
#[tokio::test]
async fn a_thousand_interleaved_calls_of_two_apps_reach_their_own_servers() {
    let page = "ui://view/page";
    let source = |name: &str| {
        let result = json!({ "content": [{ "type": "text", "text": name }] });
        let tool = tool_with_page(page).returns(&result.to_string());
        FakeSource::empty().tool(tool).resource(page, name)
    };
    let gateway = TestGateway::with(FakeSource::empty())
        .fake_source("ada", source("ada"))
        .fake_source("bob", source("bob"))
        .start()
        .await;
    let client = gateway.client();
    let uris = pages(&client).await;
    let call = async |number: usize| {
        let (source, uri) = [("ada", &uris[0]), ("bob", &uris[1])][number % 2];
        let params = match number % 4 {
            0 | 1 => json!({ "name": format!("{source}__show"), "arguments": {} }),
            _ => json!({
                "name": "show", "arguments": {}, "_meta": { "ui": { "resourceUri": uri } },
            }),
        };
        let answer = client.modern("tools/call", params).message().await;
        assert_eq!(
            answer["result"]["content"][0]["text"], source,
            "{number}: {answer}"
        );
    };
    let calls = (0..1_000).map(call);
    stream::iter(calls)
        .buffer_unordered(16)
        .collect::<()>()
        .await;
    // Without its page, nothing tells which app calls: the call is rejected, never guessed.
    let params = json!({ "name": "show", "arguments": {} });
    let ambiguous = client.modern("tools/call", params).send().await;
    let error = expect_invalid_params(ambiguous).await;
    assert!(
        error["message"].as_str().unwrap().contains("`bob__show`"),
        "{error}"
    );
}

#[tokio::test]
async fn tools_for_apps_are_listed_only_to_clients_with_apps() {
    let definition = json!({
        "name": "refresh", "inputSchema": { "type": "object" },
        "_meta": { "ui": { "visibility": ["app"] } },
    });
    let tool = ScriptedTool::new("refresh").with_definition(&definition.to_string());
    let gateway = TestGateway::with(FakeSource::standard().tool(tool))
        .start()
        .await;
    let client = gateway.client();
    let apps = json!({ "extensions": { "io.modelcontextprotocol/ui": {} } });
    let is_listed = async |client: &Client, capabilities: &Value| {
        let request = client.modern("tools/list", json!({}));
        let key = "io.modelcontextprotocol/clientCapabilities";
        let listed = request.meta(key, capabilities.clone()).message().await;
        listed.to_string().contains("refresh")
    };
    assert!(is_listed(&client, &apps).await);
    assert!(!is_listed(&client, &json!({})).await);
    // The endpoint of one source lists what its source lists.
    assert!(is_listed(&client.at("/mcp/fake"), &json!({})).await);
    let params = json!({ "name": "fake__refresh", "arguments": {} });
    let called = client.modern("tools/call", params).message().await;
    assert!(called["result"].is_object(), "{called}");
}

/// Design 6.6: an unlisted URI goes to the only source with URIs of its scheme.
#[tokio::test]
async fn an_unlisted_uri_is_routed_by_its_scheme() {
    let gateway = TestGateway::with(FakeSource::empty().resource("fake://known", "k"))
        .fake_source("other", FakeSource::empty().resource("other://known", "o"))
        .start()
        .await;
    let client = gateway.client();
    let explained = read(&client, "gateway://gateway/explain/fake://unlisted").await;
    let explained: Value = serde_json::from_str(explained["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&explained["source"], &explained["rule"]),
        (&json!("fake"), &json!("scheme"))
    );
    let read = client.modern("resources/read", json!({ "uri": "fake://unlisted" }));
    assert_eq!(
        expect_invalid_params(read.send().await).await["data"]["uri"],
        "fake://unlisted"
    );
}

#[tokio::test]
async fn explains_how_a_uri_is_routed() {
    let gateway = twins("ada", "bob").await;
    let client = gateway.client();
    let explain = async |uri: &str| {
        let asked = format!("gateway://gateway/explain/{uri}");
        let contents = read(&client, &asked).await;
        assert_eq!(contents["uri"], asked);
        serde_json::from_str::<Value>(contents["text"].as_str().unwrap()).unwrap()
    };
    let listed = explain(SHARED).await;
    assert_eq!(
        (&listed["source"], &listed["rule"]),
        (&json!("ada"), &json!("listed"))
    );
    let shadowed = &listed["shadowed"][0];
    assert_eq!(shadowed["source"], "bob");
    assert_eq!(shadowed["reachedAs"], format!("gateway://bob/{SHARED}"));
    let expanded = explain("note://of/eve").await;
    assert_eq!(
        (&expanded["source"], &expanded["rule"]),
        (&json!("ada"), &json!("template"))
    );
    let qualified = explain("gateway://bob/note://x").await;
    assert_eq!(
        (&qualified["source"], &qualified["rule"]),
        (&json!("bob"), &json!("qualified"))
    );
    assert_eq!(explain("nobody://x").await["found"], false);
}

#[tokio::test]
async fn a_cursor_is_only_valid_for_its_principal() {
    let gateway = TestGateway::with(FakeSource::empty().many_tools(20))
        .keys([("ada", "ada-key"), ("bob", "bob-key")])
        .page_size(10)
        .start()
        .await;
    let (ada, bob) = (
        gateway.client().with_key("ada-key"),
        gateway.client().with_key("bob-key"),
    );
    let first = expect_result(ada.modern("tools/list", json!({})).send().await).await;
    let cursor = json!({ "cursor": first["nextCursor"] });
    assert!(
        expect_invalid_params(bob.modern("tools/list", cursor.clone()).send().await).await["message"]
            .as_str()
            .unwrap()
            .contains("cursor")
    );
    let second = expect_result(ada.modern("tools/list", cursor).send().await).await;
    assert_eq!(second["tools"].as_array().unwrap().len(), 10);
}
