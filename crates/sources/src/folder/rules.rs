//! What of a folder is shown. One place decides it, for lists and for reads alike.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::Gitignore;

use super::lines::{Told, builder, defect, why};
use super::{Place, Root};

/// A file of rules that is larger was not written by people.
const LONGEST_RULES: u64 = 1024 * 1024;
const GIT: &[u8] = b".git";
const IGNORE_FILE: &[u8] = b".gitignore";

/// What is shown, as it was configured. Patterns are those of `.gitignore`.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Names that begin with a dot too. `.git` never.
    pub(crate) hidden: bool,
    /// Whether what git ignores is left out.
    pub(crate) gitignore: bool,
    /// Files that match none of these are left out; with no pattern none is.
    pub(crate) include: Patterns,
    pub(crate) exclude: Patterns,
    /// What was said in the log about lines that are no patterns.
    pub(crate) told: Told,
}

/// Patterns as in a `.gitignore` file.
#[derive(Clone)]
pub struct Patterns {
    written: Vec<String>,
    matcher: Gitignore,
}

impl Patterns {
    /// Reads patterns; an error says which one is wrong, and why.
    pub fn parse(written: &[String]) -> Result<Self, BadPattern> {
        let mut builder = builder();
        for pattern in written {
            let bad = |why: String| BadPattern {
                pattern: pattern.clone(),
                why,
            };
            if let Some(defect) = defect(pattern) {
                return Err(bad(defect.to_owned()));
            }
            let added = builder.add_line(None, pattern);
            added.map_err(|error| bad(why(&error)))?;
        }
        let matcher = builder.build().map_err(|error| BadPattern {
            pattern: written.join(", "),
            why: why(&error),
        })?;
        Ok(Self {
            written: written.to_vec(),
            matcher,
        })
    }

    fn has(&self, place: &Place, is_folder: bool) -> bool {
        let path = place.path();
        !self.written.is_empty()
            && !path.as_os_str().is_empty()
            && self
                .matcher
                .matched_path_or_any_parents(path, is_folder)
                .is_ignore()
    }
}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.written).finish()
    }
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Patterns {}

impl Default for Patterns {
    fn default() -> Self {
        Self {
            written: Vec::new(),
            matcher: Gitignore::empty(),
        }
    }
}

/// A pattern that is none.
#[derive(Debug)]
pub struct BadPattern {
    pub pattern: String,
    pub why: String,
}

/// The rules that hold in one folder: its own file of rules, and those of the folders above.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held(Option<Arc<Layer>>);

#[derive(Debug)]
struct Layer {
    matcher: Gitignore,
    /// Where the file of rules is: so many names below the root, or this far above it.
    at: Level,
    above: Held,
}

#[derive(Debug)]
enum Level {
    Below(usize),
    Above(PathBuf),
}

impl Rules {
    /// Whether something is shown, with everything on the way to it.
    pub(crate) fn show(&self, root: &Root, place: &Place, is_folder: bool) -> bool {
        self.way_to(root, place, is_folder).is_some()
    }

    /// The rules that hold in a place that is shown.
    pub(crate) fn way_to(&self, root: &Root, place: &Place, is_folder: bool) -> Option<Held> {
        let mut held = self.at_top(root);
        for step in place.way().skip(1) {
            let is_last = step == *place;
            if !self.shows(&held, &step, !is_last || is_folder) {
                return None;
            }
            held = self.within(root, &step, held);
        }
        Some(held)
    }

    /// Whether something is shown in a folder that is.
    pub(crate) fn shows(&self, held: &Held, place: &Place, is_folder: bool) -> bool {
        let Some(name) = place.name() else {
            return true;
        };
        name != GIT
            && (self.hidden || !name.starts_with(b"."))
            && !held.ignores(place, is_folder)
            && !self.exclude.has(place, is_folder)
            && (is_folder || self.include.written.is_empty() || self.include.has(place, false))
    }

    /// The rules of the folder itself: its own, and those of the repository it is part of.
    pub(crate) fn at_top(&self, root: &Root) -> Held {
        if !self.gitignore {
            return Held::default();
        }
        self.within(root, &Place::top(), self.above(root.path()))
    }

    /// The rules in a folder whose parent has these.
    pub(crate) fn within(&self, root: &Root, folder: &Place, above: Held) -> Held {
        let own = self.gitignore.then(|| folder.join(IGNORE_FILE)).flatten();
        let read = own.and_then(|file| Some((root.read(&file, LONGEST_RULES).ok()?, file)));
        match read {
            None => above,
            Some((text, file)) => Held(Some(Arc::new(Layer {
                matcher: self.told.matcher(&root.path().join(file.path()), &text),
                at: Level::Below(folder.names().count()),
                above,
            }))),
        }
    }

    /// The rules of the repository that a folder is part of, down to the folder above it.
    fn above(&self, folder: &Path) -> Held {
        let is_top = |folder: &Path| folder.join(".git").exists();
        let upwards: Vec<_> = folder.ancestors().collect();
        let Some(top) = upwards.iter().position(|folder| is_top(folder)) else {
            return Held::default();
        };
        let mut held = Held::default();
        let exclude = upwards[top].join(".git/info/exclude");
        let files = upwards[1..=top]
            .iter()
            .rev()
            .map(|one| one.join(".gitignore"));
        for file in [exclude].into_iter().chain(files) {
            let holder = match file.ends_with("info/exclude") {
                true => upwards[top],
                false => file.parent().unwrap_or(folder),
            };
            let Ok(text) = read_bounded(&file) else {
                continue;
            };
            held = Held(Some(Arc::new(Layer {
                matcher: self.told.matcher(&file, &text),
                at: Level::Above(
                    folder
                        .strip_prefix(holder)
                        .unwrap_or(Path::new(""))
                        .to_owned(),
                ),
                above: held,
            })));
        }
        held
    }
}

