//! A skill: a folder with a `SKILL.md` whose front matter describes it.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::front_matter::{LineProblem, MarkdownFile, file_line};
use super::prompt_file::PromptFile;
use crate::folder::{RelativePath, UriBase};

/// The file that makes a folder a skill.
pub(super) const SKILL_FILE: &[u8] = b"SKILL.md";

/// The URIs of files of skills, as other servers with skills use them.
pub(super) const URIS: UriBase = UriBase::Scheme("skill");

const MAX_NAME_LENGTH: usize = 64;

/// Other fields are allowed and ignored.
#[derive(Debug, Deserialize)]
struct SkillFrontMatter {
    name: Spanned<String>,
    description: Spanned<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Skill {
    pub(super) description: String,
    /// The skill as a prompt.
    pub(super) prompt: PromptFile,
}

impl Skill {
    /// Parses the `SKILL.md` of this folder.
    pub(super) fn parse(
        folder: &RelativePath,
        file: &MarkdownFile<'_>,
    ) -> Result<Self, LineProblem> {
        let front_matter: SkillFrontMatter = file.parse()?;
        let line = file_line(front_matter.name.referenced.line());
        let (name, description) = (front_matter.name.value, front_matter.description.value);
        let folder_name = folder.name().map(String::from_utf8_lossy);
        let folder_name = folder_name.unwrap_or_default();
        if folder_name != name {
            let message = format!(
                "the skill is named `{name}`, but its folder `{folder_name}`; give both the same \
                 name"
            );
            return Err(LineProblem::new(line, message));
        }
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.len() > MAX_NAME_LENGTH || !name.chars().all(is_allowed) {
            let message = format!(
                "invalid skill name `{name}`; use up to {MAX_NAME_LENGTH} of a-z, 0-9 and `-`"
            );
            return Err(LineProblem::new(line, message));
        }
        if description.trim().is_empty() {
            let line = file_line(front_matter.description.referenced.line());
            let message = "`description` is empty; describe the skill and when to use it";
            return Err(LineProblem::new(line, message));
        }
        let (body, files) = (file.body.trim(), URIS.folder_uri(folder));
        let text = format!("{body}\n\nThe files of this skill are resources below {files}");
        let prompt = PromptFile::without_arguments(name, line, description.clone(), &text);
        Ok(Self {
            description,
            prompt,
        })
    }
}
