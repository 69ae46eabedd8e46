//! The configuration from the outside: files in, settings or messages out.

mod agreement;
mod defaults;
mod flags;
#[cfg(unix)]
mod keys;
mod messages;
mod schema;
mod source_messages;
mod sources;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{Environment, Flags, Problems, Settings, load};

/// Loads a file with this text, in a separate folder, with the home directory `/home/ada`.
fn load_text(text: &str) -> Result<Settings, Problems> {
    load_with(text, &Flags::default(), &[])
}

/// Loads a file with this text, with these flags and variables.
fn load_with(text: &str, flags: &Flags, variables: &[(&str, &str)]) -> Result<Settings, Problems> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("tidegate.yaml"), text).unwrap();
    load_in(folder.path(), flags, variables)
}

/// Loads the configuration of a folder.
fn load_in(folder: &Path, flags: &Flags, variables: &[(&str, &str)]) -> Result<Settings, Problems> {
    let environment = Environment::new(
        |name| {
            let mut set = variables.iter().chain([&("HOME", "/home/ada")]);
            let (_, value) = set.find(|(key, _)| *key == name)?;
            Some((*value).to_owned())
        },
        folder,
    );
    load(flags, &environment)
}

/// The lines that a broken configuration prints.
fn problem_lines(loaded: Result<Settings, Problems>) -> Vec<String> {
    match loaded {
        Ok(settings) => panic!("the configuration is valid: {settings:?}"),
        Err(problems) => problems.to_string().lines().map(str::to_owned).collect(),
    }
}

/// The only problem of a configuration, without the summary line.
fn only_problem(loaded: Result<Settings, Problems>) -> String {
    let mut lines = problem_lines(loaded);
    let summary = lines.pop();
    assert_eq!(
        summary.as_deref(),
        Some("1 problem in the configuration"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

/// Checks the only problem of each file: its text, and the message with its position.
fn expect_problems(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(
            only_problem(load_text(text)),
            format!("tidegate.yaml:{expected}"),
            "{text}"
        );
    }
}
