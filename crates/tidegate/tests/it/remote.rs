//! Servers behind the gateway: a foreign legacy server over stdio, and a gateway, which is a modern
//! server, over HTTP.

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::support::fixture::{Fixture, at_fixture, before};
use crate::support::messages::{Modern, and_gateway_tools, handshake, request};
use crate::support::proc::poll_for;
use crate::support::tools::Tools;
use crate::support::{Events, Home, Running, Server, Session, Stdio};

/// A gateway with the demo server, and additional configuration.
fn with_demo(more: &str) -> Server {
    with_demo_in(&json!({}), more)
}

fn with_demo_in(env: &Value, more: &str) -> Server {
    let home = Home::new();
    let command = Tools::find().python_peer(&home, "python-v1", "demo_server.py");
    let program = command.get_program().to_str().unwrap().to_owned();
    let args: Vec<_> = command
        .get_args()
        .map(|arg| arg.to_str().unwrap())
        .collect();
    let demo = json!({ "command": program, "args": args, "env": env });
    // On a busy machine a server starts slowly, and the first call waits for it.
    let limits = "limits: { startup_wait: 2m }\n";
    let config = format!("{limits}sources:\n  demo: {demo}\n{more}");
    home.write("tidegate.yaml", &config);
    Server::start_in(home, &[])
}

fn result(server: &Server, method: &str, params: Value) -> Value {
    server.modern(method, params).json()["result"].clone()
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let entries = list.as_array().unwrap().iter();
    entries
        .map(|entry| entry[key].as_str().unwrap().to_owned())
        .collect()
}

/// S1.2, S1.6: the server's entries are listed with the built-in ones, in configuration order.
#[test]
fn server_entries_are_listed_and_work() {
    let server = with_demo("");
    let tools = result(&server, "tools/list", json!({}));
    assert_eq!(
        names(&tools["tools"], "name"),
        and_gateway_tools(&[
            "demo__add",
            "demo__process_id",
            "demo__count",
            "demo__ask_name",
            "demo__think",
            "demo__where",
            "system__health"
        ])
    );
    let sum = json!({ "name": "demo__add", "arguments": { "a": 2, "b": 3 } });
    let sum = result(&server, "tools/call", sum);
    assert_eq!(sum["content"][0]["text"], "5");
    assert_eq!(sum["resultType"], "complete");

    let prompts = result(&server, "prompts/list", json!({}));
    assert_eq!(names(&prompts["prompts"], "name"), ["demo/greet"]);
    let greeting = json!({ "name": "demo/greet", "arguments": { "name": "Ada" } });
    let greeting = result(&server, "prompts/get", greeting);
    assert_eq!(greeting["messages"][0]["content"]["text"], "Hello Ada");

    for (uri, text) in [("note://hello", "hi"), ("note://of/ada", "a note of ada")] {
        let read = result(&server, "resources/read", json!({ "uri": uri }));
        assert_eq!(read["contents"][0]["text"], text);
        let qualified = json!({ "uri": format!("gateway://demo/{uri}") });
        let read = result(&server, "resources/read", qualified);
        assert_eq!(read["contents"][0]["text"], text);
    }
    server.stop();
}

