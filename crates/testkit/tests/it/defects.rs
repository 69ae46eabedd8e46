//! The defects of real servers, each on demand.

use serde_json::{Value, json};
use tidegate_testkit::fixture::{Fixture, FixtureSettings, ProbeResponse};
use tidegate_testkit::{Client, MODERN, NEWEST_LEGACY};

use crate::support::names;

/// The response of a fixture with a defect to a modern request.
async fn with(defect: impl FnOnce(&mut FixtureSettings), method: &str, params: Value) -> Value {
    let running = Fixture::new().with(defect).start().await;
    running.client().modern(method, params).message().await
}

#[tokio::test]
async fn default_fixture_has_no_defects() {
    let list = with(|_| {}, "tools/list", json!({})).await;
    let result = &list["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(1000), &json!("public"))
    );
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "fixture");
    let discovered = with(|_| {}, "server/discover", json!({})).await;
    assert!(discovered["result"]["capabilities"]["completions"].is_object());
}

#[tokio::test]
async fn results_can_lack_type_and_cache_hints() {
    let list = with(|s| s.no_result_type = true, "tools/list", json!({})).await;
    assert!(list["result"].get("resultType").is_none() && list["result"].get("ttlMs").is_some());
    let list = with(|s| s.no_cache_hints = true, "tools/list", json!({})).await;
    assert!(list["result"].get("resultType").is_some() && list["result"].get("ttlMs").is_none());
    let list = with(|s| s.private = true, "tools/list", json!({})).await;
    assert_eq!(list["result"]["cacheScope"], "private");
}

#[tokio::test]
async fn completion_can_work_without_being_declared() {
    let hide = |settings: &mut FixtureSettings| settings.no_completions_capability = true;
    let discovered = with(hide, "server/discover", json!({})).await;
    assert!(
        discovered["result"]["capabilities"]
            .get("completions")
            .is_none()
    );
    let subject = json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" });
    let argument = json!({ "name": "arg2", "value": "" });
    let context = json!({ "arguments": { "arg1": "x" } });
    let params = json!({ "ref": subject, "argument": argument, "context": context });
    let completed = with(hide, "completion/complete", params).await;
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!(["after x"])
    );
}

#[tokio::test]
async fn tools_can_work_without_being_listed() {
    let fixture = Fixture::new().with(|settings| settings.hide.push("echo".to_owned()));
    let running = fixture.start().await;
    let client = running.client();
    let list = client.modern("tools/list", json!({})).message().await;
    let listed = names(&list["result"]["tools"]);
    for (tool, status) in [
        ("echo", true),
        ("test_trigger_tool_change", true),
        ("none", false),
    ] {
        assert!(!listed.iter().any(|name| name == tool), "{tool}");
        let answer = client.modern_call(tool, json!({})).message().await;
        assert_eq!(answer.get("result").is_some(), status, "{answer}");
    }
}

#[tokio::test]
async fn foreign_uris_can_be_claimed() {
    let uri = "resource://system/health";
    let running = Fixture::new()
        .with(|settings| settings.claim.push(uri.to_owned()))
        .start()
        .await;
    let client = running.client();
    let list = client.modern("resources/list", json!({})).message().await;
    assert!(list.to_string().contains(uri), "{list}");
    let read = client.modern("resources/read", json!({ "uri": uri }));
    assert_eq!(read.message().await["result"]["contents"][0]["uri"], uri);
}

#[tokio::test]
async fn subscription_ids_can_change_their_type() {
    let fixture = Fixture::new().with(|settings| settings.string_subscription_ids = true);
    let running = fixture.start().await;
    let ack = running
        .client()
        .listen("7", json!({}))
        .await
        .message()
        .await;
    assert_eq!(
        ack["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        "7"
    );
}

#[tokio::test]
async fn progress_can_have_an_unknown_token() {
    let fixture = Fixture::new().with(|settings| settings.unknown_progress_token = true);
    let running = fixture.start().await;
    let call = running.client().modern_call("echo", json!({}));
    let messages = call.send().await.messages().await;
    assert_eq!(messages[0]["params"]["progressToken"], "token-abc");
    assert_eq!(messages.len(), 2);
}

fn discover(client: &Client) -> tidegate_testkit::Request {
    client.modern("server/discover", json!({})).request()
}

#[tokio::test]
async fn legacy_server_responds_to_a_modern_request_as_configured() {
    let probed = |probe| {
        let fixture = Fixture::legacy(NEWEST_LEGACY);
        fixture
            .with(|settings| settings.probe_response = probe)
            .start()
    };
    let running = probed(None).await;
    let answer = discover(&running.client()).send().await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json().await["error"]["code"], -32000);
    let running = probed(Some(ProbeResponse::MethodNotFound)).await;
    let answer = discover(&running.client()).send().await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json().await["error"]["code"], -32601);
    let running = probed(Some(ProbeResponse::HtmlPage)).await;
    let answer = discover(&running.client()).send().await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (404, Some("text/html"))
    );
    let running = probed(Some(ProbeResponse::Exit)).await;
    let answer = discover(&running.client())
        .send_only()
        .await
        .try_response()
        .await;
    assert!(answer.is_none());
}

#[tokio::test]
async fn valid_requests_can_be_rejected() {
    let reject_twice = |settings: &mut FixtureSettings| {
        settings.rejections.reject = Some(-32022);
        settings.rejections.reject_times = 2;
    };
    let running = Fixture::modern().with(reject_twice).start().await;
    let discover = running.client().modern("server/discover", json!({}));
    for _ in 0..2 {
        let answer = discover.send().await;
        assert_eq!(answer.status, 400);
        let refused = answer.json().await;
        assert_eq!(refused["error"]["data"]["supported"], json!([MODERN]));
        assert_eq!(refused["id"], 1);
    }
    assert!(discover.message().await["result"].is_object());
    let reject_without_id = |settings: &mut FixtureSettings| {
        settings.rejections.reject = Some(-32020);
        settings.rejections.reject_without_id = true;
    };
    let refused = with(reject_without_id, "server/discover", json!({})).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["id"]),
        (&json!(-32020), &json!(null))
    );
}

#[tokio::test]
async fn bearer_key_can_be_required() {
    let require_key = |settings: &mut FixtureSettings| settings.key = Some("k".to_owned());
    let running = Fixture::new().with(require_key).start().await;
    let status =
        |client: Client| async move { client.modern("tools/list", json!({})).send().await.status };
    assert_eq!(status(running.client()).await, 401);
    assert_eq!(status(running.client().with_key("other")).await, 403);
    assert_eq!(status(running.client().with_key("k")).await, 200);
}

#[tokio::test]
async fn header_annotations_can_be_invalid() {
    let annotate = |settings: &mut FixtureSettings| settings.invalid_header_annotations = true;
    let list = with(annotate, "tools/list", json!({})).await;
    let names = names(&list["result"]["tools"]);
    for wrong in ["wrong_name", "wrong_type", "wrong_place"] {
        assert!(names.iter().any(|name| name == wrong), "{names:?}");
    }
}
