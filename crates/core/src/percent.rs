//! Percent signs in URIs, read once.

/// The bytes that a text stands for. What only looks encoded stays.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match percent_triplet(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// The byte that `%41` at the beginning stands for.
pub fn percent_triplet(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_it_is_meant() {
        for (text, meant) in [
            ("a%20b%C3%A9", "a bé".as_bytes()),
            ("100%, %4, %zz%, %+f", b"100%, %4, %zz%, %+f"),
            ("%ff", b"\xff"),
        ] {
            assert_eq!(percent_decoded(text), meant, "{text}");
        }
    }
}
