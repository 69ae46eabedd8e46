//! Resolves host names, with a separate error type so that an unknown host can be recognised.

use std::fmt;
use std::io;
use std::task::{Context, Poll};

use futures_util::TryFutureExt;
use futures_util::future::MapErr;
use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiFuture, GaiResolver, Name};
use tower_service::Service;

/// The system's resolver.
#[derive(Clone)]
pub(super) struct Resolver(GaiResolver);

/// A host name that cannot be resolved.
#[derive(Debug)]
pub(super) struct UnknownHost(io::Error);

impl Resolver {
    pub(super) fn new() -> Self {
        Self(GaiResolver::new())
    }
}

impl Service<Name> for Resolver {
    type Response = GaiAddrs;
    type Error = UnknownHost;
    type Future = MapErr<GaiFuture, fn(io::Error) -> UnknownHost>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), UnknownHost>> {
        self.0.poll_ready(context).map_err(UnknownHost)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        self.0.call(name).map_err(UnknownHost)
    }
}

impl fmt::Display for UnknownHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UnknownHost {}
