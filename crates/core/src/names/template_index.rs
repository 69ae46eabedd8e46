//! The URI templates of a view, indexed by the text before their first expression, so that a URI
//! is matched only against templates that begin like it.
//!
//! Servers write the templates and clients the URIs, so the cost of a lookup is bounded: each source
//! may have a limited number of expressions, and each lookup a limited amount of work.

use std::collections::{BTreeSet, HashMap};

use crate::{CatalogEntry, InvalidTemplate, UriTemplate};

/// Expressions in all templates of one source. Templates beyond are refused.
const MAX_EXPRESSIONS_PER_SOURCE: usize = 1024;

/// Expressions times bytes of the URI, in one lookup. Templates beyond are not tried.
const MAX_WORK_PER_LOOKUP: usize = 32 * 1024 * 1024;

/// Longer prefixes are indexed by their beginning.
const MAX_INDEXED_PREFIX: usize = 64;

/// Why a template is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RefusedTemplate {
    Invalid(InvalidTemplate),
    TooManyExpressions,
}

impl std::fmt::Display for RefusedTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::TooManyExpressions => write!(
                f,
                "the templates of the source have more than {MAX_EXPRESSIONS_PER_SOURCE} expressions"
            ),
        }
    }
}

/// Parses the templates of one source, up to the limit.
pub(super) fn parse_templates(
    entries: &[CatalogEntry],
) -> Vec<Result<UriTemplate, RefusedTemplate>> {
    let mut expressions = 0;
    let templates = entries.iter().map(|entry| {
        let template = UriTemplate::parse(&entry.key).map_err(RefusedTemplate::Invalid)?;
        let total = expressions + template.expressions();
        if total > MAX_EXPRESSIONS_PER_SOURCE {
            return Err(RefusedTemplate::TooManyExpressions);
        }
        expressions = total;
        Ok(template)
    });
    templates.collect()
}

/// A template of a source in the view.
pub(super) struct IndexedTemplate {
    pub(super) template: UriTemplate,
    pub(super) source: usize,
    /// Whether it is listed as the source wrote it. Other templates are listed with the name of their
    /// source, and match only URIs with that name.
    pub(super) is_native: bool,
}

#[derive(Default)]
pub(super) struct TemplateIndex {
    /// Those with the most literal characters first, then in the order of the view.
    templates: Vec<IndexedTemplate>,
    by_prefix: HashMap<Box<[u8]>, Vec<usize>>,
    prefix_lengths: BTreeSet<usize>,
}

impl TemplateIndex {
    pub(super) fn new(mut templates: Vec<IndexedTemplate>) -> Self {
        templates.sort_by_key(|indexed| std::cmp::Reverse(indexed.template.literal_len()));
        let mut index = Self::default();
        for (position, indexed) in templates.iter().enumerate() {
            let prefix = indexed.template.literal_prefix().as_bytes();
            let prefix = &prefix[..prefix.len().min(MAX_INDEXED_PREFIX)];
            index.prefix_lengths.insert(prefix.len());
            index
                .by_prefix
                .entry(prefix.into())
                .or_default()
                .push(position);
        }
        index.templates = templates;
        index
    }

    /// The template that a URI belongs to: of all that match, the one with the most literal
    /// characters, and of several, the first of the view.
    pub(super) fn best_match(&self, uri: &str) -> Option<&IndexedTemplate> {
        self.find(uri, |indexed| indexed.is_native)
    }

    /// The template of a source that matches a URI.
    pub(super) fn match_of(&self, source: usize, uri: &str) -> Option<&UriTemplate> {
        let indexed = self.find(uri, |indexed| indexed.source == source)?;
        Some(&indexed.template)
    }

    fn find(
        &self,
        uri: &str,
        is_eligible: impl Fn(&IndexedTemplate) -> bool,
    ) -> Option<&IndexedTemplate> {
        let mut work = MAX_WORK_PER_LOOKUP;
        let mut candidates = self.candidates(uri);
        candidates.sort_unstable();
        let mut eligible = candidates
            .into_iter()
            .map(|position| &self.templates[position])
            .filter(|indexed| is_eligible(indexed));
        eligible.find(|indexed| {
            let needed = indexed.template.expressions().saturating_mul(uri.len());
            if needed > work {
                return false;
            }
            work -= needed;
            indexed.template.matches(uri)
        })
    }

    /// The positions of all templates that begin like the URI.
    fn candidates(&self, uri: &str) -> Vec<usize> {
        let uri = uri.as_bytes();
        let prefixes = self
            .prefix_lengths
            .iter()
            .map_while(|length| uri.get(..*length));
        let templates = prefixes.filter_map(|prefix| self.by_prefix.get(prefix));
        templates.flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(templates: &[(&str, usize)]) -> TemplateIndex {
        let templates = templates.iter().map(|(text, source)| IndexedTemplate {
            template: UriTemplate::parse(text).unwrap(),
            source: *source,
            is_native: true,
        });
        TemplateIndex::new(templates.collect())
    }

    fn best(index: &TemplateIndex, uri: &str) -> Option<(String, usize)> {
        let best = index.best_match(uri)?;
        Some((best.template.to_string(), best.source))
    }

    #[test]
    fn the_most_literal_template_wins_then_the_first() {
        let index = index(&[
            ("{+uri}", 0),
            ("a://{x}", 1),
            ("a://b/{x}", 2),
            ("a://b/{y}", 3),
            ("{+x}/c", 4),
        ]);
        let expected = |text: &str, source| Some((text.to_owned(), source));
        assert_eq!(best(&index, "a://b/c"), expected("a://b/{x}", 2));
        assert_eq!(best(&index, "a://c"), expected("a://{x}", 1));
        assert_eq!(best(&index, "b://d/c"), expected("{+x}/c", 4));
        assert_eq!(best(&index, "b"), expected("{+uri}", 0));
        assert_eq!(
            index.match_of(3, "a://b/c").unwrap().to_string(),
            "a://b/{y}"
        );
        assert!(index.match_of(3, "a://c").is_none());
    }

    #[test]
    fn long_prefixes_are_told_apart() {
        let long = "p".repeat(MAX_INDEXED_PREFIX + 8);
        let index = index(&[
            (&format!("a://{long}1/{{x}}"), 0),
            (&format!("a://{long}2/{{x}}"), 1),
        ]);
        for source in [0, 1] {
            let uri = format!("a://{long}{}/z", source + 1);
            assert_eq!(index.best_match(&uri).unwrap().source, source);
        }
        assert!(index.best_match(&format!("a://{long}")).is_none());
    }

    #[test]
    fn a_source_has_a_limited_number_of_expressions() {
        let entry = |text: String| CatalogEntry {
            key: text,
            definition: serde_json::json!({}).into(),
        };
        let entries: Vec<_> = (0..MAX_EXPRESSIONS_PER_SOURCE)
            .map(|number| entry(format!("a://{number}/{{x}}{{y}}")))
            .collect();
        let parsed = parse_templates(&entries);
        let (used, refused) = parsed.split_at(MAX_EXPRESSIONS_PER_SOURCE / 2);
        assert!(used.iter().all(Result::is_ok));
        let is_refused = |parsed| matches!(parsed, &Err(RefusedTemplate::TooManyExpressions));
        assert!(refused.iter().all(is_refused));
    }
}
