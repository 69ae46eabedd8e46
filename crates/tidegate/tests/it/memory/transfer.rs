//! `tidegate memory export` and `import`.

use std::io::Write as _;

use serde_json::{Value, json};

use super::User;
use crate::support::{Home, Running, Server};

const FILE: &str = r#"{"namespace":"default","key":"exact","value":{"z":1.50,"a":12345678901234567890},"tags":["a","b"],"created":"2026-01-01T00:00:00.000Z","updated":"2026-01-02T00:00:00.000Z"}
{"namespace":"work","key":"kept","value":"text","tags":[],"created":"2026-01-01T00:00:00.000Z","updated":"2026-01-01T00:00:00.000Z","expires":"2999-01-01T00:00:00.000Z"}
"#;

#[test]
fn export_equals_import() {
    let home = Home::new();
    let expired = r#"{"key":"gone","value":1,"expires":"2020-01-01T00:00:00Z"}"#;
    home.write("in.jsonl", &format!("{FILE}\n{expired}\n"));
    for _ in 0..2 {
        let ended = home.run(&["memory", "import", "in.jsonl"]).expect_code(0);
        assert_eq!(
            ended.stdout,
            "imported 2 entries for local, skipped 1 expired\n"
        );
    }
    assert_eq!(home.run(&["memory", "export"]).expect_code(0).stdout, FILE);
    let only = home
        .run(&["memory", "export", "--namespace", "work"])
        .expect_code(0);
    assert_eq!(only.stdout, FILE.lines().nth(1).unwrap().to_owned() + "\n");
    let other = home
        .run(&["memory", "export", "--principal", "ada"])
        .expect_code(0);
    assert_eq!(other.stdout, "");
}

/// The counts are those of the resulting entries.
#[test]
fn last_line_for_a_key_wins() {
    let home =
        Home::with_config("sources: { memory: { kind: memory, quota: { max_entries: 1 } } }\n");
    home.write(
        "in.jsonl",
        "{\"key\":\"a\",\"value\":1}\n{\"key\":\"a\",\"value\":2}\n",
    );
    let output = home.run(&["memory", "import", "in.jsonl"]).expect_code(0);
    assert_eq!(
        output.stdout,
        "imported 1 entry for local, skipped 1 replaced by later lines\n"
    );
    let export = home.run(&["memory", "export"]).expect_code(0).stdout;
    assert!(export.contains("\"value\":2"), "{export}");
}

#[test]
fn running_gateway_sees_imported_entries() {
    let server = Server::start_shipped();
    let user = User::of(&server);
    user.store("here", json!("x"));
    let mut import = Running::start(&mut server.home.tidegate(&["memory", "import", "-"]));
    import
        .stdin()
        .write_all(b"{\"key\":\"there\",\"value\":2}\n")
        .unwrap();
    import.end().expect_code(0);
    assert_eq!(user.keys(json!({})), ["here", "there"]);
    let export = server.home.run(&["memory", "export"]).expect_code(0).stdout;
    let lines: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["key"], "here");
    server.stop();
}

#[test]
fn problems_are_reported_with_their_line() {
    let home = Home::new();
    home.run(&["memory", "import", "none.jsonl"]).expect_code(1);
    for (line, what) in [
        ("{\"key\":\"a\"}", "`value` is missing"),
        (
            "{\"key\":\"a\",\"value\":1,\"kee\":2}",
            "unknown field `kee`; expected",
        ),
        ("not json", "in.jsonl:2: invalid JSON at column 2;"),
        ("[1]", "expected a JSON object"),
        ("{\"key\":1,\"value\":1}", "`key` must be a string"),
        ("{\"key\":\"\",\"value\":1}", "`key` must have 1 to"),
        (
            "{\"key\":\"a\",\"value\":1,\"expires\":\"tomorrow\"}",
            "`tomorrow` is not a time",
        ),
    ] {
        home.write(
            "in.jsonl",
            &format!("{{\"key\":\"good\",\"value\":1}}\n{line}\n"),
        );
        let output = home
            .run(&["memory", "import", "in.jsonl"])
            .expect_code(1)
            .stderr;
        assert!(
            output.contains("in.jsonl:2: ") && output.contains(what),
            "{output}"
        );
        assert!(output.contains("nothing was imported"), "{output}");
    }
    assert_eq!(home.run(&["memory", "export"]).expect_code(0).stdout, "");
}

#[test]
fn ambiguous_source_is_rejected() {
    let two = "sources: { memory: { kind: memory }, notes: { kind: memory, quota: { max_entries: 1 } } }\n";
    let home = Home::with_config(two);
    let output = home.run(&["memory", "export"]).expect_code(2).stderr;
    assert!(
        output.contains("choose one with --source: memory, notes"),
        "{output}"
    );
    let output = home
        .run(&["memory", "export", "--source", "x"])
        .expect_code(2)
        .stderr;
    assert!(
        output.contains("no memory source named `x`; configured: memory, notes"),
        "{output}"
    );
    home.write(
        "in.jsonl",
        "{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\",\"value\":1}\n",
    );
    let notes = ["memory", "import", "in.jsonl", "--source", "notes"];
    let output = home.run(&notes).expect_code(1).stderr;
    assert!(
        output.contains("more entries than the quota of 1"),
        "{output}"
    );
    home.run(&["memory", "import", "in.jsonl", "--source", "memory"])
        .expect_code(0);
    assert_eq!(
        home.run(&["memory", "export", "--source", "notes"]).stdout,
        ""
    );
    let none = Home::with_config("sources: {}\n");
    let output = none.run(&["memory", "export"]).expect_code(2).stderr;
    assert!(
        output.contains("no source of the kind `memory`"),
        "{output}"
    );
}
