//! Globs for keys: `*` and `?` match within a path segment, `**` across segments, and `[a-z]` and
//! `{a,b}` are supported.
//!
//! Own code because keys are text: in `globset`, `?` and `[…]` match single bytes.

const MAX_PATTERN_BYTES: usize = 512;

/// Limit on the patterns that braces expand to.
const MAX_ALTERNATIVES: usize = 64;

/// Limit on the tokens of all alternatives, because each key is matched against all of them.
const MAX_TOKENS: usize = 1_024;

pub(super) struct KeyGlob {
    /// The pattern with its braces expanded.
    alternatives: Vec<Vec<GlobToken>>,
    /// A literal prefix of every matching key.
    pub(super) prefix: String,
}

#[derive(Clone, Debug)]
enum GlobToken {
    Literal(char),
    /// `?`
    AnyChar,
    /// `*`
    AnyInSegment,
    /// `**`
    Anything,
    /// `**/`: any number of leading segments.
    LeadingSegments,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl KeyGlob {
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(format!(
                "`pattern` must have at most {MAX_PATTERN_BYTES} bytes"
            ));
        }
        let mut alternatives = expand_braces(pattern)?;
        alternatives.sort();
        alternatives.dedup();
        let alternatives = alternatives.iter().map(|pattern| tokenize(pattern));
        let alternatives = alternatives.collect::<Result<Vec<_>, _>>()?;
        if alternatives.iter().map(Vec::len).sum::<usize>() > MAX_TOKENS {
            return Err(invalid("too long after expanding its braces"));
        }
        let special = pattern.find(['*', '?', '[', '{', '\\']);
        Ok(Self {
            alternatives,
            prefix: pattern[..special.unwrap_or(pattern.len())].to_owned(),
        })
    }

    pub(super) fn matches(&self, key: &str) -> bool {
        let key: Vec<char> = key.chars().collect();
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|tokens| matches(tokens, &key))
    }
}

fn invalid(reason: &str) -> String {
    format!("`pattern` is not a valid glob: {reason}")
}

/// The pattern once for each combination of alternatives in its braces.
fn expand_braces(pattern: &str) -> Result<Vec<String>, String> {
    let Some((open, close)) = first_braces(pattern)? else {
        return Ok(vec![pattern.to_owned()]);
    };
    let (before, after) = (&pattern[..open], &pattern[close + 1..]);
    let mut expanded = Vec::new();
    for alternative in split_alternatives(&pattern[open + 1..close]) {
        expanded.extend(expand_braces(&format!("{before}{alternative}{after}"))?);
        if expanded.len() > MAX_ALTERNATIVES {
            return Err(invalid("its braces have too many combinations"));
        }
    }
    Ok(expanded)
}

/// The positions of the first opening brace and of its closing one.
fn first_braces(pattern: &str) -> Result<Option<(usize, usize)>, String> {
    let (mut open, mut depth) = (None, 0_usize);
    for (at, c) in unescaped(pattern) {
        match c {
            '{' => {
                open = open.or(Some(at));
                depth += 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Ok(open.map(|open| (open, at)));
                }
            }
            _ => {}
        }
    }
    match open {
        Some(_) => Err(invalid("unclosed brace")),
        None => Ok(None),
    }
}

/// Splits the inside of a pair of braces at its top-level commas.
fn split_alternatives(inside: &str) -> Vec<&str> {
    let (mut alternatives, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in unescaped(inside) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                alternatives.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    alternatives.push(&inside[start..]);
    alternatives
}

/// The characters that are neither escaped nor inside brackets.
fn unescaped(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut escaped, mut in_class) = (false, false);
    text.char_indices().filter(move |(_, c)| {
        let was_escaped = escaped;
        escaped = *c == '\\' && !was_escaped;
        match c {
            '[' if !was_escaped => in_class = true,
            ']' if !was_escaped => in_class = false,
            _ => {}
        }
        !was_escaped && !in_class
    })
}

/// Tokenizes a pattern without braces.
fn tokenize(pattern: &str) -> Result<Vec<GlobToken>, String> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    let mut at_segment_start = true;
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '\\' => {
                let escaped = chars.next();
                GlobToken::Literal(escaped.ok_or_else(|| invalid("trailing backslash"))?)
            }
            '?' => GlobToken::AnyChar,
            '[' => tokenize_class(&mut chars)?,
            '*' if chars.peek() == Some(&'*') => {
                chars.next();
                match at_segment_start && chars.next_if_eq(&'/').is_some() {
                    true => GlobToken::LeadingSegments,
                    false => GlobToken::Anything,
                }
            }
            '*' => GlobToken::AnyInSegment,
            other => GlobToken::Literal(other),
        });
        at_segment_start = c == '/' || matches!(tokens.last(), Some(GlobToken::LeadingSegments));
    }
    Ok(tokens)
}

