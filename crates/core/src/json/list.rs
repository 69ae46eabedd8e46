//! JSON arrays with a limit that holds while they are parsed.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};

/// Parses an array; one with more than `max` items is an error.
pub fn list<'a, T: Deserialize<'a>>(text: &'a str, max: usize) -> serde_json::Result<Vec<T>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let items = deserializer.deserialize_seq(AtMost {
        max,
        item: PhantomData,
    })?;
    deserializer.end()?;
    Ok(items)
}

/// The number of items of an array; `None` if the text is not an array.
pub fn length(text: &str) -> Option<usize> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_seq(LengthVisitor).ok()
}

struct LengthVisitor;

impl<'de> Visitor<'de> for LengthVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
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
    max: usize,
    item: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtMost<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {} items", self.max)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.len() == self.max {
                return Err(A::Error::custom(format_args!(
                    "more than {} items",
                    self.max
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
    fn rejects_more_items_than_the_limit() {
        assert_eq!(list::<u8>("[1,2]", 2).unwrap(), [1, 2]);
        assert!(list::<u8>("[1,2,3]", 2).is_err());
        assert!(list::<u8>("{}", 2).is_err());
        assert!(list::<u8>("[1] 2", 2).is_err());
    }

    #[test]
    fn counts_items_of_any_type() {
        assert_eq!(length("[]"), Some(0));
        assert_eq!(length(r#"[{"a":[1,2]},"b",null]"#), Some(3));
        assert_eq!(length("{}"), None);
    }
}
