//! What a remote source needs to know about its server.

use std::path::PathBuf;
use std::time::Duration;

/// One server.
#[derive(Clone, Debug)]
pub struct RemoteConfig {
    /// The source's name, for the log.
    pub name: String,
    pub transport: Transport,
    /// How long the server may take to say how it speaks and what it offers.
    pub connect_time: Duration,
    /// Bytes of one message of the server.
    pub message_bytes: usize,
}

/// How the server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A process of its own, spoken to over its standard input and output.
    Stdio(Command),
    /// An HTTP endpoint.
    Http {
        url: http::Uri,
        headers: Vec<(http::HeaderName, http::HeaderValue)>,
    },
}

/// A program to run. Never a line for a shell.
#[derive(Clone, Debug)]
pub struct Command {
    pub program: String,
    pub args: Vec<String>,
    /// The variables it gets beside the few that every program needs.
    pub env: Vec<(String, String)>,
    pub folder: Option<PathBuf>,
}
