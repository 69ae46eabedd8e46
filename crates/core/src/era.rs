//! The two eras of the protocol.

/// Whether revisions have a handshake and sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// A handshake opens a session.
    Legacy,
    /// Each request is complete in itself; there are no sessions.
    Modern,
}
