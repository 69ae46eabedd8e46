//! The clients of the table: revision and transport.

use serde_json::{Value, json};
use tidegate_testkit::MODERN;

/// The transport of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Http,
    /// Over HTTP, each request in a batch with a ping.
    Batches,
    /// HTTP+SSE.
    Sse,
    Stdio,
}

/// A client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: &'static str,
    pub(super) revision: &'static str,
    pub(super) transport: Transport,
}

pub(super) const CLIENTS: &[Client] = &[
    client("2024-11-05 SSE", "2024-11-05", Transport::Sse),
    client("2024-11-05 stdio", "2024-11-05", Transport::Stdio),
    client("2025-03-26 HTTP", "2025-03-26", Transport::Http),
    client("2025-03-26 batches", "2025-03-26", Transport::Batches),
    client("2025-03-26 stdio", "2025-03-26", Transport::Stdio),
    client("2025-06-18 HTTP", "2025-06-18", Transport::Http),
    client("2025-06-18 stdio", "2025-06-18", Transport::Stdio),
    client("2025-11-25 HTTP", "2025-11-25", Transport::Http),
    client("2025-11-25 stdio", "2025-11-25", Transport::Stdio),
    client("2026-07-28 HTTP", MODERN, Transport::Http),
    client("2026-07-28 stdio", MODERN, Transport::Stdio),
];

const fn client(name: &'static str, revision: &'static str, transport: Transport) -> Client {
    Client {
        name,
        revision,
        transport,
    }
}

impl Client {
    pub(super) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Whether its revision is this one or newer.
    pub(super) fn has_revision(&self, revision: &str) -> bool {
        self.revision >= revision
    }

    /// All capabilities that a client of its revision can declare.
    pub(super) fn capabilities(&self) -> Value {
        let mut capabilities = json!({ "sampling": {}, "roots": {} });
        if !self.is_modern() {
            capabilities["roots"] = json!({ "listChanged": true });
        }
        if self.has_revision("2025-06-18") {
            capabilities["elicitation"] = json!({});
        }
        if self.has_revision("2025-11-25") {
            capabilities["elicitation"] = json!({ "form": {}, "url": {} });
            capabilities["sampling"] = json!({ "tools": {} });
        }
        capabilities
    }
}
