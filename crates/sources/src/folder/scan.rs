//! Scanning everything visible in a folder, up to a limit. Breadth first, so that the limit cuts off
//! the deepest entries.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::FileType;
use tidegate_core::truncate_for_message;

use super::gitignore::IgnoreRules;
use super::relative_path::{MAX_DEPTH, MAX_PATH_BYTES};
use super::resolve::{EntryHandle, entry_type, names_in, open_file};
use super::served::ServedFolder;
use super::{FileStamp, OpenError, RelativePath, media_type};

/// Names read from one folder.
const MAX_NAMES: usize = 100_000;

/// A visible file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileInfo {
    pub(crate) stamp: FileStamp,
    pub(crate) mime: &'static str,
}

/// Everything visible below a folder.
#[derive(Debug, Default)]
pub(crate) struct FolderTree {
    pub(crate) files: BTreeMap<RelativePath, FileInfo>,
    pub(crate) folders: BTreeMap<RelativePath, FileStamp>,
    /// Whether the limit was reached.
    pub(crate) is_truncated: bool,
    /// Files and folders that cannot be opened.
    pub(crate) unreadable: Vec<RelativePath>,
    /// Folders with entries whose paths are too deep or too long.
    pub(crate) too_deep: Vec<RelativePath>,
}

impl FolderTree {
    /// Why files are missing from it, apart from its limit and their size.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let unreadable = self.unreadable.first().map(|first| {
            let count = self.unreadable.len();
            format!("{count} files or folders cannot be opened, for instance `{first}`")
        });
        let too_deep = self.too_deep.first().map(|first| {
            let first = truncate_for_message(&first.to_string());
            format!(
                "entries more than {MAX_DEPTH} folders deep, or with paths of more than \
                 {MAX_PATH_BYTES} bytes, are left out, for instance in `{first}`"
            )
        });
        unreadable.into_iter().chain(too_deep)
    }

    /// Whether the folder itself could not be read.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.folders.is_empty()
    }

    /// The number of files that are larger than the limit, and the first of them.
    pub(crate) fn too_large(&self, max_bytes: u64) -> Option<(usize, &RelativePath)> {
        let files = || {
            let files = self.files.iter();
            files.filter(move |(_, file)| file.stamp.size > max_bytes)
        };
        let (first, _) = files().next()?;
        Some((files().count(), first))
    }
}

/// The visible entries directly in a folder.
#[derive(Default)]
pub(super) struct FolderListing {
    pub(super) files: Vec<(RelativePath, FileInfo)>,
    pub(super) folders: Vec<RelativePath>,
    /// Files that cannot be opened.
    pub(super) unreadable: Vec<RelativePath>,
    pub(super) is_truncated: bool,
    /// Whether entries were left out because their paths are too deep or too long.
    is_too_deep: bool,
}

enum ScannedEntry {
    File(FileInfo),
    Folder,
    Unreadable,
}

impl ServedFolder {
    /// Scans the whole tree. Files that have not changed since `previous` are not opened again.
    pub(super) fn scan(&self, previous: &FolderTree) -> Result<FolderTree, OpenError> {
        let mut tree = FolderTree::default();
        let rules = self.visibility.rules_at_root(&self.root);
        let mut queue = VecDeque::from([(RelativePath::root(), rules)]);
        while let Some((path, rules)) = queue.pop_front() {
            let (listing, stamp) = match self.scan_folder(&path, &rules, previous) {
                Ok(Some(listing)) => listing,
                Ok(None) => continue,
                Err(error) if path.is_root() => return Err(error),
                Err(_) => {
                    tree.unreadable.push(path);
                    continue;
                }
            };
            tree.is_truncated |= listing.is_truncated;
            tree.unreadable.extend(listing.unreadable);
            if listing.is_too_deep {
                tree.too_deep.push(path.clone());
            }
            for (path, file) in listing.files {
                if tree.files.len() == self.max_entries {
                    tree.is_truncated = true;
                    break;
                }
                tree.files.insert(path, file);
            }
            tree.folders.insert(path, stamp);
            for folder in listing.folders {
                if queue.len() + tree.folders.len() >= self.max_entries {
                    tree.is_truncated = true;
                    break;
                }
                let rules = self.visibility.enter(&self.root, &folder, rules.clone());
                queue.push_back((folder, rules));
            }
        }
        Ok(tree)
    }

