//! Why the database did not do it: what to branch on, words for the one who runs the gateway, and
//! fewer words for clients.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tidegate_core::{Code, Error, ErrorOrigin};

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// What is wrong with the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No room is left where it lies.
    Full,
    /// Another process has held it for too long.
    Locked,
    /// This process has too much to do with it.
    Busy,
    /// The file is not a database of Tidegate's.
    Foreign,
    /// A newer Tidegate has written it.
    Newer,
    /// The file is damaged.
    Corrupt,
    /// It cannot be written where it lies.
    ReadOnly,
    /// It is no longer there, or another is in its place.
    Gone,
    /// It is not there and cannot be made, or the disk does not answer.
    Unreachable,
    /// Anything else.
    Other,
}

impl Kind {
    /// What a client may know.
    fn for_clients(self) -> &'static str {
        match self {
            Self::Full => "the disk of the gateway is full",
            Self::Locked => "another process holds the gateway's database; try again",
            Self::Busy => "the gateway's database is busy; try again",
            Self::Foreign => "the gateway's database is a file of another program",
            Self::Newer => "a newer Tidegate has written the gateway's database",
            Self::Corrupt => "the gateway's database is damaged",
            Self::ReadOnly => "the gateway cannot write its database",
            Self::Gone => "the gateway's database was moved away or replaced; try again",
            Self::Unreachable => "the gateway cannot reach its database",
            Self::Other => "the gateway's database failed",
        }
    }

    /// What the one who runs the gateway can do about it.
    fn advice(self) -> &'static str {
        match self {
            Self::Full => "make room on its disk",
            Self::Locked => "end the process that holds it, or try again",
            Self::Busy => "try again",
            Self::Foreign => "move that file away, or choose another folder with --data-dir",
            Self::Newer => "use that version, or choose another folder with --data-dir",
            Self::Corrupt => "put a copy of it back, or move it away to begin with an empty one",
            Self::ReadOnly => "let its user write there, or choose another folder with --data-dir",
            Self::Gone => "what lies there now is opened when it is next needed",
            Self::Unreachable => {
                "see that the folder can be made and read, or choose another with --data-dir"
            }
            Self::Other => "the reason is in the log",
        }
    }
}

/// The database did not do it.
#[derive(Debug)]
pub struct StoreError {
    kind: Kind,
    message: String,
    cause: Option<Cause>,
}

#[derive(Debug)]
enum Cause {
    Own(Box<dyn std::error::Error + Send + Sync>),
    /// That of the same error when it was met first.
    Of(Arc<StoreError>),
}

impl StoreError {
    pub(crate) fn new(kind: Kind, file: &Path, what: impl fmt::Display) -> Self {
        let message = format!("{}: {what}; {}", file.display(), kind.advice());
        Self {
            kind,
            message,
            cause: None,
        }
    }

    pub(crate) fn with_cause(
        mut self,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.cause = Some(Cause::Own(cause.into()));
        self
    }

    /// The same once more.
    pub(crate) fn again(error: &Arc<Self>) -> Self {
        Self {
            kind: error.kind,
            message: error.message.clone(),
            cause: Some(Cause::Of(Arc::clone(error))),
        }
    }

    /// From what the file system says.
    pub(crate) fn of_files(file: &Path, error: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match error.kind() {
            Io::StorageFull | Io::QuotaExceeded => Kind::Full,
            Io::ReadOnlyFilesystem | Io::PermissionDenied => Kind::ReadOnly,
            _ => Kind::Unreachable,
        };
        Self::new(kind, file, &error).with_cause(error)
    }

    /// From what the database says.
    pub(crate) fn of_sql(file: &Path, error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Io(error) => Self::of_files(file, error),
            error => {
                let kind = kind_of(&error);
                Self::new(kind, file, words(kind, &error)).with_cause(error)
            }
        }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What a client may know of it: no path, and nothing of the database's own words.
    pub fn for_clients(&self) -> &'static str {
        self.kind.for_clients()
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
            Cause::Own(cause) => Some(cause.as_ref()),
            Cause::Of(error) => error.source(),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::new(Code::Storage, ErrorOrigin::Gateway, error.for_clients()).with_cause(error)
    }
}

/// SQLite's result codes, without what is beyond the lowest byte.
fn kind_of(error: &sqlx::Error) -> Kind {
    let code = match error {
        // Closed: another is about to be opened, or the gateway ends.
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => return Kind::Busy,
        sqlx::Error::Database(error) => error.code().and_then(|code| code.parse::<i32>().ok()),
        _ => None,
    };
    match code.map(|code| code & 0xff) {
        Some(5 | 6) => Kind::Locked,
        Some(3 | 8) => Kind::ReadOnly,
        Some(10 | 14) => Kind::Unreachable,
        Some(11) => Kind::Corrupt,
        Some(13) => Kind::Full,
        Some(26) => Kind::Foreign,
        _ => Kind::Other,
    }
}

fn words(kind: Kind, error: &sqlx::Error) -> String {
    match kind {
        Kind::Full => "no room is left".to_owned(),
        Kind::Locked => "another process has held it for too long".to_owned(),
        Kind::Busy => "too many calls want it at once".to_owned(),
        Kind::Foreign => "this is not a Tidegate database".to_owned(),
        Kind::Corrupt => "the file is damaged".to_owned(),
        Kind::ReadOnly => "it cannot be written".to_owned(),
        Kind::Newer | Kind::Gone | Kind::Unreachable | Kind::Other => error.to_string(),
    }
}
