//! What the core knows about a client: the facts that its request carries, and the viewer of a
//! list. The core does not know sessions and revisions: it gets an era and an opaque key.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Caller, Era, RawJson};

/// What a client declares about itself for one request.
#[derive(Clone, Debug)]
pub struct ClientContext {
    /// A server that supports both eras is used in the era of the client.
    pub era: Era,
    /// The session that the call belongs to, if it has one.
    pub affinity: Option<AffinityKey>,
    /// The client's capabilities, as declared.
    pub capabilities: RawJson,
    /// The client's name and version, as declared. Not verified.
    pub client_info: Option<RawJson>,
    /// The lowest level of log messages that the client wants; `None` for no log messages.
    pub log_level: Option<LoggingLevel>,
    /// The token for progress notifications, with its JSON type.
    pub progress: Option<RawJson>,
}

impl ClientContext {
    /// The context of the gateway's own requests.
    pub fn of_gateway() -> Self {
        Self {
            era: Era::Modern,
            ..Self::default()
        }
    }

    /// Whether a message of the modern era does not describe its client.
    pub fn is_undescribed(&self) -> bool {
        self.era == Era::Modern && self.client_info.is_none() && self.capabilities.as_str() == "{}"
    }
}

impl Default for ClientContext {
    fn default() -> Self {
        Self {
            era: Era::Legacy,
            affinity: None,
            capabilities: RawJson::empty_object(),
            client_info: None,
            log_level: None,
            progress: None,
        }
    }
}

/// An opaque key: calls with the same key belong to one client's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AffinityKey(u64);

impl AffinityKey {
    /// A key that no other session in this process has.
    pub fn generate() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The recipient of a list: the caller and its client. The entries may depend on both.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'a> {
    pub caller: &'a Caller,
    pub client: &'a ClientContext,
}

/// The severity of a log message, from `debug` up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoggingLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LoggingLevel {
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl FromStr for LoggingLevel {
    type Err = UnknownLoggingLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLoggingLevel> {
        let mut levels = Self::ALL.into_iter();
        levels
            .find(|level| level.as_str() == text)
            .ok_or(UnknownLoggingLevel)
    }
}

/// The text is not one of the eight levels.
#[derive(Debug)]
pub struct UnknownLoggingLevel;

impl fmt::Display for UnknownLoggingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = LoggingLevel::ALL.map(LoggingLevel::as_str).join(", ");
        write!(f, "the level must be one of {levels}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S1.25: eight levels, in this order, in lower case.
    #[test]
    fn log_levels_are_ordered() {
        let mut sorted = LoggingLevel::ALL;
        sorted.sort();
        assert_eq!(sorted, LoggingLevel::ALL);
        for level in LoggingLevel::ALL {
            assert_eq!(level.as_str().parse::<LoggingLevel>().unwrap(), level);
        }
        assert!("Debug".parse::<LoggingLevel>().is_err());
    }
}
