//! `{ kind: prompts }`: Markdown files as prompts, skills as prompts and resources.

use serde_json::{Value, json};

use super::{home, start, write};
use crate::support::{Answer, Server};

fn get(server: &Server, name: &str, arguments: &Value) -> Answer {
    server.modern(
        "prompts/get",
        json!({ "name": name, "arguments": arguments }),
    )
}

#[test]
fn prompt_arguments_are_filled_in() {
    let server = start();
    let listed = server.modern("prompts/list", json!({})).result();
    assert_eq!(
        listed["prompts"][1],
        json!({
            "name": "team/review",
            "title": "Review code",
            "description": "Reviews code.",
            "arguments": [
                { "name": "language", "required": true, "description": "Must be one of `rust`, `go`." },
                {
                    "name": "depth",
                    "required": false,
                    "description": "Must be an integer. Default: `2`.",
                },
            ],
            "_meta": { "dev.tidegate/source": "team" },
        })
    );
    let got = get(&server, "team/review", &json!({ "language": "go" })).result();
    let content = &got["messages"][0]["content"];
    assert_eq!(content["text"], "Review this go code to depth 2.");
    let error = get(&server, "team/review", &json!({ "language": "perl" })).error();
    assert_eq!(error["code"], -32602);
    assert_eq!(
        error["message"],
        "the argument `language` must be one of `rust`, `go`, not `perl`"
    );
    server.stop();
}

#[test]
fn skill_is_a_prompt_and_resources() {
    let server = start();
    let got = get(&server, "team/pdf", &json!({})).result();
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("# PDF\n"), "{text}");
    for (uri, text) in [
        ("skill://skills/pdf/SKILL.md", "name: pdf"),
        ("skill://skills/pdf/forms.md", "# Forms"),
    ] {
        let read = server
            .modern("resources/read", json!({ "uri": uri }))
            .result();
        assert!(
            read["contents"][0]["text"].as_str().unwrap().contains(text),
            "{read}"
        );
    }
    for uri in [
        "skill://review.md",
        "skill://skills/pdf/../../review.md",
        "skill://skills/pdf/%2e%2e/%2e%2e/review.md",
        "skill://skills",
        "skill://",
    ] {
        let error = server
            .modern("resources/read", json!({ "uri": uri }))
            .error();
        assert_eq!(error["code"], -32602, "{uri}");
    }
    server.stop();
}

/// S2.6: an invalid file is reported with its line; the others work.
#[test]
fn invalid_file_is_left_out_and_reported() {
    let home = home();
    write(
        &home,
        "team/broken.md",
        b"---\ntitle: x\n---\n\n{{nobody}}\n",
    );
    let listing = home.run(&["ls", "prompts"]).expect_code(0);
    assert!(listing.stdout.contains("team/review"), "{}", listing.stdout);
    let part = "source `team` is incomplete: broken.md:5";
    assert!(listing.stderr.contains(part), "{}", listing.stderr);
    let server = Server::start_in(home, &[]);
    let listed = server.modern("prompts/list", json!({})).result();
    assert_eq!(
        listed["prompts"].as_array().map(Vec::len),
        Some(2),
        "{listed}"
    );
    let problem = "broken.md:5: `{{nobody}}` is not a declared argument (none are declared)";
    let gap = listed["_meta"]["dev.tidegate/missing"]["team"]
        .as_str()
        .unwrap();
    assert!(gap.starts_with(problem), "{gap}");
    let health = json!({ "uri": "resource://system/health" });
    let health = server.modern("resources/read", health).result();
    assert!(health.to_string().contains("broken.md:5"), "{health}");
    get(&server, "team/review", &json!({ "language": "go" })).result();
    let log = server.stop().stderr;
    assert_eq!(log.matches("broken.md:5").count(), 1, "{log}");
}
