//! All prompts and skills of a folder at one moment: read, checked, and each under its own name.
//!
//! A file that is wrong is left out and told of. If it was right before, what it said then stays
//! until it is mended: nobody loses a prompt while someone types.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::front::{Wrong, begins, parts};
use super::prompt::Prompt;
use super::skill::{SKILL, Skill};
use crate::folder::{Absent, File, Place, Root, Stamp, Walked};

/// Prompts and skills that are offered.
const MOST_ITEMS: usize = 1_000;
/// Bytes of one such file.
const MOST_BYTES: u64 = 256 * 1024;

/// What was read.
#[derive(Default)]
pub(super) struct Library {
    read: BTreeMap<Place, Read>,
    pub(super) prompts: BTreeMap<String, Arc<Prompt>>,
    /// By their folders.
    pub(super) skills: BTreeMap<Place, Arc<Skill>>,
    pub(super) problems: Vec<Problem>,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) file: Place,
    wrong: Wrong,
    /// Whether what the file said before is still there.
    is_kept: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (&self.file, self.wrong.line);
        write!(f, "{file}:{line}: {}", self.wrong.message)?;
        match self.is_kept {
            true => f.write_str(" (what it said before stays until then)"),
            false => Ok(()),
        }
    }
}

/// A file that was read.
#[derive(Clone)]
struct Read {
    stamp: Stamp,
    item: Result<Item, Wrong>,
    /// What it was when it was right, where it is wrong now.
    before: Option<Item>,
}

#[derive(Clone)]
enum Item {
    Prompt(Arc<Prompt>),
    Skill(Arc<Skill>),
    /// Without front matter it is somebody's notes.
    Neither,
    /// Nothing yet, or nothing for a moment: some programs empty a file before they write it.
    Empty,
}

impl Library {
    /// Reads what is there now. What has not changed since is not read again.
    pub(super) fn read(root: &Root, walked: &Walked, before: &Self) -> Self {
        let mut library = Self::default();
        let skills: BTreeSet<_> = walked.files.keys().filter_map(skill_folder).collect();
        let mut names: BTreeMap<String, Place> = BTreeMap::new();
        for (place, file) in &walked.files {
            let Some(kind) = kind(place, &skills) else {
                continue;
            };
            if library.read.len() == MOST_ITEMS {
                let message =
                    format!("more than {MOST_ITEMS} files; this and all after it are left out");
                library.tell(place, Wrong::new(1, message), false);
                break;
            }
            let read = match before.read.get(place) {
                Some(read) if read.stamp == file.stamp => read.clone(),
                earlier => read_anew(root, place, file, &kind, earlier),
            };
            library.add(place, &read, &mut names);
            library.read.insert(place.clone(), read);
        }
        library
    }

    /// Offers what was read.
    fn add(&mut self, place: &Place, read: &Read, names: &mut BTreeMap<String, Place>) {
        if let Err(wrong) = &read.item {
            self.tell(place, wrong.clone(), read.before.is_some());
        }
        let item = read.item.as_ref().ok().or(read.before.as_ref());
        let (prompt, skill) = match item {
            Some(Item::Prompt(prompt)) => (Arc::clone(prompt), None),
            Some(Item::Skill(skill)) => (Arc::new(skill.prompt.clone()), Some(skill)),
            Some(Item::Neither | Item::Empty) | None => return,
        };
        if let (Some(skill), Some(folder)) = (skill, place.parent()) {
            self.skills.insert(folder, Arc::clone(skill));
        }
        match names.get(&prompt.name) {
            Some(first) => {
                let are_skills = skill.is_some() && first.name() == Some(SKILL);
                let remedy = match are_skills {
                    // A skill is called as its folder is.
                    true => "give the folder of one of them another name, and its `name` too",
                    false => "give one of them another `name`",
                };
                let name = &prompt.name;
                let message = format!("the prompt `{name}` is already that of `{first}`; {remedy}");
                self.tell(place, Wrong::new(prompt.line, message), false);
            }
            None => {
                names.insert(prompt.name.clone(), place.clone());
                self.prompts.insert(prompt.name.clone(), prompt);
            }
        }
    }

