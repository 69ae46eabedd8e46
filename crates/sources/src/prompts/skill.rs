//! A skill: a folder with a `SKILL.md`, whose front matter says what it is for.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::front::{Parts, Wrong, in_file};
use super::prompt::Prompt;
use crate::folder::{Base, Place};

/// The file that makes a folder a skill.
pub(super) const SKILL: &[u8] = b"SKILL.md";

/// How the URIs of the files of skills begin, as in other servers that have skills.
pub(super) const BASE: Base = Base::Scheme("skill");

/// What skills have beside these is theirs.
#[derive(Debug, Deserialize)]
struct Front {
    name: Spanned<String>,
    description: Spanned<String>,
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Skill {
    pub(super) description: String,
    /// The skill as a prompt.
    pub(super) prompt: Prompt,
}

impl Skill {
    /// Reads the `SKILL.md` of this folder.
    pub(super) fn parse(folder: &Place, parts: &Parts<'_>) -> Result<Self, Wrong> {
        let front: Front = parts.read()?;
        let line = in_file(front.name.referenced.line());
        let (name, description) = (front.name.value, front.description.value);
        let expected = folder.name().map(String::from_utf8_lossy);
        if expected.as_deref() != Some(name.as_str()) {
            let folder = expected.unwrap_or_default();
            let message = format!(
                "the skill is called `{name}` and its folder `{folder}`; give both the same name"
            );
            return Err(Wrong::new(line, message));
        }
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.len() > 64 || !name.chars().all(fits) {
            let message =
                format!("`{name}` cannot be the name of a skill; use up to 64 of a-z, 0-9 and `-`");
            return Err(Wrong::new(line, message));
        }
        if description.trim().is_empty() {
            let line = in_file(front.description.referenced.line());
            let message = "`description` is empty; say what the skill is for and when to use it";
            return Err(Wrong::new(line, message));
        }
        let (body, files) = (parts.body.trim(), BASE.folder_uri(folder));
        let text = format!("{body}\n\nThe files of this skill are resources below {files}");
        let prompt = Prompt::plain(name, line, description.clone(), &text);
        Ok(Self {
            description,
            prompt,
        })
    }
}
