//! Secrets: how the file refers to them, where they come from, and a type that never shows them.
//!
//! Knows nothing of what a secret opens.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::environment::Environment;

/// No secret is longer; a file that is was named by mistake.
const MOST_BYTES: u64 = 64 * 1024;

/// A text that is printed as `***` wherever it goes.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, for the one place that compares or sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Where a secret is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Variable(String),
    /// A variable, or if it is not set this.
    Either(String, Secret),
    File(PathBuf),
}

impl Reference {
    /// Reads `${env:NAME}` or `${file:PATH}`, and what clients write: `${NAME}`, and `${NAME:-other}`
    /// for one that need not be set. `None` for any other text, which is then a literal and must not
    /// be repeated in a message.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix("${")?.strip_suffix('}')?;
        match inner.split_once(':') {
            Some(("env", name)) if is_variable(name) => Some(Self::Variable(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Some(Self::File(path.into())),
            Some((name, other)) if is_variable(name) => {
                let other = Secret::new(other.strip_prefix('-')?.to_owned());
                Some(Self::Either(name.to_owned(), other))
            }
            None if is_variable(inner) => Some(Self::Variable(inner.to_owned())),
            _ => None,
        }
    }

    /// Fetches the secret. A relative path starts at `folder`.
    pub(crate) fn resolve(
        &self,
        folder: &Path,
        environment: &Environment<'_>,
    ) -> Result<Secret, String> {
        let text = match self {
            Self::Variable(name) => match environment.variable(name) {
                Some(text) => text,
                None => return Err(format!("the environment variable `{name}` is not set")),
            },
            Self::Either(name, other) => match environment.variable(name) {
                Some(text) => text,
                None => return Ok(other.clone()),
            },
            Self::File(path) => read_private(&folder.join(path))?,
        };
        Ok(Secret::new(text))
    }
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The text of a file that only its owner can read, without the newline at its end.
fn read_private(path: &Path) -> Result<String, String> {
    let name = path.display();
    let failed = |error: std::io::Error| format!("cannot read the file `{name}`: {error}");
    // Asked before opening, for opening a pipe would wait for its other end.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(format!("`{name}` is not a file"));
    }
    let file = File::open(path).map_err(failed)?;
    refuse_shared(&file, path)?;
    let mut text = String::new();
    let read = file
        .take(MOST_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if read as u64 > MOST_BYTES {
        return Err(format!(
            "`{name}` is larger than {MOST_BYTES} bytes, too large for a secret"
        ));
    }
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

#[cfg(unix)]
fn refuse_shared(file: &File, path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;

    let name = path.display();
    let metadata = file
        .metadata()
        .map_err(|error| format!("cannot inspect `{name}`: {error}"))?;
    match metadata.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => Err(format!(
            "other users can read the file `{name}`; run `chmod 600 {}`",
            quoted(&name.to_string())
        )),
    }
}

#[cfg(not(unix))]
fn refuse_shared(_: &File, _: &Path) -> Result<(), String> {
    Ok(())
}

/// A path as a shell takes it.
#[cfg(unix)]
fn quoted(path: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:".contains(c);
    match path.chars().all(safe) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}
