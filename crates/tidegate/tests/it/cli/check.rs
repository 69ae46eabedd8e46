//! `tidegate check`.

use serde_json::{Value, json};

use crate::support::Home;

#[test]
fn valid_file_is_summarized() {
    let home = Home::with_config("listen: 127.0.0.1:9000\nlog: { level: debug }\n");
    let ended = home.run(&["check"]).expect_code(0);
    for part in [
        "tidegate.yaml: valid",
        "127.0.0.1:9000",
        "system",
        "debug, text",
    ] {
        assert!(ended.stdout.contains(part), "{part:?}: {}", ended.stdout);
    }
    assert_eq!(ended.stderr, "");
}

#[test]
fn valid_file_is_summarized_as_json() {
    let home = Home::with_config("listen: 127.0.0.1:9000\n");
    let ended = home.run(&["check", "--json"]).expect_code(0);
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(summary["ok"], true);
    assert_eq!(summary["listen"], "127.0.0.1:9000");
    assert_eq!(summary["sources"], json!(["memory", "system"]));
    let data = home.path().join("data/tidegate");
    assert_eq!(summary["data_dir"], json!(data));
    assert!(!data.exists(), "check creates nothing");
}

#[test]
fn missing_file_is_valid() {
    let ended = Home::new().run(&["check"]).expect_code(0);
    assert!(
        ended.stdout.contains("no configuration file"),
        "{}",
        ended.stdout
    );
}

#[test]
fn problems_are_printed_on_stderr() {
    let home = Home::with_config("lisen: x\nlimits: { max_sessions: 0 }\n");
    let ended = home.run(&["check"]).expect_code(2);
    assert_eq!(ended.stdout, "");
    for part in ["tidegate.yaml:1:1:", "tidegate.yaml:2:", "2 problems"] {
        assert!(ended.stderr.contains(part), "{part:?}: {}", ended.stderr);
    }
}

#[test]
fn problems_are_printed_as_json_on_stdout() {
    let home = Home::with_config("lisen: x\nlimits: { max_sessions: 0 }\n");
    let ended = home.run(&["check", "--json"]).expect_code(2);
    assert_eq!(ended.stderr, "");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["ok"], false);
    let problems = report["problems"].as_array().unwrap();
    let lines: Vec<_> = problems.iter().map(|one| one["line"].as_u64()).collect();
    assert_eq!(lines, [Some(1), Some(2)], "{report}");
    assert!(problems.iter().all(|one| one["message"].is_string()));
}
