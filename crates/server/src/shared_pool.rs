//! A limited quantity that principals share, such as concurrent calls or buffered bytes. Each
//! principal can use at most its share, so that something is left for others.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tidegate_core::{Code, Error, ErrorOrigin, Principal, Result};

pub(crate) struct SharedPool {
    /// What is limited, for messages.
    name: &'static str,
    limit: usize,
    share: usize,
    usage: Mutex<Usage>,
}

#[derive(Default)]
struct Usage {
    total: usize,
    by_principal: HashMap<Principal, usize>,
}

impl SharedPool {
    /// A principal can use `share_percent` of the limit. Without authentication, everyone is the same
    /// principal, who can use all of it.
    pub(crate) fn new(name: &'static str, limit: usize, share_percent: usize) -> Arc<Self> {
        Arc::new(Self {
            name,
            limit,
            share: (limit.saturating_mul(share_percent) / 100).max(1),
            usage: Mutex::default(),
        })
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn used(&self) -> usize {
        self.usage.lock().total
    }

    /// A permit for `amount`. A principal that uses nothing gets its first permit whatever its share,
    /// if the limit allows it.
    pub(crate) fn acquire(
        self: &Arc<Self>,
        principal: &Principal,
        amount: usize,
    ) -> Result<SharedPermit> {
        let mut permit = self.empty_permit(principal);
        permit.grow(amount)?;
        Ok(permit)
    }

    /// A permit for nothing, which can grow.
    pub(crate) fn empty_permit(self: &Arc<Self>, principal: &Principal) -> SharedPermit {
        SharedPermit {
            pool: Arc::clone(self),
            principal: principal.clone(),
            amount: 0,
        }
    }

    fn share_of(&self, principal: &Principal) -> usize {
        match *principal == Principal::local() {
            true => self.limit,
            false => self.share,
        }
    }

    fn add(&self, principal: &Principal, amount: usize) -> Result<()> {
        let (limit, share) = (self.limit, self.share_of(principal));
        let mut usage = self.usage.lock();
        let own = usage.by_principal.get(principal).copied().unwrap_or(0);
        if usage.total.saturating_add(amount) > limit && usage.total > 0 {
            let message = format!("limit of {} reached ({limit}); retry later", self.name);
            return Err(overloaded(message));
        }
        if own.saturating_add(amount) > share && own > 0 {
            let message = format!(
                "limit of {} reached ({share} of {limit} for one principal); retry later",
                self.name
            );
            return Err(overloaded(message));
        }
        usage.total += amount;
        *usage.by_principal.entry(principal.clone()).or_default() += amount;
        Ok(())
    }

    fn remove(&self, principal: &Principal, amount: usize) {
        let mut usage = self.usage.lock();
        usage.total -= amount;
        if let Some(own) = usage.by_principal.get_mut(principal) {
            *own -= amount;
            if *own == 0 {
                usage.by_principal.remove(principal);
            }
        }
    }
}

fn overloaded(message: String) -> Error {
    Error::new(Code::Unavailable, ErrorOrigin::Gateway, message)
}

/// A part of the quantity, in use until it is dropped.
pub(crate) struct SharedPermit {
    pool: Arc<SharedPool>,
    principal: Principal,
    amount: usize,
}

impl SharedPermit {
    /// Extends the permit.
    pub(crate) fn grow(&mut self, amount: usize) -> Result<()> {
        self.pool.add(&self.principal, amount)?;
        self.amount += amount;
        Ok(())
    }
}

impl Drop for SharedPermit {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.pool.remove(&self.principal, self.amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(permit: Result<SharedPermit>) -> String {
        permit.err().expect("the limit is reached").to_string()
    }

    #[test]
    fn one_principal_leaves_something_for_others() {
        let pool = SharedPool::new("things", 4, 50);
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        let of_ada = [(); 2].map(|()| pool.acquire(&ada, 1).unwrap());
        let error = error_of(pool.acquire(&ada, 1));
        assert!(error.contains("2 of 4 for one principal"), "{error}");
        let _of_bob = pool.acquire(&bob, 2).unwrap();
        let error = error_of(pool.acquire(&Principal::new("eve"), 1));
        assert!(error.contains("limit of things reached (4)"), "{error}");
        assert_eq!(pool.used(), 4);
        drop(of_ada);
        assert_eq!(pool.used(), 2);
        pool.acquire(&ada, 1).unwrap();
    }

    #[test]
    fn without_authentication_everyone_shares_the_whole_limit() {
        let pool = SharedPool::new("things", 4, 50);
        let _permit = pool.acquire(&Principal::local(), 4).unwrap();
        assert!(pool.acquire(&Principal::local(), 1).is_err());
    }

    #[test]
    fn one_large_message_fits_into_an_empty_pool() {
        let pool = SharedPool::new("bytes", 4, 50);
        let ada = Principal::new("ada");
        let mut permit = pool.acquire(&ada, 10).unwrap();
        assert!(permit.grow(1).is_err());
        assert!(pool.acquire(&Principal::new("bob"), 1).is_err());
        drop(permit);
        assert_eq!(pool.used(), 0);
    }
}
