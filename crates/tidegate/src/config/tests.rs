//! The configuration from the outside: files in, settings or messages out.

mod flags;
#[cfg(unix)]
mod keys;
mod messages;
mod settings;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{Environment, Flags, Problems, Settings, load};

/// Loads a file of this text, in a folder of its own, as a user whose home is `/home/ada`.
fn load_text(text: &str) -> Result<Settings, Problems> {
    load_with(text, &Flags::default(), &[])
}

/// The same, with these flags and variables.
fn load_with(text: &str, flags: &Flags, variables: &[(&str, &str)]) -> Result<Settings, Problems> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("tidegate.yaml"), text).unwrap();
    load_in(folder.path(), flags, variables)
}

/// Loads what is in a folder.
fn load_in(folder: &Path, flags: &Flags, variables: &[(&str, &str)]) -> Result<Settings, Problems> {
    let environment = Environment::new(
        |name| {
            let set = variables.iter().chain([&("HOME", "/home/ada")]);
            set.into_iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        },
        folder,
    );
    load(flags, &environment)
}

/// Every line that a bad file is answered with.
fn lines(loaded: Result<Settings, Problems>) -> Vec<String> {
    match loaded {
        Ok(settings) => panic!("this is no good configuration: {settings:?}"),
        Err(problems) => problems.to_string().lines().map(str::to_owned).collect(),
    }
}

/// The one problem of a file, without the closing line.
fn only_problem(loaded: Result<Settings, Problems>) -> String {
    let mut lines = lines(loaded);
    assert_eq!(
        lines.pop().as_deref(),
        Some("1 problem in the configuration"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}
