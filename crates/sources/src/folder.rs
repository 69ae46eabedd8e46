//! Folders of this machine as sources: scanning, visibility rules, reads that cannot leave the
//! folder, snapshots that follow its changes, and the source that serves them.
//!
//! Must not know any source: `files` and `prompts` are built on it.

mod blocking_pool;
mod gitignore;
mod gitignore_lines;
pub(crate) mod media_type;
mod patterns;
mod read;
mod relative_path;
mod resolve;
pub(crate) mod resource;
mod root;
mod scan;
mod served;
mod snapshot;
mod source;
mod stamp;
#[cfg(test)]
mod tests;
mod uri;
mod visibility;
mod watch;

pub use patterns::{InvalidPattern, Patterns};
pub(crate) use relative_path::RelativePath;
pub(crate) use resolve::OpenError;
pub(crate) use root::FolderRoot;
pub(crate) use scan::{FileInfo, FolderTree};
pub(crate) use served::ServedFolder;
pub(crate) use snapshot::{FolderSnapshot, FolderView, SnapshotFolder};
pub(crate) use source::FolderSource;
pub(crate) use stamp::FileStamp;
pub(crate) use uri::UriBase;
pub(crate) use visibility::Visibility;
