//! Opens what lies below a folder, and nothing else, whatever links lie there and whatever is swapped
//! meanwhile.
//!
//! The way is gone name by name, each folder opened in the one before and never through a link.
//! Links are read and followed here: one that leads out of the folder leads nowhere. What is neither
//! a file nor a folder is never opened.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat,
};

use super::Place;

/// Links on one way, as the system counts them.
const MOST_LINKS: usize = 40;

/// A folder, by its absolute path.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    path: PathBuf,
}

/// Something below the folder, opened.
pub(crate) struct Found {
    /// Where it is when all links have been followed.
    pub(crate) at: Place,
    pub(crate) stamp: Stamp,
    pub(crate) what: What,
}

pub(crate) enum What {
    File(File),
    Folder(OwnedFd),
}

/// What tells two states of a file apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    /// Which file it is, whatever it is called.
    pub(crate) file: (u64, u64),
}

/// Why there is nothing.
#[derive(Debug)]
pub(crate) enum Absent {
    /// It is not there, or it is nothing that may be opened. Which of these is nobody's business.
    Nothing,
    /// The system refuses.
    Refused(io::Error),
}

impl From<rustix::io::Errno> for Absent {
    fn from(error: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match error {
            // The last three: it was swapped for something else meanwhile.
            Errno::NOENT | Errno::NAMETOOLONG | Errno::NOTDIR | Errno::LOOP | Errno::NXIO => {
                Self::Nothing
            }
            other => Self::Refused(other.into()),
        }
    }
}

impl Root {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens what is at this place.
    pub(crate) fn open(&self, place: &Place) -> Result<Found, Absent> {
        let top = openat(CWD, &self.path, OFlags::RDONLY | FOLDER, Mode::empty())?;
        Way::begin(self, top, place).go()
    }

    /// The first bytes of a file, at most so many.
    pub(crate) fn read(&self, place: &Place, most: u64) -> Result<Vec<u8>, Absent> {
        match self.open(place)?.what {
            What::File(file) => {
                let mut bytes = Vec::new();
                let read = file.take(most).read_to_end(&mut bytes);
                read.map(|_| bytes).map_err(Absent::Refused)
            }
            What::Folder(_) => Err(Absent::Nothing),
        }
    }

    /// Why the folder itself cannot be looked into, in words for whoever wrote this setting.
    pub(crate) fn why_closed(&self, absent: &Absent, setting: &str) -> String {
        match absent {
            Absent::Nothing if self.path.is_file() => {
                format!("`{setting}` names a file; let it name a folder")
            }
            Absent::Nothing => {
                format!("its folder is not there; make it, or change `{setting}`")
            }
            Absent::Refused(error) => format!("its folder cannot be read: {}", error.kind()),
        }
    }

    /// The part of an absolute path that is below the folder, whichever name of the folder it uses.
    fn inside<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let real = || self.path.canonicalize().ok();
        path.strip_prefix(&self.path)
            .ok()
            .or_else(|| path.strip_prefix(real()?).ok())
    }
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// A way that is being gone.
struct Way<'a> {
    root: &'a Root,
    top: OwnedFd,
    /// The folders behind us, each with its name.
    gone: Vec<(Vec<u8>, OwnedFd)>,
    /// The steps before us, the next one last.
    ahead: Vec<Step>,
    links: usize,
}

enum Step {
    Into(Vec<u8>),
    /// Only links say this.
    Up,
}

impl<'a> Way<'a> {
    fn begin(root: &'a Root, top: OwnedFd, place: &Place) -> Self {
        let ahead = place.names().rev().map(|name| Step::Into(name.to_vec()));
        Self {
            root,
            top,
            gone: Vec::new(),
            ahead: ahead.collect(),
            links: 0,
        }
    }

    fn go(mut self) -> Result<Found, Absent> {
        while let Some(step) = self.ahead.pop() {
            match step {
                Step::Up => drop(self.gone.pop().ok_or(Absent::Nothing)?),
                Step::Into(name) => {
                    if let Some(file) = self.enter(name)? {
                        return Ok(file);
                    }
                }
            }
        }
        let stamp = Stamp::of(&fstat(self.here())?);
        let at = self.at(None)?;
        let folder = self.gone.pop().map_or(self.top, |(_, folder)| folder);
        Ok(Found {
            at,
            stamp,
            what: What::Folder(folder),
        })
    }

