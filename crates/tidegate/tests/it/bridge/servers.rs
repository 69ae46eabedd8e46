//! The servers of the table.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};
use tidegate_testkit::fixture::program;
use tidegate_testkit::{MODERN, NEWEST_LEGACY};

use crate::support::Home;
use crate::support::fixture::Fixture;

/// Paginated lists whose first cursor is an empty string.
const PAGES: [&str; 4] = ["--page-size", "7", "--cursors", "empty"];

/// Every server: its source id, its newest revision and its transport.
const SERVERS: &[(&str, &str, &str)] = &[
    ("legacy-http", NEWEST_LEGACY, "http"),
    ("legacy-stdio", NEWEST_LEGACY, "stdio"),
    ("legacy-sse", NEWEST_LEGACY, "sse"),
    ("modern-http", MODERN, "http"),
    ("modern-stdio", MODERN, "stdio"),
    ("older-stdio", "2025-06-18", "stdio"),
    ("old-http", "2025-03-26", "http"),
    ("oldest-sse", "2024-11-05", "sse"),
];

/// A server.
pub(super) struct Server {
    /// Also the source id.
    pub(super) name: &'static str,
    /// Its title in the table.
    pub(super) title: String,
    revision: &'static str,
    /// The file with everything that its processes received.
    record: PathBuf,
    source: Value,
    _process: Option<Fixture>,
}

/// All servers.
pub(super) struct Servers {
    pub(super) all: Vec<Server>,
    marks: AtomicU64,
    _home: Home,
}

impl Servers {
    pub(super) fn start() -> Self {
        let home = Home::new();
        let servers = SERVERS.iter();
        let servers = servers
            .map(|(name, revision, transport)| Server::start(name, revision, transport, &home));
        Self {
            all: servers.collect(),
            marks: AtomicU64::new(1),
            _home: home,
        }
    }

    /// A string that no other cell uses.
    pub(super) fn mark(&self) -> String {
        format!("mark-{}", self.marks.fetch_add(1, Ordering::Relaxed))
    }

    /// The configuration of a gateway in front of all servers.
    pub(super) fn config(&self) -> String {
        Self::config_of(&self.all)
    }

    /// The configuration of a gateway in front of these servers.
    pub(super) fn config_of(servers: &[Server]) -> String {
        let sources = servers.iter();
        let sources = sources.map(|server| (server.name.to_owned(), server.source.clone()));
        config(&sources.collect(), json!({}))
    }

    /// The configuration of a gateway with short timeouts.
    pub(super) fn short_timeout_config(&self) -> String {
        let with_short_timeouts = |server: &Server| {
            let mut source = server.source.clone();
            source["call_timeout"] = "5s".into();
            source["max_call_duration"] = "5s".into();
            source["parked_call_timeout"] = "1s".into();
            (server.name.to_owned(), source)
        };
        let sources = self.all.iter().map(with_short_timeouts).collect();
        config(&sources, json!({ "answer_timeout": "1s" }))
    }
}

fn config(sources: &Map<String, Value>, mut limits: Value) -> String {
    limits["startup_wait"] = "2m".into();
    limits["shutdown_timeout"] = "1s".into();
    json!({ "legacy_sse": true, "limits": limits, "sources": sources }).to_string()
}

impl Server {
    fn start(name: &'static str, revision: &'static str, transport: &str, home: &Home) -> Self {
        let record = home.path().join(name);
        let era = match revision {
            MODERN => ["--era", "modern", "--newest", NEWEST_LEGACY],
            legacy => ["--era", "legacy", "--newest", legacy],
        };
        let identity = ["--name", name, "--record", record.to_str().unwrap()];
        let args = [&PAGES[..], &era, &identity].concat();
        let process = (transport != "stdio").then(|| Fixture::start(&args));
        let mut source = match (&process, transport) {
            (Some(server), "sse") => json!({ "url": server.url().replace("/mcp", "/sse") }),
            (Some(server), _) => json!({ "url": server.url() }),
            (None, _) => json!({ "command": program(), "args": args }),
        };
        // Clients come and go by the hundred, and many do not end their sessions.
        source["max_processes"] = 2000.into();
        source["max_processes_per_principal"] = 2000.into();
        let transport = match transport {
            "http" => "HTTP",
            "sse" => "SSE",
            other => other,
        };
        Self {
            name,
            title: format!("a server of {revision} over {transport}"),
            revision,
            record,
            source,
            _process: process,
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Whether its revision is this one or newer.
    pub(super) fn has_revision(&self, revision: &str) -> bool {
        self.revision >= revision
    }

    /// Whether a call with this mark was cancelled.
    pub(super) fn was_cancelled(&self, mark: &str) -> bool {
        self.recorded("cancelled", mark)
    }

    /// Whether a question of a call with this mark failed.
    pub(super) fn question_failed(&self, mark: &str) -> bool {
        self.recorded("refused", mark)
    }

    fn recorded(&self, what: &str, mark: &str) -> bool {
        let record = fs::read_to_string(&self.record).unwrap_or_default();
        let prefix = format!("{{\"{what}\"");
        let mark = format!("\"{mark}\"");
        let mut lines = record.lines();
        lines.any(|line| line.starts_with(&prefix) && line.contains(&mark))
    }
}
