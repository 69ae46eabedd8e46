//! The database file: created with owner-only permissions, and inspected before SQLite opens it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use super::error::{self, NOT_OURS};
use crate::{Result, StoreErrorKind};

/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The suffixes of SQLite's write-ahead log and shared-memory files.
const WAL_SUFFIX: &str = "-wal";
const SHM_SUFFIX: &str = "-shm";

/// What exists at the path of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExistingFile {
    /// No file, or an empty one.
    Empty,
    /// An SQLite file, possibly of another program.
    Sqlite,
}

/// The device and inode of the database file and of its write-ahead log, where they exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileIdentity {
    database: Option<(u64, u64)>,
    wal: Option<(u64, u64)>,
}

impl FileIdentity {
    pub(super) fn of(file: &Path) -> Self {
        let identity = |path: &Path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.dev(), metadata.ino()))
        };
        Self {
            database: identity(file),
            wal: identity(&with_suffix(file, WAL_SUFFIX)),
        }
    }

    pub(super) fn is_same_database(self, other: Self) -> bool {
        self.database.is_some() && self.database == other.database
    }

    /// Whether neither file was removed or replaced since `earlier`. A write-ahead log may have
    /// been created.
    pub(super) fn is_unchanged_since(self, earlier: Self) -> bool {
        self.is_same_database(earlier) && (earlier.wal.is_none() || self.wal == earlier.wal)
    }
}

/// Removes the write-ahead log that a replaced database left next to its replacement.
pub(super) fn remove_stale_wal(file: &Path, replaced: FileIdentity) -> Result<()> {
    let current = FileIdentity::of(file);
    let is_stale = !current.is_same_database(replaced)
        && replaced.wal.is_some()
        && current.wal == replaced.wal;
    if !is_stale {
        return Ok(());
    }
    for suffix in [WAL_SUFFIX, SHM_SUFFIX] {
        match fs::remove_file(with_suffix(file, suffix)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error::from_io(file, error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Reads the header without changing anything. Any other kind of file is an error.
pub(super) fn inspect(file: &Path) -> Result<ExistingFile> {
    let mut opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ExistingFile::Empty),
        Err(error) => return Err(error::from_io(file, error)),
    };
    let mut header = Vec::new();
    let read = opened.by_ref().take(16).read_to_end(&mut header);
    read.map_err(|error| error::from_io(file, error))?;
    match header.as_slice() {
        [] => Ok(ExistingFile::Empty),
        header if header == MAGIC => Ok(ExistingFile::Sqlite),
        _ => Err(error::new(StoreErrorKind::Foreign, file, NOT_OURS)),
    }
}

/// Creates the folder and the file if they are missing, accessible only to their owner. SQLite
/// gives the files next to it the same permissions.
pub(super) fn create(file: &Path) -> Result<()> {
    let failed = |error| error::from_io(file, error);
    if let Some(folder) = file.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(folder).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let opened = options.open(file).map_err(failed)?;
    let mode = opened.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(failed)?;
    }
    Ok(())
}
