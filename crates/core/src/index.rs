//! The index over everything that a caller can use: find by words, find what is alike, tell what
//! it is about. Made from a view, and of each source's part only once.

mod facts;
mod segment;
mod words;

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

pub use facts::ElementFacts;
pub(crate) use segment::Segment;
pub(crate) use words::words;

use crate::gateway::view::{Listed, View};
use crate::{List, RawJson, SourceId};

/// How soon a word that stands often in one text stops adding to its rank.
const SATURATION: f32 = 1.2;

/// How much a long text is held against it.
const LENGTH: f32 = 0.75;

/// What a word counts that only begins as it was typed.
const BEGINNING: f32 = 0.5;

/// More words of a query than this say nothing more.
const MOST_WORDS: usize = 32;

/// Words of one element by which others are found that are like it.
const TELLING_WORDS: usize = 8;

/// Everything that one kind of caller can use.
pub struct SearchIndex {
    view: Arc<View>,
    /// One for each part of the view.
    segments: Vec<Arc<Segment>>,
    count: usize,
    mean_length: f32,
    /// What clients are told of it when they come.
    pub(crate) instructions: OnceLock<String>,
}

/// One tool, prompt, resource or template, as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    pub list: List,
    /// The name, the URI, or the template's text.
    pub name: &'a str,
    pub source: &'a SourceId,
    pub definition: &'a RawJson,
}

/// An element, and how well it fits.
#[derive(Clone, Copy, Debug)]
pub struct SearchHit<'a> {
    pub element: Element<'a>,
    pub score: f32,
}

/// Which elements are meant; by default all.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchFilter<'a> {
    pub list: Option<List>,
    pub source: Option<&'a str>,
}

/// A word, and how much of all there is it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    pub word: String,
    pub elements: usize,
}

impl SearchIndex {
    pub(crate) fn new(view: Arc<View>, segments: Vec<Arc<Segment>>) -> Self {
        let count = segments.iter().map(|one| one.count()).sum();
        let length: f32 = segments.iter().map(|one| one.length()).sum();
        Self {
            view,
            segments,
            count,
            mean_length: (length / (count.max(1) as f32)).max(1.0),
            instructions: OnceLock::new(),
        }
    }

