//! "Did you mean": the known word that is nearest to an unknown one.
//!
//! Knows nothing but words.

/// The candidate that `word` is most likely a slip of, if there is one.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = plain(word);
    let allowed = (word.len() / 3).clamp(1, 3);
    candidates
        .iter()
        .map(|candidate| (distance(&word, &plain(candidate)), *candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `publicUrl`, `public-url` and `public_url` are one word, spelled by different habits.
fn plain(word: &str) -> Vec<char> {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters must be put in, left out, changed or swapped with the next one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
        let known = ["listen", "limits", "log", "public_url", "data_dir"];
        for (word, expected) in [
            ("lisen", Some("listen")),
            ("lsiten", Some("listen")),
            ("publicUrl", Some("public_url")),
            ("data-dir", Some("data_dir")),
            ("lag", Some("log")),
            ("limit", Some("limits")),
            ("servers", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
    }
}
