//! The file on the disk: made for its owner alone, and looked at before SQLite touches it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use crate::{Kind, Result, StoreError};

/// How every SQLite file begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What lies where the database should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    /// A file of SQLite's; whose, only SQLite can tell.
    Database,
}

/// Which files lie there: the database, and its log of writes. None where there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint {
    file: Option<(u64, u64)>,
    log: Option<(u64, u64)>,
}

impl Footprint {
    pub(crate) fn of(file: &Path) -> Self {
        let which = |path: &Path| {
            let there = fs::metadata(path).ok()?;
            Some((there.dev(), there.ino()))
        };
        Self {
            file: which(file),
            log: which(&beside(file, LOG)),
        }
    }

    pub(crate) fn is_of_file(self, other: Self) -> bool {
        self.file.is_some() && self.file == other.file
    }

    /// Whether nothing was taken away since. A log that was not there before may have come.
    pub(crate) fn continues(self, before: Self) -> bool {
        self.is_of_file(before) && (before.log.is_none() || self.log == before.log)
    }
}

/// Removes what a file has left beside one that has taken its place.
pub(crate) fn clear_away(file: &Path, left: Footprint) -> Result<()> {
    let now = Footprint::of(file);
    if now.is_of_file(left) || left.log.is_none() || now.log != left.log {
        return Ok(());
    }
    for name in [LOG, "-shm"] {
        match fs::remove_file(beside(file, name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::of_files(file, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What SQLite adds to the name for its log of writes.
const LOG: &str = "-wal";

fn beside(file: &Path, name: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(name);
    path.into()
}

/// Looks, and changes nothing.
pub(crate) fn look(file: &Path) -> Result<Found> {
    let mut opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(StoreError::of_files(file, error)),
    };
    let mut start = Vec::new();
    let read = opened.by_ref().take(16).read_to_end(&mut start);
    read.map_err(|error| StoreError::of_files(file, error))?;
    match start.as_slice() {
        [] => Ok(Found::Nothing),
        start if start == MAGIC => Ok(Found::Database),
        _ => Err(StoreError::new(
            Kind::Foreign,
            file,
            "this is not a Tidegate database",
        )),
    }
}

/// Makes the folder and the file where they are missing, readable for their owner alone. SQLite
/// gives the files beside it the same rights.
pub(crate) fn prepare(file: &Path) -> Result<()> {
    let unreachable = |error| StoreError::of_files(file, error);
    if let Some(folder) = file.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(folder).map_err(unreachable)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let opened = options.open(file).map_err(unreachable)?;
    let mode = opened.metadata().map_err(unreachable)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(unreachable)?;
    }
    Ok(())
}
