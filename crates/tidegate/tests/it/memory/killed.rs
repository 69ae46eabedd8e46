//! Whatever was acknowledged is there, however the process ended.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::messages::{request, stateless};
use crate::support::{Home, Running};

/// How often two processes on one folder are killed in the middle of their writes.
const ROUNDS: u64 = 100;

/// Kills the process after so many acknowledged writes, and a moment that is another each time.
fn round(home: &Home, number: u64) -> Vec<String> {
    let mut process = Running::start(&mut home.tidegate(&["stdio", "--log-level", "error"]));
    let mut input = process.take_stdin();
    // All at once, so that one is being written whenever the end comes.
    let writing = thread::spawn(move || {
        for write in 0..200 {
            let key = format!("k{number}-{write}");
            let value = "v".repeat(usize::try_from(write * 37 % 4000).unwrap());
            let arguments = json!({ "key": key, "value": value });
            let params = stateless(json!({ "name": "memory__store", "arguments": arguments }));
            let line = format!("{}\n", request(write, "tools/call", &params));
            // It fails when the process has gone.
            if input.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    let mut acknowledged = Vec::new();
    for _ in 0..1 + number % 4 {
        acknowledged.extend(heard(process.stdout.next()));
    }
    thread::sleep(Duration::from_micros(number * 97 % 7000));
    process.signal(Signal::KILL);
    process.wait();
    // What it had said before it ended counts too.
    while let Some(line) = process.stdout.next() {
        acknowledged.extend(heard(Some(line)));
    }
    writing.join().unwrap();
    acknowledged
}

/// The key that a line acknowledges; the last line may be cut off.
fn heard(line: Option<String>) -> Option<String> {
    let answer: Value = serde_json::from_str(&line?).ok()?;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let key = &answer["result"]["structuredContent"]["key"];
    Some(key.as_str().unwrap().to_owned())
}

#[test]
fn no_acknowledged_write_is_lost() {
    let home = Home::new();
    let mut acknowledged = Vec::new();
    for number in 0..ROUNDS {
        thread::scope(|both| {
            let both = [2 * number, 2 * number + 1].map(|one| {
                let home = &home;
                both.spawn(move || round(home, one))
            });
            for one in both {
                acknowledged.extend(one.join().unwrap());
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
        assert!(kept.contains(key), "{key} was acknowledged and is gone");
    }
}
