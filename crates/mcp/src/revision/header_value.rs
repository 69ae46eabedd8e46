//! The base64 encoding of header values, `=?base64?…?=`, for values that a header cannot carry
//! literally.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const BASE64_PREFIX: &str = "=?base64?";
const BASE64_SUFFIX: &str = "?=";

/// Decodes a header value; `None` if its base64 is malformed. A value with only the prefix or only
/// the suffix is literal.
pub(super) fn decode(value: &str) -> Option<Cow<'_, str>> {
    let inner = value
        .strip_prefix(BASE64_PREFIX)
        .and_then(|rest| rest.strip_suffix(BASE64_SUFFIX));
    match inner {
        None => Some(Cow::Borrowed(value)),
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
    }
}

/// Encodes a value, in base64 only if it has to be.
pub(super) fn encode(value: &str) -> String {
    let is_printable = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_trimmed = value.trim_matches([' ', '\t']) == value;
    let looks_encoded = value.starts_with(BASE64_PREFIX) && value.ends_with(BASE64_SUFFIX);
    match is_printable && is_trimmed && !looks_encoded {
        true => value.to_owned(),
        false => format!("{BASE64_PREFIX}{}{BASE64_SUFFIX}", STANDARD.encode(value)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rejects_malformed_base64_and_keeps_incomplete_markers_literal() {
        assert_eq!(decode("=?base64?SGVsbG8=?=").as_deref(), Some("Hello"));
        assert_eq!(decode("=?base64??=").as_deref(), Some(""));
        for malformed in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!G8=?=",
            "=?base64?/w==?=",
        ] {
            assert_eq!(decode(malformed), None, "{malformed}");
        }
        for literal in [
            "SGVsbG8=",
            "=?base64?SGVsbG8=",
            "SGVsbG8=?=",
            "=?BASE64?SGVsbG8=?=",
            "=?base64?=",
        ] {
            assert_eq!(decode(literal).as_deref(), Some(literal));
        }
    }

    proptest! {
        #[test]
        fn decodes_encoded_values(text in ".*") {
            let value = format!("{BASE64_PREFIX}{}{BASE64_SUFFIX}", STANDARD.encode(&text));
            prop_assert_eq!(decode(&value).unwrap(), text.as_str());
            let encoded = encode(&text);
            prop_assert_eq!(decode(&encoded).unwrap(), text);
        }

        #[test]
        fn never_panics_on_any_value(text in ".*") {
            decode(&text);
        }
    }
}
