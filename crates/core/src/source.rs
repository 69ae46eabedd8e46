//! The one trait behind everything the gateway offers.

use std::any::Any;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::{Call, Caller, Catalog, ChangeStream, Health, Reply, Result, Terms};

/// A source of tools, prompts and resources. A remote MCP server and a table in SQLite are both one.
pub trait Source: Send + Sync + 'static {
    /// What this audience can use now. A snapshot: must not block.
    fn catalog(&self, audience: &Audience<'_>) -> Arc<Catalog>;

    /// Serves one call.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>>;

    /// What changes from now on.
    fn changes(&self) -> ChangeStream {
        ChangeStream::never()
    }

    /// Someone wants to hear of the updates of a resource, for as long as the watch is kept.
    fn watch(&self, _uri: &str) -> Watch {
        Watch::default()
    }

    /// Waits until the first catalog is there, or is known not to come soon.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn health(&self) -> Health {
        Health::Good
    }
}

/// Someone's interest in a resource. Dropping it ends it.
#[derive(Default)]
pub struct Watch(#[expect(dead_code, reason = "kept for its drop")] Option<Box<dyn Any + Send>>);

impl Watch {
    /// An interest that ends when `guard` is dropped.
    pub fn until_dropped(guard: impl Any + Send) -> Self {
        Self(Some(Box::new(guard)))
    }
}

/// For whom a list is made: who asks, and what its client can do. Servers list by both.
#[derive(Clone, Copy, Debug)]
pub struct Audience<'a> {
    pub caller: &'a Caller,
    pub terms: &'a Terms,
}

/// A source's name: `[a-z][a-z0-9-]{0,31}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(Arc<str>);

impl SourceId {
    /// The name under which the gateway answers for itself.
    pub fn gateway() -> Self {
        Self("gateway".into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SourceId {
    type Err = InvalidSourceId;

    fn from_str(text: &str) -> Result<Self, InvalidSourceId> {
        let mut bytes = text.bytes();
        let starts_well = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
        let goes_on_well =
            bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if starts_well && goes_on_well && text.len() <= 32 {
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

/// Not a name a source can have.
#[derive(Debug)]
pub struct InvalidSourceId;

impl fmt::Display for InvalidSourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a source's name is a lower-case letter, then up to 31 of a-z, 0-9 and `-`")
    }
}

impl std::error::Error for InvalidSourceId {}
