//! The fixture as a program.

use std::process::Stdio;

use serde_json::json;
use tidegate_testkit::fixture::program;
use tidegate_testkit::{NEWEST_LEGACY, wait_for};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::support::StdioPeer;

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tidegate-fixture"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[test]
fn program_is_found_next_to_the_test() {
    let here = env!("CARGO_BIN_EXE_tidegate-fixture");
    assert_eq!(
        program().canonicalize().unwrap(),
        std::path::Path::new(here).canonicalize().unwrap()
    );
}

#[tokio::test]
async fn stdio_server_ends_with_its_input() {
    let mut child = start(&["--era", "legacy", "--name", "other"]);
    let mut pipe = StdioPeer::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let hello = pipe.initialize(NEWEST_LEGACY, json!({})).await;
    assert_eq!(hello["result"]["serverInfo"]["name"], "other");
    drop(pipe);
    assert!(
        wait_for("the process to end", child.wait())
            .await
            .unwrap()
            .success()
    );
}

#[tokio::test]
async fn crash_ends_the_process() {
    let mut child = start(&[]);
    let mut pipe = StdioPeer::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    pipe.modern(1, "tools/call", json!({ "name": "fault_crash" }))
        .await;
    assert_eq!(pipe.line().await, None);
    assert_eq!(
        wait_for("the process to end", child.wait())
            .await
            .unwrap()
            .code(),
        Some(70)
    );
    let mut child = start(&["--crash-at-start"]);
    assert_eq!(
        wait_for("the process to end", child.wait())
            .await
            .unwrap()
            .code(),
        Some(70)
    );
}

#[tokio::test]
async fn http_server_prints_its_endpoint() {
    let mut child = start(&[
        "--listen",
        "127.0.0.1:0",
        "--era",
        "modern",
        "--format",
        "sse",
    ]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = wait_for("the endpoint on stdout", lines.next_line())
        .await
        .unwrap()
        .unwrap();
    let authority = url
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/mcp")
        .unwrap();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    let request = format!("GET /mcp HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    wait_for("a response", stream.read_to_string(&mut answer))
        .await
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
}
