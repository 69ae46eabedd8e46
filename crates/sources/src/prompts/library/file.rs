//! Reading and parsing a single file of the library.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::front_matter::{LineProblem, MarkdownFile, has_front_matter};
use super::super::prompt_file::PromptFile;
use super::super::skill::{SKILL_FILE, Skill};
use crate::folder::{FileInfo, FileStamp, FolderRoot, OpenError, RelativePath};

/// The size limit of a prompt or `SKILL.md`.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// A file as it was read last.
#[derive(Clone)]
pub(super) struct CachedFile {
    pub(super) stamp: FileStamp,
    pub(super) parsed: Result<ParsedFile, LineProblem>,
    /// The last valid version, if the file is invalid now.
    pub(super) previous: Option<ParsedFile>,
}

#[derive(Clone)]
pub(super) enum ParsedFile {
    Prompt(Arc<PromptFile>),
    Skill(Arc<Skill>),
    /// A Markdown file without front matter.
    Notes,
    /// Possibly only for a moment: some editors truncate a file before they write it.
    Empty,
}

/// What a file is, by its path.
pub(super) enum FileRole {
    /// A prompt with this default name.
    Prompt(String),
    /// The `SKILL.md` of this folder.
    Skill(RelativePath),
    /// A `SKILL.md` in the root folder, which cannot be a skill: all prompts would be part of it.
    MisplacedSkill,
}

impl FileRole {
    /// `None` for other files: files of skills, and files that are not Markdown.
    pub(super) fn of(path: &RelativePath, skill_folders: &BTreeSet<RelativePath>) -> Option<Self> {
        let folder = path.parent()?;
        let is_skill_file = path.name() == Some(SKILL_FILE);
        let outermost_skill = folder
            .prefixes()
            .find(|folder| skill_folders.contains(folder));
        match outermost_skill {
            Some(skill) if skill == folder && is_skill_file => Some(Self::Skill(folder)),
            Some(_) => None,
            None if is_skill_file => Some(Self::MisplacedSkill),
            None => {
                let text = std::str::from_utf8(path.bytes()).ok()?;
                let name = text.strip_suffix(".md")?;
                Some(Self::Prompt(name.to_owned()))
            }
        }
    }
}

/// The folder that a `SKILL.md` makes a skill. The root folder cannot be one.
pub(super) fn skill_folder(path: &RelativePath) -> Option<RelativePath> {
    let folder = path.parent()?;
    (path.name() == Some(SKILL_FILE) && !folder.is_root()).then_some(folder)
}

impl CachedFile {
    pub(super) fn read(
        root: &FolderRoot,
        path: &RelativePath,
        info: &FileInfo,
        role: &FileRole,
        earlier: Option<&Self>,
    ) -> Self {
        let previous = earlier.and_then(Self::offered);
        let parsed = match (parse(root, path, info, role), previous) {
            (Ok(ParsedFile::Empty), Some(ParsedFile::Prompt(_) | ParsedFile::Skill(_))) => {
                let message = "the file is empty; write the prompt again, or remove the file";
                Err(LineProblem::new(1, message))
            }
            (parsed, _) => parsed,
        };
        Self {
            stamp: info.stamp,
            previous: parsed.is_err().then(|| previous.cloned()).flatten(),
            parsed,
        }
    }

    /// The current version, or the previous one if the current one is invalid.
    pub(super) fn offered(&self) -> Option<&ParsedFile> {
        self.parsed.as_ref().ok().or(self.previous.as_ref())
    }
}

fn parse(
    root: &FolderRoot,
    path: &RelativePath,
    info: &FileInfo,
    role: &FileRole,
) -> Result<ParsedFile, LineProblem> {
    let bytes = root.read(path, MAX_FILE_BYTES + 1).map_err(|error| {
        let reason = match error {
            OpenError::NotFound => "it was removed".to_owned(),
            OpenError::Io(error) => error.kind().to_string(),
        };
        LineProblem::new(1, format!("cannot read the file: {reason}"))
    })?;
    if bytes.trim_ascii().is_empty() {
        return Ok(ParsedFile::Empty);
    }
    if !has_front_matter(&bytes) {
        return match role {
            FileRole::Prompt(_) | FileRole::MisplacedSkill => Ok(ParsedFile::Notes),
            FileRole::Skill(_) => Err(LineProblem::new(
                1,
                "a skill needs front matter: `---`, `name: …`, `description: …`, `---`",
            )),
        };
    }
    let text = into_text(bytes, info.stamp.size)?;
    let Some(file) = MarkdownFile::split(&text)? else {
        return Ok(ParsedFile::Notes);
    };
    match role {
        FileRole::Prompt(name) => {
            let prompt = PromptFile::parse(&file, &text, name)?;
            Ok(ParsedFile::Prompt(Arc::new(prompt)))
        }
        FileRole::Skill(folder) => {
            let skill = Skill::parse(folder, &file)?;
            Ok(ParsedFile::Skill(Arc::new(skill)))
        }
        FileRole::MisplacedSkill => Err(LineProblem::new(
            1,
            "a skill needs its own folder below `folder`; move this file and its other files into \
             one, or set `folder` to the parent folder",
        )),
    }
}

/// `size` is the size of the whole file.
fn into_text(bytes: Vec<u8>, size: u64) -> Result<String, LineProblem> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let message = format!("the file has {size} bytes; the limit is {MAX_FILE_BYTES}");
        return Err(LineProblem::new(1, message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count() as u64;
        LineProblem::new(line, "the file is not UTF-8; save it as UTF-8")
    })
}
