//! Storage errors: a kind to branch on, a message for the operator, and a shorter one for clients.
//!
//! Names no database engine; each backend maps its own errors to a kind.

use std::fmt;
use std::sync::Arc;

use tidegate_core::{Code, Error, ErrorOrigin};

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a storage operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreErrorKind {
    /// The disk is full.
    StorageFull,
    /// Another process held the lock for too long.
    Locked,
    /// This process has too many operations queued, or is closing the database.
    Busy,
    /// The database belongs to another program.
    Foreign,
    /// The database was written by a newer version of Tidegate.
    NewerFormat,
    /// The database is damaged.
    Corrupt,
    /// The database cannot be written.
    ReadOnly,
    /// The database was removed or replaced while it was open.
    Replaced,
    /// The database does not exist and cannot be created, or an I/O error occurred.
    Unavailable,
    Other,
}

impl StoreErrorKind {
    /// The message for clients: no path, nothing from the database engine.
    fn public_message(self) -> &'static str {
        match self {
            Self::StorageFull => "the gateway's disk is full",
            Self::Locked => "the gateway's database is locked by another process; retry",
            Self::Busy => "the gateway's database is busy; retry",
            Self::Foreign => "the gateway's database file belongs to another program",
            Self::NewerFormat => "the gateway's database was written by a newer Tidegate",
            Self::Corrupt => "the gateway's database is damaged",
            Self::ReadOnly => "the gateway cannot write its database",
            Self::Replaced => "the gateway's database was moved or replaced; retry",
            Self::Unavailable => "the gateway cannot open its database",
            Self::Other => "the gateway's database failed",
        }
    }

    /// What the operator can do.
    fn advice(self) -> &'static str {
        match self {
            Self::StorageFull => "free space on its disk",
            Self::Locked => "stop the process that holds the lock, or retry",
            Self::Busy => "retry",
            Self::Foreign => "move that file away, or choose another folder with --data-dir",
            Self::NewerFormat => "use that version, or choose another folder with --data-dir",
            Self::Corrupt => "restore it from a backup, or move it away to start with an empty one",
            Self::ReadOnly => "grant write permission, or choose another folder with --data-dir",
            Self::Replaced => "the current file is opened on the next use",
            Self::Unavailable => {
                "check that the folder can be created and read, or choose another with --data-dir"
            }
            Self::Other => "see the log for the cause",
        }
    }
}

/// A storage operation that failed.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    cause: Option<Cause>,
}

#[derive(Debug)]
enum Cause {
    Direct(Box<dyn std::error::Error + Send + Sync>),
    /// The cause of an earlier occurrence of the same error.
    Shared(Arc<StoreError>),
}

impl StoreError {
    /// `location` is the database's path or address.
    pub(crate) fn new(
        kind: StoreErrorKind,
        location: impl fmt::Display,
        detail: impl fmt::Display,
    ) -> Self {
        Self {
            kind,
            message: format!("{location}: {detail}; {}", kind.advice()),
            cause: None,
        }
    }

    pub(crate) fn with_cause(
        mut self,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.cause = Some(Cause::Direct(cause.into()));
        self
    }

    /// Another occurrence of the same error, with the same cause.
    pub(crate) fn repeated(error: &Arc<Self>) -> Self {
        Self {
            kind: error.kind,
            message: error.message.clone(),
            cause: Some(Cause::Shared(Arc::clone(error))),
        }
    }

    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The message for clients: no path, nothing from the database engine.
    pub fn public_message(&self) -> &'static str {
        self.kind.public_message()
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.cause.as_ref()? {
            Cause::Direct(cause) => Some(cause.as_ref()),
            Cause::Shared(error) => error.source(),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::new(Code::Storage, ErrorOrigin::Gateway, error.public_message()).with_cause(error)
    }
}
