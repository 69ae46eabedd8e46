//! What a text costs a model's context. Counted with the tokenizer `o200k_base`: no count holds for
//! every model, but this one is of a real one, and others are near it.

use std::sync::LazyLock;

use tiktoken::CoreBpe;

static TOKENIZER: LazyLock<Option<&'static CoreBpe>> =
    LazyLock::new(|| tiktoken::get_encoding("o200k_base"));

/// Waits until counting is quick: what it needs is unpacked once.
pub async fn ready() {
    let unpacking = tokio::task::spawn_blocking(|| {
        LazyLock::force(&TOKENIZER);
    });
    unpacking.await.ok();
}

/// The tokens of a text.
pub fn count(text: &str) -> usize {
    match *TOKENIZER {
        Some(tokenizer) => tokenizer.count(text),
        None => text.len().div_ceil(3),
    }
}

/// The longest beginning of a text that has no more tokens than this.
pub fn within(text: &str, most: usize) -> &str {
    // A token is a byte or more.
    if text.len() <= most {
        return text;
    }
    let end = match *TOKENIZER {
        None => most.saturating_mul(3),
        Some(tokenizer) => {
            // No token is longer: beyond this nothing fits.
            let head = upto(text, most.saturating_mul(LONGEST_TOKEN));
            let tokens = tokenizer.encode(head);
            match tokens.len() <= most {
                true => head.len(),
                false => tokenizer.decode(&tokens[..most]).len(),
            }
        }
    };
    upto(text, end)
}

const LONGEST_TOKEN: usize = 128;

/// The beginning of a text that ends at a character.
fn upto(text: &str, end: usize) -> &str {
    let mut end = end.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_has_no_more_tokens_than_asked_for() {
        let text = "Größe und Maß, 日本語, and a few plain words. ".repeat(50);
        for most in [0, 1, 7, 100, 400, 100_000] {
            let head = within(&text, most);
            assert!(count(head) <= most && text.starts_with(head), "{most}");
        }
        assert_eq!(within(&text, 100_000), text);
    }
}
