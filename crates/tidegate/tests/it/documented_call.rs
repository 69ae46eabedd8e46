//! The documented call: one `curl` without a session, a version header or a key.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use serde_json::{Value, json};

use crate::memory::STATS;
use crate::support::{Home, Running, Server};

/// The port of the documented call, and the default one.
const PORT: u16 = 8080;

/// S0.3: the request is JSON-RPC 2.0 with the method `resources/read` and `params.uri`.
/// S0.17: it is a POST to `/mcp` on port 8080, with only `Content-Type: application/json`.
/// S0.18: it needs no credential.
/// S0.12 and S0.13 specify the response, see [`check`].
#[test]
fn documented_call_is_answered() {
    let (server, port) = on_the_documented_port();
    let body = format!(
        r#"{{"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {{"uri": "{STATS}"}}}}"#
    );
    let url = format!("http://localhost:{port}/mcp");
    let answer = curl(&server.home, &url, &body).unwrap_or_else(|| {
        let post = server.post().header("Host", &format!("localhost:{port}"));
        let post = post.header("Accept", "*/*").header("User-Agent", "curl/8");
        let answer = post
            .header("Content-Type", "application/json")
            .send(body.as_bytes());
        assert_eq!(answer.status, 200);
        answer.body
    });
    check(&serde_json::from_str(&answer).unwrap());
    server.stop();
}

/// S0.12: the result is `contents`, each with the requested `uri`, a `mimeType` and a `text`.
/// S0.13: `id` and `jsonrpc` are returned.
fn check(answer: &Value) {
    assert_eq!(answer["jsonrpc"], "2.0");
    assert_eq!(answer["id"], 4);
    let contents = answer["result"]["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 1, "{answer}");
    assert_eq!(contents[0]["uri"], STATS);
    assert_eq!(contents[0]["mimeType"], "application/json");
    let stats: Value = serde_json::from_str(contents[0]["text"].as_str().unwrap()).unwrap();
    // S0.16: a number, and a human-readable size.
    assert_eq!(stats["total_entries"], 0, "{stats}");
    assert_eq!(stats["storage_size"], "0B", "{stats}");
    assert_eq!(
        answer["result"],
        json!({ "contents": contents }),
        "no other members in this revision"
    );
}

/// `tidegate serve` on the documented port, or on another if that is in use on this machine.
fn on_the_documented_port() -> (Server, u16) {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).is_ok();
    if free {
        let home = Home::new();
        let process = Running::start(&mut home.tidegate(&["serve"]));
        let line = process.stderr.next().unwrap_or_default();
        if line.contains(&format!("listening on http://127.0.0.1:{PORT}/mcp")) {
            let address = (Ipv4Addr::LOCALHOST, PORT).into();
            return (
                Server {
                    home,
                    process,
                    address,
                },
                PORT,
            );
        }
        let ended = process.end();
        assert!(
            line.contains("another program uses this port"),
            "{line} {ended:?}"
        );
    }
    let server = Server::start_shipped();
    let port = server.address.port();
    (server, port)
}

/// Makes the documented call; `None` if `curl` is not installed.
fn curl(home: &Home, url: &str, body: &str) -> Option<String> {
    Command::new("curl").arg("--version").output().ok()?;
    let mut command = home.command("curl");
    // In addition to the documented arguments: no progress, failure by status, no proxy.
    command.args(["-sS", "--fail-with-body", "--noproxy", "*"]);
    command.args([
        "-X",
        "POST",
        url,
        "-H",
        "Content-Type: application/json",
        "-d",
        body,
    ]);
    Some(Running::start(&mut command).end().expect_code(0).stdout)
}
