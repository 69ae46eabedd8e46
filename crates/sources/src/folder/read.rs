//! Reading a visible file or folder.

use std::io::{self, Read as _};

use super::resolve::EntryHandle;
use super::scan::FolderListing;
use super::served::ServedFolder;
use super::{FolderTree, OpenError, RelativePath, media_type};

pub(super) enum ReadContents {
    File { bytes: Vec<u8>, mime: &'static str },
    Folder(FolderListing),
}

#[derive(Debug)]
pub(super) enum ReadError {
    /// It does not exist, or is not visible.
    NotFound,
    TooLarge {
        size: u64,
    },
    Io(io::Error),
}

impl From<OpenError> for ReadError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NotFound => Self::NotFound,
            OpenError::Io(error) => Self::Io(error),
        }
    }
}

impl ServedFolder {
    /// The bytes of a visible file; `None` if it cannot be read.
    pub(crate) fn read_file(&self, path: &RelativePath) -> Option<Vec<u8>> {
        match self.read(path).ok()? {
            ReadContents::File { bytes, .. } => Some(bytes),
            ReadContents::Folder(_) => None,
        }
    }

    /// Reads a file up to the size limit, or lists a folder. Both the given path and the path that
    /// it resolves to must be visible.
    pub(super) fn read(&self, path: &RelativePath) -> Result<ReadContents, ReadError> {
        let entry = self.root.open(path)?;
        let is_folder = matches!(entry.handle, EntryHandle::Folder(_));
        let rules_at = |path: &RelativePath| {
            let rules = self.visibility.rules_at(&self.root, path, is_folder);
            rules.ok_or(ReadError::NotFound)
        };
        let rules = rules_at(&entry.resolved)?;
        if entry.resolved != *path {
            rules_at(path)?;
        }
        match entry.handle {
            EntryHandle::File(_) if entry.stamp.size > self.max_file_bytes => {
                Err(ReadError::TooLarge {
                    size: entry.stamp.size,
                })
            }
            EntryHandle::File(file) => {
                let bytes = read_limited(file, self.max_file_bytes)?;
                let head = &bytes[..bytes.len().min(media_type::HEAD_BYTES as usize)];
                let mime = media_type::detect(path.name().unwrap_or_default(), head);
                Ok(ReadContents::File { bytes, mime })
            }
            EntryHandle::Folder(folder) => {
                let previous = FolderTree::default();
                let listing = self.list(&entry.resolved, &folder, &rules, &previous);
                listing.map(ReadContents::Folder).map_err(ReadError::Io)
            }
        }
    }
}

/// Enforces the limit while reading, because a file may grow.
fn read_limited(file: std::fs::File, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(ReadError::Io)?;
    let size = bytes.len() as u64;
    match size > max_bytes {
        true => Err(ReadError::TooLarge { size }),
        false => Ok(bytes),
    }
}
