//! Token counts of texts, with the tokenizer `o200k_base`. Models differ, but their counts are
//! close to this one.

use std::sync::LazyLock;

use tiktoken::CoreBpe;

static TOKENIZER: LazyLock<Option<&'static CoreBpe>> =
    LazyLock::new(|| tiktoken::get_encoding("o200k_base"));

/// Loads the tokenizer, which takes a while the first time.
pub async fn load() {
    let loading = tokio::task::spawn_blocking(|| {
        LazyLock::force(&TOKENIZER);
    });
    loading.await.ok();
}

pub fn count(text: &str) -> usize {
    match *TOKENIZER {
        Some(tokenizer) => tokenizer.count(text),
        None => text.len().div_ceil(3),
    }
}

/// The longest prefix of a text with at most this many tokens.
pub fn prefix(text: &str, max_tokens: usize) -> &str {
    // A token has at least one byte.
    if text.len() <= max_tokens {
        return text;
    }
    let end = match *TOKENIZER {
        None => max_tokens.saturating_mul(3),
        Some(tokenizer) => {
            // Bytes beyond this cannot be part of the prefix.
            let head = byte_prefix(text, max_tokens.saturating_mul(MAX_TOKEN_BYTES));
            let tokens = tokenizer.encode(head);
            match tokens.len() <= max_tokens {
                true => head.len(),
                false => tokenizer.decode(&tokens[..max_tokens]).len(),
            }
        }
    };
    byte_prefix(text, end)
}

const MAX_TOKEN_BYTES: usize = 128;

/// The prefix up to this byte, or to the character boundary before it.
fn byte_prefix(text: &str, end: usize) -> &str {
    &text[..text.floor_char_boundary(end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_stay_within_the_token_limit() {
        let text = "Größe und Maß, 日本語, and a few plain words. ".repeat(50);
        for max_tokens in [0, 1, 7, 100, 400, 100_000] {
            let prefix = prefix(&text, max_tokens);
            assert!(count(prefix) <= max_tokens, "{max_tokens}");
            assert!(text.starts_with(prefix), "{max_tokens}");
        }
        assert_eq!(prefix(&text, 100_000), text);
    }
}
