//! Two servers with identical names: everything is reachable, nothing is hidden, and URIs in
//! responses of the second lead back to it, in either configuration order.

use serde_json::{Value, json};

use super::client::{Client, ClientCapabilities, Era};
use super::deployment::STARTUP_WAIT;
use super::program::Program;
use super::server_kind::ServerKind;
use super::transport::Http;
use crate::support::tools::Tools;
use crate::support::{Home, Server};

const DOCUMENTS: &str = "demo://resource/static/";
const DOCUMENT: &str = "demo://resource/static/document/features.md";
const TEXT: &str = "demo://resource/dynamic/text/{resourceId}";

/// A gateway with the same server twice, each with its name in the environment.
fn gateway(order: [&str; 2]) -> Server {
    let home = Home::new();
    let sources = order.map(|name| {
        let mut source = Program::of(ServerKind::Everything, &home, &Tools::find()).source();
        source["env"]["WHO"] = name.into();
        format!("  {name}: {source}\n")
    });
    let config = format!("{STARTUP_WAIT}sources:\n{}", sources.concat());
    home.write("tidegate.yaml", &config);
    Server::start_in(home, &[])
}

/// A client of a gateway with the two servers in one order.
struct NameCheck {
    client: Client,
    first: &'static str,
    second: &'static str,
}

impl NameCheck {
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.client.request(method, params).answer;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    fn list(&mut self, method: &str, member: &str, key: &str) -> Vec<String> {
        let list = self.ask(method, json!({}));
        assert!(list["nextCursor"].is_null(), "{list}");
        let entries = list[member].as_array().unwrap().iter();
        let entries = entries.map(|entry| entry[key].as_str().unwrap().to_owned());
        entries.collect()
    }

    fn call(&mut self, source: &str, tool: &str, arguments: Value) -> Value {
        let mut call = json!({ "name": format!("{source}__{tool}") });
        call["arguments"] = arguments;
        self.ask("tools/call", call)
    }

    /// Reads a URI and checks the URI of the response.
    fn read(&mut self, uri: &str) {
        let read = self.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(read["contents"][0]["uri"], uri, "{read}");
    }

    fn second_uri(&self, uri: &str) -> String {
        format!("gateway://{}/{uri}", self.second)
    }

    fn all(&mut self) {
        self.tools();
        self.prompts();
        self.resources();
        self.uris_in_responses();
        self.templates();
    }

    /// Each tool is listed for each server, and its name leads to that server. A bare name is
    /// ambiguous.
    fn tools(&mut self) {
        let tools = self.list("tools/list", "tools", "name");
        let of = |source: &str| -> Vec<_> {
            let prefix = format!("{source}__");
            tools
                .iter()
                .filter_map(|name| name.strip_prefix(&prefix))
                .collect()
        };
        assert_eq!(of(self.first), of(self.second));
        assert!(of(self.first).contains(&"echo"), "{tools:?}");
        for source in [self.first, self.second] {
            let env = self.call(source, "get-env", json!({}));
            let env = env["content"][0]["text"].as_str().unwrap();
            assert!(env.contains(&format!("\"WHO\": \"{source}\"")), "{env}");
            let dotted = json!({ "name": format!("{source}.get-env"), "arguments": {} });
            let dotted = self.ask("tools/call", dotted);
            assert!(dotted.to_string().contains(source), "{dotted}");
        }
        let bare = json!({ "name": "echo", "arguments": { "message": "who?" } });
        let refused = self.client.request("tools/call", bare).answer;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }

    fn prompts(&mut self) {
        let prompts = self.list("prompts/list", "prompts", "name");
        for source in [self.first, self.second] {
            let name = format!("{source}/simple-prompt");
            assert!(prompts.contains(&name), "{prompts:?}");
            let got = self.ask("prompts/get", json!({ "name": name }));
            assert!(got["messages"][0].is_object(), "{got}");
        }
    }

