//! The `memory` source as users and clients see it.

mod confirmation;
mod crash_safety;
mod database_errors;
mod full_disk;
mod peers;
mod principals;
mod processes;
mod tools;
mod transfer;
mod visibility;

use serde_json::{Value, json};

use crate::support::messages::Modern;
use crate::support::{Answer, Post, Server};

pub(crate) const STATS: &str = "plugin://memory/memory_stats";

/// The endpoint of the source, with native names.
const PATH: &str = "/mcp/memory";

/// A user of the source, with or without a key.
struct User<'a> {
    server: &'a Server,
    key: Option<&'a str>,
}

impl<'a> User<'a> {
    fn of(server: &'a Server) -> Self {
        Self { server, key: None }
    }

    fn post(&self) -> Post {
        let post = self.server.post().at(PATH);
        match self.key {
            Some(key) => post.header("Authorization", &format!("Bearer {key}")),
            None => post,
        }
    }

    fn ask(&self, method: &str, params: Value) -> Answer {
        Modern::new(method, params).post(self.post())
    }

    fn tool(&self, name: &str, arguments: Value) -> Answer {
        let mut params = json!({ "name": name });
        params["arguments"] = arguments;
        self.ask("tools/call", params)
    }

    /// The structured content of a successful tool call.
    #[track_caller]
    fn call(&self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments).result();
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].take()
    }

    /// The text of a tool error.
    #[track_caller]
    fn fault(&self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments).result();
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn store(&self, key: &str, value: Value) {
        let mut arguments = json!({ "key": key });
        arguments["value"] = value;
        self.call("store", arguments);
    }

    /// The keys of `list` with these arguments.
    #[track_caller]
    fn keys(&self, arguments: Value) -> Vec<String> {
        keys(&self.call("list", arguments)["entries"])
    }

    #[track_caller]
    fn found(&self, query: &str) -> Vec<String> {
        keys(&self.call("search", json!({ "query": query }))["matches"])
    }

    /// The content of a resource.
    #[track_caller]
    fn read(&self, uri: &str) -> Value {
        let mut result = self.ask("resources/read", json!({ "uri": uri })).result();
        result["contents"][0].take()
    }

    #[track_caller]
    fn stats(&self) -> Value {
        let item = self.read(STATS);
        serde_json::from_str(item["text"].as_str().unwrap()).unwrap()
    }

    #[track_caller]
    fn completed(&self, template: &str, name: &str, value: &str, context: Value) -> Vec<String> {
        let mut params = json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": name, "value": value },
        });
        params["context"]["arguments"] = context;
        let result = self.ask("completion/complete", params).result();
        let values = result["completion"]["values"].as_array().unwrap();
        values
            .iter()
            .map(|value| value.as_str().unwrap().to_owned())
            .collect()
    }
}

fn keys(entries: &Value) -> Vec<String> {
    let entries = entries.as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["key"].as_str().unwrap().to_owned())
        .collect()
}