/// Design: a remote source can neither list nor serve URIs of a built-in source.
#[test]
fn server_cannot_claim_built_in_uris() {
    let server = with_demo_in(&json!({ "DEMO_CLAIMS": "1" }), "");
    let resources = result(&server, "resources/list", json!({}));
    let uris = names(&resources["resources"], "uri");
    assert_eq!(
        uris.iter()
            .filter(|uri| uri.contains("system/health"))
            .count(),
        1,
        "{uris:?}"
    );
    for uri in [
        "resource://system/health",
        "gateway://system/resource://system/health",
    ] {
        let read = result(&server, "resources/read", json!({ "uri": uri }));
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert!(text.contains("overallStatus"), "{text}");
    }
    let stolen = json!({ "uri": "gateway://demo/resource://system/health" });
    let refused = server.modern("resources/read", stolen).json();
    assert_eq!(
        refused["error"]["data"]["kind"], "resource_not_found",
        "{refused}"
    );
    let health = result(
        &server,
        "resources/read",
        json!({ "uri": "resource://system/health" }),
    );
    let health: Value =
        serde_json::from_str(health["contents"][0]["text"].as_str().unwrap()).unwrap();
    let names = component(&health, "names");
    assert_eq!(names["status"], "Warning", "{names}");
    assert_eq!(names["metrics"]["claims"], 1, "{names}");
    let message = names["message"].as_str().unwrap();
    assert!(
        message.contains("`demo`") && message.contains("`system`"),
        "{message}"
    );
    let resources = result(&server, "resources/list", json!({}));
    let missing = &resources["_meta"]["dev.tidegate/missing"]["demo"];
    assert!(
        missing.to_string().contains("1 of its resources"),
        "{missing}"
    );
    let log = server.stop().stderr;
    assert!(
        log.contains("source claims a URI that another source owns"),
        "{log}"
    );
}

fn component<'a>(health: &'a Value, name: &str) -> &'a Value {
    let mut components = health["components"].as_array().unwrap().iter();
    components
        .find(|component| component["name"] == name)
        .unwrap()
}

#[test]
fn source_endpoint_uses_native_names_and_forwards_unknown_ones() {
    let server = with_demo("");
    let post = || server.post().at("/mcp/demo").with_mcp_headers();
    let call = |name: &str| {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": name, "arguments": { "a": 1, "b": 1 } },
        });
        post().send(body.to_string().as_bytes()).json()
    };
    assert_eq!(call("add")["result"]["content"][0]["text"], "2");
    let unknown = call("nope").to_string();
    assert!(
        unknown.contains("Unknown tool"),
        "the server's own message: {unknown}"
    );
    server.stop();
}

/// A.5.3: a source that is down does not affect others, and is in the health report.
#[test]
fn server_that_is_down_does_not_affect_others() {
    let server = with_demo(
        "  gone: { command: /nowhere/at-all }\n  nobody: { url: \"http://127.0.0.1:9/mcp\" }\n",
    );
    let sum = json!({ "name": "demo__add", "arguments": { "a": 2, "b": 2 } });
    assert_eq!(
        result(&server, "tools/call", sum)["content"][0]["text"],
        "4"
    );
    let health = json!({ "name": "system__health", "arguments": {} });
    let health = result(&server, "tools/call", health)["structuredContent"].clone();
    assert_eq!(health["overallStatus"], "Critical");
    let down: Vec<_> = health["alerts"].as_array().unwrap().iter().collect();
    assert_eq!(down.len(), 2, "{health}");
    let listed = result(&server, "tools/list", json!({}));
    for gone in ["gone", "nobody"] {
        assert_eq!(
            component(&health, gone)["metrics"]["missing"],
            1,
            "{health}"
        );
        let message = &listed["_meta"]["dev.tidegate/missing"][gone];
        assert!(message.is_string(), "{listed}");
    }
    let log = server.stop().stderr;
    assert!(log.contains("cannot connect to source"), "{log}");
}

/// The error names the field to change.
#[test]
fn missing_working_directory_is_reported() {
    let server = with_demo("  lost: { command: sh, cwd: /nowhere/at-all }\n");
    let listed = result(&server, "tools/list", json!({}));
    let message = listed["_meta"]["dev.tidegate/missing"]["lost"].to_string();
    assert!(message.contains("check `cwd`"), "{listed}");
    server.stop();
}

/// A killed server is restarted, and ends with the gateway.
#[test]
fn killed_server_is_restarted_and_ends_with_the_gateway() {
    let server = with_demo("");
    let process = || {
        let call = json!({ "name": "demo__process_id", "arguments": {} });
        let id = result(&server, "tools/call", call)["content"][0]["text"].clone();
        id.as_str()
            .and_then(|id| id.parse::<i32>().ok())
            .and_then(Pid::from_raw)
    };
    let first = process().expect("a running server");
    kill_process(first, Signal::KILL).unwrap();
    let second = poll_for("the server to restart", || {
        process().filter(|id| *id != first)
    });
    server.stop();
    poll_for("the server to end", || {
        test_kill_process(second).is_err().then_some(())
    });
}

