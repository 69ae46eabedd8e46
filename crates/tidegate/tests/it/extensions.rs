//! Apps and skills of several servers at the endpoint of all sources, and the extension of an invented vendor
//! at the endpoint of its source.

use base64::Engine as _;
use serde_json::{Value, json};
use tidegate_core::sha256;
use tidegate_testkit::NEWEST_LEGACY;
use tidegate_testkit::fixture::program;

use crate::support::fixture::config;
use crate::support::messages::{GATEWAY_TOOLS, Modern};
use crate::support::tools::Tools;
use crate::support::{Running, Server, Session};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A gateway with two servers that have the same pages, tools and skills.
fn twins() -> Server {
    let source = |name: &str| {
        let args = ["--name", name, "--apps", "--skills"];
        json!({ "command": program(), "args": args })
    };
    let sources = json!({ "ada": source("ada"), "bob": source("bob") });
    let gateway = Server::with_config(&config(&sources));
    for _ in ["ada", "bob"] {
        gateway.process.stderr.find("source connected");
    }
    gateway
}

fn read(gateway: &Server, uri: &Value) -> Value {
    let result = gateway.modern("resources/read", json!({ "uri": uri }));
    result.result()["contents"][0].clone()
}

#[test]
fn the_pages_of_two_servers_lead_to_their_servers() {
    let gateway = twins();
    let tools = gateway.modern("tools/list", json!({})).result();
    let tools = tools["tools"].as_array().unwrap();
    for source in ["ada", "bob"] {
        let name = format!("{source}__show_page");
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let page = &tool["_meta"]["ui"]["resourceUri"];
        let contents = read(&gateway, page);
        assert_eq!(contents["text"], format!("<title>{source}</title>"));
        assert_eq!(contents["mimeType"], "text/html;profile=mcp-app");
        let params = json!({ "name": name, "arguments": {} });
        let shown = gateway.modern("tools/call", params).result();
        let unlisted = &shown["_meta"]["ui"]["resourceUri"];
        assert_eq!(shown["content"][1]["uri"], *unlisted, "{shown}");
        let contents = read(&gateway, unlisted);
        assert_eq!(contents["text"], format!("<title>{source}</title>"));
        assert_eq!(contents["uri"], *unlisted);
    }
    gateway.stop();
}

/// The calls of each app in each era, half of them at the endpoint of its source.
const CALLS_PER_APP: usize = 250;

#[test]
fn calls_of_two_apps_with_equal_tool_names_reach_their_own_servers() {
    let gateway = twins();
    let tools = gateway.modern("tools/list", json!({})).result();
    let page_of = |source: &str| {
        let name = format!("{source}__show_page");
        let mut tools = tools["tools"].as_array().unwrap().iter();
        let tool = tools.find(|tool| tool["name"] == name).unwrap();
        tool["_meta"]["ui"]["resourceUri"].clone()
    };
    let pages = ["ada", "bob"].map(page_of);
    assert_ne!(pages[0], pages[1]);
    let check = |number: usize, source: &str, answer: &Value| {
        let text = &answer["content"][0]["text"];
        assert_eq!(*text, format!("page_action of {source}"), "{number}");
    };
    let params = |page: &Value| {
        json!({
            "name": "page_action", "arguments": {}, "_meta": { "ui": { "resourceUri": page } },
        })
    };
    std::thread::scope(|scope| {
        for (source, page) in ["ada", "bob"].into_iter().zip(&pages) {
            let own_path = format!("/mcp/{source}");
            let paths = ["/mcp".to_owned(), own_path];
            let (gateway, modern_paths) = (&gateway, paths.clone());
            scope.spawn(move || {
                for number in 0..CALLS_PER_APP {
                    let call = Modern::new("tools/call", params(page));
                    let answer = call.post(gateway.post().at(&modern_paths[number % 2]));
                    check(number, source, &answer.result());
                }
            });
            scope.spawn(move || {
                let sessions =
                    paths.map(|path| Session::open(gateway.address, &path, NEWEST_LEGACY));
                for number in 0..CALLS_PER_APP {
                    let answer = sessions[number % 2].request("tools/call", &params(page));
                    check(number, source, &answer.result());
                }
            });
        }
    });
    gateway.stop();
}

#[test]
fn tools_for_apps_are_hidden_from_models() {
    let gateway = twins();
    let listed = |capabilities: Value| {
        let mut list = Modern::new("tools/list", json!({}));
        list.set_meta(CAPABILITIES, capabilities);
        let list = list.post(gateway.post()).result();
        list.to_string().contains("page_action")
    };
    assert!(!listed(json!({})));
    let apps = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
    assert!(listed(
        json!({ "extensions": { "io.modelcontextprotocol/ui": apps } })
    ));
    let call = |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        gateway.modern("tools/call", params).result()
    };
    let found = call(GATEWAY_TOOLS[0], json!({ "query": "page_action" }));
    assert!(!found.to_string().contains("page_action"), "{found}");
    let called = call(GATEWAY_TOOLS[4], json!({ "name": "ada__page_action" }));
    assert_eq!(called["isError"], true, "{called}");
    let called = call("ada__page_action", json!({}));
    assert_eq!(called["content"][0]["text"], "page_action of ada");
    gateway.stop();
}