    /// The entries of the folder at a path; `None` if it was removed meanwhile.
    fn scan_folder(
        &self,
        path: &RelativePath,
        rules: &IgnoreRules,
        previous: &FolderTree,
    ) -> Result<Option<(FolderListing, FileStamp)>, OpenError> {
        let entry = match self.root.open(path) {
            Err(OpenError::NotFound) if !path.is_root() => return Ok(None),
            entry => entry?,
        };
        match entry.handle {
            EntryHandle::File(_) => Ok(None),
            EntryHandle::Folder(folder) => {
                let listing = self.list(path, &folder, rules, previous);
                Ok(Some((listing.map_err(OpenError::Io)?, entry.stamp)))
            }
        }
    }

    /// The entries of an open folder.
    pub(super) fn list(
        &self,
        path: &RelativePath,
        folder: &OwnedFd,
        rules: &IgnoreRules,
        previous: &FolderTree,
    ) -> io::Result<FolderListing> {
        let (names, is_truncated) = names_in(folder, MAX_NAMES)?;
        let mut listing = FolderListing {
            is_truncated,
            ..FolderListing::default()
        };
        for name in names {
            let Some(path) = path.join(&name) else {
                listing.is_too_deep = true;
                continue;
            };
            match self.scan_entry(folder.as_fd(), &path, rules, previous) {
                Some(ScannedEntry::File(file)) => listing.files.push((path, file)),
                Some(ScannedEntry::Folder) => listing.folders.push(path),
                Some(ScannedEntry::Unreadable) => listing.unreadable.push(path),
                None => {}
            }
            let limit = self.max_entries;
            if listing.files.len() > limit || listing.folders.len() > limit {
                listing.is_truncated = true;
                break;
            }
        }
        Ok(listing)
    }

    /// One entry of an open folder, if it is visible.
    fn scan_entry(
        &self,
        folder: BorrowedFd<'_>,
        path: &RelativePath,
        rules: &IgnoreRules,
        previous: &FolderTree,
    ) -> Option<ScannedEntry> {
        let name = path.name()?;
        let (file_type, stamp) = entry_type(folder, name).ok()?;
        let is_folder = file_type == FileType::Directory;
        if !self.visibility.is_entry_visible(rules, path, is_folder) {
            return None;
        }
        let unchanged = previous.files.get(path);
        let unchanged = unchanged.filter(|file| file.stamp == stamp);
        match (file_type, unchanged) {
            (FileType::Directory, _) => Some(ScannedEntry::Folder),
            (FileType::RegularFile, Some(file)) => Some(ScannedEntry::File(file.clone())),
            // A file that cannot be opened is not listed: everything listed can be read.
            (FileType::RegularFile, None) => match open_file(folder, name) {
                Ok((file, stamp)) => Some(ScannedEntry::File(inspect(file, stamp, name))),
                Err(OpenError::NotFound) => None,
                Err(OpenError::Io(_)) => Some(ScannedEntry::Unreadable),
            },
            (FileType::Symlink, _) => self.scan_link(path).map(ScannedEntry::File),
            _ => None,
        }
    }

    /// The target of a link, if it is a visible file. Folders are listed only at their own path.
    fn scan_link(&self, path: &RelativePath) -> Option<FileInfo> {
        let entry = self.root.open(path).ok()?;
        let EntryHandle::File(file) = entry.handle else {
            return None;
        };
        let is_visible = self
            .visibility
            .is_visible(&self.root, &entry.resolved, false);
        is_visible.then(|| inspect(file, entry.stamp, path.name().unwrap_or_default()))
    }
}

fn inspect(file: std::fs::File, stamp: FileStamp, name: &[u8]) -> FileInfo {
    let mime = media_type::by_name(name).filter(|mime| !media_type::is_text(mime));
    let mime = mime.unwrap_or_else(|| {
        let mut head = Vec::new();
        file.take(media_type::HEAD_BYTES)
            .read_to_end(&mut head)
            .ok();
        media_type::detect(name, &head)
    });
    FileInfo { stamp, mime }
}
