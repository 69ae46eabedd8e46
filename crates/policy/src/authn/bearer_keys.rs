//! Bearer keys from the configuration. Only their digests stay in memory.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tidegate_core::{BoxFuture, Caller, Code, Credential, Error, Identify, Principal, Result};

/// A configured key and the principal that it identifies.
#[derive(Clone, Copy)]
pub struct BearerKey<'a> {
    pub principal: &'a str,
    pub secret: &'a str,
    /// Whether the principal is an administrator of the gateway.
    pub admin: bool,
}

/// Identifies callers by their bearer key.
pub struct BearerKeys {
    digests: Vec<([u8; 32], Arc<Caller>)>,
    /// The user who started the process owns its stdin: no key is needed there.
    local: Arc<Caller>,
}

impl BearerKeys {
    pub fn new<'a>(keys: impl IntoIterator<Item = BearerKey<'a>>) -> Self {
        let with_digest = |key: BearerKey<'_>| {
            let caller = Caller {
                principal: Principal::new(key.principal),
                admin: key.admin,
            };
            (digest(key.secret), Arc::new(caller))
        };
        Self {
            digests: keys.into_iter().map(with_digest).collect(),
            local: Arc::new(Caller::local()),
        }
    }

    /// Compares with every key, so that the duration reveals nothing.
    fn find(&self, token: &str) -> Option<&Arc<Caller>> {
        let digest = digest(token);
        let mut found = None;
        for (known, caller) in &self.digests {
            if bool::from(known.ct_eq(&digest)) {
                found = Some(caller);
            }
        }
        found
    }
}

impl Identify for BearerKeys {
    fn identify<'a>(&'a self, credential: Credential<'a>) -> BoxFuture<'a, Result<Arc<Caller>>> {
        let caller = match credential {
            Credential::None => Err(unauthenticated(
                "missing credentials: send `Authorization: Bearer KEY`",
            )),
            Credential::Bearer(token) => self
                .find(token)
                .cloned()
                .ok_or_else(|| unauthenticated("the bearer key is unknown")),
            Credential::Process => Ok(Arc::clone(&self.local)),
        };
        Box::pin(std::future::ready(caller))
    }
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

fn unauthenticated(message: &str) -> Error {
    Error::client(Code::Unauthenticated, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_an_exact_key_identifies_its_principal() {
        let key = |principal, secret, admin| BearerKey {
            principal,
            secret,
            admin,
        };
        let keys = BearerKeys::new([
            key("ada", "key-of-ada-0123456789", true),
            key("bob", "key-of-bob-0123456789", false),
        ]);
        let caller = keys
            .identify(Credential::Bearer("key-of-bob-0123456789"))
            .await
            .unwrap();
        assert_eq!(caller.principal.as_str(), "bob");
        assert!(!caller.admin);
        for wrong in ["", "key-of-bob-012345678", "KEY-OF-BOB-0123456789", "ada"] {
            let error = keys.identify(Credential::Bearer(wrong)).await.unwrap_err();
            assert_eq!(error.code(), Code::Unauthenticated);
        }
        assert!(keys.identify(Credential::None).await.is_err());
    }
}
