//! Cursors: a position in one generation of one list, sealed for the principal that got it.

use std::time::Duration;

use crate::{Code, Error, List, Principal, Result, Seal, TokenPurpose, UnsealError};

/// Longer than any client takes to page through a list.
const CURSOR_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// A position in a list. Valid as long as the names in the list stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListPosition {
    pub(crate) list: List,
    pub(crate) generation: u64,
    pub(crate) offset: usize,
}

impl ListPosition {
    /// The cursor for this principal.
    pub(crate) fn cursor(self, seal: &Seal, principal: &Principal) -> String {
        let mut bytes = vec![self.list as u8];
        bytes.extend(self.generation.to_be_bytes());
        bytes.extend((self.offset as u64).to_be_bytes());
        seal.seal(TokenPurpose::Cursor, principal, CURSOR_LIFETIME, &bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (list, rest) = bytes.split_first()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let offset = u64::from_be_bytes(rest.try_into().ok()?);
        Some(Self {
            list: List::ALL.into_iter().find(|known| *known as u8 == *list)?,
            generation: u64::from_be_bytes(*generation),
            offset: usize::try_from(offset).ok()?,
        })
    }
}

/// The position of a cursor in the list whose first page is `first_page`.
pub(crate) fn open(
    cursor: &str,
    seal: &Seal,
    principal: &Principal,
    first_page: ListPosition,
) -> Result<ListPosition> {
    let invalid = |message| Err(Error::client(Code::InvalidParams, message));
    let position = match seal.open(TokenPurpose::Cursor, principal, cursor) {
        Ok(bytes) => ListPosition::decode(&bytes),
        Err(UnsealError::Foreign) => None,
        Err(UnsealError::Expired) => {
            return invalid("the cursor has expired; start again without a cursor");
        }
    };
    match position.filter(|position| position.list == first_page.list) {
        None => invalid("the cursor is not one of this list"),
        Some(position) if position.generation != first_page.generation => {
            invalid("the list has changed; start again without a cursor")
        }
        Some(position) => Ok(position),
    }
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
        fn a_cursor_is_valid_for_its_list_and_generation(
            list in any_list(), other in any_list(), generation: u64, offset: usize,
        ) {
            let (seal, ada) = (Seal::new([7; 32], []), Principal::new("ada"));
            let position = ListPosition { list, generation, offset };
            let cursor = position.cursor(&seal, &ada);
            let reopen = |list, generation| {
                open(&cursor, &seal, &ada, ListPosition { list, generation, offset: 0 })
            };
            prop_assert_eq!(reopen(list, generation).unwrap(), position);
            prop_assert!(reopen(list, generation.wrapping_add(1)).is_err());
            prop_assert_eq!(reopen(other, generation).is_ok(), list == other);
        }
    }
}
