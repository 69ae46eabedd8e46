//! Skills as prompts and resources.

use serde_json::{Value, json};
use tidegate_core::Change;

use super::{REVIEW, TestFolder};

const SKILL_MD: &str = "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\n---\n\
    # PDF\n\nUse {{this}} and [forms](forms.md).\n";

#[test]
fn offers_a_skill_as_prompt_and_resources() {
    let folder = TestFolder::with(&[
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
    let snapshot = folder.snapshot();
    let uris: Vec<_> = snapshot
        .catalog
        .resources
        .iter()
        .map(|entry| entry.key.as_str())
        .collect();
    assert_eq!(
        uris,
        [
            "skill://skills/pdf/SKILL.md",
            "skill://skills/pdf/forms.md",
            "skill://skills/pdf/scripts/run.py",
        ]
    );
    let first: Value = snapshot.catalog.resources[0].definition.read().unwrap();
    assert_eq!(first["name"], "skills/pdf");
    assert_eq!(first["description"], "Reads PDF files.");
    assert_eq!(first["mimeType"], "text/markdown");
    assert_eq!(
        folder.problems(),
        [
            "skills/bad/SKILL.md:2: the skill is named `other`, but its folder `bad`; give both the same name"
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
    assert_eq!(folder.rescan(), [Change::ResourceUpdated(uri.into())]);
}

/// The description of a skill is in the lists of prompts and of resources.
#[test]
fn a_changed_description_of_a_skill_announces_both_lists() {
    let folder = TestFolder::with(&[("pdf/SKILL.md", SKILL_MD)]);
    let changed = SKILL_MD.replace("Reads PDF files.", "Reads and writes PDF files.");
    folder.write("pdf/SKILL.md", &changed);
    let uri = "skill://pdf/SKILL.md";
    assert_eq!(
        folder.rescan(),
        [
            Change::Prompts,
            Change::Resources,
            Change::ResourceUpdated(uri.into())
        ]
    );
    folder.write("pdf/SKILL.md", &format!("{changed}more"));
    assert_eq!(folder.rescan(), [Change::ResourceUpdated(uri.into())]);
}

/// The name of a skill must be the name of its folder, so changing only `name` is not enough.
#[test]
fn reports_skills_with_the_same_name() {
    let folder = TestFolder::with(&[("a/pdf/SKILL.md", SKILL_MD), ("b/pdf/SKILL.md", SKILL_MD)]);
    assert_eq!(
        folder.problems(),
        [
            "b/pdf/SKILL.md:2: the prompt name `pdf` is already used by `a/pdf/SKILL.md`; rename the \
             folder of one of them, and change its `name`"
        ]
    );
}

/// Otherwise all prompts would be files of that skill.
#[test]
fn rejects_a_skill_in_the_root_folder() {
    let folder = TestFolder::with(&[("SKILL.md", SKILL_MD), ("a.md", REVIEW)]);
    assert_eq!(folder.names(), ["a"]);
    let problems = folder.problems();
    assert!(problems[0].starts_with("SKILL.md:1: a skill needs its own folder"));
    assert_eq!(folder.snapshot().catalog.resources, []);
}
