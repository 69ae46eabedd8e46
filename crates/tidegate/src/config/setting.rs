//! A value in the file that may be kept elsewhere, as a whole or in part: `Bearer ${env:TOKEN}`.
//!
//! Knows nothing of what the value is for.

use std::path::Path;

use super::environment::Environment;
use super::secret::{Reference, Secret};

/// What stands for `${` itself.
const ESCAPED: &str = "$${";

/// A value, as it is written and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Empty until it is fetched.
    pub value: Secret,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Secret),
    Kept(Reference),
}

impl Setting {
    /// Reads a value. What is wrong with it is said without repeating it, for it may be a secret.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, after) = rest.split_at(at);
            if before.ends_with('$') {
                parts.push(literal(before));
                parts.push(literal("{"));
                rest = &after["${".len()..];
                continue;
            }
            parts.push(literal(before));
            let reference = after.find('}').map(|end| after.split_at(end + 1));
            let kept = reference.and_then(|(kept, left)| Some((Reference::parse(kept)?, left)));
            let (kept, left) = kept.ok_or_else(unreadable)?;
            parts.push(Part::Kept(kept));
            rest = left;
        }
        parts.push(literal(rest));
        Ok(Self {
            value: Secret::new(String::new()),
            parts,
        })
    }

    /// Puts the value together. A relative path starts at `folder`.
    pub(super) fn fetch(
        &mut self,
        folder: &Path,
        environment: &Environment<'_>,
    ) -> Result<(), String> {
        let mut value = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => value.push_str(text.expose()),
                Part::Kept(kept) => value.push_str(kept.resolve(folder, environment)?.expose()),
            }
        }
        self.value = Secret::new(value);
        Ok(())
    }
}

fn literal(text: &str) -> Part {
    Part::Text(Secret::new(text.to_owned()))
}

fn unreadable() -> String {
    format!(
        "has `${{` and no reference after it; write `${{env:NAME}}`, `${{NAME}}` or `${{file:PATH}}`, \
         or `{ESCAPED}` for these two characters"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<String, String> {
        let variable = |name: &str| (name == "TOKEN").then(|| "t0ken".to_owned());
        let environment = Environment::new(variable, "");
        let mut setting = Setting::parse(text)?;
        setting.fetch(Path::new("/"), &environment)?;
        Ok(setting.value.expose().to_owned())
    }

    #[test]
    fn references_stand_anywhere() {
        for (text, is) in [
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
            assert_eq!(value(text).as_deref(), Ok(is), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_not_repeated() {
        for text in [
            "s3cret${",
            "s3cret${}",
            "${input:s3cret}",
            "${env:}",
            "${a b}",
        ] {
            let refused = value(text).unwrap_err();
            assert!(refused.contains("no reference"), "{text}: {refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
        assert!(value("x${env:NOPE}").unwrap_err().contains("`NOPE`"));
    }
}
