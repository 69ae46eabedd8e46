//! Clients built with foreign SDKs, which answer the questions of servers of both eras.

mod rust;

use std::process::Command;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::servers::Servers;
use super::{PAGE, TESTS};
use crate::support::tools::Tools;
use crate::support::{Home, Running, Server as Gateway};

/// A client: its display name and how to start it.
struct Sdk {
    name: &'static str,
    start: Start,
    era: &'static str,
}

#[derive(Clone, Copy)]
enum Start {
    Process(fn(&Tools, &Home) -> Command),
    /// In the process of the test.
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
    tools.node_peer(home, "answering_client_ts1.mjs")
}

fn ts2(tools: &Tools, home: &Home) -> Command {
    tools.node_peer(home, "answering_client_ts2.mjs")
}

fn python_v1(tools: &Tools, home: &Home) -> Command {
    tools.python_peer(home, "python-v1", "answering_client_python_v1.py")
}

fn python_v2(tools: &Tools, home: &Home) -> Command {
    tools.python_peer(home, "python-v2", "answering_client_python_v2.py")
}

/// What an SDK does not support with any server, and why.
const UNSUPPORTED: &[(&str, &str, &str)] = &[(
    "Rust, modern",
    "URL elicitation",
    "The Rust SDK (3.8) requires an `elicitationId` in every URL elicitation, which 2026-07-28 does not have. The \
     call fails in the client.",
)];

/// The features, the tools that exercise them, and the answers that the server gets from a client
/// with all capabilities.
fn features() -> Vec<(&'static str, &'static str, Value)> {
    let form = json!({ "action": "accept", "content": { "name": "ada" } });
    let page = json!({ "action": "accept" });
    let used =
        json!({ "type": "tool_use", "id": "u1", "name": "look_up", "input": { "word": "a" } });
    let message = |content: Value| json!({ "role": "assistant", "model": "m", "content": content });
    let mut with_tools = message(json!([used]));
    with_tools["stopReason"] = "toolUse".into();
    let text = message(json!({ "type": "text", "text": "Paris" }));
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

const SOURCES: [&str; 5] = [
    "legacy-http",
    "legacy-stdio",
    "legacy-sse",
    "modern-http",
    "modern-stdio",
];

#[test]
fn sdks_answer_what_servers_of_both_eras_ask() {
    let (servers, tools) = (Servers::start(), Tools::find());
    let gateway = Gateway::with_config(&servers.config());
    let home = Home::new();
    let mut failures = Vec::new();
    for server in SOURCES {
        let url = format!("{}/{server}", gateway.url());
        let running: Vec<_> = SDKS
            .iter()
            .map(|sdk| (sdk.name, sdk.start_client(&url, &tools, &home)))
            .collect();
        for (sdk, running) in running {
            let answers = running.end();
            for (feature, tool, expected) in features() {
                if (answers[tool] == expected) != supports(sdk, feature) {
                    let got = answers.get(tool).unwrap_or(&answers);
                    failures.push(format!("{sdk} with {server}: {feature}: {got}"));
                }
            }
        }
    }
    gateway.stop();
    let text = table();
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} cells:\n{}\n{text}",
        failures.join("\n")
    );
    crate::generated_docs::check(PAGE, "SDKs", TESTS, &text);
}

/// Whether an SDK supports a feature. One that unexpectedly does fails the test.
fn supports(sdk: &str, feature: &str) -> bool {
    let mut unsupported = UNSUPPORTED.iter();
    !unsupported.any(|(sdk_name, feature_name, _)| (*sdk_name, *feature_name) == (sdk, feature))
}

/// A running client.
enum RunningClient {
    Process(Running),
    Done(Value),
}

impl Sdk {
    fn start_client(&self, url: &str, tools: &Tools, home: &Home) -> RunningClient {
        match self.start {
            Start::Process(start) => {
                let mut command = start(tools, home);
                command.args(["--url", url, "--era", self.era]);
                RunningClient::Process(Running::start(&mut command))
            }
            Start::Here => {
                let runtime = Runtime::new().expect("a Tokio runtime");
                RunningClient::Done(runtime.block_on(rust::run(url, self.era == "modern")))
            }
        }
    }
}

impl RunningClient {
    /// The answers that the server got, by tool; or the error output.
    fn end(self) -> Value {
        let answers = match self {
            Self::Done(answers) => answers,
            Self::Process(process) => {
                let ended = process.end();
                match ended.code() {
                    Some(0) => serde_json::from_str(&ended.stdout).unwrap_or_default(),
                    _ => json!(ended.stderr),
                }
            }
        };
        with_float_progress(answers)
    }
}

/// Converts progress to floating-point numbers, which some SDKs send as integers.
fn with_float_progress(mut answers: Value) -> Value {
    if let Some(steps) = answers["progress"].as_array() {
        let steps: Vec<_> = steps.iter().filter_map(Value::as_f64).collect();
        answers["progress"] = json!(steps);
    }
    answers
}

/// The table: everything works with every server, except `UNSUPPORTED`.
fn table() -> String {
    let names: Vec<_> = SDKS.iter().map(|sdk| sdk.name).collect();
    let mut text = format!(
        "\n| | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(SDKS.len())
    );
    for (feature, ..) in features() {
        let cells = names.iter().map(|sdk| match supports(sdk, feature) {
            true => " yes |",
            false => " – |",
        });
        text += &format!("| {feature} |{}\n", cells.collect::<String>());
    }
    for (sdk_name, feature_name, reason) in UNSUPPORTED {
        text += &format!("\n- **{sdk_name}, {feature_name}** {reason}\n");
    }
    text + "\n"
}
