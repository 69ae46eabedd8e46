//! The ids of sources.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The id of a source: `[a-z][a-z0-9-]{0,31}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(Arc<str>);

impl SourceId {
    /// The id of the gateway source.
    pub fn gateway() -> Self {
        Self("gateway".into())
    }

    /// Whether this is the gateway source.
    pub fn is_gateway(&self) -> bool {
        &*self.0 == "gateway"
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SourceId {
    type Err = InvalidSourceId;

    fn from_str(text: &str) -> Result<Self, InvalidSourceId> {
        let mut bytes = text.bytes();
        let first_is_valid = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
        let rest_is_valid =
            bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if first_is_valid && rest_is_valid && text.len() <= 32 {
            Ok(Self(text.into()))
        } else {
            Err(InvalidSourceId)
        }
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a valid source id.
#[derive(Debug)]
pub struct InvalidSourceId;

impl fmt::Display for InvalidSourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a source's name is a lower-case letter, then up to 31 of a-z, 0-9 and `-`")
    }
}

impl std::error::Error for InvalidSourceId {}
