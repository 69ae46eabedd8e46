//! Secrets: references to them, where they are read from, and a type that never prints them.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::file::read_limited;

/// The largest secret file; a larger one was named by mistake.
const MAX_BYTES: u64 = 64 * 1024;

/// Text that prints as `***`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the code that compares or sends it.
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

/// Where a secret is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretReference {
    Variable(String),
    /// A variable, or this default if the variable is not set.
    VariableOr(String, Secret),
    File(PathBuf),
}

impl SecretReference {
    /// Parses `${env:NAME}`, `${file:PATH}`, and the forms that MCP clients use: `${NAME}` and
    /// `${NAME:-default}`. Returns `None` for other text, which may itself be a secret and must not
    /// appear in messages.
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix("${")?.strip_suffix('}')?;
        match inner.split_once(':') {
            Some(("env", name)) if is_variable_name(name) => Some(Self::Variable(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Some(Self::File(path.into())),
            Some((name, default)) if is_variable_name(name) => {
                let default = Secret::new(default.strip_prefix('-')?.to_owned());
                Some(Self::VariableOr(name.to_owned(), default))
            }
            None if is_variable_name(inner) => Some(Self::Variable(inner.to_owned())),
            _ => None,
        }
    }

    /// Reads the secret. Relative paths start at `base`.
    pub fn resolve(&self, base: &Path, environment: &Environment<'_>) -> Result<Secret, String> {
        let text = match self {
            Self::Variable(name) => match environment.variable(name) {
                Some(text) => text,
                None => return Err(format!("the environment variable `{name}` is not set")),
            },
            Self::VariableOr(name, default) => match environment.variable(name) {
                Some(text) => text,
                None => return Ok(default.clone()),
            },
            Self::File(path) => read_private_file(&base.join(path))?,
        };
        Ok(Secret::new(text))
    }
}

fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Reads a file that only its owner can read, without the newline at its end.
fn read_private_file(path: &Path) -> Result<String, String> {
    let name = path.display();
    let cannot_read = |error: std::io::Error| format!("cannot read the file `{name}`: {error}");
    // Checked before opening: opening a named pipe would block.
    let metadata = path.metadata().map_err(cannot_read)?;
    if !metadata.is_file() {
        return Err(format!("`{name}` is not a file"));
    }
    reject_shared(&metadata, path)?;
    let bytes = read_limited(path, MAX_BYTES).map_err(cannot_read)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("cannot read the file `{name}`: it is not valid UTF-8"))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

#[cfg(unix)]
fn reject_shared(metadata: &std::fs::Metadata, path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;

    let name = path.display().to_string();
    match metadata.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => Err(format!(
            "other users can access the file `{name}`; run `chmod 600 {}`",
            shell_quoted(&name)
        )),
    }
}

#[cfg(not(unix))]
fn reject_shared(_: &std::fs::Metadata, _: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(unix)]
fn shell_quoted(path: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:".contains(c);
    match path.chars().all(is_safe) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}
