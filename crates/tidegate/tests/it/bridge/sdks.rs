//! Clients made with SDKs that others wrote, which answer what servers of both eras ask.

use std::process::Command;

use serde_json::{Value, json};

use super::page;
use super::servers::World;
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server as Gateway};

/// A client: what it is called, and how it is started.
struct Sdk {
    name: &'static str,
    start: fn(&Tools, &Home) -> Command,
    era: &'static str,
}

const SDKS: &[Sdk] = &[
    sdk("TypeScript 1.x", ts1, "legacy"),
    sdk("TypeScript 2.x", ts2, "legacy"),
    sdk("TypeScript 2.x, modern", ts2, "modern"),
    sdk("Python 1.x", python_v1, "legacy"),
    sdk("Python 2.x", python_v2, "legacy"),
    sdk("Python 2.x, modern", python_v2, "modern"),
];

const fn sdk(name: &'static str, start: fn(&Tools, &Home) -> Command, era: &'static str) -> Sdk {
    Sdk { name, start, era }
}

fn ts1(tools: &Tools, home: &Home) -> Command {
    tools.node_peer(home, "asked_ts1.mjs")
}

fn ts2(tools: &Tools, home: &Home) -> Command {
    tools.node_peer(home, "asked_ts2.mjs")
}

fn python_v1(tools: &Tools, home: &Home) -> Command {
    tools.python_peer(home, "python-v1", "asked_python_v1.py")
}

fn python_v2(tools: &Tools, home: &Home) -> Command {
    tools.python_peer(home, "python-v2", "asked_python_v2.py")
}

/// What a server is told by a client that can answer everything.
fn everything() -> Value {
    let form = json!({ "action": "accept", "content": { "name": "ada" } });
    let used =
        json!({ "type": "tool_use", "id": "u1", "name": "look_up", "input": { "word": "a" } });
    let said = |content: Value| json!({ "role": "assistant", "model": "m", "content": content });
    let mut with_tools = said(json!([used]));
    with_tools["stopReason"] = "toolUse".into();
    json!({
        "progress": [1, 2, 3],
        "ask_form": { "form": form },
        "ask_page": { "page": { "action": "accept" } },
        "ask_two": { "first": form, "second": form },
        "ask_model": { "model": said(json!({ "type": "text", "text": "Paris" })) },
        "ask_model_with_tools": { "model": with_tools },
        "ask_roots": {
            "client_roots": { "roots": [{ "uri": "file:///home/ada", "name": "home" }] }
        },
    })
}

/// The features, by the tools that show them.
const PLAYED: &[(&str, &str)] = &[
    ("progress", "progress"),
    ("form elicitation", "ask_form"),
    ("URL elicitation", "ask_page"),
    ("two elicitations at once", "ask_two"),
    ("sampling", "ask_model"),
    ("sampling with tools", "ask_model_with_tools"),
    ("roots", "ask_roots"),
];

const SERVERS: [&str; 5] = [
    "legacy-http",
    "legacy-stdio",
    "legacy-sse",
    "modern-http",
    "modern-stdio",
];

#[test]
fn sdks_answer_what_servers_of_both_eras_ask() {
    let (world, tools) = (World::start(), Tools::find());
    let gateway = Gateway::with_config(&world.config());
    let home = Home::new();
    for server in SERVERS {
        let url = format!("{}/{server}", gateway.url());
        let start = |sdk: &'static Sdk| {
            let mut command = (sdk.start)(&tools, &home);
            command.args(["--url", &url, "--era", sdk.era]);
            (sdk.name, Running::start(&mut command))
        };
        let peers: Vec<_> = SDKS.iter().map(start).collect();
        for (name, peer) in peers {
            let ended = peer.end().expect_code(0);
            let told: Value = serde_json::from_str(&ended.stdout).unwrap();
            assert_eq!(whole(told), everything(), "{name} before {server}");
        }
    }
    gateway.stop();
    page::check("SDKs", &table());
}

/// Everything was told to every server: that is the table.
fn table() -> String {
    let names: Vec<_> = SDKS.iter().map(|sdk| sdk.name).collect();
    let mut text = format!(
        "\n| | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(SDKS.len())
    );
    for (feature, tool) in PLAYED {
        assert!(everything().get(tool).is_some(), "{tool} is looked at");
        text += &format!("| {feature} |{}\n", " yes |".repeat(SDKS.len()));
    }
    text + "\n"
}

/// Python counts in fractions.
fn whole(mut told: Value) -> Value {
    let steps = told["progress"].as_array().expect("steps");
    let steps: Vec<f64> = steps.iter().filter_map(Value::as_f64).collect();
    assert_eq!(steps, [1.0, 2.0, 3.0]);
    told["progress"] = json!([1, 2, 3]);
    told
}
