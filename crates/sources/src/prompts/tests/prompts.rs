//! Listing, rendering and completing prompts.

use std::fs;

use serde_json::{Value, json};

use super::{REVIEW, TestFolder};

#[test]
fn lists_and_renders_a_prompt_with_typed_arguments() {
    let folder = TestFolder::with(&[("code/review.md", REVIEW), ("README.md", "# Notes\n")]);
    assert_eq!(folder.problems(), [""; 0]);
    assert_eq!(folder.names(), ["code/review"]);
    let definition = &folder.snapshot().catalog.prompts[0].definition;
    let definition: Value = definition.read().unwrap();
    assert_eq!(definition["title"], "Review");
    assert_eq!(
        definition["arguments"],
        json!([
            {
                "name": "language",
                "required": true,
                "description": "What it is written in. Must be one of `rust`, `go`, `42`.",
            },
            {
                "name": "depth",
                "required": false,
                "description": "Must be an integer. Default: `3`.",
            },
            { "name": "tone", "required": false },
            { "name": "strict", "required": false, "description": "Must be `true` or `false`." },
        ])
    );
    let got = folder.get(
        "code/review",
        &json!({ "language": "rust", "tone": "kind" }),
    );
    assert_eq!(
        got.unwrap(),
        json!({
            "description": "Reviews code.",
            "messages": [{ "role": "user", "content": {
                "type": "text",
                "text": "Review this rust code to depth 3.\nBe kind. {{not this}}",
            } }],
        })
    );
}

#[test]
fn validates_arguments() {
    let folder = TestFolder::with(&[("r.md", REVIEW)]);
    for (arguments, message) in [
        (json!({}), "the argument `language` is missing"),
        (
            json!({ "language": "c" }),
            "the argument `language` must be one of `rust`, `go`, `42`, not `c`",
        ),
        (
            json!({ "language": "go", "depth": "deep" }),
            "the argument `depth` must be an integer, not `deep`",
        ),
        (
            json!({ "language": "go", "strict": "yes" }),
            "the argument `strict` must be `true` or `false`, not `yes`",
        ),
        (
            json!({ "language": "go", "lang": "x" }),
            "this prompt has no argument `lang`; expected language, depth, tone, strict",
        ),
        (
            json!({ "language": ["go"] }),
            "the argument `language` must be a string",
        ),
        (json!([1]), "`arguments` must be an object of strings"),
    ] {
        assert_eq!(folder.get("r", &arguments).unwrap_err(), message);
    }
    let numbers = json!({ "language": 42, "depth": -7, "strict": true });
    assert!(folder.get("r", &numbers).is_ok());
}

#[test]
fn limits_the_size_of_a_rendered_prompt() {
    let text = format!(
        "---\narguments: [{{ name: a }}]\n---\n{}",
        "{{a}}".repeat(1000)
    );
    let folder = TestFolder::with(&[("a.md", &text)]);
    assert!(folder.get("a", &json!({ "a": "x".repeat(4000) })).is_ok());
    let too_large = json!({ "a": "x".repeat(5000) });
    assert!(folder.get("a", &too_large).unwrap_err().contains("exceeds"));
}

#[test]
fn completes_argument_values() {
    let folder = TestFolder::with(&[("r.md", REVIEW)]);
    let snapshot = folder.snapshot();
    let complete = |name: &str, typed| {
        let argument = snapshot.details.prompts["r"].argument(name).unwrap();
        argument.complete(typed)
    };
    assert_eq!(complete("language", ""), ["rust", "go", "42"]);
    assert_eq!(complete("language", "R"), ["rust"]);
    assert_eq!(complete("tone", "k"), ["kind", "unkind"]);
    assert_eq!(complete("strict", ""), ["true", "false"]);
    assert_eq!(complete("depth", ""), [""; 0]);
}

#[test]
fn supports_several_messages() {
    let folder = TestFolder::with(&[(
        "a.md",
        "---\nname: chat\narguments: [{ name: x }]\nmessages:\n  - text: Hello {{x}}\n  \
         - role: assistant\n    text: |\n      Yes?\n      {{x}}!\n---\n",
    )]);
    let got = folder.get("chat", &json!({ "x": "you" })).unwrap();
    let messages: Vec<_> = got["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (&message["role"], &message["content"]["text"]))
        .collect();
    assert_eq!(
        messages,
        [
            (&json!("user"), &json!("Hello you")),
            (&json!("assistant"), &json!("Yes?\nyou!"))
        ]
    );
}

/// Whatever else is wrong with them.
#[test]
fn ignores_files_without_front_matter() {
    let long = "x".repeat(300 * 1024);
    let folder = TestFolder::with(&[("a.md", REVIEW), ("notes.md", &long)]);
    fs::write(folder.folder.path().join("latin.md"), b"# caf\xe9\n").unwrap();
    folder.rescan();
    assert_eq!(folder.problems(), [""; 0]);
    assert_eq!(folder.names(), ["a"]);
}
