//! The open sessions by id. Ids cannot be guessed and are only valid for their principal and endpoint.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use tidegate_core::{Code, Error, ErrorOrigin, Principal, Result, Scope};

use super::Session;
use crate::shared_pool::SharedPermit;
use crate::{Admission, TransportLimits};

/// A session id: 192 random bits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionId(String);

impl SessionId {
    fn generate() -> Result<Self> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(|cause| {
            Error::internal("cannot generate a session id").with_cause(cause.to_string())
        })?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Does not show the id: it is a secret that must not get into logs.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(…)")
    }
}

/// All open sessions, up to their limits.
pub(crate) struct SessionTable {
    limit_per_principal: usize,
    idle_timeout: Duration,
    sessions: Mutex<HashMap<SessionId, TableEntry>>,
}

struct TableEntry {
    session: Arc<Session>,
    last_request: Instant,
    _permit: SharedPermit,
}

impl TableEntry {
    fn is_expired(&self, now: Instant, idle_timeout: Duration) -> bool {
        let idle = now.saturating_duration_since(self.last_used());
        idle >= idle_timeout && !self.session.is_in_use()
    }

    fn last_used(&self) -> Instant {
        let last_used = self.session.last_used();
        last_used.map_or(self.last_request, |used| used.max(self.last_request))
    }
}

impl SessionTable {
    pub(crate) fn new(limits: &TransportLimits) -> Self {
        Self {
            limit_per_principal: limits.max_sessions_per_principal,
            idle_timeout: limits.session_idle_timeout,
            sessions: Mutex::default(),
        }
    }

    /// Adds a session. Many clients never close their sessions, so at a limit the longest-idle
    /// session is ended: first of the same principal, then of any principal.
    pub(crate) fn add(
        &self,
        session: Session,
        admission: &Admission,
    ) -> Result<(SessionId, Arc<Session>)> {
        let id = SessionId::generate()?;
        let session = Arc::new(session);
        let mut sessions = self.sessions.lock();
        let is_same_principal = |entry: &TableEntry| entry.session.principal == session.principal;
        let of_principal = sessions.values().filter(|entry| is_same_principal(entry));
        if of_principal.count() >= self.limit_per_principal
            && !evict_idle(&mut sessions, is_same_principal)
        {
            return Err(too_many_sessions(self.limit_per_principal));
        }
        let permit = admission.session_permit(&session.principal, || {
            evict_idle(&mut sessions, |_| true);
        })?;
        let entry = TableEntry {
            session: Arc::clone(&session),
            last_request: Instant::now(),
            _permit: permit,
        };
        sessions.insert(id.clone(), entry);
        Ok((id, session))
    }

    /// Finds a session and marks it as used. A session of another principal or endpoint is treated
    /// as unknown.
    pub(crate) fn find(
        &self,
        id: &str,
        principal: &Principal,
        scope: &Scope,
    ) -> Result<Arc<Session>> {
        let now = Instant::now();
        let mut sessions = self.sessions.lock();
        let entry = sessions
            .get_mut(&SessionId(id.to_owned()))
            .filter(|entry| entry.session.principal == *principal && entry.session.scope == *scope)
            .filter(|entry| !entry.is_expired(now, self.idle_timeout))
            .ok_or_else(not_found)?;
        entry.last_request = now;
        Ok(Arc::clone(&entry.session))
    }

    /// Ends a session at the request of its client.
    pub(crate) fn end(&self, id: &str, principal: &Principal, scope: &Scope) -> Result<()> {
        let session = self.find(id, principal, scope)?;
        self.sessions.lock().remove(&SessionId(id.to_owned()));
        session.end();
        Ok(())
    }

    /// Ends the sessions that were idle for too long.
    pub(crate) fn expire_idle(&self) {
        let now = Instant::now();
        self.sessions.lock().retain(|_, entry| {
            let is_expired = entry.is_expired(now, self.idle_timeout);
            if is_expired {
                entry.session.end();
            }
            !is_expired
        });
    }

    /// How often `expire_idle` should be called.
    pub(crate) fn expiry_interval(&self) -> Duration {
        (self.idle_timeout / 4).clamp(Duration::from_millis(100), Duration::from_secs(60))
    }

    /// Ends the standalone streams of all sessions.
    pub(crate) fn drain(&self) {
        for entry in self.sessions.lock().values() {
            entry.session.standalone.finish();
        }
    }
}

/// Ends the least recently used idle session among the candidates. Returns whether there was one.
fn evict_idle(
    sessions: &mut HashMap<SessionId, TableEntry>,
    is_candidate: impl Fn(&TableEntry) -> bool,
) -> bool {
    let oldest = sessions
        .iter()
        .filter(|(_, entry)| is_candidate(entry) && !entry.session.is_in_use())
        .min_by_key(|(_, entry)| entry.last_used())
        .map(|(id, _)| id.clone());
    let evicted = oldest.and_then(|id| sessions.remove(&id));
    if let Some(entry) = &evicted {
        entry.session.end();
    }
    evicted.is_some()
}

fn too_many_sessions(limit: usize) -> Error {
    let message =
        format!("session limit reached ({limit} per principal); close a session or retry later");
    Error::new(Code::Unavailable, ErrorOrigin::Gateway, message)
}

fn not_found() -> Error {
    let message = "unknown session; send `initialize` to open a new one";
    Error::client(Code::SessionNotFound, message)
}
