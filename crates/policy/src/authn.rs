//! Step 2, identify: a credential becomes a caller.

mod keys;

use std::sync::Arc;

use tidegate_core::{BoxFuture, Caller, Code, Credential, Error, Identify, Result};

pub use keys::{Key, Keys};

/// Everyone is the principal `local`: right on loopback, where no authentication is configured.
pub struct Local(Arc<Caller>);

impl Default for Local {
    fn default() -> Self {
        Self(Arc::new(Caller::local()))
    }
}

impl Identify for Local {
    fn identify<'a>(&'a self, _: Credential<'a>) -> BoxFuture<'a, Result<Arc<Caller>>> {
        Box::pin(std::future::ready(Ok(Arc::clone(&self.0))))
    }
}

fn unauthenticated(message: &str) -> Error {
    Error::client(Code::Unauthenticated, message)
}
