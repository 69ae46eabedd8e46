//! Reports about invalid files.

use std::fs;

use serde_json::json;
use tidegate_core::{CatalogGap, Change, Health, Source as _};

use super::super::{PromptsConfig, build};
use super::{REVIEW, TestFolder, only_problem};

#[test]
fn reports_problems_with_their_line() {
    for (text, expected) in [
        ("---\nname: x\n", "a.md:1: the front matter is not closed"),
        ("---\nname: x\n---\n\n", "a.md:4: the prompt is empty"),
        ("---\nname: [x\n---\nx", "a.md:"),
        (
            "---\ntitle: x\ntitel: y\n---\nx",
            "a.md:3: unknown field `titel`",
        ),
        (
            "---\nname: ''\n---\nx",
            "a.md:2: a name must have 1 to 128 characters",
        ),
        (
            "---\narguments:\n  - name: a\n---\nx\n\n{{b}}",
            "a.md:7: `{{b}}` is not a declared argument (declared: a)",
        ),
        ("---\n---\nx {{b", "a.md:3: `{{` is not closed"),
        (
            "---\n---\n{{#if x}}",
            "a.md:3: `{{#if x}}` is not a valid argument name",
        ),
        (
            "---\narguments:\n  - name: a\n    type: integer\n    default: x\n---\nx",
            "a.md:5: the default of `a` must be an integer, not `x`",
        ),
        (
            "---\narguments:\n  - name: a\n    type: enum\n---\nx",
            "a.md:3: the argument `a` is an enum and needs `values`",
        ),
        (
            "---\narguments:\n  - { name: a, required: true, default: x }\n---\nx",
            "a.md:3: the argument `a` is required and has a default",
        ),
        (
            "---\narguments:\n  - name: a b\n---\nx",
            "a.md:3: invalid argument name `a b`",
        ),
        (
            "---\narguments: [{ name: a }, { name: a }]\n---\nx",
            "a.md:2: duplicate argument `a`",
        ),
        (
            "---\nmessages:\n  - text: |\n      one\n      {{b}}\n---\n",
            "a.md:5: `{{b}}` is not a declared argument",
        ),
        (
            "---\nmessages:\n  - text: a\n---\nbody",
            "a.md:5: the prompt has `messages` and a text",
        ),
        (
            "---\nmessages:\n  - role: system\n    text: a\n---\n",
            "a.md:3",
        ),
    ] {
        let problem = only_problem(text);
        assert!(problem.starts_with(expected), "{expected}\n{problem}");
    }
}

#[test]
fn keeps_the_previous_version_of_an_invalid_file() {
    let folder = TestFolder::with(&[("a.md", "---\n---\none"), ("b.md", "---\n---\ntwo")]);
    let text =
        |name| folder.get(name, &json!({})).unwrap()["messages"][0]["content"]["text"].clone();
    folder.write("a.md", "---\n---\n{{broken}}");
    assert_eq!(folder.rescan(), []);
    assert_eq!((text("a"), text("b")), (json!("one"), json!("two")));
    let problems = folder.problems();
    assert!(problems[0].starts_with("a.md:3: "), "{problems:?}");
    assert!(problems[0].ends_with("stays in use)"), "{problems:?}");
    assert!(
        matches!(&folder.snapshot().catalog.gap, Some(CatalogGap::Unavailable(reason)) if reason.contains("a.md:3"))
    );
    assert!(matches!(folder.source.health(), Health::Warning(_)));
    folder.write("a.md", "");
    assert_eq!(
        folder.rescan(),
        [],
        "some editors truncate a file before they write it"
    );
    assert_eq!(text("a"), "one");
    folder.write("a.md", "---\ntitle: New\n---\nthree");
    assert_eq!(folder.rescan(), [Change::Prompts]);
    assert_eq!(text("a"), "three");
    assert_eq!(folder.source.health(), Health::Healthy);
    fs::remove_file(folder.folder.path().join("b.md")).unwrap();
    assert_eq!(folder.rescan(), [Change::Prompts]);
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn reports_a_duplicate_prompt_name() {
    let folder = TestFolder::with(&[
        ("a.md", "---\nname: same\n---\none"),
        ("b.md", "---\nname: same\n---\ntwo"),
    ]);
    assert_eq!(folder.names(), ["same"]);
    let problems = folder.problems();
    assert_eq!(
        problems,
        [
            "b.md:2: the prompt name `same` is already used by `a.md`; change the `name` of one of them"
        ]
    );
}

#[test]
fn reports_too_many_and_too_large_files() {
    let folder = TestFolder::with(&[]);
    for number in 0..1002 {
        folder.write(&format!("{number:04}.md"), "---\n---\nx");
    }
    let large = format!("---\n---\n{}", "x".repeat(300 * 1024 - 8));
    folder.write("0000.md", &large);
    folder.rescan();
    assert_eq!(folder.names().len(), 999);
    let problems = folder.problems();
    assert!(
        problems[0].starts_with("0000.md:1: the file has 307200 bytes"),
        "{problems:?}"
    );
    assert!(
        problems[1].starts_with("1000.md:1: more than 1000 files"),
        "{problems:?}"
    );
    assert_eq!(problems.len(), 2);
}

#[test]
fn reports_duplicates_at_the_second_occurrence() {
    let twice = "---\narguments:\n  - name: x\n    title: X\n  - name: x\n---\n{{x}}";
    assert_eq!(only_problem(twice), "a.md:5: duplicate argument `x`");
    let named = "---\ntitle: T\nname: one\n---\nx";
    let folder = TestFolder::with(&[("a.md", named), ("b.md", named)]);
    assert_eq!(
        folder.problems(),
        [
            "b.md:3: the prompt name `one` is already used by `a.md`; change the `name` of one of them"
        ]
    );
}

#[test]
fn reports_a_file_in_place_of_the_folder() {
    let folder = TestFolder::with(&[("a.md", REVIEW)]);
    let file = folder.folder.path().join("a.md");
    let config = PromptsConfig {
        folder: file.clone(),
    };
    let source = build("p", config);
    source.0.rescan();
    let message = format!("`{}` is a file; set `folder` to a folder", file.display());
    assert_eq!(source.health(), Health::Critical(message));
}
