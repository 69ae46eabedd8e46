//! The servers: where each is found behind the gateway, and how it speaks.

use super::client::Era;
use super::names::Names;

/// A server from npm or PyPI, in one of its transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Real {
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

use Real::{
    Everything, EverythingHttp, EverythingSse, FastMcp, FastMcpHttp, Fetch, Filesystem, Git,
    Memory, Time,
};

impl Real {
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

    /// How its clients can speak to it.
    pub(super) fn eras(self) -> &'static [Era] {
        match self {
            Everything | EverythingHttp | EverythingSse | Filesystem | Memory => &[Era::Legacy],
            Git | Time | Fetch | FastMcp | FastMcpHttp => &[Era::Legacy, Era::Modern],
        }
    }

    /// How its things are called on `/mcp`.
    pub(super) fn names_of_all(self) -> Names {
        let scheme = match self {
            Everything | EverythingHttp | EverythingSse => "demo://",
            Memory => "memory://",
            FastMcp | FastMcpHttp => "harbour://",
            // These have no resources.
            Filesystem | Git | Time | Fetch => "none://",
        };
        Names::OfAll {
            source: self.source(),
            scheme,
            second: matches!(self, EverythingHttp | EverythingSse | FastMcpHttp),
        }
    }
}
