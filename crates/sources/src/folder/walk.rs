//! Everything in a folder that is shown, up to a bound. What lies higher comes first, so that a
//! bound cuts off what is deepest.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read as _;
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
    pub(crate) folders: Vec<Place>,
    /// Whether there is more than may be shown.
    pub(crate) is_cut: bool,
    /// Folders that the system does not let us into.
    pub(crate) closed: Vec<Place>,
}

impl Walk<'_> {
    /// Goes through all of it. What has not changed since `before` is not opened again.
    pub(crate) fn go(self, before: &Walked) -> Result<Walked, Absent> {
        let mut found = Walked::default();
        let mut ahead = VecDeque::from([(Place::top(), self.rules.at_top(self.root))]);
        while let Some((place, held)) = ahead.pop_front() {
            let folder = match self.root.open(&place).map(|found| found.what) {
                Ok(What::Folder(folder)) => folder,
                Err(absent) if place.is_top() => return Err(absent),
                Err(Absent::Refused(_)) => {
                    found.closed.push(place);
                    continue;
                }
                // It has gone meanwhile.
                Ok(What::File(_)) | Err(Absent::Nothing) => continue,
            };
            let (names, more) = names_in(&folder, MOST_NAMES).map_err(Absent::Refused)?;
            found.is_cut |= more;
            for name in names {
                let Some(place) = place.join(&name) else {
                    continue;
                };
                if let Some(held) = self.take(&mut found, before, &folder, place.clone(), &held) {
                    if ahead.len() + found.folders.len() >= self.most {
                        found.is_cut = true;
                    } else {
                        ahead.push_back((place, held));
                    }
                }
            }
            found.folders.push(place);
        }
        Ok(found)
    }

    /// Takes in one name. Gives the rules in it, where it is a folder to go into.
    fn take(
        &self,
        found: &mut Walked,
        before: &Walked,
        folder: &OwnedFd,
        place: Place,
        held: &Held,
    ) -> Option<Held> {
        let name = place.name()?.to_vec();
        let (kind, stamp) = kind_of(folder.as_fd(), &name).ok()?;
        let is_folder = kind == FileType::Directory;
        if !self.rules.shows(held, &place, is_folder) {
            return None;
        }
        let known = |stamp: &Stamp| before.files.get(&place).filter(|one| one.stamp == *stamp);
        let file = match kind {
            FileType::Directory => return Some(self.rules.within(self.root, &place, held.clone())),
            FileType::RegularFile => match known(&stamp) {
                Some(known) => known.clone(),
                None => look_at(folder.as_fd(), &name)?,
            },
            FileType::Symlink => self.linked(&place)?,
            _ => return None,
        };
        if found.files.len() >= self.most {
            found.is_cut = true;
        } else {
            found.files.insert(place, file);
        }
        None
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

/// A file that cannot be opened is not shown: what is listed works.
fn look_at(folder: BorrowedFd<'_>, name: &[u8]) -> Option<File> {
    let (file, stamp) = open_file(folder, name).ok()?;
    Some(described(file, stamp, name))
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