impl Held {
    /// The file of rules that is nearest decides.
    fn ignores(&self, place: &Place, is_folder: bool) -> bool {
        let mut next = self;
        while let Held(Some(layer)) = next {
            let matched = match &layer.at {
                Level::Below(depth) => {
                    let path = Place::of(place.names().skip(*depth)).unwrap_or_default();
                    layer.matcher.matched(path.path(), is_folder)
                }
                Level::Above(way) => layer.matcher.matched(way.join(place.path()), is_folder),
            };
            match matched {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = &layer.above,
            }
        }
        false
    }
}

fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut text = Vec::new();
    let file = std::fs::File::open(path)?;
    if file.metadata()?.is_file() {
        file.take(LONGEST_RULES).read_to_end(&mut text)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn rules() -> Rules {
        Rules {
            hidden: false,
            gitignore: true,
            include: Patterns::default(),
            exclude: Patterns::default(),
            told: Told::default(),
        }
    }

    fn patterns(written: &[&str]) -> Patterns {
        let written: Vec<_> = written.iter().map(|one| (*one).to_owned()).collect();
        Patterns::parse(&written).unwrap()
    }

    fn place(text: &str) -> Place {
        Place::of(text.split('/').map(str::as_bytes)).unwrap()
    }

    /// A folder with these files.
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
    fn the_nearest_file_of_rules_decides() {
        let folder = folder(&[
            (".gitignore", "*.log\n/build/\nsecret*\n"),
            ("sub/.gitignore", "!keep.log\n/only-here\n"),
        ]);
        let root = Root::new(folder.path().to_owned());
        let shown = |text: &str, is_folder| rules().show(&root, &place(text), is_folder);
        assert!(shown("a.md", false));
        assert!(!shown("a.log", false));
        assert!(!shown("sub/a.log", false));
        assert!(shown("sub/keep.log", false));
        assert!(!shown("build", true));
        assert!(!shown("build/x/y.md", false), "all below what is ignored");
        assert!(shown("sub/build", true), "that rule holds at the top alone");
        assert!(!shown("sub/secret.txt", false));
        assert!(!shown("sub/only-here", false));
        assert!(shown("only-here", false));
        assert!(!shown(".env", false));
        assert!(!shown(".github/x.yml", false));
    }

    #[test]
    fn a_folder_of_a_repository_has_its_rules() {
        let folder = folder(&[
            (".git/info/exclude", "mine.txt\n"),
            (".gitignore", "docs/private.md\n*.key\n"),
            ("docs/x.md", ""),
        ]);
        let root = Root::new(folder.path().join("docs"));
        let shown = |text: &str| rules().show(&root, &place(text), false);
        assert!(shown("x.md"));
        assert!(!shown("private.md"));
        assert!(!shown("deep/a.key"));
        assert!(!shown("mine.txt"));
        let off = Rules {
            gitignore: false,
            ..rules()
        };
        assert!(off.show(&root, &place("private.md"), false));
    }

    #[test]
    fn patterns_of_the_configuration_add_to_it() {
        let folder = folder(&[]);
        let root = Root::new(folder.path().to_owned());
        let rules = Rules {
            hidden: true,
            include: patterns(&["*.md", "/src/"]),
            exclude: patterns(&["draft-*", "tmp/"]),
            ..rules()
        };
        let shown = |text: &str| rules.show(&root, &place(text), false);
        assert!(shown("a.md") && shown("x/y/a.md") && shown("src/deep/a.rs"));
        assert!(!shown("a.rs") && !shown("x/src/a.rs"));
        assert!(!shown("draft-a.md") && !shown("tmp/a.md") && !shown("src/tmp/a.rs"));
        assert!(shown(".hidden/a.md"));
        assert!(!shown(".git/a.md"), "never");
        assert!(
            rules.show(&root, &place("x"), true),
            "folders lead to files"
        );
    }

    /// What was meant to be hidden must not be shown because of a slip.
    #[test]
    fn a_bad_pattern_is_told() {
        for (pattern, why) in [
            ("[z-a]", "range"),
            ("secret[0-9.txt", "a bracket is not closed"),
            ("secret[]", "a bracket is not closed"),
            ("#secret", "comment"),
            ("  ", "empty"),
        ] {
            let written = ["*.md".to_owned(), pattern.to_owned()];
            let bad = Patterns::parse(&written).unwrap_err();
            assert_eq!(bad.pattern, pattern);
            assert!(bad.why.contains(why), "{bad:?}");
        }
        patterns(&["[]]", "a\\[b", "\\#secret", "!kept"]);
    }

    /// Git has it so: the line says nothing, and the others hold.
    #[test]
    fn a_bad_line_of_a_file_of_rules_is_left_out() {
        let folder = folder(&[(".gitignore", "secret[0-9.txt\n*.log\n")]);
        let root = Root::new(folder.path().to_owned());
        let rules = rules();
        assert!(rules.show(&root, &place("secret1.txt"), false));
        assert!(rules.show(&root, &place("secret[0-9.txt"), false));
        assert!(!rules.show(&root, &place("a.log"), false));
        assert_eq!(rules.told.count(), 1, "said once, however often it is read");
    }
}
