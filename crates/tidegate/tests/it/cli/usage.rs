//! Valid and invalid usage.

use crate::support::Home;

/// Runs with wrong arguments: exit code 2, nothing on stdout, and these parts on stderr.
#[track_caller]
fn assert_usage_error(args: &[&str], parts: &[&str]) {
    let ended = Home::new().run(args).expect_code(2);
    assert_eq!(ended.stdout, "");
    for part in parts {
        assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
    }
}

#[test]
fn unknown_flag_is_named() {
    assert_usage_error(&["serve", "--frobnicate"], &["--frobnicate", "Usage:"]);
    assert_usage_error(
        &["stdio", "--listen", "127.0.0.1:1"],
        &["--listen", "Usage:"],
    );
}

#[test]
fn invalid_value_is_named_with_its_flag() {
    assert_usage_error(&["serve", "--listen", "8080x"], &["--listen", "8080x"]);
    assert_usage_error(
        &["serve", "--log-level", "loud"],
        &["--log-level", "loud", "trace"],
    );
    assert_usage_error(&["serve", "--config"], &["--config"]);
}

#[test]
fn unknown_command_gets_a_suggestion() {
    assert_usage_error(&["srve"], &["srve", "serve", "Usage:"]);
    assert_usage_error(&["frobnicate"], &["frobnicate", "Usage:"]);
}

#[test]
fn missing_command_prints_help_as_an_error() {
    assert_usage_error(
        &[],
        &["Usage: tidegate [OPTIONS] <COMMAND>", "serve", "stdio"],
    );
}

#[test]
fn help_and_version_go_to_stdout() {
    for (args, part) in [
        (&["--help"][..], "Usage: tidegate [OPTIONS] <COMMAND>"),
        (&["-h"], "Usage: tidegate [OPTIONS] <COMMAND>"),
        (&["serve", "--help"], "--listen <ADDR>"),
        (
            &["--version"],
            concat!("tidegate ", env!("CARGO_PKG_VERSION")),
        ),
    ] {
        let ended = Home::new().run(args).expect_code(0);
        assert!(ended.stdout.contains(part), "{args:?}: {}", ended.stdout);
        assert_eq!(ended.stderr, "", "{args:?}");
    }
}

#[test]
fn schema_is_json_on_stdout() {
    let ended = Home::new().run(&["schema"]).expect_code(0);
    let schema: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(schema["properties"]["listen"]["default"], "127.0.0.1:8080");
    assert_eq!(ended.stderr, "");
}

/// `tidegate 0.1.0 (abc1234)`; without the commit if the sources are not in a git checkout.
#[test]
fn the_version_names_the_commit() {
    let printed = Home::new().run(&["--version"]).expect_code(0).stdout;
    let version = concat!("tidegate ", env!("CARGO_PKG_VERSION"));
    let commit = printed.strip_prefix(version).unwrap().trim_end();
    let is_commit = |text: &str| text.len() >= 7 && text.chars().all(|c| c.is_ascii_hexdigit());
    let named = commit
        .strip_prefix(" (")
        .and_then(|text| text.strip_suffix(')'));
    assert!(
        commit.is_empty() || named.is_some_and(is_commit),
        "{printed}"
    );
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Home::new()
            .run(&["completions", shell])
            .expect_code(0)
            .stdout;
        for part in ["tidegate", "sources", "log-level", "completions"] {
            assert!(script.contains(part), "{shell} lacks {part}");
        }
        assert!(!script.contains("child-guard"), "{shell}");
    }
    assert_usage_error(&["completions", "nu"], &["nu", "bash"]);
}