/// The bytes of a resource, as a host verifies them.
fn bytes(contents: &Value) -> Vec<u8> {
    match contents["text"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => {
            let blob = contents["blob"].as_str().unwrap();
            let engine = base64::engine::general_purpose::STANDARD;
            engine.decode(blob).unwrap()
        }
    }
}

/// Reads every file of a skill, and compares it with its entry.
fn verify(gateway: &Server, skill: &Value) {
    let uri = skill["uri"].as_str().unwrap();
    let root = uri.strip_suffix("/SKILL.md").unwrap();
    let name = skill["frontmatter"]["name"].as_str().unwrap();
    assert!(root.ends_with(&format!("/{name}")), "{skill}");
    for file in skill["resources"].as_array().unwrap() {
        assert!(file["uri"].as_str().unwrap().starts_with(root), "{skill}");
        let bytes = bytes(&read(gateway, &file["uri"]));
        let digest = sha256(&bytes);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(file["digest"], format!("sha256:{digest}"), "{file}");
        assert_eq!(file["size"], bytes.len(), "{file}");
    }
}

#[test]
fn the_skills_of_all_sources_are_listed_and_their_digests_hold() {
    let gateway = twins();
    let listed = gateway.modern("skills/list", json!({})).result();
    let skills = listed["skills"].as_array().unwrap();
    assert_eq!(skills.len(), 2, "{listed}");
    for (skill, source) in skills.iter().zip(["ada", "bob"]) {
        verify(&gateway, skill);
        let text = read(&gateway, &skill["uri"])["text"].clone();
        assert!(text.as_str().unwrap().contains(source), "{text}");
        let params = json!({ "uri": skill["uri"] });
        let got = gateway.modern("skills/get", params).result();
        assert_eq!(got["skill"], *skill);
        let root = skill["uri"].as_str().unwrap();
        let root = root.strip_suffix("/SKILL.md").unwrap();
        let params = json!({ "uri": root });
        let children = gateway.modern("resources/directory/read", params).result();
        let children = children["resources"].as_array().unwrap();
        let uris: Vec<_> = children.iter().map(|child| &child["uri"]).collect();
        let expected = [format!("{root}/SKILL.md"), format!("{root}/templates")];
        assert_eq!(uris, [&json!(expected[0]), &json!(expected[1])]);
    }
    let unknown = json!({ "uri": "skill://nothing/SKILL.md" });
    let unknown = gateway.modern("skills/get", unknown).json();
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    gateway.stop();
}

#[test]
fn the_prompts_source_offers_its_skills() {
    let files = [
        (
            "prompts/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Reads PDF files.\nmetadata: { version: '2' }\n---\n\nText.\r\n",
        ),
        ("prompts/pdf/scripts/run.py", "print('ä')\n"),
    ];
    let text = config(&json!({ "team": { "kind": "prompts", "folder": "./prompts" } }));
    let home = crate::support::Home::with_config(&text);
    for (path, text) in files {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let gateway = Server::start_in(home, &[]);
    let declared = gateway.modern("server/discover", json!({})).result();
    let extensions = &declared["capabilities"]["extensions"];
    let skills = &extensions["io.modelcontextprotocol/skills"];
    assert_eq!(*skills, json!({ "directoryRead": true }), "{declared}");
    for path in ["/mcp", "/mcp/team"] {
        let list = Modern::new("skills/list", json!({}));
        let listed = list.post(gateway.post().at(path)).result();
        let [skill] = listed["skills"].as_array().unwrap().as_slice() else {
            panic!("{listed}");
        };
        let front_matter = json!({
            "name": "pdf", "description": "Reads PDF files.", "metadata": { "version": "2" },
        });
        assert_eq!(skill["frontmatter"], front_matter);
        assert_eq!(skill["resources"].as_array().unwrap().len(), 2);
        verify(&gateway, skill);
    }
    let scripts = json!({ "uri": "skill://pdf/scripts" });
    let children = gateway.modern("resources/directory/read", scripts).result();
    assert_eq!(children["resources"][0]["name"], "run.py", "{children}");
    let file = json!({ "uri": "skill://pdf/SKILL.md" });
    let refused = gateway.modern("resources/directory/read", file).json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    gateway.stop();
}

#[test]
fn notifications_of_a_vendor_extension_pass_between_an_sdk_and_servers_of_both_eras() {
    let tools = Tools::find();
    let source = |era| {
        let args = ["--era", era, "--vendor-extension"];
        json!({ "command": program(), "args": args })
    };
    let sources = json!({ "old": source("legacy"), "new": source("modern") });
    let gateway = Server::with_config(&config(&sources));
    // A legacy client cannot subscribe to notifications of a modern server.
    for (era, source) in [("legacy", "old"), ("modern", "old"), ("modern", "new")] {
        let mut peer = tools.node_peer(&gateway.home, "vendor_client.mjs");
        let url = format!("{}/{source}", gateway.url());
        peer.args(["--url", &url, "--era", era]);
        let ended = Running::start(&mut peer).end().expect_code(0);
        let found: Value = serde_json::from_str(&ended.stdout).unwrap();
        let expected = json!({ "declared": { "levels": [1, 2] }, "level": 7 });
        assert_eq!(found, expected, "{era} {source}");
    }
    gateway.stop();
}
