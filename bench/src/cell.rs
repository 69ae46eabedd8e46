//! The cells of the benchmark: protocol era, response format and request, and the setup they run in.
//!
//! Must not know: how it is measured.

use std::fmt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{ChildProcess, beside};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ResponseFormat {
    Json,
    Sse,
}

/// The request that is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RequestKind {
    /// A tool call.
    Call,
    /// A read of a resource of 1 KiB.
    Read,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) era: Era,
    pub(crate) format: ResponseFormat,
    pub(crate) request: RequestKind,
}

/// The gateway or the proxy.
pub(crate) struct Front {
    pub(crate) name: &'static str,
    pub(crate) process: ChildProcess,
    /// The prefix of tool names.
    prefix: &'static str,
}

/// More than any number of connections that makes sense to measure.
const MAX_SESSIONS: usize = 10_000;

/// A server with the gateway and the proxy in front of it.
pub(crate) struct Setup {
    pub(crate) gateway: Front,
    pub(crate) proxy: Front,
    _server: ChildProcess,
    _folder: TempDir,
}

impl Setup {
    pub(crate) fn start(gateway: &Path, era: Era, format: ResponseFormat) -> anyhow::Result<Self> {
        let server = ChildProcess::start(
            Command::new(beside("bench-backend")?)
                .args(["--era", era.as_str()])
                .args(["--format", format.as_str()]),
        )?;
        let folder = TempDir::new()?;
        // Each connection of the benchmark is a client with a session of its own.
        let source = json!({
            "url": format!("http://{}/mcp", server.address),
            "max_processes": MAX_SESSIONS,
            "max_processes_per_principal": MAX_SESSIONS,
        });
        let config = json!({ "sources": { "bench": source } });
        std::fs::write(folder.path().join("tidegate.json"), config.to_string())?;
        let gateway = ChildProcess::start_logging(
            Command::new(gateway)
                .args(["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"])
                .current_dir(folder.path()),
        )?;
        let proxy = ChildProcess::start(
            Command::new(beside("bench-proxy")?).arg(server.address.to_string()),
        )?;
        Ok(Self {
            gateway: Front {
                name: "the gateway",
                process: gateway,
                prefix: "bench__",
            },
            proxy: Front {
                name: "the proxy",
                process: proxy,
                prefix: "",
            },
            _server: server,
            _folder: folder,
        })
    }
}

impl Front {
    /// The method, the name of its target, and the parameters.
    pub(crate) fn request(&self, cell: Cell) -> (&'static str, String, Value) {
        let (method, name, mut params) = match cell.request {
            RequestKind::Call => {
                let name = format!("{}echo", self.prefix);
                let params = json!({ "name": name, "arguments": { "text": "hello" } });
                ("tools/call", name, params)
            }
            RequestKind::Read => {
                let uri = "bench://page".to_owned();
                let params = json!({ "uri": uri });
                ("resources/read", uri, params)
            }
        };
        if cell.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": cell.era.revision(),
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            });
        }
        (method, name, params)
    }
}

impl Era {
    fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    pub(crate) fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

impl ResponseFormat {
    fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Sse => "sse",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = match self.request {
            RequestKind::Call => "tools/call",
            RequestKind::Read => "resources/read",
        };
        write!(
            f,
            "{} {request:<14} {:<4}",
            self.era.as_str(),
            self.format.as_str()
        )
    }
}
