//! Everything in a folder that is shown, up to a bound. What lies higher comes first, so that a
//! bound cuts off what is deepest.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::FileType;

use super::media;
use super::root::{What, kind_of, names_in, open_file};
use super::rules::Held;
use super::{Absent, Place, Root, Rules, Stamp};

/// More names in one folder than are looked at.
const MOST_NAMES: usize = 100_000;

/// What is gone through, and how much of it.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub(crate) root: &'a Root,
    pub(crate) rules: &'a Rules,
    /// Files and folders, each.
    pub(crate) most: usize,
}

/// A file that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) stamp: Stamp,
    pub(crate) mime: &'static str,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) files: BTreeMap<Place, File>,
    pub(crate) folders: BTreeMap<Place, Stamp>,
    /// Whether there is more than may be shown.
    pub(crate) is_cut: bool,
    /// Folders that the system does not let us into.
    pub(crate) closed: Vec<Place>,
}

/// What is directly in a folder.
#[derive(Default)]
pub(crate) struct Level {
    pub(crate) files: Vec<(Place, File)>,
    pub(crate) folders: Vec<Place>,
    pub(crate) is_cut: bool,
}

impl Walk<'_> {
    /// Goes through all of it. What has not changed since `before` is not opened again.
    pub(crate) fn go(self, before: &Walked) -> Result<Walked, Absent> {
        let mut found = Walked::default();
        let mut ahead = VecDeque::from([(Place::top(), self.rules.at_top(self.root))]);
        while let Some((place, held)) = ahead.pop_front() {
            let (level, stamp) = match self.enter(&place, &held, before) {
                Ok(Some(level)) => level,
                Ok(None) => continue,
                Err(error) if place.is_top() => return Err(error),
                Err(_) => {
                    found.closed.push(place);
                    continue;
                }
            };
            found.is_cut |= level.is_cut;
            for (place, file) in level.files {
                if found.files.len() == self.most {
                    found.is_cut = true;
                    break;
                }
                found.files.insert(place, file);
            }
            found.folders.insert(place, stamp);
            for folder in level.folders {
                if ahead.len() + found.folders.len() >= self.most {
                    found.is_cut = true;
                    break;
                }
                let held = self.rules.within(self.root, &folder, held.clone());
                ahead.push_back((folder, held));
            }
        }
        Ok(found)
    }

    /// What is in the folder at a place. None if it has gone meanwhile.
    fn enter(
        &self,
        place: &Place,
        held: &Held,
        before: &Walked,
    ) -> Result<Option<(Level, Stamp)>, Absent> {
        let found = match self.root.open(place) {
            Err(Absent::Nothing) if !place.is_top() => return Ok(None),
            found => found?,
        };
        match found.what {
            What::File(_) => Ok(None),
            What::Folder(folder) => {
                let level = self.level(place, &folder, held, before);
                Ok(Some((level.map_err(Absent::Refused)?, found.stamp)))
            }
        }
    }

    /// What is directly in an open folder.
    pub(crate) fn level(
        &self,
        place: &Place,
        folder: &OwnedFd,
        held: &Held,
        before: &Walked,
    ) -> io::Result<Level> {
        let (names, is_cut) = names_in(folder, MOST_NAMES)?;
        let mut level = Level {
            is_cut,
            ..Level::default()
        };
        for name in names {
            let Some(place) = place.join(&name) else {
                continue;
            };
            match self.look_at(folder.as_fd(), &place, held, before) {
                Some(Entry::File(file)) => level.files.push((place, file)),
                Some(Entry::Folder) => level.folders.push(place),
                None => {}
            }
            if level.files.len() > self.most || level.folders.len() > self.most {
                level.is_cut = true;
                break;
            }
        }
        Ok(level)
    }

    /// What one name of an open folder is, if it is shown.
    fn look_at(
        &self,
        folder: BorrowedFd<'_>,
        place: &Place,
        held: &Held,
        before: &Walked,
    ) -> Option<Entry> {
        let name = place.name()?;
        let (kind, stamp) = kind_of(folder, name).ok()?;
        if !self.rules.shows(held, place, kind == FileType::Directory) {
            return None;
        }
        let known = before.files.get(place).filter(|one| one.stamp == stamp);
        match (kind, known) {
            (FileType::Directory, _) => Some(Entry::Folder),
            (FileType::RegularFile, Some(known)) => Some(Entry::File(known.clone())),
            // A file that cannot be opened is not shown: what is listed works.
            (FileType::RegularFile, None) => {
                let (file, stamp) = open_file(folder, name).ok()?;
                Some(Entry::File(described(file, stamp, name)))
            }
            (FileType::Symlink, _) => self.linked(place).map(Entry::File),
            _ => None,
        }
    }

    /// The file that a link leads to, if it is one that is shown. What is behind a link to a folder
    /// is listed where it is.
    fn linked(&self, place: &Place) -> Option<File> {
        let found = self.root.open(place).ok()?;
        let What::File(file) = found.what else {
            return None;
        };
        let shown = self.rules.show(self.root, &found.at, false);
        shown.then(|| described(file, found.stamp, place.name().unwrap_or_default()))
    }
}

enum Entry {
    File(File),
    Folder,
}

fn described(file: std::fs::File, stamp: Stamp, name: &[u8]) -> File {
    let mime = media::by_name(name).filter(|mime| !media::is_text(mime));
    let mime = mime.unwrap_or_else(|| {
        let mut head = Vec::new();
        file.take(media::HEAD).read_to_end(&mut head).ok();
        media::of(name, &head)
    });
    File { stamp, mime }
}
