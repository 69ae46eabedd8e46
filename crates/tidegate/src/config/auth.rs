//! Authentication: bearer keys and the principals they identify. Compares no credentials.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{OrderedMap, Scalar, Secret, SecretReference};

use super::context::LoadContext;
use super::diagnostics::Diagnostics;

/// The principal of everyone if there are no keys.
const LOCAL: &str = "local";
const MAX_NAME_LENGTH: usize = 64;
/// Shorter keys can be guessed.
const MIN_KEY_LENGTH: usize = 16;

/// What the name of a principal and a reference look like, as regular expressions.
const NAME_PATTERN: &str = "^[a-z][a-z0-9_.@-]{0,63}$";
const REFERENCE_PATTERN: &str = r"^\$\{.+\}$";

/// The section `auth` as written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct AuthSection {
    /// Bearer keys, by the name of their principal. A key is a reference, `${env:NAME}` or
    /// `${file:PATH}`, to at least 16 characters without spaces. A relative path starts at the folder
    /// of this file. Only the owner of the key file may have access to it.
    #[schemars(
        extend("examples" = [{ "ada": "${env:ADA_KEY}" }], "minProperties" = 1),
        extend("propertyNames" = { "pattern": NAME_PATTERN, "not": { "const": LOCAL } }),
        extend("additionalProperties" = { "type": "string", "pattern": REFERENCE_PATTERN })
    )]
    keys: OrderedMap<Scalar>,
    /// Principals that administer the gateway: they may read data about all principals, such as the
    /// metrics.
    #[schemars(extend("default" = [], "examples" = [["ada"]]))]
    admins: Option<Vec<String>>,
}

/// A bearer key and its principal.
#[derive(Clone, Debug)]
pub struct Key {
    pub principal: String,
    pub secret: Secret,
    /// Whether the principal administers the gateway.
    pub admin: bool,
}

/// Checks the section and reads the keys it refers to.
pub(crate) fn check(
    section: Option<AuthSection>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Key> {
    let Some(section) = section else {
        return Vec::new();
    };
    let written = section.keys.0;
    if written.is_empty() {
        diagnostics.value(
            &["auth", "keys"],
            "`auth.keys` is empty; add a key or remove `auth`",
        );
    }
    let admins = section.admins.unwrap_or_default();
    let has_key = |admin: &&String| written.iter().any(|(name, _)| name == *admin);
    if let Some(unknown) = admins.iter().find(|admin| !has_key(admin)) {
        let message = format!("`auth.admins`: `{unknown}` has no key; add one to `auth.keys`");
        diagnostics.value(&["auth", "admins"], message);
    }
    let mut keys: Vec<Key> = Vec::new();
    for (principal, Scalar(text)) in written {
        let path = ["auth", "keys", principal.as_str()];
        if let Err(message) = check_name(&principal) {
            diagnostics.key(&path, message);
        }
        match read_key(&principal, &text, &keys, context) {
            Ok(secret) => keys.push(Key {
                admin: admins.contains(&principal),
                principal,
                secret,
            }),
            Err(message) => {
                diagnostics.value(&path, format!("`auth.keys.{principal}`: {message}"));
            }
        }
    }
    keys
}

fn check_name(name: &str) -> Result<(), String> {
    if name == LOCAL {
        return Err(format!(
            "the principal `{LOCAL}` is reserved for gateways without keys; choose another name"
        ));
    }
    let starts_with_letter = name.starts_with(|c: char| c.is_ascii_lowercase());
    let has_valid_characters = name.bytes().all(|b| {
        b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'@' | b'-')
    });
    match starts_with_letter && has_valid_characters && name.len() <= MAX_NAME_LENGTH {
        true => Ok(()),
        false => Err(format!(
            "`{name}` is not a valid principal name; use a lower-case letter, then up to {} of \
             a-z 0-9 _ . @ -",
            MAX_NAME_LENGTH - 1
        )),
    }
}

fn read_key(
    principal: &str,
    text: &str,
    others: &[Key],
    context: &LoadContext<'_>,
) -> Result<Secret, String> {
    let reference = SecretReference::parse(text).ok_or_else(|| not_a_reference(principal))?;
    let secret = reference.resolve(context.folder, context.environment)?;
    check_key(secret.expose())?;
    match others.iter().find(|other| other.secret == secret) {
        Some(other) => Err(format!(
            "the same key as that of `{}`; give each principal its own",
            other.principal
        )),
        None => Ok(secret),
    }
}

/// Does not repeat the text, which may be the key.
fn not_a_reference(principal: &str) -> String {
    let to_variable = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    let variable: String = principal.chars().map(to_variable).collect();
    format!(
        "write a reference to the key, not the key itself: `${{env:{variable}_KEY}}` for an \
         environment variable, or `${{file:{principal}.key}}` for a file"
    )
}

/// Whether clients can send the key in a header, and whether it is long enough.
fn check_key(key: &str) -> Result<(), String> {
    if !key.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(
            "the key has characters that a header cannot carry; use letters, digits and \
             punctuation, without spaces"
                .to_owned(),
        );
    }
    match key.len() {
        MIN_KEY_LENGTH.. => Ok(()),
        length => Err(format!(
            "the key has {length} characters; use at least {MIN_KEY_LENGTH}, for example the \
             output of `openssl rand -hex 32`"
        )),
    }
}