/// The questions of a legacy server during a call, and the answers.
fn answers() -> Vec<(&'static str, Value, Value, &'static str)> {
    vec![
        (
            "elicitation/create",
            json!({ "name": "demo__ask_name", "arguments": {} }),
            json!({ "action": "accept", "content": { "name": "Ada" } }),
            "accept: Ada",
        ),
        (
            "sampling/createMessage",
            json!({ "name": "demo__think", "arguments": { "about": "tides" } }),
            json!({
                "role": "assistant", "model": "oracle",
                "content": { "type": "text", "text": "they turn" },
            }),
            "oracle says they turn",
        ),
        (
            "roots/list",
            json!({ "name": "demo__where", "arguments": {} }),
            json!({ "roots": [{ "uri": "file:///work" }] }),
            "file:///work",
        ),
    ]
}

fn all_capabilities() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

/// S1.14 to S1.17: a question of the server reaches the client on the stream of its call, as a
/// request with an id of the gateway, and the answer reaches the server.
#[test]
fn session_is_asked_on_the_stream_of_its_call() {
    let server = with_demo("");
    let mut initialize = handshake("2025-11-25");
    initialize["capabilities"] = all_capabilities();
    let opened = server
        .post()
        .with_mcp_headers()
        .send(request(1, "initialize", &initialize).to_string().as_bytes());
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let post = || {
        server
            .post()
            .with_mcp_headers()
            .header("mcp-session-id", &session)
    };
    for (method, call, answer, text) in answers() {
        let call = request(7, "tools/call", &call).to_string();
        let mut events = Events::of(post().open(call.as_bytes()));
        let question = events.find(method);
        assert_ne!(question["id"], json!(7));
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
        assert_eq!(post().send(answer.to_string().as_bytes()).status, 202);
        let done = events.next().unwrap();
        assert_eq!(done["id"], 7);
        assert_eq!(done["result"]["content"][0]["text"], text, "{done}");
    }
    server.stop();
}

/// The next message other than a notification.
fn next_message(pipe: &Stdio) -> Value {
    loop {
        let message = pipe.receive();
        let method = message["method"].as_str().unwrap_or_default();
        if !method.starts_with("notifications/") {
            return message;
        }
    }
}

#[test]
fn stdio_client_is_asked_and_can_refuse() {
    let server = with_demo("");
    let Server { home, process, .. } = server;
    process.stop().expect_code(0);
    let mut pipe = Stdio::start_in(home);
    let mut initialize = handshake("2025-11-25");
    initialize["capabilities"] = all_capabilities();
    pipe.request("initialize", &initialize);
    for (method, call, answer, text) in answers() {
        pipe.send(&request(70, "tools/call", &call));
        let question = next_message(&pipe);
        assert_eq!(question["method"], method, "{question}");
        pipe.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
        assert_eq!(next_message(&pipe)["result"]["content"][0]["text"], text);
    }
    pipe.send(&request(
        71,
        "tools/call",
        &json!({ "name": "demo__where", "arguments": {} }),
    ));
    let question = next_message(&pipe);
    let refusal = json!({ "code": -1, "message": "not today" });
    pipe.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": refusal }));
    let refused = next_message(&pipe);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(refused.to_string().contains("not today"), "{refused}");
    pipe.end();
}

/// A client without the capability is not asked, and the server gets an error at once.
#[test]
fn client_without_capability_is_not_asked() {
    let server = with_demo("");
    let session = Session::open(server.address, "/mcp", "2025-11-25");
    let call = json!({ "name": "demo__ask_name", "arguments": {} });
    let answer = session.request("tools/call", &call).json();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    session.end();
    server.stop();
}

