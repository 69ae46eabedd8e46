//! Outputs that nobody reads, as after `| head`, or that take nothing.

use std::fs::File;
use std::io::{PipeWriter, Write, pipe};

use crate::support::{Ended, Home, Running, Stdio};

const PRINTING: [&[&str]; 4] = [
    &["schema"],
    &["check"],
    &["check", "--json"],
    &["completions", "bash"],
];

/// A pipe whose reader is gone.
fn unread() -> PipeWriter {
    let (_, writer) = pipe().unwrap();
    writer
}

/// A device that takes nothing.
fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

/// A reader that left is no failure, and nothing to make words about.
fn quiet(ended: Ended) {
    let ended = ended.expect_code(0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn what_prints_data_ends_quietly() {
    for args in PRINTING
        .into_iter()
        .chain([&["--help"][..], &["--version"]])
    {
        let home = Home::new();
        quiet(Running::start_onto(&mut home.tidegate(args), unread()).end());
    }
}

/// The input stays open: a client that is gone must be noticed by the output alone.
#[test]
fn stdio_ends_when_its_client_is_gone() {
    let home = Home::new();
    let mut process = Running::start_onto(&mut home.tidegate(&["stdio"]), unread());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    writeln!(process.stdin(), "{ping}").unwrap();
    process.wait();
    quiet(process.end());
}

/// Data that is lost is a failure, and says so.
#[test]
fn a_full_disk_is_told() {
    for args in PRINTING {
        let home = Home::new();
        let process = Running::start_onto(&mut home.tidegate(args), full());
        let ended = process.end().expect_code(1);
        assert!(ended.stderr.contains("No space left"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
}

/// Whoever reads the log may leave; calls go on.
#[test]
fn a_log_that_nobody_reads_is_no_harm() {
    let home = Home::new();
    let mut command = home.tidegate(&["stdio", "--log-level", "trace"]);
    let process = Running::start_logging_onto(&mut command, unread());
    let mut stdio = Stdio::of(home, process);
    stdio.write(b"{ half\n");
    assert_eq!(stdio.hear()["error"]["code"], -32700);
    stdio.ping();
    stdio.end();
}
