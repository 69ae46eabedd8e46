//! Cursors: where a client stands in one generation of one list, sealed for the one who got it.

use std::time::Duration;

use crate::{Code, Error, List, Principal, Result, Seal, TokenPurpose, UnsealError};

/// Longer than anyone walks through a list.
const GOOD_FOR: Duration = Duration::from_secs(24 * 3600);

/// A place in a list. Good for as long as the list is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) list: List,
    pub(crate) generation: u64,
    pub(crate) offset: usize,
}

impl Place {
    /// The cursor that brings this principal back here.
    pub(crate) fn cursor(self, seal: &Seal, principal: &Principal) -> String {
        let mut bytes = vec![self.list as u8];
        bytes.extend(self.generation.to_be_bytes());
        bytes.extend((self.offset as u64).to_be_bytes());
        seal.seal(TokenPurpose::Cursor, principal, GOOD_FOR, &bytes)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (list, rest) = bytes.split_first()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let offset = u64::from_be_bytes(rest.try_into().ok()?);
        Some(Self {
            list: List::ALL.into_iter().find(|one| *one as u8 == *list)?,
            generation: u64::from_be_bytes(*generation),
            offset: usize::try_from(offset).ok()?,
        })
    }
}

/// Reads a cursor that a client sends back for the list that begins at `start`.
pub(crate) fn open(
    cursor: &str,
    seal: &Seal,
    principal: &Principal,
    start: Place,
) -> Result<Place> {
    let refuse = |why| Err(Error::client(Code::InvalidParams, why));
    let place = match seal.open(TokenPurpose::Cursor, principal, cursor) {
        Ok(bytes) => Place::read(&bytes),
        Err(UnsealError::Foreign) => None,
        Err(UnsealError::Expired) => {
            return refuse("the cursor is too old; start again without a cursor");
        }
    };
    match place.filter(|place| place.list == start.list) {
        None => refuse("the cursor is not one that this list gave out"),
        Some(place) if place.generation != start.generation => refuse(
            "the list has changed since the cursor was given out; start again without a cursor",
        ),
        Some(place) => Ok(place),
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
        fn a_cursor_is_good_for_its_own_list_and_generation(
            list in any_list(), other in any_list(), generation: u64, offset: usize,
        ) {
            let (seal, ada) = (Seal::new([7; 32], []), Principal::new("ada"));
            let place = Place { list, generation, offset };
            let cursor = place.cursor(&seal, &ada);
            let back = |list, generation| {
                open(&cursor, &seal, &ada, Place { list, generation, offset: 0 })
            };
            prop_assert_eq!(back(list, generation).unwrap(), place);
            prop_assert!(back(list, generation.wrapping_add(1)).is_err());
            prop_assert_eq!(back(other, generation).is_ok(), list == other);
        }
    }
}
