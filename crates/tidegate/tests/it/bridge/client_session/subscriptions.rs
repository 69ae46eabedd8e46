//! Subscriptions, log levels and lists of a client.
//!
//! Must not know: how messages are sent.

use serde_json::{Value, json};

use super::ClientSession;

impl ClientSession {
    /// Sets the log level.
    pub(crate) async fn log_level(&mut self, level: &str) {
        self.level = Some(level.to_owned());
        if !self.is_modern() {
            let set = self
                .request("logging/setLevel", json!({ "level": level }))
                .await;
            assert_eq!(set["result"], json!({}), "{set}");
        }
    }

    /// Subscribes to a resource.
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

    /// Subscribes to changes of the tool list, which a client with a session gets anyway.
    pub(crate) async fn listen_for_tools(&mut self) {
        if self.is_modern() {
            self.listen(json!({ "toolsListChanged": true })).await;
        }
    }

    async fn listen(&mut self, filter: Value) {
        self.start_request("subscriptions/listen", json!({ "notifications": filter }))
            .await;
        let acknowledged = self
            .notification("notifications/subscriptions/acknowledged")
            .await;
        assert_eq!(acknowledged["notifications"], filter, "{acknowledged}");
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
