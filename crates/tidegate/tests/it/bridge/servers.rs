//! The servers of the table.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};
use tidegate_testkit::fixture::program;
use tidegate_testkit::{MODERN, NEWEST_LEGACY};

use crate::support::Home;
use crate::support::fixture::Fixture;

/// Lists in pages, the first cursor of which is an empty string.
const PAGES: [&str; 4] = ["--page-size", "7", "--cursors", "empty"];

/// Every server: the name of its source, the newest revision it knows, and how it is reached.
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
    /// Also the name of its source.
    pub(super) name: &'static str,
    /// What it is to a reader.
    pub(super) title: String,
    revision: &'static str,
    /// What it and all processes like it have heard.
    record: PathBuf,
    source: Value,
    _process: Option<Fixture>,
}

/// All servers.
pub(super) struct World {
    pub(super) servers: Vec<Server>,
    marks: AtomicU64,
    _home: Home,
}

impl World {
    pub(super) fn start() -> Self {
        let home = Home::new();
        let servers = SERVERS.iter();
        let servers =
            servers.map(|(name, revision, way)| Server::start(name, revision, way, &home));
        Self {
            servers: servers.collect(),
            marks: AtomicU64::new(1),
            _home: home,
        }
    }

    /// A word that no other cell uses.
    pub(super) fn mark(&self) -> String {
        format!("mark-{}", self.marks.fetch_add(1, Ordering::Relaxed))
    }

    /// The configuration of a gateway before these servers.
    pub(super) fn config(&self) -> String {
        Self::config_of(&self.servers)
    }

    /// The same for some of them.
    pub(super) fn config_of(servers: &[Server]) -> String {
        let sources = servers.iter();
        let sources = sources.map(|server| (server.name.to_owned(), server.source.clone()));
        config(&sources.collect(), json!({}))
    }

    /// The configuration of a gateway that waits for nobody for long.
    pub(super) fn hasty_config(&self) -> String {
        let hasty = |server: &Server| {
            let mut source = server.source.clone();
            source["call_timeout"] = "5s".into();
            source["max_call_duration"] = "5s".into();
            source["parked_call_timeout"] = "1s".into();
            (server.name.to_owned(), source)
        };
        let sources = self.servers.iter().map(hasty).collect();
        config(&sources, json!({ "answer_timeout": "1s" }))
    }
}

fn config(sources: &Map<String, Value>, mut limits: Value) -> String {
    limits["startup_wait"] = "2m".into();
    limits["drain"] = "1s".into();
    json!({ "legacy_sse": true, "limits": limits, "sources": sources }).to_string()
}

impl Server {
    fn start(name: &'static str, revision: &'static str, way: &str, home: &Home) -> Self {
        let record = home.path().join(name);
        let era = match revision {
            MODERN => ["--era", "modern", "--newest", NEWEST_LEGACY],
            legacy => ["--era", "legacy", "--newest", legacy],
        };
        let of_this = ["--name", name, "--record", record.to_str().unwrap()];
        let args = [&PAGES[..], &era, &of_this].concat();
        let process = (way != "stdio").then(|| Fixture::start(&args));
        let source = match (&process, way) {
            (Some(server), "sse") => json!({ "url": server.url().replace("/mcp", "/sse") }),
            (Some(server), _) => json!({ "url": server.url() }),
            (None, _) => json!({ "command": program(), "args": args }),
        };
        let way = match way {
            "http" => "HTTP",
            "sse" => "SSE",
            other => other,
        };
        Self {
            name,
            title: format!("a server of {revision} over {way}"),
            revision,
            record,
            source,
            _process: process,
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Whether it knows what came with this revision.
    pub(super) fn knows(&self, revision: &str) -> bool {
        self.revision >= revision
    }

    /// Whether a call with this mark was given up.
    pub(super) fn gave_up(&self, mark: &str) -> bool {
        self.recorded("cancelled", mark)
    }

    /// Whether nobody answered what was asked in a call with this mark.
    pub(super) fn was_refused(&self, mark: &str) -> bool {
        self.recorded("refused", mark)
    }

    fn recorded(&self, what: &str, mark: &str) -> bool {
        let record = fs::read_to_string(&self.record).unwrap_or_default();
        let begins = format!("{{\"{what}\"");
        let mark = format!("\"{mark}\"");
        let mut lines = record.lines();
        lines.any(|line| line.starts_with(&begins) && line.contains(&mark))
    }
}
