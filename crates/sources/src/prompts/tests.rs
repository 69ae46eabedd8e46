//! Prompt files, skills and their problems.

mod problems;
mod prompts;
mod skills;

use std::fs;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use tidegate_core::{Change, Outcome};

use super::library::Library;
use super::*;
use crate::folder::{FolderSnapshot, FolderView as _};

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

struct TestFolder {
    folder: TempDir,
    source: Prompts,
}

impl TestFolder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = PromptsConfig {
            folder: folder.path().to_owned(),
        };
        let folder = Self {
            source: build("p", config),
            folder,
        };
        for (name, text) in files {
            folder.write(name, text);
        }
        folder.source.0.rescan();
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Rescans and returns the changes.
    fn rescan(&self) -> Vec<Change> {
        let source = &self.source.0;
        let previous = source.snapshot();
        source.rescan();
        let current = source.snapshot();
        source.view.changes(&source.folder, &current, &previous)
    }

    fn snapshot(&self) -> Arc<FolderSnapshot<Library>> {
        self.source.0.snapshot()
    }

    fn names(&self) -> Vec<String> {
        self.snapshot().details.prompts.keys().cloned().collect()
    }

    fn problems(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let problems = snapshot.details.problems.iter();
        problems.map(ToString::to_string).collect()
    }

    fn get(&self, name: &str, arguments: &Value) -> Result<Value, String> {
        let snapshot = self.snapshot();
        let got = snapshot.details.prompts[name].get(&arguments.to_string());
        match got.map_err(|error| error.message().to_owned())? {
            Outcome::Complete { result, .. } => Ok(result.read().unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

/// The only problem of a folder with this one file.
#[track_caller]
fn only_problem(text: &str) -> String {
    let folder = TestFolder::with(&[("a.md", text)]);
    assert_eq!(folder.names(), [""; 0], "{text}");
    let mut problems = folder.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}