    fn tell(&mut self, file: &Place, wrong: Wrong, is_kept: bool) {
        self.problems.push(Problem {
            file: file.clone(),
            wrong,
            is_kept,
        });
    }

    /// The skill that a place belongs to.
    pub(super) fn skill_of(&self, place: &Place) -> Option<(Place, &Arc<Skill>)> {
        place
            .way()
            .find_map(|folder| self.skills.get(&folder).map(|skill| (folder, skill)))
    }
}

/// What a file may become.
enum Becomes {
    /// With this name, unless it says another.
    Prompt(String),
    /// Of this folder.
    Skill(Place),
    /// A skill that has no folder of its own: all that is served would be part of it.
    Misplaced,
}

/// Files of skills are theirs; of the others, Markdown may be a prompt.
fn kind(place: &Place, skills: &BTreeSet<Place>) -> Option<Becomes> {
    let folder = place.parent()?;
    let outermost = folder.way().find(|folder| skills.contains(folder));
    match outermost {
        Some(outermost) if outermost == folder && place.name() == Some(SKILL) => {
            Some(Becomes::Skill(folder))
        }
        Some(_) => None,
        None if place.name() == Some(SKILL) => Some(Becomes::Misplaced),
        None => {
            let text = std::str::from_utf8(place.bytes()).ok()?;
            let name = text.strip_suffix(".md")?;
            Some(Becomes::Prompt(name.to_owned()))
        }
    }
}

/// The folder that a `SKILL.md` makes a skill. The top folder holds skills and is none.
fn skill_folder(place: &Place) -> Option<Place> {
    let folder = place.parent()?;
    (place.name() == Some(SKILL) && !folder.is_top()).then_some(folder)
}

fn read_anew(
    root: &Root,
    place: &Place,
    file: &File,
    kind: &Becomes,
    earlier: Option<&Read>,
) -> Read {
    let before = earlier.and_then(|read| read.item.as_ref().ok().or(read.before.as_ref()));
    let item = match (parse(root, place, file, kind), before) {
        (Ok(Item::Empty), Some(Item::Prompt(_) | Item::Skill(_))) => Err(Wrong::new(
            1,
            "the file is empty; write the prompt again, or remove the file",
        )),
        (item, _) => item,
    };
    Read {
        stamp: file.stamp,
        before: item.is_err().then(|| before.cloned()).flatten(),
        item,
    }
}

fn parse(root: &Root, place: &Place, file: &File, kind: &Becomes) -> Result<Item, Wrong> {
    let bytes = root.read(place, MOST_BYTES + 1).map_err(|absent| {
        let why = match absent {
            Absent::Nothing => "it has gone meanwhile".to_owned(),
            Absent::Refused(error) => error.kind().to_string(),
        };
        Wrong::new(1, format!("the file cannot be read: {why}"))
    })?;
    if bytes.trim_ascii().is_empty() {
        return Ok(Item::Empty);
    }
    match (begins(&bytes), kind) {
        (true, _) => {}
        (false, Becomes::Prompt(_) | Becomes::Misplaced) => return Ok(Item::Neither),
        (false, Becomes::Skill(_)) => {
            let message =
                "a skill begins with front matter: `---`, `name: …`, `description: …`, `---`";
            return Err(Wrong::new(1, message));
        }
    }
    let text = text(bytes, file.stamp.size)?;
    let Some(parts) = parts(&text)? else {
        return Ok(Item::Neither);
    };
    match kind {
        Becomes::Prompt(name) => {
            let prompt = Prompt::parse(&parts, &text, name)?;
            Ok(Item::Prompt(Arc::new(prompt)))
        }
        Becomes::Skill(folder) => Ok(Item::Skill(Arc::new(Skill::parse(folder, &parts)?))),
        Becomes::Misplaced => Err(Wrong::new(
            1,
            "a skill has a folder of its own below `folder`; move this file and those that belong \
             to it into one, or let `folder` name the folder above",
        )),
    }
}

/// The text of a file of so many bytes.
fn text(bytes: Vec<u8>, size: u64) -> Result<String, Wrong> {
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("the file has {size} bytes, and a prompt at most {MOST_BYTES}");
        return Err(Wrong::new(1, message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count() as u64;
        Wrong::new(line, "the file is not UTF-8; save it as UTF-8")
    })
}
