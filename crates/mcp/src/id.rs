//! The id of a request: echoed byte for byte, compared by value.

use std::fmt;

use tidegate_core::RawJson;

/// Bytes of the longest id: it is kept for as long as its call lasts.
const LONGEST: usize = 128 * 1024;

/// A string or an integer, as the client wrote it.
#[derive(Clone)]
pub struct RequestId(RawJson);

impl RequestId {
    /// Takes a value that is an id: a string, or a number without a fraction.
    pub fn new(value: RawJson) -> Option<Self> {
        let text = value.as_str();
        let is_id = text.starts_with('"') || is_integer(text);
        (is_id && text.len() <= LONGEST).then_some(Self(value))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn raw(&self) -> &RawJson {
        &self.0
    }

    /// One text for one value: `1.0` is `1`, and an escape is what it stands for.
    pub fn key(&self) -> String {
        let text = self.as_str();
        let string = text.starts_with('"').then(|| serde_json::from_str(text));
        match string {
            Some(Ok::<String, _>(string)) => format!("\"{string}"),
            _ => text.split('.').next().unwrap_or(text).to_owned(),
        }
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |part: &str, test: fn(u8) -> bool| !part.is_empty() && part.bytes().all(test);
    all(whole, |byte| byte.is_ascii_digit()) && all(fraction, |byte| byte == b'0')
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(text: &str) -> Option<RequestId> {
        RequestId::new(RawJson::parse(text.to_owned()).unwrap())
    }

    #[test]
    fn strings_and_integers_are_ids_and_keep_their_text() {
        for text in [
            "1",
            "0",
            "-7",
            "1.0",
            "9223372036854775808",
            "\"\"",
            "\"a\\u0062\"",
        ] {
            assert_eq!(id(text).unwrap().as_str(), text);
        }
        for text in ["null", "true", "1.5", "1e3", "[1]", "{}"] {
            assert!(id(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_key_is_the_value_and_a_string_is_never_a_number() {
        let key = |text| id(text).unwrap().key();
        assert_eq!(key("1"), key("1.0"));
        assert_eq!(key("\"a\""), key("\"\\u0061\""));
        assert_ne!(key("1"), key("\"1\""));
    }

    proptest! {
        #[test]
        fn any_string_is_an_id_with_a_key_of_its_own(one in ".*", other in ".*") {
            let key = |text: &str| id(&serde_json::to_string(text).unwrap()).unwrap().key();
            prop_assert_eq!(key(&one) == key(&other), one == other);
        }

        #[test]
        fn any_integer_is_an_id_with_a_key_of_its_own(one: i64, other: i64) {
            let key = |number: i64| id(&number.to_string()).unwrap().key();
            prop_assert_eq!(key(one) == key(other), one == other);
        }
    }
}
