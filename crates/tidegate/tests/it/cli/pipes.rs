//! Outputs whose reader is gone, as after `| head`, or that cannot be written.

use std::fs::File;
use std::io::{PipeWriter, Write, pipe};

use crate::support::{Ended, Home, Running, Stdio};

const PRINTING: [&[&str]; 4] = [
    &["schema"],
    &["check"],
    &["check", "--json"],
    &["completions", "bash"],
];

/// A pipe whose reader is closed.
fn unread() -> PipeWriter {
    let (_, writer) = pipe().unwrap();
    writer
}

/// A device that is always full.
fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

/// A closed reader is neither an error nor worth a message.
fn assert_quiet(ended: Ended) {
    let ended = ended.expect_code(0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn commands_end_quietly_without_a_reader() {
    for args in PRINTING
        .into_iter()
        .chain([&["--help"][..], &["--version"]])
    {
        let home = Home::new();
        assert_quiet(Running::start_onto(&mut home.tidegate(args), unread()).end());
    }
}

/// The input stays open: the gateway must detect a closed client by its output.
#[test]
fn stdio_ends_without_a_reader() {
    let home = Home::new();
    let mut process = Running::start_onto(
        &mut home.tidegate(&["stdio", "--log-level", "warn"]),
        unread(),
    );
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    writeln!(process.stdin(), "{ping}").unwrap();
    process.wait();
    assert_quiet(process.end());
}

/// Lost data is an error and reported.
#[test]
fn full_disk_is_reported() {
    for args in PRINTING {
        let home = Home::new();
        let process = Running::start_onto(&mut home.tidegate(args), full());
        let ended = process.end().expect_code(1);
        assert!(ended.stderr.contains("No space left"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
}

/// The reader of the log may close it; calls continue.
#[test]
fn closed_log_does_not_affect_calls() {
    let home = Home::new();
    let mut command = home.tidegate(&["stdio", "--log-level", "trace"]);
    let process = Running::start_logging_onto(&mut command, unread());
    let mut stdio = Stdio::of(home, process);
    stdio.write(b"{ half\n");
    assert_eq!(stdio.receive()["error"]["code"], -32700);
    stdio.ping();
    stdio.end();
}
