//! All prompts and skills of a folder at one moment: parsed, validated, with unique names.
//!
//! An invalid file is left out and reported. If it was valid before, its previous version stays
//! until it is fixed, so that a prompt does not disappear while someone edits it.

mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::front_matter::LineProblem;
use super::prompt_file::PromptFile;
use super::skill::{SKILL_FILE, Skill};
use crate::folder::{FolderRoot, FolderTree, RelativePath};
use file::{CachedFile, FileRole, ParsedFile, skill_folder};

/// Prompts and skills that are offered.
const MAX_FILES: usize = 1_000;

#[derive(Default)]
pub(super) struct Library {
    files: BTreeMap<RelativePath, CachedFile>,
    /// By name.
    pub(super) prompts: BTreeMap<String, Arc<PromptFile>>,
    /// By folder.
    pub(super) skills: BTreeMap<RelativePath, Arc<Skill>>,
    pub(super) problems: Vec<PromptProblem>,
}

/// A problem of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PromptProblem {
    file: RelativePath,
    problem: LineProblem,
    /// Whether the previous version of the file is offered.
    keeps_previous: bool,
}

impl fmt::Display for PromptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, LineProblem { line, message }) = (&self.file, &self.problem);
        write!(f, "{file}:{line}: {message}")?;
        match self.keeps_previous {
            true => f.write_str(" (the previous version stays in use)"),
            false => Ok(()),
        }
    }
}

impl Library {
    /// Reads the files of a scan. Files that have not changed since `previous` are not read again.
    pub(super) fn read(root: &FolderRoot, tree: &FolderTree, previous: &Self) -> Self {
        let mut library = Self::default();
        let skill_folders: BTreeSet<_> = tree.files.keys().filter_map(skill_folder).collect();
        let mut names: BTreeMap<String, RelativePath> = BTreeMap::new();
        for (path, info) in &tree.files {
            let Some(role) = FileRole::of(path, &skill_folders) else {
                continue;
            };
            if library.files.len() == MAX_FILES {
                let message =
                    format!("more than {MAX_FILES} files; this one and all after it are left out");
                library.report(path, LineProblem::new(1, message), false);
                break;
            }
            let file = match previous.files.get(path) {
                Some(file) if file.stamp == info.stamp => file.clone(),
                earlier => CachedFile::read(root, path, info, &role, earlier),
            };
            library.add(path, &file, &mut names);
            library.files.insert(path.clone(), file);
        }
        library
    }

    fn add(
        &mut self,
        path: &RelativePath,
        file: &CachedFile,
        names: &mut BTreeMap<String, RelativePath>,
    ) {
        if let Err(problem) = &file.parsed {
            self.report(path, problem.clone(), file.previous.is_some());
        }
        let (prompt, skill) = match file.offered() {
            Some(ParsedFile::Prompt(prompt)) => (Arc::clone(prompt), None),
            Some(ParsedFile::Skill(skill)) => (Arc::new(skill.prompt.clone()), Some(skill)),
            Some(ParsedFile::Notes | ParsedFile::Empty) | None => return,
        };
        if let (Some(skill), Some(folder)) = (skill, path.parent()) {
            self.skills.insert(folder, Arc::clone(skill));
        }
        let name = &prompt.name;
        if let Some(first) = names.get(name) {
            let are_skills = skill.is_some() && first.name() == Some(SKILL_FILE);
            let advice = match are_skills {
                // The name of a skill must be the name of its folder.
                true => "rename the folder of one of them, and change its `name`",
                false => "change the `name` of one of them",
            };
            let message =
                format!("the prompt name `{name}` is already used by `{first}`; {advice}");
            self.report(path, LineProblem::new(prompt.name_line, message), false);
            return;
        }
        names.insert(name.clone(), path.clone());
        self.prompts.insert(name.clone(), prompt);
    }

    fn report(&mut self, file: &RelativePath, problem: LineProblem, keeps_previous: bool) {
        self.problems.push(PromptProblem {
            file: file.clone(),
            problem,
            keeps_previous,
        });
    }

    /// The skill that a file or folder belongs to, with the folder of the skill.
    pub(super) fn skill_of(&self, path: &RelativePath) -> Option<(RelativePath, &Arc<Skill>)> {
        path.prefixes()
            .find_map(|folder| self.skills.get(&folder).map(|skill| (folder, skill)))
    }
}
