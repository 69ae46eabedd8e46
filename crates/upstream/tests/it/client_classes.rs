//! Servers list by the era and the capabilities of a client: through the gateway each client sees the
//! lists that it would see at the server.

use serde_json::{Value, json};
use tidegate_testkit::fixture::Fixture;
use tidegate_testkit::{NEWEST_LEGACY, wait_until};

use crate::support::{RemoteGateway, tools};

/// Client capabilities, from none to all.
fn capability_sets() -> [Value; 4] {
    [
        json!({}),
        json!({ "elicitation": {} }),
        json!({ "sampling": {}, "roots": { "listChanged": true } }),
        json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
    ]
}

#[tokio::test]
async fn a_client_sees_the_lists_that_the_server_has_for_it() {
    let fixture = Fixture::new().with(|settings| settings.list_by_capabilities = true);
    let fixture = fixture.start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    let mut lists = Vec::new();
    for stateless in [true, false] {
        for capabilities in capability_sets() {
            let direct = tools(&fixture.client(), stateless, &capabilities).await;
            // A client with new capabilities does not wait: the lists of its class follow.
            let what = format!("the lists of {stateless} {capabilities}");
            wait_until(&what, || async {
                tools(&gateway.client(), stateless, &capabilities).await == direct
            })
            .await;
            lists.push(direct);
        }
    }
    lists.sort();
    lists.dedup();
    assert!(lists.len() > 4, "the server lists by both");
}

#[tokio::test]
async fn no_sessions_are_kept_at_a_server_with_the_same_lists_for_all() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    for capabilities in capability_sets() {
        let direct = tools(&fixture.client(), false, &capabilities).await;
        let through = tools(&gateway.client(), false, &capabilities).await;
        assert_eq!(through, direct);
    }
    wait_until("only the gateway's own session is open", || async {
        fixture.sessions() == 1
    })
    .await;
}

#[tokio::test]
async fn a_list_change_reaches_every_class() {
    for fixture in [
        Fixture::legacy(NEWEST_LEGACY),
        Fixture::modern(),
        Fixture::new(),
    ] {
        let fixture = fixture.with(|settings| settings.list_by_capabilities = true);
        let fixture = fixture.start().await;
        let gateway = RemoteGateway::over(&fixture).await;
        for (stateless, capabilities) in [(true, json!({})), (false, json!({ "sampling": {} }))] {
            tools(&gateway.client(), stateless, &capabilities).await;
        }
        fixture.add_tool("brand_new");
        for (stateless, capabilities) in [(true, json!({})), (false, json!({ "sampling": {} }))] {
            let client = gateway.client();
            wait_until("the new tool is listed", || async {
                let tools = tools(&client, stateless, &capabilities).await;
                tools.iter().any(|name| name == "brand_new")
            })
            .await;
        }
    }
}

/// Clients of further classes see the lists of everyone, and open no sessions.
#[tokio::test]
async fn the_number_of_client_classes_is_limited() {
    let fixture =
        Fixture::legacy(NEWEST_LEGACY).with(|settings| settings.list_by_capabilities = true);
    let fixture = fixture.start().await;
    let gateway = RemoteGateway::over(&fixture).await;
    for number in 0..40 {
        let capabilities = json!({ "sampling": {}, "experimental": { format!("x{number}"): {} } });
        tools(&gateway.client(), false, &capabilities).await;
    }
    assert!(fixture.sessions() <= 17, "{} sessions", fixture.sessions());
}
