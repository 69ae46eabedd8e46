//! Step 2, identify: turns a credential into a caller.

mod bearer_keys;

use std::sync::Arc;

use tidegate_core::{BoxFuture, Caller, Credential, Identify, Result};

pub use bearer_keys::{BearerKey, BearerKeys};

/// Identifies every caller as the principal `local`. For loopback without configured
/// authentication.
pub struct NoAuthentication {
    local: Arc<Caller>,
}

impl Default for NoAuthentication {
    fn default() -> Self {
        Self {
            local: Arc::new(Caller::local()),
        }
    }
}

impl Identify for NoAuthentication {
    fn identify<'a>(&'a self, _: Credential<'a>) -> BoxFuture<'a, Result<Arc<Caller>>> {
        Box::pin(std::future::ready(Ok(Arc::clone(&self.local))))
    }
}
