//! Cursors: a position in one list, sealed for the principal that got it. A list may change between
//! two pages: the next page continues after the last entry of the previous one.

use std::time::Duration;

use crate::{Code, Error, List, Principal, Result, Seal, TokenPurpose, UnsealError};

/// Longer than any client takes to page through a list.
const CURSOR_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Names that a cursor may identify on each side of its position.
const MAX_NEIGHBOURS: usize = u8::MAX as usize;

/// A position in a list, with the names around it: some may vanish before the next page is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListPosition {
    pub(crate) list: List,
    /// Identifies the names in the list. While they stay the same, so does the offset.
    pub(crate) generation: u64,
    pub(crate) offset: usize,
    /// Hashes of names before this position, the nearest first.
    pub(crate) before: Vec<u64>,
    /// Hashes of the names after this position, the nearest first.
    pub(crate) after: Vec<u64>,
}

impl ListPosition {
    /// The cursor for this principal.
    pub(crate) fn cursor(&self, seal: &Seal, principal: &Principal) -> String {
        let mut bytes = vec![self.list as u8];
        bytes.extend(self.generation.to_be_bytes());
        bytes.extend((self.offset as u64).to_be_bytes());
        let (before, after) = (bounded(&self.before), bounded(&self.after));
        bytes.push(u8::try_from(before.len()).unwrap_or(u8::MAX));
        bytes.extend(
            before
                .iter()
                .chain(after)
                .flat_map(|hash| hash.to_be_bytes()),
        );
        seal.seal(TokenPurpose::Cursor, principal, CURSOR_LIFETIME, &bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (list, rest) = bytes.split_first()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let (before, rest) = rest.split_first()?;
        let (hashes, []) = rest.as_chunks() else {
            return None;
        };
        let hashes = hashes.iter().map(|hash| u64::from_be_bytes(*hash));
        let before: Vec<_> = { hashes.clone() }.take((*before).into()).collect();
        let after = hashes.skip(before.len()).collect();
        Some(Self {
            list: List::ALL.into_iter().find(|known| *known as u8 == *list)?,
            generation: u64::from_be_bytes(*generation),
            offset: usize::try_from(u64::from_be_bytes(*offset)).ok()?,
            before,
            after,
        })
    }
}

fn bounded(hashes: &[u64]) -> &[u64] {
    &hashes[..hashes.len().min(MAX_NEIGHBOURS)]
}

/// The position of a cursor in this list.
pub(crate) fn open(
    cursor: &str,
    seal: &Seal,
    principal: &Principal,
    list: List,
) -> Result<ListPosition> {
    let invalid = |message| Error::client(Code::InvalidParams, message);
    let position = match seal.open(TokenPurpose::Cursor, principal, cursor) {
        Ok(bytes) => ListPosition::decode(&bytes),
        Err(UnsealError::Foreign) => None,
        Err(UnsealError::Expired) => {
            return Err(invalid(
                "the cursor has expired; start again without a cursor",
            ));
        }
    };
    let position = position.filter(|position| position.list == list);
    position.ok_or_else(|| invalid("the cursor is not one of this list"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_list() -> impl Strategy<Value = List> {
        prop::sample::select(List::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn a_cursor_is_valid_for_its_list(
            list in any_list(), other in any_list(), generation: u64, offset: usize,
            before: [u64; 3], after: [u64; 2],
        ) {
            let (seal, ada) = (Seal::new([7; 32], []), Principal::new("ada"));
            let (before, after) = (before.to_vec(), after.to_vec());
            let position = ListPosition { list, generation, offset, before, after };
            let cursor = position.cursor(&seal, &ada);
            prop_assert_eq!(open(&cursor, &seal, &ada, list).unwrap(), position);
            prop_assert_eq!(open(&cursor, &seal, &ada, other).is_ok(), list == other);
            prop_assert!(open(&cursor, &seal, &Principal::new("bob"), list).is_err());
        }
    }
}
