//! The servers: source ids, eras and names.

use super::client::Era;
use super::names::Names;

/// A server from npm or PyPI with one of its transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerKind {
    Everything,
    EverythingHttp,
    EverythingSse,
    Filesystem,
    Memory,
    Git,
    Time,
    Fetch,
    FastMcp,
    FastMcpHttp,
}

use ServerKind::{
    Everything, EverythingHttp, EverythingSse, FastMcp, FastMcpHttp, Fetch, Filesystem, Git,
    Memory, Time,
};

impl ServerKind {
    /// In the order of the configuration.
    pub(super) const ALL: [Self; 10] = [
        Everything,
        EverythingHttp,
        EverythingSse,
        Filesystem,
        Memory,
        Git,
        Time,
        Fetch,
        FastMcp,
        FastMcpHttp,
    ];

    pub(super) fn source(self) -> &'static str {
        match self {
            Everything => "everything",
            EverythingHttp => "everything-http",
            EverythingSse => "everything-sse",
            Filesystem => "filesystem",
            Memory => "memory",
            Git => "git",
            Time => "time",
            Fetch => "fetch",
            FastMcp => "harbour",
            FastMcpHttp => "harbour-http",
        }
    }

    /// The eras it supports.
    pub(super) fn eras(self) -> &'static [Era] {
        match self {
            Everything | EverythingHttp | EverythingSse | Filesystem | Memory => &[Era::Legacy],
            Git | Time | Fetch | FastMcp | FastMcpHttp => &[Era::Legacy, Era::Modern],
        }
    }

    /// Its names at `/mcp`.
    pub(super) fn names_at_all_sources(self) -> Names {
        let scheme = match self {
            Everything | EverythingHttp | EverythingSse => "demo://",
            Memory => "memory://",
            FastMcp | FastMcpHttp => "harbour://",
            // These have no resources.
            Filesystem | Git | Time | Fetch => "none://",
        };
        Names::AtAllSources {
            source: self.source(),
            scheme,
            is_second: matches!(self, EverythingHttp | EverythingSse | FastMcpHttp),
        }
    }
}
