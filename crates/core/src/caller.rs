//! Who asks. A credential becomes a caller once, at the transport; everything below trusts the caller.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::Result;

/// A name for whoever asks: a person, a program, or `local`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Everyone on this machine, where no authentication is configured.
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

/// The one who makes a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub principal: Principal,
    /// Whether it runs the gateway, and may see what is everyone's.
    pub admin: bool,
}

impl Caller {
    /// Whoever is on this machine, and so runs the gateway.
    pub fn local() -> Self {
        Self {
            principal: Principal::local(),
            admin: true,
        }
    }
}

/// What a client shows at the transport.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    /// Nothing.
    None,
    /// A bearer token.
    Bearer(&'a str),
    /// The operating system's word: the one who started this process.
    Process,
}

/// Turns a credential into a caller.
pub trait Identify: Send + Sync + 'static {
    fn identify<'a>(&'a self, credential: Credential<'a>) -> BoxFuture<'a, Result<Arc<Caller>>>;
}
