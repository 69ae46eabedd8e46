//! Text into the words by which it is found.

/// Words that say nothing about what a thing is for.
const EMPTY: &[&str] = &[
    "a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do",
    "does", "each", "for", "from", "has", "have", "if", "in", "into", "is", "it", "its", "may",
    "more", "not", "of", "on", "one", "only", "or", "other", "our", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "up",
    "use", "used", "using", "was", "we", "what", "when", "where", "which", "who", "will", "with",
    "would", "you", "your",
];

/// No word that anyone looks for is longer.
const LONGEST: usize = 40;

/// The words of a text: in lower case, one for `camelCase` parts, without plural endings, without
/// those that say nothing.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    parts(text)
        .map(|part| singular(part.to_lowercase()))
        .filter(|word| !EMPTY.contains(&word.as_str()))
}

/// Runs of letters and digits; a capital after a small letter begins another. Of scripts that
/// leave no space between words, each character is one.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(char::is_alphanumeric)?;
        rest = &rest[start..];
        let mut last: Option<char> = None;
        let end = rest.char_indices().find_map(|(at, c)| {
            let before = last.replace(c)?;
            let breaks = !c.is_alphanumeric()
                || (before.is_lowercase() && c.is_uppercase())
                || is_ideograph(before)
                || is_ideograph(c)
                || at >= LONGEST;
            breaks.then_some(at)
        });
        let (part, tail) = rest.split_at(end.unwrap_or(rest.len()));
        rest = tail;
        Some(part)
    })
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// A word without the ending that makes it many, or a verb of it: what is left is still a word.
fn singular(mut word: String) -> String {
    let long_enough = |word: &str, ending: &str| word.len() >= ending.len() + 3;
    if word.ends_with("ies") && long_enough(&word, "ies") {
        word.truncate(word.len() - 3);
        word.push('y');
        return word;
    }
    let with_e = ["ses", "xes", "ches", "shes", "zes"];
    if with_e.iter().any(|ending| word.ends_with(ending)) && long_enough(&word, "es") {
        let kept = if word.ends_with("ases") || word.ends_with("uses") {
            1
        } else {
            2
        };
        word.truncate(word.len() - kept);
        return word;
    }
    let kept = ["ss", "us", "is"];
    let is_plural = word.ends_with('s') && !kept.iter().any(|ending| word.ends_with(ending));
    if is_plural && word.len() > 3 {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn names_and_sentences_give_the_same_words() {
        assert_eq!(all("create_issue"), ["create", "issue"]);
        assert_eq!(all("createIssues"), ["create", "issue"]);
        assert_eq!(all("Creates the issues."), ["create", "issue"]);
        assert_eq!(all("file:///etc/hosts"), ["file", "etc", "host"]);
        assert_eq!(all("queries, searches, boxes"), ["query", "search", "box"]);
        assert_eq!(
            all("databases status class"),
            ["database", "status", "class"]
        );
        assert_eq!(all("日本 x2"), ["日", "本", "x2"]);
        assert_eq!(all(" … "), [""; 0]);
    }

    #[test]
    fn no_text_makes_a_word_without_end() {
        assert!(words(&"x".repeat(10_000)).all(|word| word.len() <= LONGEST));
    }
}
