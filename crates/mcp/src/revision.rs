//! The five revisions of the protocol: which one a message speaks, how it is lifted into the core's
//! client, and how a reply is lowered back. Nothing outside this folder names or compares one.

mod classify;
pub mod client;
pub mod client_capabilities;
mod header_annotations;
mod headers;
mod legacy;
mod lift;
mod lower;
mod meta;
pub mod methods;
mod modern;
pub mod multi_round_trip;
mod param_headers;
pub mod question;
mod sentinel;
mod shape;
pub mod tasks;

use std::fmt;

pub use classify::{Classification, classify, session_of};
pub use headers::StandardHeaders;
pub use legacy::Handshake;
pub use lift::{Lifted, LiftedRequest, lift_legacy, lift_modern};
pub use lower::{Lowering, OutgoingMessage, failed_result, legacy_change, refusal};
pub use meta::key;
pub use methods::{Kind, Method};
pub use param_headers::check_param_headers;

/// A dated version of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// Revisions with a handshake and sessions, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    Legacy,
    Modern,
}

impl Revision {
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest with a handshake: the answer to a client that asks for one we do not know.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// The newest there is.
    pub const NEWEST: Self = Self::V2026_07_28;

    /// What a request speaks that says nothing about itself.
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

    /// Several messages may come in one array.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// An event stream begins with an id to come back with.
    pub fn primes_streams(self) -> bool {
        self == Self::V2025_11_25
    }

    /// All revisions, newest first.
    pub fn supported() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().rev().map(Self::as_str)
    }

    fn has_completions_capability(self) -> bool {
        self >= Self::V2025_03_26
    }

    fn has_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    fn has_audio(self) -> bool {
        self >= Self::V2025_03_26
    }

    fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    fn has_structured_output(self) -> bool {
        self >= Self::V2025_06_18
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
