//! Which files and folders are visible. Lists and reads use the same rules.

use super::gitignore::IgnoreRules;
use super::gitignore_lines::LoggedLines;
use super::{FolderRoot, Patterns, RelativePath};

/// Never visible.
const GIT_FOLDER: &[u8] = b".git";

/// The configured rules.
#[derive(Debug)]
pub(crate) struct Visibility {
    /// Whether names that start with a dot are visible.
    pub(crate) include_hidden: bool,
    /// Whether files that git ignores are hidden.
    pub(crate) gitignore: bool,
    /// If not empty, only files that match are visible.
    pub(crate) include: Patterns,
    pub(crate) exclude: Patterns,
    logged_lines: LoggedLines,
}

impl Visibility {
    pub(crate) fn new(
        include_hidden: bool,
        gitignore: bool,
        include: Patterns,
        exclude: Patterns,
    ) -> Self {
        Self {
            include_hidden,
            gitignore,
            include,
            exclude,
            logged_lines: LoggedLines::default(),
        }
    }

    /// Whether a path and all folders above it are visible.
    pub(super) fn is_visible(
        &self,
        root: &FolderRoot,
        path: &RelativePath,
        is_folder: bool,
    ) -> bool {
        self.rules_at(root, path, is_folder).is_some()
    }

    /// The gitignore rules at a path; `None` if it is not visible.
    pub(super) fn rules_at(
        &self,
        root: &FolderRoot,
        path: &RelativePath,
        is_folder: bool,
    ) -> Option<IgnoreRules> {
        let mut rules = self.rules_at_root(root);
        for prefix in path.prefixes().skip(1) {
            let is_last = prefix == *path;
            if !self.is_entry_visible(&rules, &prefix, !is_last || is_folder) {
                return None;
            }
            rules = self.enter(root, &prefix, rules);
        }
        Some(rules)
    }

    /// Whether an entry of a visible folder is visible.
    pub(super) fn is_entry_visible(
        &self,
        rules: &IgnoreRules,
        path: &RelativePath,
        is_folder: bool,
    ) -> bool {
        let Some(name) = path.name() else {
            return true;
        };
        name != GIT_FOLDER
            && (self.include_hidden || !name.starts_with(b"."))
            && !rules.ignores(path, is_folder)
            && !self.exclude.matches(path, is_folder)
            && (is_folder || self.include.is_empty() || self.include.matches(path, false))
    }

    /// The gitignore rules in the root folder.
    pub(super) fn rules_at_root(&self, root: &FolderRoot) -> IgnoreRules {
        match self.gitignore {
            false => IgnoreRules::default(),
            true => {
                let above = IgnoreRules::above_root(root, &self.logged_lines);
                self.enter(root, &RelativePath::root(), above)
            }
        }
    }

    /// The gitignore rules in a folder, based on the rules of its parent.
    pub(super) fn enter(
        &self,
        root: &FolderRoot,
        folder: &RelativePath,
        above: IgnoreRules,
    ) -> IgnoreRules {
        match self.gitignore {
            false => above,
            true => above.enter(root, folder, &self.logged_lines),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn visibility() -> Visibility {
        Visibility {
            include_hidden: false,
            gitignore: true,
            include: Patterns::default(),
            exclude: Patterns::default(),
            logged_lines: LoggedLines::default(),
        }
    }

    fn patterns(written: &[&str]) -> Patterns {
        let written: Vec<_> = written
            .iter()
            .map(|pattern| (*pattern).to_owned())
            .collect();
        Patterns::parse(&written).unwrap()
    }

    fn path(text: &str) -> RelativePath {
        RelativePath::from_names(text.split('/').map(str::as_bytes)).unwrap()
    }

    /// A temporary folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn the_nearest_gitignore_decides() {
        let folder = folder(&[
            (".gitignore", "*.log\n/build/\nsecret*\n"),
            ("sub/.gitignore", "!keep.log\n/only-here\n"),
        ]);
        let root = FolderRoot::new(folder.path().to_owned());
        let visible =
            |text: &str, is_folder| visibility().is_visible(&root, &path(text), is_folder);
        assert!(visible("a.md", false));
        assert!(!visible("a.log", false));
        assert!(!visible("sub/a.log", false));
        assert!(visible("sub/keep.log", false));
        assert!(!visible("build", true));
        assert!(
            !visible("build/x/y.md", false),
            "everything below an ignored folder"
        );
        assert!(visible("sub/build", true), "the pattern is anchored");
        assert!(!visible("sub/secret.txt", false));
        assert!(!visible("sub/only-here", false));
        assert!(visible("only-here", false));
        assert!(!visible(".env", false));
        assert!(!visible(".github/x.yml", false));
    }

    #[test]
    fn applies_the_rules_of_the_surrounding_repository() {
        let folder = folder(&[
            (".git/info/exclude", "mine.txt\n"),
            (".gitignore", "docs/private.md\n*.key\n"),
            ("docs/x.md", ""),
        ]);
        let root = FolderRoot::new(folder.path().join("docs"));
        let visible = |text: &str| visibility().is_visible(&root, &path(text), false);
        assert!(visible("x.md"));
        assert!(!visible("private.md"));
        assert!(!visible("deep/a.key"));
        assert!(!visible("mine.txt"));
        let without_gitignore = Visibility {
            gitignore: false,
            ..visibility()
        };
        assert!(without_gitignore.is_visible(&root, &path("private.md"), false));
    }

    #[test]
    fn applies_configured_patterns() {
        let folder = folder(&[]);
        let root = FolderRoot::new(folder.path().to_owned());
        let visibility = Visibility {
            include_hidden: true,
            include: patterns(&["*.md", "/src/"]),
            exclude: patterns(&["draft-*", "tmp/"]),
            ..visibility()
        };
        let visible = |text: &str| visibility.is_visible(&root, &path(text), false);
        assert!(visible("a.md") && visible("x/y/a.md") && visible("src/deep/a.rs"));
        assert!(!visible("a.rs") && !visible("x/src/a.rs"));
        assert!(!visible("draft-a.md") && !visible("tmp/a.md") && !visible("src/tmp/a.rs"));
        assert!(visible(".hidden/a.md"));
        assert!(!visible(".git/a.md"), "`.git` is never visible");
        assert!(
            visibility.is_visible(&root, &path("x"), true),
            "`include` does not hide folders"
        );
    }

    /// As in git, the other lines still apply.
    #[test]
    fn ignores_an_invalid_line_of_a_gitignore() {
        let folder = folder(&[(".gitignore", "secret[0-9.txt\n*.log\n")]);
        let root = FolderRoot::new(folder.path().to_owned());
        let visibility = visibility();
        assert!(visibility.is_visible(&root, &path("secret1.txt"), false));
        assert!(visibility.is_visible(&root, &path("secret[0-9.txt"), false));
        assert!(!visibility.is_visible(&root, &path("a.log"), false));
        assert_eq!(
            visibility.logged_lines.count(),
            1,
            "logged once, however often the file is read"
        );
    }
}