    /// Goes one name on; gives the file, if it is one and the end.
    fn enter(&mut self, name: Vec<u8>) -> Result<Option<Found>, Absent> {
        match kind_of(self.here(), &name)? {
            (FileType::Directory, _) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | FOLDER;
                let folder = openat(self.here(), name.as_slice(), flags, Mode::empty())?;
                self.gone.push((name, folder));
                Ok(None)
            }
            (FileType::Symlink, _) => {
                self.follow(&name)?;
                Ok(None)
            }
            (FileType::RegularFile, _) if self.ahead.is_empty() => {
                let (file, stamp) = open_file(self.here(), &name)?;
                let at = self.at(Some(&name))?;
                Ok(Some(Found {
                    at,
                    stamp,
                    what: What::File(file),
                }))
            }
            _ => Err(Absent::Nothing),
        }
    }

    /// Puts the way that a link says before what is still ahead.
    fn follow(&mut self, name: &[u8]) -> Result<(), Absent> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Absent::Nothing);
        }
        let target = readlinkat(self.here(), name, Vec::new())?;
        let target = Path::new(std::ffi::OsStr::from_bytes(target.as_bytes()));
        let target = if target.is_absolute() {
            self.gone.clear();
            self.root.inside(target).ok_or(Absent::Nothing)?
        } else {
            target
        };
        for part in target.components().rev() {
            match part {
                Component::Normal(name) => self.ahead.push(Step::Into(name.as_bytes().to_vec())),
                Component::ParentDir => self.ahead.push(Step::Up),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(Absent::Nothing),
            }
        }
        Ok(())
    }

    fn here(&self) -> BorrowedFd<'_> {
        match self.gone.last() {
            Some((_, folder)) => folder.as_fd(),
            None => self.top.as_fd(),
        }
    }

    fn at(&self, last: Option<&[u8]>) -> Result<Place, Absent> {
        let names = self.gone.iter().map(|(name, _)| name.as_slice());
        Place::of(names.chain(last)).ok_or(Absent::Nothing)
    }
}

/// What a name in an open folder is, not following a link.
pub(super) fn kind_of(folder: BorrowedFd<'_>, name: &[u8]) -> Result<(FileType, Stamp), Absent> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((FileType::from_raw_mode(stat.st_mode), Stamp::of(&stat)))
}

/// Opens a file in an open folder. What has become something else is not opened, and what was opened
/// is looked at once more: a pipe or a device must not keep us.
pub(super) fn open_file(folder: BorrowedFd<'_>, name: &[u8]) -> Result<(File, Stamp), Absent> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((File::from(file), Stamp::of(&stat))),
        _ => Err(Absent::Nothing),
    }
}

/// The names in an open folder, sorted, at most so many; and whether there are more.
pub(crate) fn names_in(folder: &OwnedFd, most: usize) -> io::Result<(Vec<Vec<u8>>, bool)> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        if names.len() == most {
            names.sort_unstable();
            return Ok((names, true));
        }
        names.push(name.to_vec());
    }
    names.sort_unstable();
    Ok((names, false))
}

impl Stamp {
    // The types of these fields differ from system to system.
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        reason = "only compared with each other"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            file: (stat.st_dev as u64, stat.st_ino as u64),
        }
    }

    /// When its contents were written.
    pub(crate) fn modified(&self) -> SystemTime {
        let (seconds, nanos) = self.modified;
        let nanos = Duration::from_nanos(u64::try_from(nanos).unwrap_or_default());
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let start = match seconds {
            0.. => SystemTime::UNIX_EPOCH.checked_add(whole),
            _ => SystemTime::UNIX_EPOCH.checked_sub(whole),
        };
        start
            .and_then(|start| start.checked_add(nanos))
            .unwrap_or(SystemTime::UNIX_EPOCH)
    }
}
