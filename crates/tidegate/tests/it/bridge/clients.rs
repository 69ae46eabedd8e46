//! The clients of the table: a revision, and how its messages travel.

use serde_json::{Value, json};
use tidegate_testkit::MODERN;

/// How the messages of a client travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Http,
    /// Over HTTP, each request in an array with another one.
    Batches,
    /// The HTTP transport of 2024.
    Sse,
    Stdio,
}

/// A client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: &'static str,
    pub(super) revision: &'static str,
    pub(super) way: Way,
}

pub(super) const CLIENTS: &[Client] = &[
    client("2024-11-05 SSE", "2024-11-05", Way::Sse),
    client("2024-11-05 stdio", "2024-11-05", Way::Stdio),
    client("2025-03-26 HTTP", "2025-03-26", Way::Http),
    client("2025-03-26 batches", "2025-03-26", Way::Batches),
    client("2025-03-26 stdio", "2025-03-26", Way::Stdio),
    client("2025-06-18 HTTP", "2025-06-18", Way::Http),
    client("2025-06-18 stdio", "2025-06-18", Way::Stdio),
    client("2025-11-25 HTTP", "2025-11-25", Way::Http),
    client("2025-11-25 stdio", "2025-11-25", Way::Stdio),
    client("2026-07-28 HTTP", MODERN, Way::Http),
    client("2026-07-28 stdio", MODERN, Way::Stdio),
];

const fn client(name: &'static str, revision: &'static str, way: Way) -> Client {
    Client {
        name,
        revision,
        way,
    }
}

impl Client {
    pub(super) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Whether it knows what came with this revision.
    pub(super) fn knows(&self, revision: &str) -> bool {
        self.revision >= revision
    }

    /// Everything that a client of its revision can say that it can do.
    pub(super) fn abilities(&self) -> Value {
        let mut all = json!({ "sampling": {}, "roots": {} });
        if !self.is_modern() {
            all["roots"] = json!({ "listChanged": true });
        }
        if self.knows("2025-06-18") {
            all["elicitation"] = json!({});
        }
        if self.knows("2025-11-25") {
            all["elicitation"] = json!({ "form": {}, "url": {} });
            all["sampling"] = json!({ "tools": {} });
        }
        all
    }
}
