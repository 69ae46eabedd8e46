//! A JSON list of at most so many items. The bound holds while it is read, not after.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};

/// Reads a list; one with more items is an error.
pub fn list<'a, T: Deserialize<'a>>(text: &'a str, most: usize) -> serde_json::Result<Vec<T>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let items = deserializer.deserialize_seq(AtMost {
        most,
        item: PhantomData,
    })?;
    deserializer.end()?;
    Ok(items)
}

/// How many items a list has; none if it is no list.
pub fn length(text: &str) -> Option<usize> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_seq(Length).ok()
}

struct Length;

impl<'de> Visitor<'de> for Length {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<usize, A::Error> {
        let mut length = 0;
        while items.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok(length)
    }
}

struct AtMost<T> {
    most: usize,
    item: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtMost<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {} items", self.most)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.len() == self.most {
                return Err(A::Error::custom(format_args!(
                    "more than {} items",
                    self.most
                )));
            }
            list.push(item);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_up_to_its_bound() {
        assert_eq!(list::<u8>("[1,2]", 2).unwrap(), [1, 2]);
        assert!(list::<u8>("[1,2,3]", 2).is_err());
        assert!(list::<u8>("{}", 2).is_err());
        assert!(list::<u8>("[1] 2", 2).is_err());
    }

    #[test]
    fn items_are_counted_whatever_they_are() {
        assert_eq!(length("[]"), Some(0));
        assert_eq!(length(r#"[{"a":[1,2]},"b",null]"#), Some(3));
        assert_eq!(length("{}"), None);
    }
}
