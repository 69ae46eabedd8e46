//! Files become prompts, and what is wrong with one is told with its line.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_core::{CatalogGap, Change, Outcome};

use super::library::Library;
use super::*;

const REVIEW: &str = "\
---
title: Review
description: Reviews code.
arguments:
  - name: language
    description: What it is written in.
    type: enum
    values: [rust, go, 42]
    required: true
  - name: depth
    type: integer
    default: 3
  - name: tone
    suggestions: [kind, harsh, unkind]
  - { name: strict, type: boolean }
---

Review this {{language}} code to depth {{ depth }}.
Be {{tone}}. \\{{not this}}
";

struct Folder {
    folder: TempDir,
    source: Prompts,
}

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = PromptsConfig {
            folder: folder.path().to_owned(),
        };
        let folder = Self {
            source: Prompts::new("p", config),
            folder,
        };
        for (name, text) in files {
            folder.write(name, text);
        }
        folder.source.0.look();
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Looks again, and gives what is told.
    fn look(&self) -> Vec<Change> {
        let before = self.source.0.now();
        self.source.0.look();
        self.source.0.now().news(&self.source.0.base, &before)
    }

    fn shelf(&self) -> Arc<Shelf> {
        self.source.0.now()
    }

    fn names(&self) -> Vec<String> {
        self.shelf().library.prompts.keys().cloned().collect()
    }

    fn problems(&self) -> Vec<String> {
        let shelf = self.shelf();
        let problems = shelf.library.problems.iter();
        problems.map(ToString::to_string).collect()
    }

    fn get(&self, name: &str, arguments: &Value) -> Result<Value, String> {
        let shelf = self.shelf();
        let got = shelf.library.prompts[name].get(&arguments.to_string());
        match got.map_err(|error| error.message().to_owned())? {
            Outcome::Complete { result, .. } => Ok(result.read().unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

/// The only problem of a folder with this one file.
#[track_caller]
fn problem(text: &str) -> String {
    let folder = Folder::with(&[("a.md", text)]);
    assert_eq!(folder.names(), [""; 0], "{text}");
    let mut problems = folder.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}

#[test]
fn a_file_is_a_prompt_with_typed_arguments() {
    let folder = Folder::with(&[("code/review.md", REVIEW), ("README.md", "# Notes\n")]);
    assert_eq!(folder.problems(), [""; 0]);
    assert_eq!(folder.names(), ["code/review"]);
    let definition = &folder.shelf().catalog.prompts[0].definition;
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
                "description": "Must be a whole number. Default: `3`.",
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
fn arguments_are_checked() {
    let folder = Folder::with(&[("r.md", REVIEW)]);
    for (arguments, message) in [
        (json!({}), "the argument `language` is missing"),
        (
            json!({ "language": "c" }),
            "the argument `language` must be one of `rust`, `go`, `42`, not `c`",
        ),
        (
            json!({ "language": "go", "depth": "deep" }),
            "the argument `depth` must be a whole number, not `deep`",
        ),
        (
            json!({ "language": "go", "strict": "yes" }),
            "the argument `strict` must be `true` or `false`, not `yes`",
        ),
        (
            json!({ "language": "go", "lang": "x" }),
            "this prompt has no argument `lang`; it has language, depth, tone, strict",
        ),
        (
            json!({ "language": ["go"] }),
            "the argument `language` must be text",
        ),
        (json!([1]), "the arguments of a prompt are text by name"),
    ] {
        assert_eq!(folder.get("r", &arguments).unwrap_err(), message);
    }
    let numbers = json!({ "language": 42, "depth": -7, "strict": true });
    assert!(folder.get("r", &numbers).is_ok());
}

#[test]
fn a_prompt_does_not_grow_without_bound() {
    let text = format!(
        "---\narguments: [{{ name: a }}]\n---\n{}",
        "{{a}}".repeat(1000)
    );
    let folder = Folder::with(&[("a.md", &text)]);
    assert!(folder.get("a", &json!({ "a": "x".repeat(4000) })).is_ok());
    let much = json!({ "a": "x".repeat(5000) });
    assert!(folder.get("a", &much).unwrap_err().contains("more than"));
}

#[test]
fn values_are_suggested() {
    let folder = Folder::with(&[("r.md", REVIEW)]);
    let shelf = folder.shelf();
    let suggested = |name: &str, typed| {
        let argument = shelf.library.prompts["r"].argument(name).unwrap();
        argument.suggested(typed)
    };
    assert_eq!(suggested("language", ""), ["rust", "go", "42"]);
    assert_eq!(suggested("language", "R"), ["rust"]);
    assert_eq!(suggested("tone", "k"), ["kind", "unkind"]);
    assert_eq!(suggested("strict", ""), ["true", "false"]);
    assert_eq!(suggested("depth", ""), [""; 0]);
}

#[test]
fn several_messages_are_listed() {
    let folder = Folder::with(&[(
        "a.md",
        "---\nname: chat\narguments: [{ name: x }]\nmessages:\n  - text: Hello {{x}}\n  \
         - role: assistant\n    text: |\n      Yes?\n      {{x}}!\n---\n",
    )]);
    let got = folder.get("chat", &json!({ "x": "you" })).unwrap();
    let said: Vec<_> = got["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["role"], &one["content"]["text"]))
        .collect();
    assert_eq!(
        said,
        [
            (&json!("user"), &json!("Hello you")),
            (&json!("assistant"), &json!("Yes?\nyou!"))
        ]
    );
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
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
            "a.md:2: a name has 1 to 128 characters",
        ),
        (
            "---\narguments:\n  - name: a\n---\nx\n\n{{b}}",
            "a.md:7: `{{b}}` names no argument; there are a.",
        ),
        ("---\n---\nx {{b", "a.md:3: `{{` is not closed"),
        (
            "---\n---\n{{#if x}}",
            "a.md:3: `{{#if x}}` is not the name of an argument",
        ),
        (
            "---\narguments:\n  - name: a\n    type: integer\n    default: x\n---\nx",
            "a.md:5: the default of `a` must be a whole number, not `x`",
        ),
        (
            "---\narguments:\n  - name: a\n    type: enum\n---\nx",
            "a.md:3: the argument `a` is an enum and needs `values`",
        ),
        (
            "---\narguments:\n  - { name: a, required: true, default: x }\n---\nx",
            "a.md:3: the argument `a` has a default",
        ),
        (
            "---\narguments:\n  - name: a b\n---\nx",
            "a.md:3: `a b` cannot be the name of an argument",
        ),
        (
            "---\narguments: [{ name: a }, { name: a }]\n---\nx",
            "a.md:2: the argument `a` is there twice",
        ),
        (
            "---\nmessages:\n  - text: |\n      one\n      {{b}}\n---\n",
            "a.md:5: `{{b}}` names no argument",
        ),
        (
            "---\nmessages:\n  - text: a\n---\nbody",
            "a.md:5: there are `messages` and a text",
        ),
        (
            "---\nmessages:\n  - role: system\n    text: a\n---\n",
            "a.md:3",
        ),
    ] {
        let told = problem(text);
        assert!(told.starts_with(expected), "{expected}\n{told}");
    }
}

#[test]
fn a_file_that_breaks_keeps_what_it_said() {
    let folder = Folder::with(&[("a.md", "---\n---\none"), ("b.md", "---\n---\ntwo")]);
    let text =
        |name| folder.get(name, &json!({})).unwrap()["messages"][0]["content"]["text"].clone();
    folder.write("a.md", "---\n---\n{{broken}}");
    assert_eq!(folder.look(), []);
    assert_eq!((text("a"), text("b")), (json!("one"), json!("two")));
    let told = folder.problems();
    assert!(told[0].starts_with("a.md:3: "), "{told:?}");
    assert!(told[0].ends_with("stays until then)"), "{told:?}");
    assert!(
        matches!(&folder.shelf().catalog.gap, Some(CatalogGap::Unavailable(why)) if why.contains("a.md:3"))
    );
    assert!(matches!(folder.source.health(), Health::Degraded(_)));
    folder.write("a.md", "");
    assert_eq!(
        folder.look(),
        [],
        "some programs empty a file before they write it"
    );
    assert_eq!(text("a"), "one");
    folder.write("a.md", "---\ntitle: New\n---\nthree");
    assert_eq!(folder.look(), [Change::Prompts]);
    assert_eq!(text("a"), "three");
    assert_eq!(folder.source.health(), Health::Good);
    fs::remove_file(folder.folder.path().join("b.md")).unwrap();
    assert_eq!(folder.look(), [Change::Prompts]);
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn a_name_belongs_to_the_first() {
    let folder = Folder::with(&[
        ("a.md", "---\nname: same\n---\none"),
        ("b.md", "---\nname: same\n---\ntwo"),
    ]);
    assert_eq!(folder.names(), ["same"]);
    let told = folder.problems();
    assert_eq!(
        told,
        ["b.md:2: the prompt `same` is already that of `a.md`; give one of them another `name`"]
    );
}

const SKILL_MD: &str = "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\n---\n\
    # PDF\n\nUse {{this}} and [forms](forms.md).\n";

#[test]
fn a_skill_is_a_prompt_and_resources() {
    let folder = Folder::with(&[
        ("skills/pdf/SKILL.md", SKILL_MD),
        ("skills/pdf/forms.md", "---\nname: not-a-prompt\n---\nx"),
        ("skills/pdf/scripts/run.py", "print()"),
        (
            "skills/bad/SKILL.md",
            "---\nname: other\ndescription: x\n---\n",
        ),
        ("skills/bad/more.md", "x"),
        ("plain.md", "---\n---\nx"),
    ]);
    assert_eq!(folder.names(), ["pdf", "plain"]);
    let shelf = folder.shelf();
    let uris: Vec<_> = shelf
        .catalog
        .resources
        .iter()
        .map(|one| one.key.as_str())
        .collect();
    assert_eq!(
        uris,
        [
            "skill://skills/pdf/SKILL.md",
            "skill://skills/pdf/forms.md",
            "skill://skills/pdf/scripts/run.py",
        ]
    );
    let first: Value = shelf.catalog.resources[0].definition.read().unwrap();
    assert_eq!(first["name"], "skills/pdf");
    assert_eq!(first["description"], "Reads PDF files.");
    assert_eq!(first["mimeType"], "text/markdown");
    assert_eq!(
        folder.problems(),
        [
            "skills/bad/SKILL.md:2: the skill is called `other` and its folder `bad`; give both the same name"
        ]
    );
    let got = folder.get("pdf", &json!({})).unwrap();
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(
        text,
        "# PDF\n\nUse {{this}} and [forms](forms.md).\n\nThe files of this skill are resources below \
         skill://skills/pdf/"
    );
    folder.write("skills/pdf/forms.md", "changed");
    let uri = "skill://skills/pdf/forms.md";
    assert_eq!(folder.look(), [Change::ResourceUpdated(uri.into())]);
}

#[test]
fn too_many_and_too_large_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..1002 {
        fs::write(folder.path().join(format!("{number:04}.md")), "---\n---\nx").unwrap();
    }
    let large = format!("---\n---\n{}", "x".repeat(300 * 1024 - 8));
    fs::write(folder.path().join("0000.md"), large).unwrap();
    let root = Root::new(folder.path().to_owned());
    let rules = Rules {
        hidden: false,
        gitignore: false,
        include: Patterns::default(),
        exclude: Patterns::default(),
        told: Told::default(),
    };
    let walk = Walk {
        root: &root,
        rules: &rules,
        most: 5000,
    };
    let walked = walk.go(&crate::folder::Walked::default()).unwrap();
    let library = Library::read(&root, &walked, &Library::default());
    assert_eq!(library.prompts.len(), 999);
    let told: Vec<_> = library.problems.iter().map(ToString::to_string).collect();
    assert!(
        told[0].starts_with("0000.md:1: the file has 307200 bytes"),
        "{told:?}"
    );
    assert!(
        told[1].starts_with("1000.md:1: more than 1000 files"),
        "{told:?}"
    );
    assert_eq!(told.len(), 2);
}

/// A file without front matter is somebody's notes, whatever else is odd about it.
#[test]
fn notes_are_left_alone() {
    let long = "x".repeat(300 * 1024);
    let folder = Folder::with(&[("a.md", REVIEW), ("notes.md", &long)]);
    fs::write(folder.folder.path().join("latin.md"), b"# caf\xe9\n").unwrap();
    folder.look();
    assert_eq!(folder.problems(), [""; 0]);
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn what_stands_twice_is_told_where_it_stands_again() {
    let twice = "---\narguments:\n  - name: x\n    title: X\n  - name: x\n---\n{{x}}";
    assert_eq!(problem(twice), "a.md:5: the argument `x` is there twice");
    let named = "---\ntitle: T\nname: one\n---\nx";
    let folder = Folder::with(&[("a.md", named), ("b.md", named)]);
    assert_eq!(
        folder.problems(),
        ["b.md:3: the prompt `one` is already that of `a.md`; give one of them another `name`"]
    );
}

/// The name of a skill is that of its folder: another `name` alone would be the next mistake.
#[test]
fn two_skills_with_one_name_are_told_what_to_do() {
    let folder = Folder::with(&[("a/pdf/SKILL.md", SKILL_MD), ("b/pdf/SKILL.md", SKILL_MD)]);
    assert_eq!(
        folder.problems(),
        [
            "b/pdf/SKILL.md:2: the prompt `pdf` is already that of `a/pdf/SKILL.md`; give the folder \
             of one of them another name, and its `name` too"
        ]
    );
}

/// Were the whole folder a skill, its prompts would be files of that skill.
#[test]
fn a_skill_needs_a_folder_of_its_own() {
    let folder = Folder::with(&[("SKILL.md", SKILL_MD), ("a.md", REVIEW)]);
    assert_eq!(folder.names(), ["a"]);
    let problems = folder.problems();
    assert!(problems[0].starts_with("SKILL.md:1: a skill has a folder of its own"));
    assert_eq!(folder.shelf().catalog.resources, []);
}

#[test]
fn a_file_is_no_folder() {
    let folder = Folder::with(&[("a.md", REVIEW)]);
    let config = PromptsConfig {
        folder: folder.folder.path().join("a.md"),
    };
    let source = Prompts::new("p", config);
    source.0.look();
    let told = "`folder` names a file; let it name a folder";
    assert_eq!(source.health(), Health::Down(told.to_owned()));
}
