//! Who may come in: bearer keys and the principals they name.
//!
//! Knows the rules for names and keys; compares no credential.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::entries::Entries;
use super::environment::Environment;
use super::problem::Diagnostics;
use super::secret::{Reference, Secret};

/// Who everyone is when there are no keys.
const LOCAL: &str = "local";
const LONGEST_NAME: usize = 64;
/// Shorter keys can be guessed.
const SHORTEST_KEY: usize = 16;

/// The section `auth` as it is written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawAuth {
    /// Bearer keys, by the name of the principal whose requests carry them. A key is a reference,
    /// `${env:NAME}` or `${file:PATH}`, to at least 16 characters without spaces. A path starts at
    /// the folder of this file, and only its owner may be able to read what is there.
    pub(crate) keys: Entries<String>,
    /// Those of the principals who run the gateway: they may see what is everyone's.
    pub(crate) admins: Option<Vec<String>>,
}

/// A bearer key and who sends it.
#[derive(Clone, Debug)]
pub struct Key {
    pub principal: String,
    pub secret: Secret,
    /// Whether it runs the gateway.
    pub admin: bool,
}

/// A key that is still to be fetched.
#[derive(Debug)]
pub(crate) struct KeyReference {
    principal: String,
    admin: bool,
    reference: Reference,
}

/// Checks the names and the references; fetches nothing.
pub(crate) fn check(raw: RawAuth, diagnostics: &mut Diagnostics) -> Vec<KeyReference> {
    if raw.keys.0.is_empty() {
        diagnostics.value(
            &["auth", "keys"],
            "`auth.keys` is empty; name a key or remove `auth`",
        );
    }
    let admins = raw.admins.unwrap_or_default();
    let names: Vec<_> = raw.keys.0.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(unknown) = admins.iter().find(|name| !names.contains(&name.as_str())) {
        let message = format!("`auth.admins`: `{unknown}` has no key under `auth.keys`");
        diagnostics.value(&["auth", "admins"], message);
    }
    let mut references = Vec::new();
    for (principal, text) in raw.keys.0 {
        let path = ["auth", "keys", &principal];
        if let Err(message) = check_name(&principal) {
            diagnostics.key(&path, message);
        }
        match Reference::parse(&text) {
            Some(reference) => references.push(KeyReference {
                admin: admins.contains(&principal),
                principal,
                reference,
            }),
            None => diagnostics.value(&path, not_a_reference(&principal)),
        }
    }
    references
}

fn check_name(name: &str) -> Result<(), String> {
    if name == LOCAL {
        return Err(format!(
            "the name `{LOCAL}` is taken: everyone has it when there are no keys"
        ));
    }
    let first = name.starts_with(|c: char| c.is_ascii_lowercase());
    let rest = name.bytes().all(|b| {
        b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'@' | b'-')
    });
    match first && rest && name.len() <= LONGEST_NAME {
        true => Ok(()),
        false => Err(format!(
            "`{name}` cannot be the name of a principal; use a lower-case letter, then up to \
             {} of a-z 0-9 _ . @ -",
            LONGEST_NAME - 1
        )),
    }
}

/// Says nothing of the text, which may be the key.
fn not_a_reference(principal: &str) -> String {
    let variable: String = principal
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    format!(
        "`auth.keys.{principal}` must say where the key is kept, not what it is; write \
         `${{env:{variable}_KEY}}` and set that variable, or `${{file:{principal}.key}}` and put \
         the key in that file"
    )
}

/// Fetches the keys. Relative paths start at `folder`.
pub(crate) fn fetch(
    references: Vec<KeyReference>,
    folder: &Path,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for KeyReference {
        principal,
        admin,
        reference,
    } in references
    {
        let fetched = reference.resolve(folder, environment).and_then(|secret| {
            check_key(secret.expose())?;
            match keys.iter().find(|other| other.secret == secret) {
                Some(other) => Err(format!(
                    "the same key as `{}`; give each its own",
                    other.principal
                )),
                None => Ok(secret),
            }
        });
        match fetched {
            Ok(secret) => keys.push(Key {
                principal,
                secret,
                admin,
            }),
            Err(message) => {
                let path = ["auth", "keys", &principal];
                diagnostics.value(&path, format!("`auth.keys.{principal}`: {message}"));
            }
        }
    }
    keys
}

/// What a client can send in a header, and nobody can guess.
fn check_key(key: &str) -> Result<(), String> {
    if !key.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(
            "the key has characters that a header cannot carry; use letters, digits and \
                    punctuation, without spaces"
                .to_owned(),
        );
    }
    match key.len() {
        SHORTEST_KEY.. => Ok(()),
        short => Err(format!(
            "the key has {short} characters; use at least {SHORTEST_KEY}, for example those of \
             `openssl rand -hex 32`"
        )),
    }
}
