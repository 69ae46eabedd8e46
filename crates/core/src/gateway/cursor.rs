//! Cursors: where a client stands in one generation of one list.

use crate::{Code, Error, List, Result};

/// A place in a list. Good for as long as the list is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) list: List,
    pub(crate) generation: u64,
    pub(crate) offset: usize,
}

impl Cursor {
    pub(crate) fn write(self) -> String {
        format!(
            "{}{:016x}{:x}",
            letter(self.list),
            self.generation,
            self.offset
        )
    }

    fn read(text: &str) -> Option<Self> {
        let list = List::ALL
            .into_iter()
            .find(|list| text.starts_with(letter(*list)))?;
        let generation = u64::from_str_radix(text.get(1..17)?, 16).ok()?;
        let offset = usize::from_str_radix(text.get(17..)?, 16).ok()?;
        let cursor = Self {
            list,
            generation,
            offset,
        };
        // One spelling for one place: whatever else parses was not written by us.
        (cursor.write() == text).then_some(cursor)
    }

    /// Reads a cursor that a client sends back for `list` as it is in `generation`.
    pub(crate) fn open(text: &str, list: List, generation: u64) -> Result<Self> {
        let cursor = Self::read(text)
            .filter(|cursor| cursor.list == list)
            .ok_or_else(|| {
                Error::client(
                    Code::InvalidParams,
                    "the cursor is not one that this list gave out",
                )
            })?;
        if cursor.generation == generation {
            Ok(cursor)
        } else {
            Err(Error::client(
                Code::InvalidParams,
                "the list has changed since the cursor was given out; start again without a cursor",
            ))
        }
    }
}

fn letter(list: List) -> char {
    match list {
        List::Tools => 't',
        List::Prompts => 'p',
        List::Resources => 'r',
        List::Templates => 'm',
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
        fn a_written_cursor_is_read_back(list in any_list(), generation: u64, offset: usize) {
            let cursor = Cursor { list, generation, offset };
            prop_assert_eq!(Cursor::open(&cursor.write(), list, generation).unwrap(), cursor);
        }

        #[test]
        fn a_cursor_of_another_list_or_generation_is_refused(list in any_list(), other in any_list(), generation: u64, offset: usize) {
            let text = Cursor { list, generation, offset }.write();
            prop_assert!(Cursor::open(&text, list, generation.wrapping_add(1)).is_err());
            prop_assert_eq!(Cursor::open(&text, other, generation).is_ok(), list == other);
        }

        #[test]
        fn anything_else_is_refused_and_never_panics(text in ".*") {
            if let Ok(cursor) = Cursor::open(&text, List::Tools, 0) {
                prop_assert_eq!(cursor.write(), text);
            }
        }
    }
}
