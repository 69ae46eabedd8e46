//! The keys that seal what clients carry for us, where the configuration names them.
//!
//! Knows where they are kept; seals nothing.

use std::path::Path;

use super::environment::Environment;
use super::problem::Diagnostics;
use super::secret::{Reference, Secret};

const FIELD: &str = "seal_keys";

/// Shorter keys can be guessed.
const SHORTEST: usize = 32;

/// Fetches the keys. Relative paths start at `folder`.
pub(crate) fn fetch(
    written: &[String],
    folder: &Path,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Secret> {
    let mut keys = Vec::new();
    for (number, text) in written.iter().enumerate() {
        match key(text, folder, environment) {
            Ok(key) => keys.push(key),
            // Not the text itself, which may be the key.
            Err(message) => {
                diagnostics.key(
                    &[FIELD],
                    format!("`{FIELD}`, number {}: {message}", number + 1),
                );
            }
        }
    }
    keys
}

fn key(text: &str, folder: &Path, environment: &Environment<'_>) -> Result<Secret, String> {
    let reference = Reference::parse(text).ok_or_else(|| {
        "must say where the key is kept, not what it is; write `${env:NAME}` or `${file:PATH}`"
            .to_owned()
    })?;
    let key = reference.resolve(folder, environment)?;
    match key.expose().len() {
        SHORTEST.. => Ok(key),
        short => Err(format!(
            "the key has {short} characters; use at least {SHORTEST}, for example those of \
             `openssl rand -hex 32`"
        )),
    }
}
