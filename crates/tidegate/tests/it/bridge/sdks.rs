//! Clients made with SDKs that others wrote, which answer what servers of both eras ask.

mod rust;

use std::process::Command;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::servers::World;
use super::{PAGE, TESTS};
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server as Gateway};

/// A client: what it is called, and how it is started.
struct Sdk {
    name: &'static str,
    start: Start,
    era: &'static str,
}

#[derive(Clone, Copy)]
enum Start {
    Process(fn(&Tools, &Home) -> Command),
    /// In the test's own process.
    Here,
}

const SDKS: &[Sdk] = &[
    sdk("Rust", Start::Here, "legacy"),
    sdk("Rust, modern", Start::Here, "modern"),
    sdk("TypeScript 1.x", Start::Process(ts1), "legacy"),
    sdk("TypeScript 2.x", Start::Process(ts2), "legacy"),
    sdk("TypeScript 2.x, modern", Start::Process(ts2), "modern"),
    sdk("Python 1.x", Start::Process(python_v1), "legacy"),
    sdk("Python 2.x", Start::Process(python_v2), "legacy"),
    sdk("Python 2.x, modern", Start::Process(python_v2), "modern"),
];

const fn sdk(name: &'static str, start: Start, era: &'static str) -> Sdk {
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

/// What an SDK cannot do by itself, whatever is before it; and why.
const CANNOT: &[(&str, &str, &str)] = &[(
    "Rust, modern",
    "URL elicitation",
    "The Rust SDK (3.8) wants an `elicitationId` with every page, which 2026-07-28 does not have. The \
     call fails in the client.",
)];

/// The features, by the tools that show them, and what the server is told by a client that can answer
/// everything.
fn features() -> Vec<(&'static str, &'static str, Value)> {
    let form = json!({ "action": "accept", "content": { "name": "ada" } });
    let page = json!({ "action": "accept" });
    let used =
        json!({ "type": "tool_use", "id": "u1", "name": "look_up", "input": { "word": "a" } });
    let said = |content: Value| json!({ "role": "assistant", "model": "m", "content": content });
    let mut with_tools = said(json!([used]));
    with_tools["stopReason"] = "toolUse".into();
    let text = said(json!({ "type": "text", "text": "Paris" }));
    let roots = json!({ "roots": [{ "uri": "file:///home/ada", "name": "home" }] });
    vec![
        ("progress", "progress", json!([1.0, 2.0, 3.0])),
        ("form elicitation", "ask_form", json!({ "form": form })),
        ("URL elicitation", "ask_page", json!({ "page": page })),
        (
            "two elicitations at once",
            "ask_two",
            json!({ "first": form, "second": form }),
        ),
        ("sampling", "ask_model", json!({ "model": text })),
        (
            "sampling with tools",
            "ask_model_with_tools",
            json!({ "model": with_tools }),
        ),
        ("roots", "ask_roots", json!({ "client_roots": roots })),
    ]
}

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
    let mut wrong = Vec::new();
    for server in SERVERS {
        let url = format!("{}/{server}", gateway.url());
        let playing: Vec<_> = SDKS
            .iter()
            .map(|sdk| (sdk.name, sdk.play(&url, &tools, &home)))
            .collect();
        for (sdk, playing) in playing {
            let told = playing.end();
            for (feature, tool, expected) in features() {
                if (told[tool] == expected) != can(sdk, feature) {
                    let got = told.get(tool).unwrap_or(&told);
                    wrong.push(format!("{sdk} before {server}: {feature}: {got}"));
                }
            }
        }
    }
    gateway.stop();
    let text = table();
    let count = wrong.len();
    assert!(
        wrong.is_empty(),
        "{count} cells:\n{}\n{text}",
        wrong.join("\n")
    );
    crate::page::check(PAGE, "SDKs", TESTS, &text);
}

/// Whether an SDK can play a part. One that can all of a sudden is news, and fails the test.
fn can(sdk: &str, feature: &str) -> bool {
    let mut cannot = CANNOT.iter();
    !cannot.any(|(who, what, _)| (*who, *what) == (sdk, feature))
}

/// A client at work.
enum Playing {
    Process(Running),
    Done(Value),
}

impl Sdk {
    fn play(&self, url: &str, tools: &Tools, home: &Home) -> Playing {
        match self.start {
            Start::Process(start) => {
                let mut command = start(tools, home);
                command.args(["--url", url, "--era", self.era]);
                Playing::Process(Running::start(&mut command))
            }
            Start::Here => {
                let runtime = Runtime::new().expect("a runtime");
                Playing::Done(runtime.block_on(rust::play(url, self.era == "modern")))
            }
        }
    }
}

impl Playing {
    /// What the server was told, by the tool that asked; or what went wrong.
    fn end(self) -> Value {
        let told = match self {
            Self::Done(told) => told,
            Self::Process(process) => {
                let ended = process.end();
                match ended.code() {
                    Some(0) => serde_json::from_str(&ended.stdout).unwrap_or_default(),
                    _ => json!(ended.stderr),
                }
            }
        };
        in_fractions(told)
    }
}

/// Some count in whole numbers.
fn in_fractions(mut told: Value) -> Value {
    if let Some(steps) = told["progress"].as_array() {
        let steps: Vec<_> = steps.iter().filter_map(Value::as_f64).collect();
        told["progress"] = json!(steps);
    }
    told
}

/// Everything was told to every server, but for what cannot be: that is the table.
fn table() -> String {
    let names: Vec<_> = SDKS.iter().map(|sdk| sdk.name).collect();
    let mut text = format!(
        "\n| | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(SDKS.len())
    );
    for (feature, ..) in features() {
        let cells = names.iter().map(|sdk| match can(sdk, feature) {
            true => " yes |",
            false => " – |",
        });
        text += &format!("| {feature} |{}\n", cells.collect::<String>());
    }
    for (who, what, why) in CANNOT {
        text += &format!("\n- **{who}, {what}** {why}\n");
    }
    text + "\n"
}
