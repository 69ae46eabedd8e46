//! URI templates, read backwards: whether a URI is one that a template could have become.
//!
//! The match is linear in the length of the URI for each part of the template, whatever either says.

use std::collections::BTreeSet;

/// Longer templates and URIs match nothing.
const LONGEST: usize = 8 * 1024;

/// A URI template (RFC 6570), taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// Something in place of an expression.
    Any {
        /// What it begins with where it is not empty: `#`, `.`, `/`, `;`, `?` or `&`.
        first: Option<char>,
        /// Whether it may hold what separates the parts of a URI.
        reserved: bool,
        /// Whether it may be missing altogether.
        optional: bool,
    },
}

impl UriTemplate {
    /// Takes a template apart; none if its braces do not fit.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((literal, after)) = rest.split_once('{') {
            let (expression, after) = after.split_once('}')?;
            if literal.contains('}') || expression.is_empty() {
                return None;
            }
            parts.push(Part::Literal(literal.to_owned()));
            parts.push(Part::of(expression));
            rest = after;
        }
        if rest.contains('}') {
            return None;
        }
        parts.push(Part::Literal(rest.to_owned()));
        Some(Self { parts })
    }

    /// How much of it is fixed: of two templates that match, the one that says more is meant.
    pub fn literal_len(&self) -> usize {
        let length = |part: &Part| match part {
            Part::Literal(text) => text.len(),
            Part::Any { .. } => 0,
        };
        self.parts.iter().map(length).sum()
    }

    pub fn matches(&self, uri: &str) -> bool {
        if uri.len() > LONGEST {
            return false;
        }
        let mut ends = BTreeSet::from([0]);
        for part in &self.parts {
            ends = part.ends(uri, &ends);
            if ends.is_empty() {
                return false;
            }
        }
        ends.contains(&uri.len())
    }
}

impl Part {
    fn of(expression: &str) -> Self {
        let any = |first, reserved, optional| Self::Any {
            first,
            reserved,
            optional,
        };
        match expression.chars().next() {
            Some('+') => any(None, true, false),
            Some('#') => any(Some('#'), true, true),
            Some('.') => any(Some('.'), false, true),
            Some('/') if expression.ends_with('*') => any(Some('/'), true, true),
            Some('/') => any(Some('/'), false, true),
            Some(';') => any(Some(';'), true, true),
            Some('?') => any(Some('?'), true, true),
            Some('&') => any(Some('&'), true, true),
            // By the book only a list with commas in between; servers mean a path by it.
            _ if expression.ends_with('*') => any(None, true, false),
            _ => any(None, false, false),
        }
    }

    /// Where this part may end, if it begins at one of these places.
    fn ends(&self, uri: &str, starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        match self {
            Self::Literal(text) => starts
                .iter()
                .filter(|start| uri[**start..].starts_with(text.as_str()))
                .map(|start| start + text.len())
                .collect(),
            Self::Any {
                first,
                reserved,
                optional,
            } => {
                let mut ends = if *optional {
                    starts.clone()
                } else {
                    BTreeSet::new()
                };
                let mut reached = 0;
                for start in starts {
                    let Some(from) = after(uri, *start, *first) else {
                        continue;
                    };
                    // Whatever an earlier start could reach has been noted.
                    let skip = reached.max(from);
                    for (at, character) in uri[skip..].char_indices() {
                        if !(*reserved || is_simple(character)) {
                            break;
                        }
                        reached = skip + at + character.len_utf8();
                        ends.insert(reached);
                    }
                    reached = reached.max(from);
                }
                ends
            }
        }
    }
}

/// The place behind what an expression begins with.
fn after(uri: &str, start: usize, first: Option<char>) -> Option<usize> {
    match first {
        None => Some(start),
        Some(first) => uri[start..]
            .starts_with(first)
            .then(|| start + first.len_utf8()),
    }
}

/// What a plain expression becomes holds no separator; a space is let pass, for clients that do not
/// encode it.
fn is_simple(character: char) -> bool {
    !matches!(character, '/' | '?' | '#')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(template: &str, uri: &str) -> bool {
        UriTemplate::parse(template).unwrap().matches(uri)
    }

    #[test]
    fn each_operator_matches_what_it_expands_to() {
        for (template, uri) in [
            ("a://b/{c}", "a://b/d"),
            ("a://b/{c}/d", "a://b/x%20y/d"),
            ("a://b/{c}/d", "a://b/x y/d"),
            ("a://{+path}", "a://b/c/d"),
            ("a://b{/c}", "a://b/d"),
            ("a://b{/c*}", "a://b/d/e/f"),
            ("a://b{/c}", "a://b"),
            ("a://b{?q,lang}", "a://b?q=1&lang=en"),
            ("a://b{?q}", "a://b"),
            ("a://b?x=1{&q}", "a://b?x=1&q=2"),
            ("a://b{#part}", "a://b#x"),
            ("a://b{.ext}", "a://b.txt"),
            ("a://{x}-{y}", "a://1-2-3"),
            ("a://b/{c*}", "a://b/d,e"),
            ("a://b/{c*}{?q}", "a://b/d/e?q=1"),
        ] {
            assert!(matches(template, uri), "{template} {uri}");
        }
        for (template, uri) in [
            ("a://b/{c}", "a://b/"),
            ("a://b/{c}", "a://b/d/e"),
            ("a://b/{c}/d", "a://b/x/e"),
            ("a://b{?q}", "a://b/q"),
            ("a://b/{c}", "x://b/d"),
        ] {
            assert!(!matches(template, uri), "{template} {uri}");
        }
        assert_eq!(UriTemplate::parse("a://{b"), None);
        assert_eq!(UriTemplate::parse("a://b}"), None);
        assert_eq!(UriTemplate::parse("a://{}"), None);
    }

    proptest! {
        #[test]
        fn an_expansion_matches_its_template(prefix in "[a-z]{1,8}://", one in "[a-zA-Z0-9 %._~-]{1,12}", two in "[a-zA-Z0-9 %._~-]{1,12}") {
            let template = format!("{prefix}{{one}}/x/{{two}}");
            let expanded = format!("{prefix}{one}/x/{two}");
            prop_assert!(matches(&template, &expanded));
        }

        #[test]
        fn anything_is_matched_or_not(template in ".{0,40}", uri in ".{0,40}") {
            if let Some(template) = UriTemplate::parse(&template) {
                template.matches(&uri);
            }
        }
    }
}
