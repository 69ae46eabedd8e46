//! The file on the disk: made for its owner alone, and looked at before SQLite touches it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

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
