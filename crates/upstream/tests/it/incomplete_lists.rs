//! Incomplete lists are reported in the lists themselves and in the health of the source.

use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::Health;
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::{CursorStyle, Fixture, FixtureSettings};

use crate::support::{RemoteGateway, TIMEOUT};

/// A gateway over a server with defective lists.
async fn with_defects(change: impl FnOnce(&mut FixtureSettings)) -> (RemoteGateway, impl Drop) {
    let fixture = Fixture::legacy(NEWEST_LEGACY).with(change).start().await;
    (RemoteGateway::over(&fixture).await, fixture)
}

/// What a list reports as missing from it.
async fn missing(gateway: &RemoteGateway, method: &str) -> Value {
    let list = gateway.client().modern(method, json!({}));
    let result = list.send().await.message().await["result"].clone();
    assert!(result.is_object(), "{method}");
    result["_meta"]["dev.tidegate/missing"]["server"].clone()
}

/// The reason for the degraded health.
fn degraded(gateway: &RemoteGateway) -> String {
    match gateway.health() {
        Health::Warning(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_list_that_cannot_be_loaded_is_reported() {
    let (gateway, _fixture) = with_defects(|settings| {
        settings.rejections.reject = Some(-32000);
        settings.rejections.reject_method = "prompts/list".to_owned();
        settings.rejections.reject_times = u64::MAX;
        settings.invalid_list = vec!["resources".to_owned()];
    })
    .await;
    assert!(missing(&gateway, "tools/list").await.is_null());
    for (method, name) in [("prompts/list", "prompts"), ("resources/list", "resources")] {
        let reported = missing(&gateway, method).await.to_string();
        assert!(
            reported.contains(&format!("cannot load its {name}")),
            "{reported}"
        );
        assert!(degraded(&gateway).contains(&format!("cannot load its {name}")));
    }
}

#[tokio::test]
async fn a_list_that_is_cut_off_is_reported() {
    for (cursors, reason) in [
        (CursorStyle::Repeated, "a cursor was repeated"),
        (CursorStyle::Endless, "it has too many pages or entries"),
    ] {
        let (gateway, _fixture) = with_defects(|settings| {
            settings.page_size = Some(20);
            settings.cursors = cursors;
        })
        .await;
        let reported = missing(&gateway, "tools/list").await.to_string();
        assert!(reported.contains(reason), "{reported}");
        assert!(degraded(&gateway).contains(reason));
    }
}

#[tokio::test]
async fn malformed_entries_are_counted() {
    let (gateway, _fixture) = with_defects(|settings| settings.invalid_entries = true).await;
    for (method, name) in [("tools/list", "tools"), ("resources/list", "resources")] {
        let reported = missing(&gateway, method).await.to_string();
        assert!(reported.contains(&format!("3 of its {name}")), "{reported}");
        assert!(degraded(&gateway).contains(&format!("3 of its {name}")));
    }
}

/// SDKs of clients reject a whole list for one member of the wrong type.
#[tokio::test]
async fn members_of_the_wrong_type_are_removed_and_reported() {
    let (gateway, _fixture) = with_defects(|settings| settings.mistyped_members = true).await;
    for (method, list, entry) in [
        (
            "tools/list",
            "tools",
            json!({ "name": "mistyped", "inputSchema": { "type": "object" } }),
        ),
        (
            "prompts/list",
            "prompts",
            json!({ "name": "mistyped", "arguments": [] }),
        ),
        (
            "resources/list",
            "resources",
            json!({ "uri": "test://mistyped", "name": "mistyped" }),
        ),
        (
            "resources/templates/list",
            "resourceTemplates",
            json!({ "uriTemplate": "test://mistyped/{id}", "name": "mistyped" }),
        ),
    ] {
        let answer = gateway.client().modern(method, json!({})).send().await;
        let result = answer.message().await["result"].clone();
        let listed = result[list].as_array().unwrap();
        let members = entry.as_object().unwrap();
        let is_same = |listed: &Value| members.iter().all(|(key, value)| listed[key] == *value);
        let listed = listed.iter().find(|listed| is_same(listed));
        let listed = listed.unwrap_or_else(|| panic!("{entry} is not in {result}"));
        for removed in ["description", "size", "mimeType"] {
            assert!(listed[removed].is_null(), "{listed}");
        }
        let reported = missing(&gateway, method).await.to_string();
        let reason = format!("1 of its {list} have members of the wrong type");
        assert!(reported.contains(&reason), "{reported}");
        assert!(degraded(&gateway).contains(&reason));
    }
}

/// A list that fails once is loaded again soon, although neither a timer nor list_changed is due.
#[tokio::test]
async fn a_list_that_failed_once_is_retried_soon() {
    for no_list_changed in [true, false] {
        let (gateway, _fixture) = with_defects(|settings| {
            settings.no_list_changed = no_list_changed;
            settings.rejections.reject = Some(-32603);
            settings.rejections.reject_method = "prompts/list".to_owned();
            settings.rejections.reject_message = "database is locked".to_owned();
        })
        .await;
        assert!(
            degraded(&gateway).contains("cannot load its prompts: database is locked (-32603)"),
            "{}",
            degraded(&gateway)
        );
        let is_healthy = || async { gateway.health() == Health::Healthy };
        tokio::time::timeout(TIMEOUT, async {
            while !is_healthy().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .expect("the list is not loaded again");
        let list = gateway.client().modern("prompts/list", json!({}));
        let prompts = list.message().await["result"]["prompts"].clone();
        assert!(!prompts.as_array().unwrap().is_empty());
    }
}

/// A server that declares a list and does not know its method has no such entries. That is no
/// defect.
#[tokio::test]
async fn a_declared_list_without_a_method_is_empty() {
    for (method, member) in [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("tools/list", "tools"),
    ] {
        let (gateway, _fixture) = with_defects(|settings| {
            settings.rejections.reject = Some(-32601);
            settings.rejections.reject_method = method.to_owned();
            settings.rejections.reject_times = u64::MAX;
        })
        .await;
        assert_eq!(gateway.health(), Health::Healthy, "{method}");
        assert!(missing(&gateway, method).await.is_null(), "{method}");
        let list = gateway.client().modern(method, json!({}));
        let entries = list.message().await["result"][member].clone();
        assert_eq!(entries, json!([]), "{method}");
    }
}
