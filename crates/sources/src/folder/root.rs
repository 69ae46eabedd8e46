//! The folder itself: opens only entries below it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::resolve::{EntryHandle, OpenError, OpenedEntry, PathResolver};
use super::{FileStamp, RelativePath};

/// A folder, by its absolute path.
#[derive(Clone, Debug)]
pub(crate) struct FolderRoot {
    path: PathBuf,
}

impl FolderRoot {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open(&self, path: &RelativePath) -> Result<OpenedEntry, OpenError> {
        PathResolver::new(&self.path, path)?.resolve()
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

    /// Why the folder itself cannot be opened, as a message for the author of the configuration.
    pub(super) fn describe_error(&self, error: &OpenError) -> String {
        let path = self.path.display();
        match error {
            OpenError::NotFound if self.path.is_file() => {
                format!("`{path}` is a file; set `folder` to a folder")
            }
            OpenError::NotFound => {
                format!("the folder `{path}` does not exist; create it, or change `folder`")
            }
            OpenError::Io(error) => format!("cannot read the folder `{path}`: {}", error.kind()),
        }
    }
}
