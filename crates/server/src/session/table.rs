//! The sessions that are open, by their ids. An id is unguessable, and good for its principal alone.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Code, Error, ErrorOrigin, Principal, Result, Scope};

use super::Session;
use crate::Limits;

/// The name of a session: 192 random bits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionId(String);

impl SessionId {
    fn fresh() -> Result<Self> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(|cause| {
            Error::internal("no session could be opened").with_cause(cause.to_string())
        })?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Not printed: whoever reads a log must not be able to use a session.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(…)")
    }
}

/// All open sessions, within their bounds.
pub(crate) struct Sessions {
    max: usize,
    max_per_principal: usize,
    idle: Duration,
    open: Mutex<HashMap<SessionId, Slot>>,
}

struct Slot {
    session: Arc<Session>,
    used: Instant,
}

impl Slot {
    fn is_over(&self, now: Instant, idle: Duration) -> bool {
        now.saturating_duration_since(self.last_use()) >= idle && !self.session.is_busy()
    }

    fn last_use(&self) -> Instant {
        self.session
            .last_busy()
            .map_or(self.used, |busy| busy.max(self.used))
    }
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            max: limits.max_sessions,
            max_per_principal: limits.max_sessions_per_principal,
            idle: limits.session_idle_timeout,
            open: Mutex::default(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Opens a session. Many clients never close theirs, so where there is no room the one that has
    /// been idle longest makes some: first of the same principal, then of any.
    pub(crate) fn open(&self, session: Session) -> Result<(SessionId, Arc<Session>)> {
        let id = SessionId::fresh()?;
        let session = Arc::new(session);
        let mut open = self.lock();
        let principal = &session.principal;
        let of_principal = open
            .values()
            .filter(|slot| slot.session.principal == *principal)
            .count();
        if of_principal >= self.max_per_principal {
            make_room(&mut open, |slot| slot.session.principal == *principal)?;
        }
        if open.len() >= self.max {
            make_room(&mut open, |_| true)?;
        }
        let slot = Slot {
            session: Arc::clone(&session),
            used: Instant::now(),
        };
        open.insert(id.clone(), slot);
        Ok((id, session))
    }

    /// Finds a session for its principal and endpoint. Someone else's is as unknown as one that
    /// never was.
    pub(crate) fn find(
        &self,
        id: &str,
        principal: &Principal,
        scope: &Scope,
    ) -> Result<Arc<Session>> {
        let now = Instant::now();
        let mut open = self.lock();
        let slot = open
            .get_mut(&SessionId(id.to_owned()))
            .filter(|slot| slot.session.principal == *principal && slot.session.scope == *scope)
            .filter(|slot| !slot.is_over(now, self.idle))
            .ok_or_else(not_found)?;
        slot.used = now;
        Ok(Arc::clone(&slot.session))
    }

    /// Ends a session and everything that belongs to it.
    pub(crate) fn end(&self, id: &str, principal: &Principal, scope: &Scope) -> Result<()> {
        let session = self.find(id, principal, scope)?;
        self.lock().remove(&SessionId(id.to_owned()));
        session.end();
        Ok(())
    }

    /// Ends the sessions that nobody has used for too long.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.lock().retain(|_, slot| {
            let keep = !slot.is_over(now, self.idle);
            if !keep {
                slot.session.end();
            }
            keep
        });
    }

    /// Lets every stream that nothing will come on any more end.
    pub(crate) fn drain(&self) {
        for slot in self.lock().values() {
            slot.session.standing.finish();
        }
    }

    /// How often to sweep.
    pub(crate) fn sweep_every(&self) -> Duration {
        (self.idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(60))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Slot>> {
        self.open.lock()
    }
}

/// Ends the idle session, among these, that was used least recently.
fn make_room(open: &mut HashMap<SessionId, Slot>, among: impl Fn(&Slot) -> bool) -> Result<()> {
    let oldest = open
        .iter()
        .filter(|(_, slot)| among(slot) && !slot.session.is_busy())
        .min_by_key(|(_, slot)| slot.last_use())
        .map(|(id, _)| id.clone());
    match oldest.and_then(|id| open.remove(&id)) {
        Some(slot) => {
            slot.session.end();
            Ok(())
        }
        None => Err(Error::new(
            Code::Unavailable,
            ErrorOrigin::Gateway,
            "as many sessions are open as may be; close one or try again later",
        )),
    }
}

fn not_found() -> Error {
    Error::client(
        Code::SessionNotFound,
        "there is no such session; initialize to open one",
    )
}
