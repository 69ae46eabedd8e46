//! What a client wants to hear, and to know, of its server.
//!
//! Must not know: how messages travel.

use serde_json::{Value, json};

use super::Peer;

impl Peer {
    /// Says from which level on it wants to hear of what is logged.
    pub(crate) async fn log_level(&mut self, level: &str) {
        self.level = Some(level.to_owned());
        if !self.is_modern() {
            let set = self
                .request("logging/setLevel", json!({ "level": level }))
                .await;
            assert_eq!(set["result"], json!({}), "{set}");
        }
    }

    /// Wants to hear of the changes of a resource.
    pub(crate) async fn watch(&mut self, uri: &str) {
        if self.is_modern() {
            self.listen(json!({ "resourceSubscriptions": [uri] })).await;
        } else {
            let done = self
                .request("resources/subscribe", json!({ "uri": uri }))
                .await;
            assert_eq!(done["result"], json!({}), "{done}");
        }
    }

    /// Wants to hear of changes of the list of tools, which a client with a session does anyway.
    pub(crate) async fn listen_for_tools(&mut self) {
        if self.is_modern() {
            self.listen(json!({ "toolsListChanged": true })).await;
        }
    }

    async fn listen(&mut self, wanted: Value) {
        self.begin("subscriptions/listen", json!({ "notifications": wanted }))
            .await;
        let agreed = self.hear("notifications/subscriptions/acknowledged").await;
        assert_eq!(agreed["notifications"], wanted, "{agreed}");
    }

    /// The names of all tools.
    pub(crate) async fn tools(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.request("tools/list", params).await;
            let tools = page["result"]["tools"].as_array().expect("a list");
            names.extend(
                tools
                    .iter()
                    .map(|tool| tool["name"].as_str().unwrap().to_owned()),
            );
            match page["result"].get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return names,
            }
        }
    }
}
