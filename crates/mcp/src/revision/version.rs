//! The dated revisions of the protocol and their features.

use std::fmt;

use tidegate_core::Era;

/// A dated version of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision with a handshake: offered to a client that requests an unknown one.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    pub const NEWEST: Self = Self::V2026_07_28;

    /// Assumed for a request that does not name its revision.
    pub const ASSUMED: Self = Self::V2025_03_26;

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
    }

    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 {
            Era::Modern
        } else {
            Era::Legacy
        }
    }

    /// Whether several messages may be sent in one array.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether an event stream begins with an id to resume from.
    pub fn primes_streams(self) -> bool {
        self == Self::V2025_11_25
    }

    /// All revisions, newest first.
    pub fn supported() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().rev().map(Self::as_str)
    }

    pub(super) fn has_completions_capability(self) -> bool {
        self >= Self::V2025_03_26
    }

    pub(super) fn has_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    pub(super) fn has_audio(self) -> bool {
        self >= Self::V2025_03_26
    }

    pub(super) fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    pub(super) fn has_structured_output(self) -> bool {
        self >= Self::V2025_06_18
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
