//! Cursors: a position in one list, sealed for the principal that got it. A list may change between
//! two pages: the next page continues after the last entry of the previous one.

use std::time::Duration;

use crate::{Code, Error, List, Principal, Result, Seal, TokenPurpose, UnsealError};

/// Longer than any client takes to page through a list.
const CURSOR_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// A position in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListPosition {
    pub(crate) list: List,
    /// Identifies the names in the list. While they stay the same, so does the offset.
    pub(crate) generation: u64,
    pub(crate) offset: usize,
    /// A hash of the name before this position.
    pub(crate) previous_name: u64,
}

impl ListPosition {
    /// The cursor for this principal.
    pub(crate) fn cursor(self, seal: &Seal, principal: &Principal) -> String {
        let mut bytes = vec![self.list as u8];
        bytes.extend(self.generation.to_be_bytes());
        bytes.extend((self.offset as u64).to_be_bytes());
        bytes.extend(self.previous_name.to_be_bytes());
        seal.seal(TokenPurpose::Cursor, principal, CURSOR_LIFETIME, &bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (list, rest) = bytes.split_first()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        Some(Self {
            list: List::ALL.into_iter().find(|known| *known as u8 == *list)?,
            generation: u64::from_be_bytes(*generation),
            offset: usize::try_from(u64::from_be_bytes(*offset)).ok()?,
            previous_name: u64::from_be_bytes(rest.try_into().ok()?),
        })
    }
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
            previous_name: u64,
        ) {
            let (seal, ada) = (Seal::new([7; 32], []), Principal::new("ada"));
            let position = ListPosition { list, generation, offset, previous_name };
            let cursor = position.cursor(&seal, &ada);
            prop_assert_eq!(open(&cursor, &seal, &ada, list).unwrap(), position);
            prop_assert_eq!(open(&cursor, &seal, &ada, other).is_ok(), list == other);
            prop_assert!(open(&cursor, &seal, &Principal::new("bob"), list).is_err());
        }
    }
}
