//! The `requestState` of a parked call: sealed, bound to one principal and one request, and valid
//! for a limited time.

use std::time::Duration;

use tidegate_core::{
    Call, Code, Error, Principal, Result, Seal, TokenPurpose, UnsealError, canonical_json,
    random_bytes, sha256,
};
use tidegate_mcp::revision::multi_round_trip::stable_params;

const PARKED_CALL_ID_BYTES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParkedCallId([u8; PARKED_CALL_ID_BYTES]);

impl ParkedCallId {
    pub(super) fn generate() -> Self {
        Self(random_bytes())
    }
}

/// A digest of everything in a request that its continuations repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestDigest([u8; 32]);

impl RequestDigest {
    pub(super) fn of(call: &Call) -> Self {
        let params = canonical_json(&stable_params(&call.params)).unwrap_or_default();
        let source = call.source.as_str();
        let text = format!("{}\0{source}\0{:?}\0{params}", call.label, call.operation);
        Self(sha256(&text))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestState {
    /// The call is parked under this id.
    Parked(ParkedCallId, RequestDigest),
    /// The call failed because the user must visit a URL; its continuation sends it again.
    UrlRequired(RequestDigest),
}

impl RequestState {
    pub(super) fn seal(self, seal: &Seal, principal: &Principal, lifetime: Duration) -> String {
        let bytes = match self {
            Self::Parked(id, digest) => [&[1][..], &digest.0, &id.0].concat(),
            Self::UrlRequired(digest) => [&[2][..], &digest.0].concat(),
        };
        seal.seal(TokenPurpose::Parked, principal, lifetime, &bytes)
    }

    pub(super) fn open(seal: &Seal, principal: &Principal, token: &str) -> Result<Self> {
        let foreign =
            || invalid_params("`requestState` was not issued by this gateway for this principal");
        let bytes =
            seal.open(TokenPurpose::Parked, principal, token)
                .map_err(|error| match error {
                    UnsealError::Foreign => foreign(),
                    UnsealError::Expired => {
                        invalid_params("`requestState` has expired; send a new request")
                    }
                })?;
        Self::decode(&bytes).ok_or_else(foreign)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (variant, rest) = bytes.split_first()?;
        let (digest, rest) = rest.split_first_chunk()?;
        let digest = RequestDigest(*digest);
        match variant {
            1 => Some(Self::Parked(ParkedCallId(rest.try_into().ok()?), digest)),
            2 => rest.is_empty().then_some(Self::UrlRequired(digest)),
            _ => None,
        }
    }

    /// The id of the parked call, if there is one. Fails if the state was issued for another
    /// request.
    pub(super) fn parked_call(self, call: &Call) -> Result<Option<ParkedCallId>> {
        let (id, digest) = match self {
            Self::Parked(id, digest) => (Some(id), digest),
            Self::UrlRequired(digest) => (None, digest),
        };
        match digest == RequestDigest::of(call) {
            true => Ok(id),
            false => Err(invalid_params(
                "`requestState` was issued for another request; send it with the original params",
            )),
        }
    }
}

fn invalid_params(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}
