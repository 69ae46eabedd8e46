//! A reader that leaves early, as `head` does: no failure, and nothing to make words about.

use std::io::Write;

use crate::support::{Ended, Home, Running};

fn check(ended: Ended) {
    let ended = ended.expect_code(0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn what_prints_data_ends_quietly() {
    for args in [
        &["schema"][..],
        &["check"],
        &["check", "--json"],
        &["--help"],
        &["--version"],
    ] {
        let home = Home::new();
        check(Running::start_unread(&mut home.tidegate(args)).end());
    }
}

/// The input stays open: a client that is gone must be noticed by the output alone.
#[test]
fn stdio_ends_when_its_client_is_gone() {
    let home = Home::new();
    let mut process = Running::start_unread(&mut home.tidegate(&["stdio"]));
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    writeln!(process.stdin(), "{ping}").unwrap();
    process.wait();
    check(process.end());
}