    /// Every element, list by list, in the order of the lists.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        List::ALL.into_iter().flat_map(|list| self.list(list))
    }

    /// The elements of one list, in its order.
    pub fn list(&self, list: List) -> impl ExactSizeIterator<Item = Element<'_>> {
        let all = self.view.all(list).iter();
        all.map(move |listed| self.element(list, listed))
    }

    pub fn get(&self, list: List, name: &str) -> Option<Element<'_>> {
        let listed = self.view.listed_as(list, name)?;
        Some(self.element(list, listed))
    }

    pub fn sources(&self) -> impl Iterator<Item = &SourceId> {
        self.view.parts().iter().map(|part| &part.id)
    }

    /// How many different words it knows.
    pub fn term_count(&self) -> usize {
        let words = self.segments.iter().flat_map(|one| one.words());
        words.map(|(word, _)| word).collect::<HashSet<_>>().len()
    }

    /// About how much memory it takes.
    pub fn memory_bytes(&self) -> usize {
        self.segments.iter().map(|one| one.bytes()).sum()
    }

    /// The elements that fit best, the best first.
    pub fn search(&self, query: &str, wanted: SearchFilter<'_>, most: usize) -> Vec<SearchHit<'_>> {
        let mut weighed: Vec<(String, f32)> = Vec::new();
        for word in words(query).take(MOST_WORDS) {
            if !weighed.iter().any(|(known, _)| *known == word) {
                weighed.push((word, 1.0));
            }
        }
        self.ranked(&weighed, wanted, most)
    }

    /// The elements most like one, the nearest first, without itself.
    pub fn similar(&self, element: Element<'_>, most: usize) -> Vec<SearchHit<'_>> {
        let facts = ElementFacts::of(element.list, element.definition);
        let mut telling: Vec<(String, f32)> = Vec::new();
        facts.weigh(
            |word, weight| match telling.iter_mut().find(|(known, _)| known == word) {
                Some((_, sum)) => *sum += weight,
                None => telling.push((word.to_owned(), weight)),
            },
        );
        for (word, weight) in &mut telling {
            *weight *= self.rarity(self.spread(word));
        }
        telling.sort_by(|a, b| b.1.total_cmp(&a.1));
        telling.truncate(TELLING_WORDS);
        let wanted = SearchFilter {
            list: Some(element.list),
            source: None,
        };
        let mut hits = self.ranked(&telling, wanted, most + 1);
        hits.retain(|hit| hit.element.name != element.name);
        hits.truncate(most);
        hits
    }

    /// The words that say most about the whole, or about one source.
    pub fn keywords(&self, source: Option<&SourceId>, most: usize) -> Vec<Keyword> {
        let mut sums = std::collections::HashMap::<&str, (f32, usize)>::new();
        for (part, segment) in std::iter::zip(self.view.parts(), &self.segments) {
            if source.is_some_and(|source| *source != part.id) {
                continue;
            }
            for (word, postings) in segment.words() {
                let sum = sums.entry(word).or_default();
                sum.0 += postings.iter().map(|one| one.weight).sum::<f32>();
                sum.1 += postings.len();
            }
        }
        let telling = |(word, (weight, elements)): (&str, (f32, usize))| {
            let told = weight * self.rarity(self.spread(word));
            let is_word = word.chars().any(char::is_alphabetic) && word.chars().count() > 2;
            is_word.then(|| (told, word.to_owned(), elements))
        };
        let mut all: Vec<_> = sums.into_iter().filter_map(telling).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let all = all.into_iter().take(most);
        all.map(|(_, word, elements)| Keyword { word, elements })
            .collect()
    }

    fn ranked(
        &self,
        words: &[(String, f32)],
        wanted: SearchFilter<'_>,
        most: usize,
    ) -> Vec<SearchHit<'_>> {
        let expanded = self.expanded(words);
        let mut found: Vec<(f32, usize, usize)> = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            let id = self.view.parts()[at].id.as_str();
            if wanted.source.is_some_and(|source| source != id) {
                continue;
            }
            let mut scores = vec![0.0_f32; segment.count()];
            for (word, weight) in &expanded {
                for posting in segment.postings(word) {
                    let document = posting.document as usize;
                    let long = segment.length_of(document) / self.mean_length;
                    let damp = SATURATION * (1.0 - LENGTH + LENGTH * long);
                    let fits = posting.weight * (SATURATION + 1.0) / (posting.weight + damp);
                    scores[document] += weight * fits;
                }
            }
            let range = wanted
                .list
                .map_or(0..segment.count(), |list| segment.range(list));
            let hits = range.filter(|document| scores[*document] > 0.0);
            found.extend(hits.map(|document| (scores[document], at, document)));
        }
        // Of two that fit alike, the first in the configuration.
        let order = |a: &(f32, usize, usize), b: &(f32, usize, usize)| {
            b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2)))
        };
        // What is listed nowhere is dropped below: a few more are looked at.
        let enough = most.saturating_mul(2).saturating_add(8);
        if found.len() > enough {
            found.select_nth_unstable_by(enough, order);
            found.truncate(enough);
        }
        found.sort_by(order);
        let hits = found.into_iter().filter_map(|(score, at, document)| {
            let (list, entry) = self.segments[at].place(document);
            let listed = self.view.listed_at(list, at, entry)?;
            let element = self.element(list, listed);
            Some(SearchHit { element, score })
        });
        hits.take(most).collect()
    }

    /// The words with what each counts. One that stands nowhere means all that begin with it.
    fn expanded(&self, words: &[(String, f32)]) -> Vec<(String, f32)> {
        let mut all = Vec::new();
        for (word, weight) in words {
            let spread = self.spread(word);
            if spread > 0 {
                all.push((word.clone(), weight * self.rarity(spread)));
                continue;
            }
            let mut longer: Vec<_> = self
                .segments
                .iter()
                .flat_map(|segment| segment.words())
                .map(|(known, _)| known)
                .filter(|known| word.chars().count() > 1 && known.starts_with(word.as_str()))
                .collect();
            longer.sort_unstable();
            longer.dedup();
            for known in longer.into_iter().take(MOST_WORDS) {
                let rarity = self.rarity(self.spread(known));
                all.push((known.to_owned(), weight * rarity * BEGINNING));
            }
        }
        all
    }

    /// In how many elements a word stands.
    fn spread(&self, word: &str) -> usize {
        let segments = self.segments.iter();
        segments.map(|one| one.postings(word).len()).sum()
    }

    /// What a word is worth that stands in so many elements.
    fn rarity(&self, spread: usize) -> f32 {
        let (all, with) = (self.count as f32, spread as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    fn element<'a>(&'a self, list: List, listed: &'a Listed) -> Element<'a> {
        Element {
            list,
            name: &listed.name,
            source: &self.view.parts()[listed.part as usize].id,
            definition: &listed.definition,
        }
    }
}
