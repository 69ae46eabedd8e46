//! The search index over everything that a viewer can use: full-text search ranked by BM25, similar
//! elements, and keywords. Each source's catalog is indexed once, as a segment. Tools that only apps call
//! are left out.

mod facts;
mod segment;
mod terms;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use facts::ElementFacts;
pub(crate) use segment::Segment;

use crate::names::{ListedEntry, NameMap};
use crate::{List, RawJson, SourceId};
use terms::terms;

/// BM25's k1: how fast repeated occurrences of a term saturate.
const SATURATION: f32 = 1.2;

/// BM25's b: how much long texts are penalised.
const LENGTH_PENALTY: f32 = 0.75;

/// The weight of a term that only begins with the query term.
const PREFIX_WEIGHT: f32 = 0.5;

/// Terms of a query that are used, and terms that one prefix is expanded to.
const MAX_QUERY_TERMS: usize = 32;

/// Terms of an element by which similar elements are found.
const MAX_SIMILARITY_TERMS: usize = 8;

/// Everything that one kind of viewer can use, to be searched.
pub struct SearchIndex {
    names: Arc<NameMap>,
    /// One for each source of the view.
    segments: Vec<Arc<Segment>>,
    element_count: usize,
    mean_length: f32,
}

/// One tool, prompt, resource or template, as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    pub list: List,
    /// The name, the URI, or the text of the template.
    pub name: &'a str,
    pub source: &'a SourceId,
    pub definition: &'a RawJson,
}

/// An element that matches a search, and its score.
#[derive(Clone, Copy, Debug)]
pub struct SearchHit<'a> {
    pub element: Element<'a>,
    pub score: f32,
}

/// Which elements to search; by default all.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchFilter<'a> {
    pub list: Option<List>,
    pub source: Option<&'a str>,
}

/// A word, and the number of elements that contain it or another form of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    pub word: String,
    pub elements: usize,
}

/// A document of the index: a segment, and the number of the document there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DocumentId {
    segment: usize,
    document: usize,
}

impl SearchIndex {
    /// `segments` are the segments of the sources of `names`, in the same order.
    pub(crate) fn new(names: Arc<NameMap>, segments: Vec<Arc<Segment>>) -> Self {
        let element_count = segments
            .iter()
            .map(|segment| segment.document_count())
            .sum();
        let length: f32 = segments.iter().map(|segment| segment.total_length()).sum();
        Self {
            names,
            segments,
            element_count,
            mean_length: (length / (element_count.max(1) as f32)).max(1.0),
        }
    }

