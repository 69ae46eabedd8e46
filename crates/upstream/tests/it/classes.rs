//! Servers list by era and by what a client can do: through the gateway each client sees what it
//! would see at the server (design 4).

use serde_json::{Value, json};
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::Fixture;

use crate::support::{Behind, tools, wait_until};

/// What clients can do, from nothing to all of it.
fn abilities() -> [Value; 4] {
    [
        json!({}),
        json!({ "elicitation": {} }),
        json!({ "sampling": {}, "roots": { "listChanged": true } }),
        json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
    ]
}

#[tokio::test]
async fn a_client_sees_what_it_would_see_at_the_server() {
    let fixture = Fixture::new().with(|one| one.list_by_capabilities = true);
    let fixture = fixture.start().await;
    let behind = Behind::of(&fixture).await;
    let mut seen = Vec::new();
    for stateless in [true, false] {
        for capabilities in abilities() {
            let direct = tools(&fixture.client(), stateless, &capabilities).await;
            let through = tools(&behind.client(), stateless, &capabilities).await;
            assert_eq!(through, direct, "{stateless} {capabilities}");
            seen.push(through);
        }
    }
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 4, "the server does list by both");
}

#[tokio::test]
async fn a_server_that_lists_the_same_for_all_is_left_alone() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).start().await;
    let behind = Behind::of(&fixture).await;
    for capabilities in abilities() {
        let direct = tools(&fixture.client(), false, &capabilities).await;
        let through = tools(&behind.client(), false, &capabilities).await;
        assert_eq!(through, direct);
    }
    wait_until("only the gateway's own session is open", || async {
        fixture.sessions() == 1
    })
    .await;
}

#[tokio::test]
async fn a_change_reaches_every_class() {
    for fixture in [
        Fixture::legacy(NEWEST_LEGACY),
        Fixture::modern(),
        Fixture::new(),
    ] {
        let fixture = fixture.with(|one| one.list_by_capabilities = true);
        let fixture = fixture.start().await;
        let behind = Behind::of(&fixture).await;
        for (stateless, capabilities) in [(true, json!({})), (false, json!({ "sampling": {} }))] {
            tools(&behind.client(), stateless, &capabilities).await;
        }
        fixture.add_tool("brand_new");
        for (stateless, capabilities) in [(true, json!({})), (false, json!({ "sampling": {} }))] {
            let client = behind.client();
            wait_until("the new tool is listed", || async {
                let tools = tools(&client, stateless, &capabilities).await;
                tools.iter().any(|name| name == "brand_new")
            })
            .await;
        }
    }
}

/// More kinds of clients than anyone has see what everyone sees, and open nothing.
#[tokio::test]
async fn made_up_kinds_of_clients_are_bounded() {
    let fixture = Fixture::legacy(NEWEST_LEGACY).with(|one| one.list_by_capabilities = true);
    let fixture = fixture.start().await;
    let behind = Behind::of(&fixture).await;
    for number in 0..40 {
        let capabilities = json!({ "sampling": {}, "experimental": { format!("x{number}"): {} } });
        tools(&behind.client(), false, &capabilities).await;
    }
    assert!(fixture.sessions() <= 17, "{} sessions", fixture.sessions());
}
