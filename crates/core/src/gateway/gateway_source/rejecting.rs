//! The source of a request without a target: it fails with the reason.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::{Call, Catalog, Error, Reply, Result, Source, Viewer};

/// Fails its one call with an error.
pub(in crate::gateway) struct RejectingSource(Mutex<Option<Error>>);

impl RejectingSource {
    pub(in crate::gateway) fn new(error: Error) -> Self {
        Self(Mutex::new(Some(error)))
    }
}

impl Source for RejectingSource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::default()
    }

    fn call(&self, _: Call) -> BoxFuture<'_, Result<Reply>> {
        let error = self.0.lock().take();
        let error = error.unwrap_or_else(|| Error::internal("a rejected call was repeated"));
        Box::pin(std::future::ready(Err(error)))
    }
}
