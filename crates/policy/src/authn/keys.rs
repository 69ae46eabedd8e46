//! Bearer keys from the configuration. Only digests are kept.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tidegate_core::{BoxFuture, Caller, Credential, Identify, Principal, Result};

use super::unauthenticated;

/// A key, and who sends it.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    pub principal: &'a str,
    pub secret: &'a str,
    /// Whether the principal runs the gateway.
    pub admin: bool,
}

/// The keys, each with the principal it names.
pub struct Keys {
    keys: Vec<([u8; 32], Arc<Caller>)>,
    /// Whoever started the process may use its pipe.
    process: Arc<Caller>,
}

impl Keys {
    pub fn new<'a>(keys: impl IntoIterator<Item = Key<'a>>) -> Self {
        let caller = |key: &Key<'_>| Caller {
            principal: Principal::new(key.principal),
            admin: key.admin,
        };
        let keys = keys.into_iter();
        let keys = keys.map(|key| (digest(key.secret), Arc::new(caller(&key))));
        Self {
            keys: keys.collect(),
            process: Arc::new(Caller::local()),
        }
    }

    /// Compares with every key, so that the time taken tells nothing.
    fn find(&self, token: &str) -> Option<&Arc<Caller>> {
        let digest = digest(token);
        let mut found = None;
        for (known, caller) in &self.keys {
            if bool::from(known.ct_eq(&digest)) {
                found = Some(caller);
            }
        }
        found
    }
}

impl Identify for Keys {
    fn identify<'a>(&'a self, credential: Credential<'a>) -> BoxFuture<'a, Result<Arc<Caller>>> {
        let caller = match credential {
            Credential::None => Err(unauthenticated(
                "a key is needed: send `Authorization: Bearer …`",
            )),
            Credential::Bearer(token) => self
                .find(token)
                .cloned()
                .ok_or_else(|| unauthenticated("the key is not known")),
            Credential::Process => Ok(Arc::clone(&self.process)),
        };
        Box::pin(std::future::ready(caller))
    }
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use tidegate_core::Code;

    use super::*;

    #[tokio::test]
    async fn a_key_names_its_principal_and_nothing_else_does() {
        let key = |principal, secret, admin| Key {
            principal,
            secret,
            admin,
        };
        let keys = Keys::new([
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
            let refused = keys.identify(Credential::Bearer(wrong)).await.unwrap_err();
            assert_eq!(refused.code(), Code::Unauthenticated);
        }
        assert!(keys.identify(Credential::None).await.is_err());
    }
}
