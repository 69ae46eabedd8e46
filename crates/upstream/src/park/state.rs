//! What a client carries between two requests of one call: sealed, for it alone, for this call
//! alone, and not for ever.

use std::time::Duration;

use tidegate_core::{
    Call, Principal, Result, Seal, TokenPurpose, UnsealError, canonical_json, random_bytes, sha256,
};
use tidegate_mcp::revision::multi_round_trip::stable_params;

use super::invalid;

const ID_BYTES: usize = 16;

/// A call that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParkId([u8; ID_BYTES]);

impl ParkId {
    pub(super) fn fresh() -> Self {
        Self(random_bytes())
    }
}

/// A call by what of it is the same in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    pub(super) fn of(call: &Call) -> Self {
        let params = canonical_json(&stable_params(&call.params)).unwrap_or_default();
        let source = call.source.as_str();
        let text = format!("{}\0{source}\0{:?}\0{params}", call.label, call.operation);
        Self(sha256(&text))
    }
}

/// What is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The call waits here.
    Parked(ParkId, Digest),
    /// The call failed, and is to be made again.
    Again(Digest),
}

impl State {
    pub(super) fn seal(
        self,
        seal: &Seal,
        principal: &Principal,
        cache_lifetime: Duration,
    ) -> String {
        let bytes = match self {
            Self::Parked(id, digest) => [&[1][..], &digest.0, &id.0].concat(),
            Self::Again(digest) => [&[2][..], &digest.0].concat(),
        };
        seal.seal(TokenPurpose::Parked, principal, cache_lifetime, &bytes)
    }

    pub(super) fn open(seal: &Seal, principal: &Principal, token: &str) -> Result<Self> {
        let foreign = || invalid("the request state is not one that was given out for this");
        let bytes = seal
            .open(TokenPurpose::Parked, principal, token)
            .map_err(|why| match why {
                UnsealError::Foreign => foreign(),
                UnsealError::Expired => invalid("the request state is too old; start again"),
            })?;
        Self::read(&bytes).ok_or_else(foreign)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (digest, rest) = rest.split_first_chunk()?;
        match kind {
            1 => Some(Self::Parked(ParkId(rest.try_into().ok()?), Digest(*digest))),
            2 => rest.is_empty().then_some(Self::Again(Digest(*digest))),
            _ => None,
        }
    }

    /// The call that waits for this request, if one does.
    pub(super) fn belongs_to(self, call: &Call) -> Result<Option<ParkId>> {
        let (id, digest) = match self {
            Self::Parked(id, digest) => (Some(id), digest),
            Self::Again(digest) => (None, digest),
        };
        match digest == Digest::of(call) {
            true => Ok(id),
            false => Err(invalid(
                "the request state was given out for another request; send the same one again",
            )),
        }
    }
}
