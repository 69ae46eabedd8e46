//! Request ids: echoed byte for byte, compared by value.

use std::fmt;

use tidegate_core::RawJson;

/// Limited because an id is kept until its call ends.
const MAX_ID_BYTES: usize = 128 * 1024;

/// A string or an integer, as the sender wrote it.
#[derive(Clone)]
pub struct RequestId(RawJson);

impl RequestId {
    /// `None` unless the value is a string, or a number without a fraction.
    pub fn new(value: RawJson) -> Option<Self> {
        let text = value.as_str();
        let is_id = text.starts_with('"') || is_integer(text);
        (is_id && text.len() <= MAX_ID_BYTES).then_some(Self(value))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn raw(&self) -> &RawJson {
        &self.0
    }

    /// A key by which ids are compared: equal for `1.0` and `1`, and for a string however it is
    /// escaped.
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
    let consists_of = |part: &str, test: fn(u8) -> bool| !part.is_empty() && part.bytes().all(test);
    consists_of(whole, |byte| byte.is_ascii_digit()) && consists_of(fraction, |byte| byte == b'0')
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
    fn accepts_strings_and_integers_and_keeps_their_text() {
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
    fn keys_compare_by_value_and_keep_strings_apart_from_numbers() {
        let key = |text| id(text).unwrap().key();
        assert_eq!(key("1"), key("1.0"));
        assert_eq!(key("\"a\""), key("\"\\u0061\""));
        assert_ne!(key("1"), key("\"1\""));
    }

    proptest! {
        #[test]
        fn different_strings_have_different_keys(a in ".*", b in ".*") {
            let key = |text: &str| id(&serde_json::to_string(text).unwrap()).unwrap().key();
            prop_assert_eq!(key(&a) == key(&b), a == b);
        }

        #[test]
        fn different_integers_have_different_keys(a: i64, b: i64) {
            let key = |number: i64| id(&number.to_string()).unwrap().key();
            prop_assert_eq!(key(a) == key(b), a == b);
        }
    }
}
