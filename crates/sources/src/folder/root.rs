//! The folder itself: opens what is below it, and nothing else.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::resolve::PathResolver;
use super::{FileStamp, RelativePath};

/// A folder, by its absolute path.
#[derive(Clone, Debug)]
pub(crate) struct FolderRoot {
    path: PathBuf,
}

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
    /// It does not exist, or must not be opened. Callers cannot tell these apart.
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

impl FolderRoot {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open(&self, path: &RelativePath) -> Result<OpenedEntry, OpenError> {
        PathResolver::new(self, path)?.resolve()
    }

    /// The stamp of a file or folder, if it exists.
    pub(crate) fn stamp(&self, path: &RelativePath) -> Option<FileStamp> {
        self.open(path).ok().map(|entry| entry.stamp)
    }

    /// The first bytes of a file.
    pub(crate) fn read(&self, path: &RelativePath, max_bytes: u64) -> Result<Vec<u8>, OpenError> {
        match self.open(path)?.handle {
            EntryHandle::File(file) => {
                let mut bytes = Vec::new();
                let read = file.take(max_bytes).read_to_end(&mut bytes);
                read.map(|_| bytes).map_err(OpenError::Io)
            }
            EntryHandle::Folder(_) => Err(OpenError::NotFound),
        }
    }

    /// Why the folder itself cannot be opened, for the person who wrote this setting.
    pub(super) fn describe_error(&self, error: &OpenError, setting: &str) -> String {
        match error {
            OpenError::NotFound if self.path.is_file() => {
                format!("`{setting}` is a file; set it to a folder")
            }
            OpenError::NotFound => {
                format!("the folder does not exist; create it, or change `{setting}`")
            }
            OpenError::Io(error) => format!("cannot read the folder: {}", error.kind()),
        }
    }

    /// The part of an absolute path below the folder, by either name of the folder.
    pub(super) fn strip_from<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let canonical = || self.path.canonicalize().ok();
        path.strip_prefix(&self.path)
            .ok()
            .or_else(|| path.strip_prefix(canonical()?).ok())
    }
}