/// Many servers that support sessions do not declare it. A server without sessions is asked for one
/// once, and then used without.
#[test]
fn client_with_capabilities_works_with_a_modern_server() {
    let fixture = Fixture::start(&["--era", "modern"]);
    let gateway = before(&fixture);
    let mut initialize = handshake("2025-11-25");
    initialize["capabilities"] = all_capabilities();
    let initialize = request(1, "initialize", &initialize).to_string();
    let opened = at_fixture(&gateway)
        .with_mcp_headers()
        .send(initialize.as_bytes());
    let session = opened.header("mcp-session-id").unwrap();
    for id in 2..4 {
        let call = json!({ "name": "test_simple_text", "arguments": {} });
        let call = request(id, "tools/call", &call).to_string();
        let post = at_fixture(&gateway).with_mcp_headers();
        let answer = post.header("mcp-session-id", session).send(call.as_bytes());
        assert_eq!(answer.result()["content"][0]["type"], "text", "{answer:?}");
    }
    assert_eq!(fixture.received_for("initialize").len(), 1);
    gateway.stop();
    fixture.stop();
}

/// A gateway behind another one, by its URL.
#[test]
fn gateway_works_behind_another_gateway() {
    let behind = Server::start();
    let front = Server::with_config(&format!(
        "sources:\n  inner: {{ url: \"{}\" }}\n",
        behind.url()
    ));
    let health = json!({ "name": "inner__system__health", "arguments": {} });
    let health = result(&front, "tools/call", health);
    assert_eq!(
        health["structuredContent"]["overallStatus"], "Healthy",
        "{health}"
    );
    front.stop();
    behind.stop();
}

/// Changes at a modern server are relayed, including those that may have happened while its
/// subscription stream was down.
#[test]
fn changes_are_relayed_and_none_is_missed() {
    let home = Home::new();
    let mut command = home.command(tidegate_testkit::fixture::program());
    command.args(["--listen", "127.0.0.1:0", "--era", "modern"]);
    let fixture = Running::start(&mut command);
    let source = json!({ "url": fixture.stdout.find("http://") });
    let limits = "limits: { startup_wait: 2m }";
    let gateway = Server::with_config(&format!("{limits}\nsources: {{ fixture: {source} }}\n"));
    let post = || gateway.post().at("/mcp/fixture");
    let uri = "test://watched-resource";
    let listen = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let mut events = Events::of(Modern::new("subscriptions/listen", listen).open(post()));
    events.find("notifications/subscriptions/acknowledged");
    let trigger = |name: &str| {
        let call = json!({ "name": name, "arguments": {} });
        let answer = Modern::new("tools/call", call).post(post()).json();
        assert!(answer["error"].is_null(), "{answer}");
    };
    for what in ["test_trigger_resource_update", "fault_end_subscriptions"] {
        trigger(what);
        let update = events.find("notifications/resources/updated");
        assert_eq!(update["params"]["uri"], uri, "{what}");
    }
    gateway.stop();
    fixture.stop();
}

/// An error that a server answers is the result of a call that worked.
#[test]
fn errors_of_servers_are_not_logged_as_errors() {
    let rejecting = ["--reject", "1234", "--reject-method", "tools/call"];
    let message = ["--reject-message", "no such project"];
    let fixture = Fixture::start(&[rejecting.as_slice(), &message].concat());
    let gateway = before(&fixture);
    let params = json!({ "name": "test_simple_text", "arguments": {} });
    let answer = Modern::new("tools/call", params).post(at_fixture(&gateway));
    let error = answer.json()["error"].clone();
    assert_eq!(error["code"], 1234, "{error}");
    assert_eq!(error["message"], "no such project");
    let log = gateway.stop().stderr;
    let line = log.lines().find(|line| line.contains("no such project"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("source returned an error"), "{line}");
    assert!(!log.contains("ERROR"), "{log}");
    fixture.stop();
}
