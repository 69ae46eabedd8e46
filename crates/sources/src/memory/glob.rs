//! Patterns for keys: `*` and `?` within a part between slashes, `**` across parts, `[a-z]`, `{a,b}`.
//!
//! Our own, because a key is text: what libraries for file names match are bytes.

/// Longer patterns are not meant for keys.
const LONGEST: usize = 512;

/// More ways to read the braces than anyone means.
const MOST_WAYS: usize = 64;

/// What is matched with every key must stay cheap.
const MOST_PARTS: usize = 1_024;

pub(super) struct Pattern {
    /// Each way to read the braces.
    ways: Vec<Vec<Part>>,
    /// How every key begins that fits.
    pub(super) prefix: String,
}

#[derive(Clone, Debug)]
enum Part {
    One(char),
    /// `?`
    Any,
    /// `*`
    Within,
    /// `**`
    Across,
    /// `**/`: any parts before, or none.
    Before,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("`pattern` may have {LONGEST} bytes at most"));
        }
        let mut ways = unfolded(text)?;
        ways.sort();
        ways.dedup();
        let ways = ways.iter().map(|way| parts(way));
        let ways = ways.collect::<Result<Vec<_>, _>>()?;
        if ways.iter().map(Vec::len).sum::<usize>() > MOST_PARTS {
            return Err(wrong("it is too long, with all ways to read its braces"));
        }
        let fixed = text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len());
        Ok(Self {
            ways,
            prefix: text[..fixed].to_owned(),
        })
    }

    pub(super) fn fits(&self, key: &str) -> bool {
        let key: Vec<char> = key.chars().collect();
        self.ways.iter().any(|way| fits(way, &key))
    }
}

fn wrong(why: &str) -> String {
    format!("`pattern` is not a glob: {why}")
}

/// The pattern once for each way to choose in its braces.
fn unfolded(text: &str) -> Result<Vec<String>, String> {
    let Some((open, close)) = outer_braces(text)? else {
        return Ok(vec![text.to_owned()]);
    };
    let (before, after) = (&text[..open], &text[close + 1..]);
    let mut ways = Vec::new();
    for choice in choices(&text[open + 1..close]) {
        ways.extend(unfolded(&format!("{before}{choice}{after}"))?);
        if ways.len() > MOST_WAYS {
            return Err(wrong("its braces can be read in too many ways"));
        }
    }
    Ok(ways)
}

/// Where the first brace stands, and the one that closes it.
fn outer_braces(text: &str) -> Result<Option<(usize, usize)>, String> {
    let (mut open, mut depth) = (None, 0_usize);
    for (at, c) in unescaped(text) {
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
        Some(_) => Err(wrong("a brace is not closed")),
        None => Ok(None),
    }
}

/// What stands between the commas of one pair of braces.
fn choices(inside: &str) -> Vec<&str> {
    let (mut choices, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in unescaped(inside) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                choices.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    choices.push(&inside[start..]);
    choices
}

/// The characters that mean themselves: not after a backslash, not inside brackets.
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

/// The parts of a pattern without braces.
fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text.chars().peekable();
    let mut begins = true;
    while let Some(c) = rest.next() {
        parts.push(match c {
            '\\' => Part::One(rest.next().ok_or_else(|| wrong("it ends in a backslash"))?),
            '?' => Part::Any,
            '[' => class(&mut rest)?,
            '*' if rest.peek() == Some(&'*') => {
                rest.next();
                match begins && rest.next_if_eq(&'/').is_some() {
                    true => Part::Before,
                    false => Part::Across,
                }
            }
            '*' => Part::Within,
            other => Part::One(other),
        });
        begins = c == '/' || matches!(parts.last(), Some(Part::Before));
    }
    Ok(parts)
}

fn class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Part, String> {
    let open = || wrong("a bracket is not closed");
    let negated = rest.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        let from = rest.next().ok_or_else(open)?;
        if from == ']' && !ranges.is_empty() {
            return Ok(Part::Class { negated, ranges });
        }
        let mut to = from;
        if rest.next_if_eq(&'-').is_some() {
            match rest.peek() {
                Some(']') => ranges.push(('-', '-')),
                _ => to = rest.next().ok_or_else(open)?,
            }
        }
        if from > to {
            return Err(wrong(&format!("nothing lies between {from} and {to}")));
        }
        ranges.push((from, to));
    }
}

/// Whether a whole key fits: part by part, all places that can be reached.
fn fits(parts: &[Part], key: &[char]) -> bool {
    let mut reached = vec![false; key.len() + 1];
    reached[0] = true;
    for part in parts {
        reached = after(part, key, &reached);
        if !reached.contains(&true) {
            return false;
        }
    }
    reached[key.len()]
}

fn after(part: &Part, key: &[char], before: &[bool]) -> Vec<bool> {
    let mut reached = vec![false; before.len()];
    let mut running = false;
    for at in 0..before.len() {
        let last = at.checked_sub(1).map(|last| key[last]);
        let stepped = |takes: bool| at > 0 && before[at - 1] && takes;
        reached[at] = match part {
            Part::One(wanted) => stepped(last == Some(*wanted)),
            Part::Any => stepped(last.is_some_and(|c| c != '/')),
            Part::Class { negated, ranges } => stepped(last.is_some_and(|c| {
                let among = ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
                c != '/' && among != *negated
            })),
            Part::Within => {
                running = before[at] || (running && last != Some('/'));
                running
            }
            Part::Across => {
                running |= before[at];
                running
            }
            Part::Before => {
                let whole = running && last == Some('/');
                running |= before[at];
                before[at] || whole
            }
        };
    }
    reached
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_are_globs() {
        for (pattern, fitting, other) in [
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
            let compiled = Pattern::new(pattern).unwrap();
            for key in fitting {
                assert!(compiled.fits(key), "{pattern} {key}");
                assert!(key.starts_with(&compiled.prefix), "{pattern} {key}");
            }
            for key in other {
                assert!(!compiled.fits(key), "{pattern} {key}");
            }
        }
        let many = "{a,b}".repeat(20);
        for wrong in ["[", "{a", "[z-a]", "a\\", &many, &"*".repeat(600)] {
            assert!(Pattern::new(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_fits_has_the_prefix(pattern in "[ab/*?{},\\[\\]\\\\-]{0,10}", key in "[ab/]{0,6}") {
            if let Ok(compiled) = Pattern::new(&pattern) && compiled.fits(&key) {
                prop_assert!(key.starts_with(&compiled.prefix));
            }
        }
    }
}
