//! What a remote source needs to know about its server.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{List, Seal};

use crate::endpoint::Endpoint;

/// One server.
#[derive(Clone, Debug)]
pub struct RemoteConfig {
    /// The source's name, for the log.
    pub name: String,
    pub transport: Transport,
    /// What is known about how it speaks.
    pub speaks: Speaks,
    /// How long the server may take to say how it speaks and what it offers.
    pub connect_time: Duration,
    /// How long a list may wait for a server that has just been started.
    pub list_wait: Duration,
    /// Bytes of one message of the server.
    pub message_bytes: usize,
    /// Who shares a session or a process with whom.
    pub sharing: Sharing,
    /// Sessions or processes for one principal at once.
    pub links: usize,
    /// How long a call waits for its client to come back with an answer.
    pub park_time: Duration,
    /// Seals what clients carry for us.
    pub seal: Arc<Seal>,
    /// Is told how long each list took.
    pub listed: Listed,
}

/// Is told how long it took to take in all pages of a list. Nobody is, by default.
#[derive(Clone)]
pub struct Listed(Arc<dyn Fn(List, Duration) + Send + Sync>);

impl Listed {
    pub fn new(tell: impl Fn(List, Duration) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, list: List, took: Duration) {
        (self.0)(list, took);
    }
}

impl Default for Listed {
    fn default() -> Self {
        Self::new(|_, _| {})
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listed")
    }
}

/// Who shares a session or a process of a server that has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// The calls of one principal whose clients can do the same.
    #[default]
    Principal,
    /// All calls. The server is told that clients can do nothing, so that it asks nobody.
    All,
    /// Nobody: each call has its own.
    Call,
}

/// How a server is known to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speaks {
    /// It is found out.
    #[default]
    Unknown,
    /// Only in sessions: it is not asked whether it can do without.
    InSessions,
    /// Only without sessions: none is opened.
    WithoutSessions,
}

/// How the server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A process of its own, spoken to over its standard input and output.
    Stdio(Command),
    /// An HTTP endpoint.
    Http(Endpoint),
}

/// A program to run. Never a line for a shell.
#[derive(Clone, Debug)]
pub struct Command {
    pub program: String,
    pub args: Vec<String>,
    /// The variables it gets beside the few that every program needs.
    pub env: Vec<(String, String)>,
    pub folder: Option<PathBuf>,
    /// Who ends it when we cannot any more.
    pub keeper: Option<Keeper>,
}

/// A program that runs another and ends it, with all that it has started, when nobody reads its own
/// standard error any more.
#[derive(Clone, Debug)]
pub struct Keeper {
    pub program: PathBuf,
    /// What it is called among processes.
    pub name: String,
    /// What comes before the program that is kept.
    pub args: Vec<String>,
}

impl Keeper {
    /// The exit code of a keeper whose program did not start.
    pub const NOT_STARTED: i32 = 127;
}