    /// Every element, list by list, in the order of the lists.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        List::ALL.into_iter().flat_map(|list| self.list(list))
    }

    /// The elements of one list, in its order.
    pub fn list(&self, list: List) -> impl Iterator<Item = Element<'_>> {
        let entries = self.names.entries(list).iter();
        let entries = entries.filter(|entry| !entry.is_app_only);
        entries.map(move |entry| self.element(list, entry))
    }

    pub fn get(&self, list: List, name: &str) -> Option<Element<'_>> {
        let entry = self.names.entry_named(list, name)?;
        (!entry.is_app_only).then(|| self.element(list, entry))
    }

    pub fn sources(&self) -> impl Iterator<Item = &SourceId> {
        self.names.sources().iter().map(|source| &source.id)
    }

    /// The number of distinct terms.
    pub fn term_count(&self) -> usize {
        let terms = self.segments.iter().flat_map(|segment| segment.terms());
        terms.map(|(term, _)| term).collect::<HashSet<_>>().len()
    }

    /// The approximate memory use.
    pub fn memory_bytes(&self) -> usize {
        self.segments
            .iter()
            .map(|segment| segment.memory_bytes())
            .sum()
    }

    /// The elements that match best, the best first.
    pub fn search(
        &self,
        query: &str,
        filter: SearchFilter<'_>,
        limit: usize,
    ) -> Vec<SearchHit<'_>> {
        let mut weighted: Vec<(String, f32)> = Vec::new();
        for term in terms(query).map(|term| term.text).take(MAX_QUERY_TERMS) {
            if !weighted.iter().any(|(known, _)| *known == term) {
                weighted.push((term, 1.0));
            }
        }
        self.rank(&weighted, filter, limit)
    }

    /// The elements of the same list that are most similar, the most similar first.
    pub fn similar(&self, element: Element<'_>, limit: usize) -> Vec<SearchHit<'_>> {
        let facts = ElementFacts::of(element.list, element.definition);
        let mut weighted: Vec<(String, f32)> = Vec::new();
        facts.for_each_term(|term, weight| {
            match weighted.iter_mut().find(|(known, _)| *known == term.text) {
                Some((_, sum)) => *sum += weight,
                None => weighted.push((term.text.clone(), weight)),
            }
        });
        for (term, weight) in &mut weighted {
            *weight *= self.inverse_frequency(term);
        }
        weighted.sort_by(|a, b| b.1.total_cmp(&a.1));
        weighted.truncate(MAX_SIMILARITY_TERMS);
        let filter = SearchFilter {
            list: Some(element.list),
            source: None,
        };
        let mut hits = self.rank(&weighted, filter, limit + 1);
        hits.retain(|hit| hit.element.name != element.name);
        hits.truncate(limit);
        hits
    }

    /// The most characteristic words of the whole index, or of one source.
    pub fn keywords(&self, source: Option<&SourceId>, limit: usize) -> Vec<Keyword> {
        let mut sums = HashMap::<&str, (f32, usize)>::new();
        for (id, segment) in self.sources().zip(&self.segments) {
            if source.is_some_and(|source| source != id) {
                continue;
            }
            for (term, postings) in segment.terms() {
                let sum = sums.entry(term).or_default();
                sum.0 += postings.iter().map(|posting| posting.weight).sum::<f32>();
                sum.1 += postings.len();
            }
        }
        let scored = sums.into_iter().filter_map(|(term, (weight, elements))| {
            let is_word = term.chars().any(char::is_alphabetic) && term.chars().count() > 2;
            is_word.then(|| (weight * self.inverse_frequency(term), term, elements))
        });
        let mut scored: Vec<_> = scored.collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let keywords = scored.into_iter().take(limit);
        keywords
            .map(|(_, term, elements)| Keyword {
                word: self.word_of(source, term).to_owned(),
                elements,
            })
            .collect()
    }

    /// A word that occurs in the texts of a source, or of all, for a term, which may be only a stem.
    fn word_of<'a>(&'a self, source: Option<&SourceId>, term: &'a str) -> &'a str {
        let segments = self.sources().zip(&self.segments);
        let segments = segments.filter(|(id, _)| source.is_none_or(|source| source == *id));
        let words: Vec<_> = segments
            .filter_map(|(_, segment)| segment.word_of(term))
            .collect();
        match words.contains(&term) {
            true => term,
            false => words.first().copied().unwrap_or(term),
        }
    }

    fn rank(
        &self,
        weighted: &[(String, f32)],
        filter: SearchFilter<'_>,
        limit: usize,
    ) -> Vec<SearchHit<'_>> {
        let expanded = self.expand_prefixes(weighted);
        let mut scored: Vec<(f32, DocumentId)> = Vec::new();
        for (segment, id) in self.sources().enumerate() {
            if filter.source.is_none_or(|source| source == id.as_str()) {
                self.score(segment, &expanded, filter.list, &mut scored);
            }
        }
        // Equal scores are in the order of the configuration.
        let order =
            |a: &(f32, DocumentId), b: &(f32, DocumentId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if self.has_unlisted() {
            scored.retain(|(_, id)| self.listed(*id).is_some());
        }
        if scored.len() > limit {
            scored.select_nth_unstable_by(limit, order);
            scored.truncate(limit);
        }
        scored.sort_by(order);
        let hits = scored.into_iter().filter_map(|(score, id)| {
            let element = self.listed(id)?;
            Some(SearchHit { element, score })
        });
        hits.collect()
    }

    /// Whether there are documents of entries that are not listed, because another entry has their
    /// name.
    fn has_unlisted(&self) -> bool {
        let listed: usize = List::ALL
            .iter()
            .map(|list| self.names.entries(*list).len())
            .sum();
        listed < self.element_count
    }

    /// The element of a document, if it is listed.
    fn listed(&self, id: DocumentId) -> Option<Element<'_>> {
        let (list, position) = self.segments[id.segment].position_of(id.document);
        let entry = self.names.entry_at(list, id.segment, position)?;
        Some(self.element(list, entry))
    }

    /// Adds the documents of a segment that contain any of the terms, with their BM25 scores.
    fn score(
        &self,
        number: usize,
        weighted: &[(String, f32)],
        list: Option<List>,
        scored: &mut Vec<(f32, DocumentId)>,
    ) {
        let segment = &self.segments[number];
        let mut scores = vec![0.0_f32; segment.document_count()];
        for (term, weight) in weighted {
            for posting in segment.postings(term) {
                let document = posting.document as usize;
                let length = segment.length_of(document) / self.mean_length;
                let damping = SATURATION * (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length);
                let frequency = posting.weight * (SATURATION + 1.0) / (posting.weight + damping);
                scores[document] += weight * frequency;
            }
        }
        let documents = list.map_or(0..scores.len(), |list| segment.documents_of(list));
        let matching = documents.filter(|document| scores[*document] > 0.0);
        scored.extend(matching.map(|document| {
            let id = DocumentId {
                segment: number,
                document,
            };
            (scores[document], id)
        }));
    }

    /// The terms with their weights. A term that is not in the index is expanded to the terms it
    /// is a prefix of.
    fn expand_prefixes(&self, weighted: &[(String, f32)]) -> Vec<(String, f32)> {
        let mut expanded = Vec::new();
        for (term, weight) in weighted {
            if self.document_frequency(term) > 0 {
                expanded.push((term.clone(), weight * self.inverse_frequency(term)));
                continue;
            }
            let known = self.segments.iter().flat_map(|segment| segment.terms());
            let mut longer: Vec<_> = known
                .map(|(known, _)| known)
                .filter(|known| term.chars().count() > 1 && known.starts_with(term.as_str()))
                .collect();
            longer.sort_unstable();
            longer.dedup();
            for known in longer.into_iter().take(MAX_QUERY_TERMS) {
                let weight = weight * self.inverse_frequency(known) * PREFIX_WEIGHT;
                expanded.push((known.to_owned(), weight));
            }
        }
        expanded
    }

    /// The number of elements that contain a term.
    fn document_frequency(&self, term: &str) -> usize {
        let segments = self.segments.iter();
        segments.map(|segment| segment.postings(term).len()).sum()
    }

    /// BM25's inverse document frequency: rare terms weigh more.
    fn inverse_frequency(&self, term: &str) -> f32 {
        let with_term = self.document_frequency(term) as f32;
        let all = self.element_count as f32;
        (1.0 + (all - with_term + 0.5) / (with_term + 0.5)).ln()
    }

    fn element<'a>(&'a self, list: List, entry: &'a ListedEntry) -> Element<'a> {
        Element {
            list,
            name: &entry.name,
            source: &self.names.sources()[entry.source()].id,
            definition: &entry.definition,
        }
    }
}
