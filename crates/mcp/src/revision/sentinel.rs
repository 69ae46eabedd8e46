//! The base64 form of a header value: `=?base64?…?=` for what a header cannot carry as it is.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// What a header value stands for; none where the base64 form is malformed. A value with only one
/// of the two markers is taken as it is.
pub(super) fn decode(value: &str) -> Option<Cow<'_, str>> {
    let inner = value
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX));
    match inner {
        None => Some(Cow::Borrowed(value)),
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
    }
}

/// A value as a header carries it.
pub(super) fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let trimmed = value.trim_matches([' ', '\t']) == value;
    let looks_encoded = value.starts_with(PREFIX) && value.ends_with(SUFFIX);
    match plain && trimmed && !looks_encoded {
        true => value.to_owned(),
        false => format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(value)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn malformed_base64_is_refused_and_half_a_marker_is_literal() {
        assert_eq!(decode("=?base64?SGVsbG8=?=").as_deref(), Some("Hello"));
        assert_eq!(decode("=?base64??=").as_deref(), Some(""));
        for bad in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!G8=?=",
            "=?base64?/w==?=",
        ] {
            assert_eq!(decode(bad), None, "{bad}");
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
        fn what_was_encoded_is_decoded(text in ".*") {
            let value = format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(&text));
            prop_assert_eq!(decode(&value).unwrap(), text.as_str());
            let encoded = encode(&text);
            prop_assert_eq!(decode(&encoded).unwrap(), text);
        }

        #[test]
        fn any_value_is_decoded_or_refused(text in ".*") {
            decode(&text);
        }
    }
}
