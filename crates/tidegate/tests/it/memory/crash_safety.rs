//! Acknowledged writes are durable, however the process ends.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::messages::{request, with_modern_meta};
use crate::support::{Home, Running};

/// How often two processes on one folder are killed while they write.
const ROUNDS: u64 = 100;

/// Kills the process after some acknowledged writes and a varying delay; returns the acknowledged
/// keys.
fn write_and_kill(home: &Home, number: u64) -> Vec<String> {
    let mut process = Running::start(&mut home.tidegate(&["stdio", "--log-level", "error"]));
    let mut input = process.take_stdin();
    // All at once, so that a write is in progress whenever the process is killed.
    let writing = thread::spawn(move || {
        for write in 0..200 {
            let key = format!("k{number}-{write}");
            let value = "v".repeat(usize::try_from(write * 37 % 4000).unwrap());
            let arguments = json!({ "key": key, "value": value });
            let params =
                with_modern_meta(json!({ "name": "memory__store", "arguments": arguments }));
            let line = format!("{}\n", request(write, "tools/call", &params));
            // Fails once the process is killed.
            if input.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    let mut acknowledged = Vec::new();
    for _ in 0..1 + number % 4 {
        acknowledged.extend(acknowledged_key(process.stdout.next()));
    }
    thread::sleep(Duration::from_micros(number * 97 % 7000));
    process.signal(Signal::KILL);
    process.wait();
    // Acknowledgements written before the kill count too.
    while let Some(line) = process.stdout.next() {
        acknowledged.extend(acknowledged_key(Some(line)));
    }
    writing.join().unwrap();
    acknowledged
}

/// The key that a line acknowledges; the last line may be incomplete.
fn acknowledged_key(line: Option<String>) -> Option<String> {
    let answer: Value = serde_json::from_str(&line?).ok()?;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let key = &answer["result"]["structuredContent"]["key"];
    Some(key.as_str().unwrap().to_owned())
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let home = Home::new();
    let mut acknowledged = Vec::new();
    for number in 0..ROUNDS {
        thread::scope(|both| {
            let both = [2 * number, 2 * number + 1].map(|key| {
                let home = &home;
                both.spawn(move || write_and_kill(home, key))
            });
            for thread in both {
                acknowledged.extend(thread.join().unwrap());
            }
        });
    }
    assert!(acknowledged.len() >= usize::try_from(2 * ROUNDS).unwrap());
    let export = home
        .tidegate(&["memory", "export"])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(export.status.success());
    let text = String::from_utf8(export.stdout).unwrap();
    let kept: std::collections::HashSet<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|entry| entry["key"].as_str().unwrap().to_owned())
        .collect();
    for key in &acknowledged {
        assert!(kept.contains(key), "{key} was acknowledged and is lost");
    }
}
