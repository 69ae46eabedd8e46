//! Path resolution that stays inside a folder, regardless of links and of concurrent replacement.
//!
//! Each name is opened relative to the folder before it, never through a link. Links are read and
//! followed here: a link that leaves the folder is not found. Only files and folders are opened.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};

use super::{FileStamp, RelativePath};

/// Links in one path, as in Linux.
const MAX_LINKS: usize = 40;

const FOLDER_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// An open file or folder below the root.
pub(super) struct OpenedEntry {
    /// Its path after following all links.
    pub(super) resolved: RelativePath,
    pub(super) stamp: FileStamp,
    pub(super) handle: EntryHandle,
}

pub(super) enum EntryHandle {
    File(File),
    Folder(OwnedFd),
}

/// Why something cannot be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// It does not exist, or must not be opened. Callers cannot distinguish the two.
    NotFound,
    Io(io::Error),
}

impl From<rustix::io::Errno> for OpenError {
    fn from(error: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match error {
            // The last three occur when an entry is replaced while it is being opened.
            Errno::NOENT | Errno::NAMETOOLONG | Errno::NOTDIR | Errno::LOOP | Errno::NXIO => {
                Self::NotFound
            }
            other => Self::Io(other.into()),
        }
    }
}

pub(super) struct PathResolver<'a> {
    root: &'a Path,
    top: OwnedFd,
    /// The folders entered so far, with their names.
    entered: Vec<(Vec<u8>, OwnedFd)>,
    /// The remaining steps, the next one last.
    remaining: Vec<PathStep>,
    links: usize,
}

enum PathStep {
    Enter(Vec<u8>),
    /// `..`, which only occurs in links.
    Leave,
}

impl<'a> PathResolver<'a> {
    pub(super) fn new(root: &'a Path, path: &RelativePath) -> Result<Self, OpenError> {
        let flags = OFlags::RDONLY | FOLDER_FLAGS;
        let top = openat(CWD, root, flags, Mode::empty())?;
        let remaining = path.names().rev();
        let remaining = remaining.map(|name| PathStep::Enter(name.to_vec()));
        Ok(Self {
            root,
            top,
            entered: Vec::new(),
            remaining: remaining.collect(),
            links: 0,
        })
    }

    pub(super) fn resolve(mut self) -> Result<OpenedEntry, OpenError> {
        while let Some(step) = self.remaining.pop() {
            match step {
                PathStep::Leave => drop(self.entered.pop().ok_or(OpenError::NotFound)?),
                PathStep::Enter(name) => {
                    if let Some(file) = self.enter(name)? {
                        return Ok(file);
                    }
                }
            }
        }
        let stamp = FileStamp::of(&fstat(self.current_folder())?);
        let resolved = self.resolved_path(None)?;
        let folder = self.entered.pop().map_or(self.top, |(_, folder)| folder);
        Ok(OpenedEntry {
            resolved,
            stamp,
            handle: EntryHandle::Folder(folder),
        })
    }

    /// Takes one step. Returns the file if the name is one and the path ends there.
    fn enter(&mut self, name: Vec<u8>) -> Result<Option<OpenedEntry>, OpenError> {
        match entry_type(self.current_folder(), &name)? {
            (FileType::Directory, _) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | FOLDER_FLAGS;
                let folder = openat(self.current_folder(), name.as_slice(), flags, Mode::empty())?;
                self.entered.push((name, folder));
                Ok(None)
            }
            (FileType::Symlink, _) => {
                self.follow_link(&name)?;
                Ok(None)
            }
            (FileType::RegularFile, _) if self.remaining.is_empty() => {
                let (file, stamp) = open_file(self.current_folder(), &name)?;
                Ok(Some(OpenedEntry {
                    resolved: self.resolved_path(Some(&name))?,
                    stamp,
                    handle: EntryHandle::File(file),
                }))
            }
            _ => Err(OpenError::NotFound),
        }
    }

    /// Puts the steps of a link's target before the remaining ones.
    fn follow_link(&mut self, name: &[u8]) -> Result<(), OpenError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(OpenError::NotFound);
        }
        let target = readlinkat(self.current_folder(), name, Vec::new())?;
        let mut target = Path::new(OsStr::from_bytes(target.as_bytes()));
        if target.is_absolute() {
            self.entered.clear();
            target = strip_root(self.root, target).ok_or(OpenError::NotFound)?;
        }
        for component in target.components().rev() {
            match component {
                Component::Normal(name) => {
                    let name = name.as_bytes().to_vec();
                    self.remaining.push(PathStep::Enter(name));
                }
                Component::ParentDir => self.remaining.push(PathStep::Leave),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(OpenError::NotFound),
            }
        }
        Ok(())
    }

    fn current_folder(&self) -> BorrowedFd<'_> {
        match self.entered.last() {
            Some((_, folder)) => folder.as_fd(),
            None => self.top.as_fd(),
        }
    }

    fn resolved_path(&self, file_name: Option<&[u8]>) -> Result<RelativePath, OpenError> {
        let names = self.entered.iter().map(|(name, _)| name.as_slice());
        RelativePath::from_names(names.chain(file_name)).ok_or(OpenError::NotFound)
    }
}

/// The part of an absolute path below the root, by either name of the root.
fn strip_root<'a>(root: &Path, path: &'a Path) -> Option<&'a Path> {
    let canonical = || root.canonicalize().ok();
    path.strip_prefix(root)
        .ok()
        .or_else(|| path.strip_prefix(canonical()?).ok())
}

/// The type of an entry of an open folder. Does not follow links.
pub(super) fn entry_type(
    folder: BorrowedFd<'_>,
    name: &[u8],
) -> Result<(FileType, FileStamp), OpenError> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((FileType::from_raw_mode(stat.st_mode), FileStamp::of(&stat)))
}

/// Opens a file of an open folder. The type is checked again after opening, because the entry may
/// have been replaced by a pipe or a device, on which a read would block.
pub(super) fn open_file(
    folder: BorrowedFd<'_>,
    name: &[u8],
) -> Result<(File, FileStamp), OpenError> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((File::from(file), FileStamp::of(&stat))),
        _ => Err(OpenError::NotFound),
    }
}

/// The names in an open folder, sorted, up to a limit; and whether there are more.
pub(super) fn names_in(folder: &OwnedFd, limit: usize) -> io::Result<(Vec<Vec<u8>>, bool)> {
    let mut names = Vec::new();
    let mut is_truncated = false;
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        if names.len() == limit {
            is_truncated = true;
            break;
        }
        names.push(name.to_vec());
    }
    names.sort_unstable();
    Ok((names, is_truncated))
}
