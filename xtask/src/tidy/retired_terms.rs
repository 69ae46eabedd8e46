//! Names and phrases that we gave up, so that they do not come back. ARCHITECTURE.md has the words
//! that we use instead.
//!
//! Must not know: anything but text.

use super::Problem;
use super::sources::Source;

/// Identifiers and words, with what to write instead. In pieces, so that this file has none of them.
const WORDS: &[(&str, &str)] = &[
    (concat!("do", "or"), "transport"),
    (concat!("do", "ors"), "transports"),
    (concat!("er", "rand"), "elicitation id"),
    (concat!("er", "rands"), "url elicitations"),
    (concat!("who", "ever"), "the client, the caller, anyone who"),
    (concat!("vi", "tals"), "gauges"),
    (concat!("look", "out"), "gateway handle"),
    (concat!("kee", "per"), "child guard, supervisor"),
    (concat!("she", "lf"), "snapshot"),
    (concat!("is_", "retry"), "is_continuation"),
    (concat!("next_", "round"), "continuation"),
    (concat!("own_", "source"), "gateway source"),
    (concat!("bridge_", "tools"), "gateway_tools"),
    (concat!("bridge", "tools"), "GatewayTools"),
];

const PHRASES: &[(&str, &str)] = &[
    (concat!("under", " way"), "in flight, in progress"),
    (concat!("that is", " none"), "invalid"),
    (concat!("is let", " be"), "is ignored"),
    (concat!("are let", " be"), "are ignored"),
    (concat!("than they", " were"), "changed"),
    (concat!("taken", " in"), "loaded, fetched"),
    (concat!("takes", " in "), "loads, fetches"),
    (concat!("what there", " is"), "name the thing"),
    (concat!("what can be", " had"), "what is available"),
    (concat!("may come", " in"), "is accepted, may connect"),
    (concat!("in so many", " words"), "explicitly"),
    (concat!("bridge", " tools"), "gateway tools"),
    (concat!("stateless", " client"), "modern client"),
    (concat!("stateless", " server"), "modern server"),
    (concat!("stateless", " request"), "modern request"),
    (concat!("stateless", " call"), "modern call"),
];

pub(super) fn check(file: &Source) -> Vec<Problem> {
    let is_text = [".rs", ".md", ".py", ".mjs", ".ts", ".toml"]
        .iter()
        .any(|ending| file.path.ends_with(ending));
    if !is_text {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (line, text) in file.lines() {
        let lower = text.to_lowercase();
        let words = WORDS.iter().filter(|(word, _)| has_word(&lower, word));
        let phrases = PHRASES.iter().filter(|(phrase, _)| lower.contains(phrase));
        for (term, instead) in words.chain(phrases) {
            let what = format!("\"{term}\" is not a term of this project; write: {instead}");
            problems.push(Problem::new(&file.path, line, what));
        }
    }
    problems
}

/// Whether the word occurs by itself or as a part of a `snake_case` name.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let is_letter = |c: char| c.is_alphanumeric();
        !line[..at].ends_with(is_letter) && !line[at + word.len()..].starts_with(is_letter)
    })
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::source;
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&source(path, text)).len()
    }

    #[test]
    fn finds_every_retired_term_in_code_and_prose() {
        for (term, _) in WORDS.iter().chain(PHRASES) {
            let text = format!("/// One {} here.\n", term.to_uppercase());
            assert!(count("crates/core/src/a.rs", &text) >= 1, "{term}");
            assert!(count("docs/a.md", &text) >= 1, "{term}");
            assert_eq!(count("fixture.json", &text), 0, "{term}");
        }
    }

    #[test]
    fn a_part_of_a_name_counts_and_a_part_of_a_word_does_not() {
        let (word, _) = WORDS[0];
        assert_eq!(count("a.rs", &format!("fn open_{word}() {{}}")), 1);
        assert_eq!(count("a.rs", &format!("in{word}s out{word}")), 0);
    }

    #[test]
    fn this_file_has_none() {
        let text = include_str!("retired_terms.rs");
        assert_eq!(check(&source("xtask/src/tidy/retired_terms.rs", text)), []);
    }
}