    /// The first server keeps its URIs, those of the second are qualified, and all can be read.
    fn resources(&mut self) {
        let uris = self.list("resources/list", "resources", "uri");
        let qualifier = self.second_uri("");
        let seconds: Vec<_> = uris
            .iter()
            .filter_map(|uri| uri.strip_prefix(&qualifier))
            .collect();
        let firsts: Vec<_> = uris
            .iter()
            .filter(|uri| uri.starts_with(DOCUMENTS))
            .collect();
        assert_eq!(firsts, seconds);
        assert!(firsts.iter().any(|uri| *uri == DOCUMENT), "{uris:?}");
        for uri in &uris {
            self.read(uri);
        }
        self.read(&format!("gateway://{}/{DOCUMENT}", self.first));
    }

    /// Links, embedded resources and created resources can be read by their URIs.
    fn uris_in_responses(&mut self) {
        let second = self.second;
        let links = self.call(second, "get-resource-links", json!({ "count": 4 }));
        let links = links["content"].as_array().unwrap().iter();
        let mut given: Vec<_> = links
            .filter_map(|resource| resource["uri"].as_str())
            .map(str::to_owned)
            .collect();
        assert_eq!(given.len(), 4);
        let reference = json!({ "resourceType": "Text", "resourceId": 5 });
        let embedded = self.call(second, "get-resource-reference", reference);
        given.push(text(&embedded["content"][1]["resource"]["uri"]));
        let name = format!("{second}/resource-prompt");
        let arguments = json!({ "resourceType": "Blob", "resourceId": "6" });
        let got = self.ask(
            "prompts/get",
            json!({ "name": name, "arguments": arguments }),
        );
        given.push(text(&got["messages"][1]["content"]["resource"]["uri"]));
        // Only the second has this one.
        let data = json!({ "name": second, "data": "data:text/plain,tides" });
        let made = self.call(second, "gzip-file-as-resource", data);
        given.push(text(&made["content"][0]["uri"]));
        for uri in given {
            self.read(&uri);
        }
    }

    fn templates(&mut self) {
        let templates = self.list(
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
        );
        for template in [TEXT.to_owned(), self.second_uri(TEXT)] {
            assert!(templates.contains(&template), "{templates:?}");
            let complete = json!({
                "ref": { "type": "ref/resource", "uri": template },
                "argument": { "name": "resourceId", "value": "7" },
            });
            let complete = self.ask("completion/complete", complete);
            assert_eq!(complete["completion"]["values"], json!(["7"]));
            self.read(&template.replace("{resourceId}", "7"));
        }
    }

    /// Updates carry the URI of their own server.
    fn subscriptions(&mut self) {
        for (source, uri) in [
            (self.first, DOCUMENT.to_owned()),
            (self.second, self.second_uri(DOCUMENT)),
        ] {
            self.ask("resources/subscribe", json!({ "uri": uri }));
            self.call(source, "toggle-subscriber-updates", json!({}));
            let update = self.client.notification("notifications/resources/updated");
            assert_eq!(update["params"]["uri"], uri);
            self.call(source, "toggle-subscriber-updates", json!({}));
            self.ask("resources/unsubscribe", json!({ "uri": uri }));
            self.client.forget();
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn check_order(first: &'static str, second: &'static str) {
    let gateway = gateway([first, second]);
    for era in [Era::Legacy, Era::Modern] {
        let transport = Box::new(Http::to(gateway.address, "/mcp"));
        let mut client = Client::new(transport, era, ClientCapabilities::None);
        client.open();
        let mut check = NameCheck {
            client,
            first,
            second,
        };
        check.all();
        if era == Era::Legacy {
            check.subscriptions();
        }
        check.client.end();
    }
    gateway.stop();
}

#[test]
fn first_order() {
    check_order("north", "south");
}

#[test]
fn second_order() {
    check_order("south", "north");
}
