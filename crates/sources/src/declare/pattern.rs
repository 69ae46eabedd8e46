//! The URIs of a declared template: which one fits, and what its variables are then.
//!
//! A declared template has plain expressions (`{a}`), one that takes slashes (`{+a}`) and a query
//! (`{?a,b}`) at its end: what our own sources need of RFC 6570.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tidegate_core::percent_decoded;

/// A template, taken apart.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// The names that may stand in the query.
    query: Vec<String>,
}

#[derive(Debug)]
enum Part {
    Literal(String),
    Variable { name: String, slashes: bool },
}

pub(crate) type Values = BTreeMap<String, String>;

impl Pattern {
    pub(super) fn new(template: &str) -> Self {
        let mut pattern = Self {
            parts: Vec::new(),
            query: Vec::new(),
        };
        let mut rest = template;
        while let Some((literal, tail)) = rest.split_once('{') {
            let (expression, tail) = tail.split_once('}').unwrap_or((tail, ""));
            pattern.literal(literal);
            pattern.expression(expression);
            rest = tail;
        }
        pattern.literal(rest);
        pattern
    }

    fn literal(&mut self, text: &str) {
        if !text.is_empty() {
            self.parts.push(Part::Literal(text.to_owned()));
        }
    }

    fn expression(&mut self, expression: &str) {
        if let Some(names) = expression.strip_prefix('?') {
            self.query = names.split(',').map(str::to_owned).collect();
            return;
        }
        let name = expression.strip_prefix('+');
        self.parts.push(Part::Variable {
            slashes: name.is_some(),
            name: name.unwrap_or(expression).to_owned(),
        });
    }

    /// The variables' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let of_path = self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        });
        of_path.chain(self.query.iter().map(String::as_str))
    }

    /// What the variables are in a URI, decoded once (X24, X25); none if it does not fit.
    pub(super) fn values(&self, uri: &str) -> Option<Values> {
        let (path, query) = match uri.split_once('?') {
            Some((path, query)) if !self.query.is_empty() => (path, query),
            _ => (uri, ""),
        };
        let mut values = Values::new();
        let mut rest = path;
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Variable { name, slashes } => {
                    let end = match self.parts.get(at + 1) {
                        Some(Part::Literal(next)) => rest.find(next.as_str())?,
                        _ => rest.len(),
                    };
                    let (value, tail) = rest.split_at(end);
                    if value.is_empty() || (!slashes && value.contains('/')) {
                        return None;
                    }
                    values.insert(name.clone(), decoded(value)?.into_owned());
                    rest = tail;
                }
            }
        }
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = self.query.iter().find(|known| *known == name)?;
            values.insert(name.clone(), decoded(value)?.into_owned());
        }
        rest.is_empty().then_some(values)
    }
}

/// Text without its percent signs; none where it was not text.
pub(crate) fn decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let text = String::from_utf8(percent_decoded(text));
    text.ok().map(Cow::Owned)
}

/// Text as it may stand in one segment of a URI.
pub(crate) fn encoded(text: &str) -> String {
    encode(text, b"")
}

/// Text as it may stand in a URI with what divides its parts.
pub(crate) fn encoded_reserved(text: &str) -> String {
    encode(text, b":/?#[]@!$&'()*+,;=%")
}

fn encode(text: &str, kept: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&format!("{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        let values = Pattern::new(template).values(uri)?;
        Some(values.into_iter().collect())
    }

    fn one(name: &str, value: &str) -> Option<Vec<(String, String)>> {
        Some(vec![(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn variables_are_read_from_a_uri() {
        assert_eq!(values("a://b/{c}", "a://b/x y"), one("c", "x y"));
        assert_eq!(values("a://b/{c}", "a://b/x%20y%2Fz"), one("c", "x y/z"));
        assert_eq!(values("a://b/{c}", "a://b/100%"), one("c", "100%"));
        assert_eq!(values("a://b/{c}", "a://b/x/y"), None);
        assert_eq!(values("a://b/{c}", "a://b/"), None);
        assert_eq!(values("a://b/{+c}", "a://b/x/y"), one("c", "x/y"));
        assert_eq!(values("a://b{?p}", "a://b"), Some(Vec::new()));
        assert_eq!(values("a://b{?p}", "a://b?p=2"), one("p", "2"));
        assert_eq!(values("a://b{?p}", "a://b?q=2"), None);
        let two = values("a://{b}/x/{c}", "a://1/x/2").unwrap();
        assert_eq!(two.len(), 2);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_back(text in "\\PC{1,40}") {
            let uri = format!("a://b/{}", encoded(&text));
            prop_assert_eq!(values("a://b/{c}", &uri), one("c", &text));
        }
    }
}