fn tokenize_class(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> Result<GlobToken, String> {
    let unclosed = || invalid("unclosed bracket");
    let negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        let start = chars.next().ok_or_else(unclosed)?;
        if start == ']' && !ranges.is_empty() {
            return Ok(GlobToken::Class { negated, ranges });
        }
        let mut end = start;
        if chars.next_if_eq(&'-').is_some() {
            match chars.peek() {
                Some(']') => ranges.push(('-', '-')),
                _ => end = chars.next().ok_or_else(unclosed)?,
            }
        }
        if start > end {
            return Err(invalid(&format!("empty range {start}-{end}")));
        }
        ranges.push((start, end));
    }
}

/// Matches a whole key by tracking every position that the tokens so far can reach.
fn matches(tokens: &[GlobToken], key: &[char]) -> bool {
    let mut reachable = vec![false; key.len() + 1];
    reachable[0] = true;
    for token in tokens {
        reachable = advance(token, key, &reachable);
        if !reachable.contains(&true) {
            return false;
        }
    }
    reachable[key.len()]
}

/// The positions that are reachable after one more token.
fn advance(token: &GlobToken, key: &[char], before: &[bool]) -> Vec<bool> {
    let mut reachable = vec![false; before.len()];
    // Whether a wildcard that started earlier still extends to this position.
    let mut extends = false;
    for at in 0..before.len() {
        let previous = at.checked_sub(1).map(|at| key[at]);
        let consumes = |accepted: bool| at > 0 && before[at - 1] && accepted;
        reachable[at] = match token {
            GlobToken::Literal(literal) => consumes(previous == Some(*literal)),
            GlobToken::AnyChar => consumes(previous.is_some_and(|c| c != '/')),
            GlobToken::Class { negated, ranges } => consumes(previous.is_some_and(|c| {
                let is_member = ranges
                    .iter()
                    .any(|(start, end)| (*start..=*end).contains(&c));
                c != '/' && is_member != *negated
            })),
            GlobToken::AnyInSegment => {
                extends = before[at] || (extends && previous != Some('/'));
                extends
            }
            GlobToken::Anything => {
                extends |= before[at];
                extends
            }
            GlobToken::LeadingSegments => {
                let after_slash = extends && previous == Some('/');
                extends |= before[at];
                before[at] || after_slash
            }
        };
    }
    reachable
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn matches_keys_against_globs() {
        for (pattern, matching, other) in [
            ("*", &["a", "a.b", ""][..], &["a/b"][..]),
            ("**", &["a", "a/b"], &[]),
            ("user*", &["user", "user.name"], &["a.user", "user/x"]),
            ("a/**", &["a/b", "a/b/c"], &["b/a"]),
            ("**/c", &["c", "a/c", "a/b/c"], &["a/cc"]),
            ("k?", &["k1", "ké"], &["k", "k12"]),
            ("k[a-c]", &["ka", "kc"], &["kd"]),
            ("k[!a]", &["kb"], &["ka"]),
            ("{red,blue}-*", &["red-1", "blue-"], &["green-1"]),
            ("a\\*", &["a*"], &["ab"]),
            ("exact", &["exact"], &["exactly"]),
            ("[é-ö]x{1,{2,3}}", &["öx1", "éx3"], &["ax1", "éx4"]),
            ("a[-x]", &["a-", "ax"], &["ab"]),
            ("{a\\,b}", &["a,b"], &["a", "b"]),
            ("x/**/y", &["x/y", "x/a/b/y"], &["xy", "x/ay"]),
        ] {
            let glob = KeyGlob::new(pattern).unwrap();
            for key in matching {
                assert!(glob.matches(key), "{pattern} {key}");
                assert!(key.starts_with(&glob.prefix), "{pattern} {key}");
            }
            for key in other {
                assert!(!glob.matches(key), "{pattern} {key}");
            }
        }
        let too_many = "{a,b}".repeat(20);
        for invalid in ["[", "{a", "[z-a]", "a\\", &too_many, &"*".repeat(600)] {
            assert!(KeyGlob::new(invalid).is_err(), "{invalid}");
        }
    }

    proptest! {
        #[test]
        fn matching_keys_have_the_prefix(pattern in "[ab/*?{},\\[\\]\\\\-]{0,10}", key in "[ab/]{0,6}") {
            if let Ok(glob) = KeyGlob::new(&pattern) && glob.matches(&key) {
                prop_assert!(key.starts_with(&glob.prefix));
            }
        }
    }
}
