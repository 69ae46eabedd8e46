//! The servers of the table.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};
use tidegate_testkit::fixture::program;

use crate::support::Home;
use crate::support::fixture::Fixture;

/// Behind what a source is called that does not wait for long.
pub(super) const HASTY: &str = "-hasty";

/// Lists in pages, the first cursor of which is an empty string.
const PAGES: [&str; 4] = ["--page-size", "7", "--cursors", "empty"];

/// A server.
pub(super) struct Server {
    /// Also the name of its source.
    pub(super) name: &'static str,
    pub(super) is_modern: bool,
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
        let server = |name: &'static str| Server::start(name, &home);
        let servers = [
            "legacy-http",
            "legacy-stdio",
            "legacy-sse",
            "modern-http",
            "modern-stdio",
        ];
        let servers: Vec<_> = servers.into_iter().map(server).collect();
        Self {
            servers,
            marks: AtomicU64::new(1),
            _home: home,
        }
    }

    /// A word that no other cell uses.
    pub(super) fn mark(&self) -> String {
        format!("mark-{}", self.marks.fetch_add(1, Ordering::Relaxed))
    }

    /// The configuration of a gateway before these servers. Each is there twice: once by its name,
    /// and once as a source that waits for nobody for long.
    pub(super) fn config(&self) -> String {
        Self::config_of(&self.servers)
    }

    /// The same for some of them.
    pub(super) fn config_of(servers: &[Server]) -> String {
        let mut sources = Map::new();
        for server in servers {
            sources.insert(server.name.to_owned(), server.source.clone());
            let mut hasty = server.source.clone();
            hasty["call_time"] = "5s".into();
            hasty["call_time_max"] = "5s".into();
            hasty["park_time"] = "1s".into();
            sources.insert(format!("{}{HASTY}", server.name), hasty);
        }
        let limits = json!({ "startup_wait": "2m", "drain": "1s" });
        json!({ "legacy_sse": true, "limits": limits, "sources": sources }).to_string()
    }
}

impl Server {
    fn start(name: &'static str, home: &Home) -> Self {
        let record = home.path().join(name);
        let (era, way) = name.split_once('-').unwrap();
        let of_this = ["--era", era, "--name", name, "--record"];
        let args = [&PAGES[..], &of_this, &[record.to_str().unwrap()]].concat();
        let process = (way != "stdio").then(|| Fixture::start(&args));
        let source = match (&process, way) {
            (Some(server), "sse") => json!({ "url": server.url().replace("/mcp", "/sse") }),
            (Some(server), _) => json!({ "url": server.url() }),
            (None, _) => json!({ "command": program(), "args": args }),
        };
        Self {
            name,
            is_modern: era == "modern",
            record,
            source,
            _process: process,
        }
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
