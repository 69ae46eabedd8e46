//! Percent-encoding in URIs (RFC 3986).

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but the unreserved characters.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Everything but the unreserved and reserved characters; `%` is kept, so that an encoded value is
/// not encoded twice.
const RESERVED: &AsciiSet = &COMPONENT
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'#')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b'%');

/// Encodes text for one segment or one query value of a URI.
pub fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// Encodes bytes for one segment of a URI.
pub fn percent_encode_bytes(bytes: &[u8]) -> String {
    percent_encoding::percent_encode(bytes, COMPONENT).to_string()
}

/// Encodes text for a URI and keeps the characters that separate its parts.
pub fn percent_encode_reserved(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes each triplet (`%41`) once. Other percent signs are kept.
pub fn percent_decode(text: &str) -> Cow<'_, [u8]> {
    percent_decode_str(text).into()
}

/// Decodes to text; `None` if the bytes are not UTF-8.
pub fn percent_decode_utf8(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decodes_triplets_and_keeps_other_percent_signs() {
        for (text, decoded) in [
            ("a%20b%C3%A9", "a bé".as_bytes()),
            ("100%, %4, %zz%, %+f", b"100%, %4, %zz%, %+f"),
            ("%ff", b"\xff"),
        ] {
            assert_eq!(percent_decode(text), decoded, "{text}");
        }
        assert_eq!(percent_decode_utf8("%ff"), None);
    }

    #[test]
    fn encodes_by_the_place_in_a_uri() {
        assert_eq!(percent_encode("a b/é~%"), "a%20b%2F%C3%A9~%25");
        assert_eq!(percent_encode_reserved("a b/é?x=%20"), "a%20b/%C3%A9?x=%20");
        assert_eq!(percent_encode_bytes(b"\xff-"), "%FF-");
    }

    proptest! {
        #[test]
        fn decoding_reverses_encoding(text in "\\PC{0,40}") {
            let encoded = percent_encode(&text);
            prop_assert_eq!(percent_decode_utf8(&encoded).unwrap(), text);
        }
    }
}
