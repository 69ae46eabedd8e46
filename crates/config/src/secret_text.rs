//! Text that may contain secret references, such as `Bearer ${env:TOKEN}`.

use std::path::Path;

use crate::environment::Environment;
use crate::secret::{Secret, SecretReference};

/// Stands for a literal `${`.
const ESCAPED: &str = "$${";

/// Parsed text with its references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretText(Vec<Part>);

/// Text whose references are replaced by their secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedText {
    pub text: Secret,
    /// The secrets that the text contains, which must not be shown.
    pub secrets: Vec<Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(Secret),
    Reference(SecretReference),
}

impl SecretText {
    /// Parses text. Errors do not repeat it, because it may contain a secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut remaining = text;
        while let Some(start) = remaining.find("${") {
            let (before, after) = remaining.split_at(start);
            parts.push(literal(before));
            if before.ends_with('$') {
                parts.push(literal("{"));
                remaining = &after["${".len()..];
                continue;
            }
            let end = after.find('}').ok_or_else(invalid_reference)? + 1;
            let reference = SecretReference::parse(&after[..end]).ok_or_else(invalid_reference)?;
            parts.push(Part::Reference(reference));
            remaining = &after[end..];
        }
        parts.push(literal(remaining));
        Ok(Self(parts))
    }

    /// Replaces the references by their secrets. Relative paths start at `base`.
    pub fn resolve(
        &self,
        base: &Path,
        environment: &Environment<'_>,
    ) -> Result<ResolvedText, String> {
        let (mut text, mut secrets) = (String::new(), Vec::new());
        for part in &self.0 {
            match part {
                Part::Literal(literal) => text.push_str(literal.expose()),
                Part::Reference(reference) => {
                    let secret = reference.resolve(base, environment)?;
                    text.push_str(secret.expose());
                    secrets.push(secret);
                }
            }
        }
        let text = Secret::new(text);
        Ok(ResolvedText { text, secrets })
    }
}

fn literal(text: &str) -> Part {
    Part::Literal(Secret::new(text.to_owned()))
}

fn invalid_reference() -> String {
    format!(
        "`${{` starts an invalid reference; write `${{env:NAME}}`, `${{NAME}}` or `${{file:PATH}}`, \
         or `{ESCAPED}` for a literal `${{`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<String, String> {
        let variable = |name: &str| (name == "TOKEN").then(|| "t0ken".to_owned());
        let environment = Environment::new(variable, "");
        let resolved = SecretText::parse(text)?.resolve(Path::new("/"), &environment)?;
        Ok(resolved.text.expose().to_owned())
    }

    #[test]
    fn names_the_secrets_of_a_text() {
        let environment = Environment::new(|_| Some("t0ken".to_owned()), "");
        let parsed = SecretText::parse("--key=${env:KEY}").unwrap();
        let resolved = parsed.resolve(Path::new("/"), &environment).unwrap();
        assert_eq!(resolved.text.expose(), "--key=t0ken");
        assert_eq!(resolved.secrets, [Secret::new("t0ken".to_owned())]);
    }

    #[test]
    fn resolves_references_anywhere_in_the_text() {
        for (text, expected) in [
            ("", ""),
            ("plain $ text }", "plain $ text }"),
            ("${env:TOKEN}", "t0ken"),
            ("${TOKEN}", "t0ken"),
            ("Bearer ${env:TOKEN}", "Bearer t0ken"),
            ("a${TOKEN}b${env:TOKEN}c", "at0kenbt0kenc"),
            ("${NOPE:-other}", "other"),
            ("${TOKEN:-other}", "t0ken"),
            ("$${TOKEN}", "${TOKEN}"),
        ] {
            assert_eq!(resolve(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_references_without_repeating_them() {
        for text in [
            "s3cret${",
            "s3cret${}",
            "${input:s3cret}",
            "${env:}",
            "${a b}",
        ] {
            let message = resolve(text).unwrap_err();
            assert!(message.contains("invalid reference"), "{text}: {message}");
            assert!(!message.contains("s3cret"), "{message}");
        }
        assert!(resolve("x${env:NOPE}").unwrap_err().contains("`NOPE`"));
    }
}
