//! Who makes a call. The transport turns a credential into a caller once; all later code trusts
//! it.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::Result;

/// The identity of a caller: a person, a program, or `local`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Everyone on this machine, if no authentication is configured.
    pub fn local() -> Self {
        Self::new("local")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who makes a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub principal: Principal,
    /// Whether the caller administers the gateway and may see the data of all principals.
    pub admin: bool,
}

impl Caller {
    /// A user of this machine, who administers the gateway.
    pub fn local() -> Self {
        Self {
            principal: Principal::local(),
            admin: true,
        }
    }
}

/// What a client presents at the transport.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    None,
    Bearer(&'a str),
    /// The client started this process.
    Process,
}

/// Turns a credential into a caller.
pub trait Identify: Send + Sync + 'static {
    fn identify<'a>(&'a self, credential: Credential<'a>) -> BoxFuture<'a, Result<Arc<Caller>>>;
}
