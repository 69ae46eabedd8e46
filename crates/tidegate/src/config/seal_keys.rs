//! The configured sealing keys, which encrypt the state that clients carry for the gateway.

use tidegate_config::{Secret, SecretReference};

use super::context::LoadContext;
use super::diagnostics::Diagnostics;

const FIELD: &str = "seal_keys";

/// Shorter keys can be guessed.
const MIN_LENGTH: usize = 32;

/// Reads the keys that the field refers to.
pub(crate) fn check(
    written: Option<Vec<String>>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Secret> {
    let mut keys = Vec::new();
    for (index, text) in written.unwrap_or_default().iter().enumerate() {
        match read_key(text, context) {
            Ok(key) => keys.push(key),
            // The text is not repeated: it may be the key.
            Err(message) => {
                let message = format!("`{FIELD}`, key {}: {message}", index + 1);
                diagnostics.key(&[FIELD], message);
            }
        }
    }
    keys
}

fn read_key(text: &str, context: &LoadContext<'_>) -> Result<Secret, String> {
    let reference = SecretReference::parse(text).ok_or(
        "write a reference to the key, not the key itself: `${env:NAME}` or `${file:PATH}`",
    )?;
    let key = reference.resolve(context.folder, context.environment)?;
    match key.expose().len() {
        MIN_LENGTH.. => Ok(key),
        length => Err(format!(
            "the key has {length} characters; use at least {MIN_LENGTH}, for example the output \
             of `openssl rand -hex 32`"
        )),
    }
}
