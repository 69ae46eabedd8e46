//! A folder with the rules and limits under which it is served.

use super::{FolderRoot, UriBase, Visibility};

pub(crate) struct ServedFolder {
    pub(crate) root: FolderRoot,
    pub(crate) visibility: Visibility,
    pub(crate) uris: UriBase,
    /// Limit on files, and on folders.
    pub(crate) max_entries: usize,
    /// Larger files are neither listed nor read.
    pub(crate) max_file_bytes: u64,
}
