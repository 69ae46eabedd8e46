//! Looks up host names. A name that is not known is told from all else that can go wrong.

use std::fmt;
use std::io;
use std::task::{Context, Poll};

use futures_util::TryFutureExt;
use futures_util::future::MapErr;
use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiFuture, GaiResolver, Name};
use tower_service::Service;

/// The names this machine knows.
#[derive(Clone)]
pub(super) struct Names(GaiResolver);

/// A host name that is not known here.
#[derive(Debug)]
pub(super) struct UnknownName(io::Error);

impl Names {
    pub(super) fn new() -> Self {
        Self(GaiResolver::new())
    }
}

impl Service<Name> for Names {
    type Response = GaiAddrs;
    type Error = UnknownName;
    type Future = MapErr<GaiFuture, fn(io::Error) -> UnknownName>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), UnknownName>> {
        self.0.poll_ready(context).map_err(UnknownName)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        self.0.call(name).map_err(UnknownName)
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UnknownName {}
