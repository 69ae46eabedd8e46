//! What a remote source needs to know about its server.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{List, Seal};

use crate::transport::http::Endpoint;

/// One server.
#[derive(Clone, Debug)]
pub struct RemoteConfig {
    /// The source's name, for the log.
    pub name: String,
    pub transport: TransportConfig,
    /// What is known about how it speaks.
    pub speaks: EraSetting,
    /// How long the server may take to say how it speaks and what it offers.
    pub connect_timeout: Duration,
    /// How long a list may wait for a server that has just been started.
    pub list_wait: Duration,
    /// Bytes of one message of the server.
    pub max_message_bytes: usize,
    /// Who shares a session or a process with whom.
    pub sharing: Sharing,
    /// Sessions or processes for one principal at once.
    pub max_connections: usize,
    /// How long a call waits for its client to come back with an answer.
    pub parked_call_timeout: Duration,
    /// Seals what clients carry for us.
    pub seal: Arc<Seal>,
    /// Is told how long each list took.
    pub listed: ListObserver,
}

/// Is told how long it took to take in all pages of a list. Nobody is, by default.
#[derive(Clone)]
pub struct ListObserver(Arc<dyn Fn(List, Duration) + Send + Sync>);

impl ListObserver {
    pub fn new(tell: impl Fn(List, Duration) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, list: List, took: Duration) {
        (self.0)(list, took);
    }
}

impl Default for ListObserver {
    fn default() -> Self {
        Self::new(|_, _| {})
    }
}

impl fmt::Debug for ListObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListObserver")
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
pub enum EraSetting {
    /// It is found out.
    #[default]
    Auto,
    /// Only in sessions: it is not asked whether it can do without.
    Legacy,
    /// Only without sessions: none is opened.
    Modern,
}

/// How the server is reached.
#[derive(Clone, Debug)]
pub enum TransportConfig {
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
    pub child_guard: Option<ChildGuard>,
}

/// A program that runs another and ends it, with all that it has started, when nobody reads its own
/// standard error any more.
#[derive(Clone, Debug)]
pub struct ChildGuard {
    pub program: PathBuf,
    /// What it is called among processes.
    pub name: String,
    /// What comes before the program that is kept.
    pub args: Vec<String>,
}

impl ChildGuard {
    /// The exit code of a child_guard whose program did not start.
    pub const NOT_STARTED: i32 = 127;
}
