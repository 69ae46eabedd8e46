//! Splits text into search terms.

/// Words that are too common to search for.
const STOP_WORDS: &[&str] = &[
    "a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do",
    "does", "each", "for", "from", "has", "have", "if", "in", "into", "is", "it", "its", "may",
    "more", "not", "of", "on", "one", "only", "or", "other", "our", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "up",
    "use", "used", "using", "was", "we", "what", "when", "where", "which", "who", "will", "with",
    "would", "you", "your",
];

/// Longer runs are split.
const MAX_TERM_BYTES: usize = 40;

/// A term of the index.
#[derive(Debug)]
pub(crate) struct Term {
    pub(crate) text: String,
    /// The word in the text, if the term is only its stem.
    pub(crate) word: Option<String>,
}

/// The terms of a text: lower case, `camelCase` split, singular, without stop words.
pub(crate) fn terms(text: &str) -> impl Iterator<Item = Term> + '_ {
    let is_stop_word = |word: &str| STOP_WORDS.contains(&word);
    runs(text).filter_map(move |run| {
        let word = run.to_lowercase();
        if is_stop_word(&word) {
            return None;
        }
        match singular(&word) {
            Some(stem) if is_stop_word(&stem) => None,
            Some(stem) => Some(Term {
                text: stem,
                word: Some(word),
            }),
            None => Some(Term {
                text: word,
                word: None,
            }),
        }
    })
}

/// Runs of letters and digits; a capital after a lower-case letter begins another. In scripts without
/// spaces between words, each character is a run.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(char::is_alphanumeric)?;
        rest = &rest[start..];
        let mut previous: Option<char> = None;
        let end = rest.char_indices().find_map(|(at, c)| {
            let before = previous.replace(c)?;
            let breaks = !c.is_alphanumeric()
                || (before.is_lowercase() && c.is_uppercase())
                || is_ideograph(before)
                || is_ideograph(c)
                || at >= MAX_TERM_BYTES;
            breaks.then_some(at)
        });
        let (run, tail) = rest.split_at(end.unwrap_or(rest.len()));
        rest = tail;
        Some(run)
    })
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// A word without its English plural or third-person ending; `None` if it has none. May be no word:
/// `series` becomes `sery`.
fn singular(word: &str) -> Option<String> {
    let without = |ending: &str| word.strip_suffix(ending);
    let long_enough = |ending: &str| word.len() >= ending.len() + 3;
    if let Some(stem) = without("ies").filter(|_| long_enough("ies")) {
        return Some(format!("{stem}y"));
    }
    let with_e = ["ses", "xes", "ches", "shes", "zes"];
    if with_e.iter().any(|ending| word.ends_with(ending)) && long_enough("es") {
        let keeps_e = word.ends_with("ases") || word.ends_with("uses");
        let stem = without(if keeps_e { "s" } else { "es" });
        return stem.map(str::to_owned);
    }
    let singulars = ["ss", "us", "is"];
    let is_plural = word.len() > 3 && !singulars.iter().any(|ending| word.ends_with(ending));
    without("s").filter(|_| is_plural).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(text: &str) -> Vec<String> {
        terms(text).map(|term| term.text).collect()
    }

    #[test]
    fn a_stem_keeps_its_word() {
        let word = |text| terms(text).next().and_then(|term| term.word);
        assert_eq!(word("Addresses").as_deref(), Some("addresses"));
        assert_eq!(word("series").as_deref(), Some("series"));
        assert_eq!(word("address"), None);
        assert_eq!(collected("does uses used its"), [""; 0]);
    }

    #[test]
    fn names_and_sentences_have_the_same_terms() {
        assert_eq!(collected("create_issue"), ["create", "issue"]);
        assert_eq!(collected("createIssues"), ["create", "issue"]);
        assert_eq!(collected("Creates the issues."), ["create", "issue"]);
        assert_eq!(collected("file:///etc/hosts"), ["file", "etc", "host"]);
        assert_eq!(
            collected("queries, searches, boxes"),
            ["query", "search", "box"]
        );
        assert_eq!(
            collected("databases status class"),
            ["database", "status", "class"]
        );
        assert_eq!(collected("日本 x2"), ["日", "本", "x2"]);
        assert_eq!(collected(" … "), [""; 0]);
    }

    #[test]
    fn terms_have_a_maximum_length() {
        assert!(terms(&"x".repeat(10_000)).all(|term| term.text.len() <= MAX_TERM_BYTES));
    }
}
