//! Errors of SQLite and of the file system, as [`StoreError`].

use std::path::Path;

use crate::{StoreError, StoreErrorKind};

pub(super) const NOT_OURS: &str = "this is not a Tidegate database";

pub(super) fn new(kind: StoreErrorKind, file: &Path, detail: impl std::fmt::Display) -> StoreError {
    StoreError::new(kind, file.display(), detail)
}

pub(super) fn from_io(file: &Path, error: std::io::Error) -> StoreError {
    use std::io::ErrorKind as Io;
    let kind = match error.kind() {
        Io::StorageFull | Io::QuotaExceeded => StoreErrorKind::StorageFull,
        Io::ReadOnlyFilesystem | Io::PermissionDenied => StoreErrorKind::ReadOnly,
        _ => StoreErrorKind::Unavailable,
    };
    new(kind, file, &error).with_cause(error)
}

pub(crate) fn from_sqlx(file: &Path, error: sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Io(error) => from_io(file, error),
        error => {
            let kind = kind_of(&error);
            new(kind, file, detail(kind, &error)).with_cause(error)
        }
    }
}

/// Maps SQLite's primary result codes, the lowest byte of the extended ones.
fn kind_of(error: &sqlx::Error) -> StoreErrorKind {
    let code = match error {
        // A closed pool: another database is about to be opened, or the gateway is shutting down.
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => return StoreErrorKind::Busy,
        sqlx::Error::Database(error) => error.code().and_then(|code| code.parse::<i32>().ok()),
        _ => None,
    };
    match code.map(|code| code & 0xff) {
        Some(5 | 6) => StoreErrorKind::Locked,
        Some(3 | 8) => StoreErrorKind::ReadOnly,
        Some(10 | 14) => StoreErrorKind::Unavailable,
        Some(11) => StoreErrorKind::Corrupt,
        Some(13) => StoreErrorKind::StorageFull,
        Some(26) => StoreErrorKind::Foreign,
        _ => StoreErrorKind::Other,
    }
}

fn detail(kind: StoreErrorKind, error: &sqlx::Error) -> String {
    match kind {
        StoreErrorKind::StorageFull => "no space left".to_owned(),
        StoreErrorKind::Locked => "locked by another process for too long".to_owned(),
        StoreErrorKind::Busy => "too many concurrent operations".to_owned(),
        StoreErrorKind::Foreign => NOT_OURS.to_owned(),
        StoreErrorKind::Corrupt => "the file is damaged".to_owned(),
        StoreErrorKind::ReadOnly => "the file cannot be written".to_owned(),
        StoreErrorKind::NewerFormat
        | StoreErrorKind::Replaced
        | StoreErrorKind::Unavailable
        | StoreErrorKind::Other => error.to_string(),
    }
}
