//! The `.gitignore` rules that apply in a folder: its own file and the files of all folders above
//! it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::Gitignore;

use super::gitignore_lines::LoggedLines;
use super::{FolderRoot, RelativePath};

/// Only the beginning of a larger file is read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

const FILE_NAME: &[u8] = b".gitignore";

/// A linked list of rules, from the nearest folder upwards.
#[derive(Clone, Debug, Default)]
pub(super) struct IgnoreRules(Option<Arc<IgnoreFile>>);

#[derive(Debug)]
struct IgnoreFile {
    matcher: Gitignore,
    location: IgnoreFileLocation,
    above: IgnoreRules,
}

#[derive(Debug)]
enum IgnoreFileLocation {
    /// This many names below the root.
    BelowRoot(usize),
    /// Above the root, which has this path relative to the file.
    AboveRoot(PathBuf),
}

impl IgnoreRules {
    /// The rules of the repository that contains the root folder, without the root's own file.
    pub(super) fn above_root(root: &FolderRoot, logged: &LoggedLines) -> Self {
        let ancestors: Vec<_> = root.path().ancestors().collect();
        let is_repository = |folder: &&Path| folder.join(".git").exists();
        let Some(top) = ancestors.iter().position(is_repository) else {
            return Self::default();
        };
        let repository = ancestors[top];
        let exclude = (repository.join(".git/info/exclude"), repository);
        let ignore_files = ancestors[1..=top].iter().rev();
        let ignore_files = ignore_files.map(|folder| (folder.join(".gitignore"), *folder));
        let mut rules = Self::default();
        for (file, folder) in [exclude].into_iter().chain(ignore_files) {
            let Ok(text) = read_limited(&file) else {
                continue;
            };
            let root_path = root.path().strip_prefix(folder);
            let root_path = root_path.unwrap_or(Path::new("")).to_owned();
            rules = Self(Some(Arc::new(IgnoreFile {
                matcher: logged.parse(&file, &text),
                location: IgnoreFileLocation::AboveRoot(root_path),
                above: rules,
            })));
        }
        rules
    }

    /// The rules in a folder: these, and its own file if it has one.
    pub(super) fn enter(
        self,
        root: &FolderRoot,
        folder: &RelativePath,
        logged: &LoggedLines,
    ) -> Self {
        let file = folder.join(FILE_NAME);
        let read = file.and_then(|file| Some((root.read(&file, MAX_FILE_BYTES).ok()?, file)));
        match read {
            None => self,
            Some((text, file)) => Self(Some(Arc::new(IgnoreFile {
                matcher: logged.parse(&root.path().join(file.as_path()), &text),
                location: IgnoreFileLocation::BelowRoot(folder.names().count()),
                above: self,
            }))),
        }
    }

    /// The nearest file with a matching pattern decides.
    pub(super) fn ignores(&self, path: &RelativePath, is_folder: bool) -> bool {
        let mut next = self;
        while let Self(Some(file)) = next {
            let matched = match &file.location {
                IgnoreFileLocation::BelowRoot(depth) => {
                    let names = path.names().skip(*depth);
                    let path = RelativePath::from_names(names).unwrap_or_default();
                    file.matcher.matched(path.as_path(), is_folder)
                }
                IgnoreFileLocation::AboveRoot(root) => {
                    file.matcher.matched(root.join(path.as_path()), is_folder)
                }
            };
            match matched {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = &file.above,
            }
        }
        false
    }
}

fn read_limited(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut text = Vec::new();
    let file = std::fs::File::open(path)?;
    if file.metadata()?.is_file() {
        file.take(MAX_FILE_BYTES).read_to_end(&mut text)?;
    }
    Ok(text)
}
