//! One source's part of the index: which terms each element contains. Built once for each catalog, so
//! that a change at one source costs nothing at the others.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::ElementFacts;
use super::terms::Term;
use crate::extensions::is_app_only;
use crate::{Catalog, List};

/// The inverted index of one catalog.
pub(crate) struct Segment {
    catalog: Arc<Catalog>,
    terms: HashMap<Box<str>, TermEntry>,
    /// The length of each document: the sum of the weights of its terms.
    lengths: Vec<f32>,
    /// Where the documents of each list begin, and where the last list ends.
    starts: [usize; 5],
}

/// A term, where it occurs, and how it is shown.
struct TermEntry {
    /// A word that the term is the stem of, if the term itself occurs nowhere: a stem may be no word.
    word: Option<Box<str>>,
    postings: Vec<Posting>,
}

/// A term in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    pub(crate) weight: f32,
}

impl Segment {
    pub(crate) fn new(catalog: &Arc<Catalog>) -> Self {
        let mut segment = Self {
            terms: HashMap::new(),
            lengths: Vec::new(),
            starts: [0; 5],
            catalog: Arc::clone(catalog),
        };
        for list in List::ALL {
            for entry in catalog.list(list) {
                match list == List::Tools && is_app_only(&entry.definition) {
                    // Without terms it is never found.
                    true => segment.lengths.push(0.0),
                    false => segment.add(&ElementFacts::of(list, &entry.definition)),
                }
            }
            segment.starts[list as usize + 1] = segment.lengths.len();
        }
        segment
    }

    fn add(&mut self, facts: &ElementFacts) {
        let document = u32::try_from(self.lengths.len()).unwrap_or(u32::MAX);
        let mut length = 0.0;
        facts.for_each_term(|term, weight| {
            length += weight;
            let postings = &mut self.entry(term).postings;
            match postings.last_mut().filter(|last| last.document == document) {
                Some(last) => last.weight += weight,
                None => postings.push(Posting { document, weight }),
            }
        });
        self.lengths.push(length);
    }

    fn entry(&mut self, term: &Term) -> &mut TermEntry {
        // Most terms are known, so no key is allocated for them.
        if !self.terms.contains_key(term.text.as_str()) {
            let entry = TermEntry {
                word: term.word.as_deref().map(Into::into),
                postings: Vec::new(),
            };
            return self.terms.entry(term.text.as_str().into()).or_insert(entry);
        }
        let entry = self.terms.get_mut(term.text.as_str());
        let entry = entry.expect("the term is known");
        if term.word.is_none() {
            entry.word = None;
        }
        entry
    }

    pub(crate) fn is_of(&self, catalog: &Arc<Catalog>) -> bool {
        Arc::ptr_eq(&self.catalog, catalog)
    }

    pub(super) fn document_count(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn total_length(&self) -> f32 {
        self.lengths.iter().sum()
    }

    pub(super) fn length_of(&self, document: usize) -> f32 {
        self.lengths[document]
    }

    pub(super) fn postings(&self, term: &str) -> &[Posting] {
        let entry = self.terms.get(term);
        entry
            .map(|entry| entry.postings.as_slice())
            .unwrap_or_default()
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (&str, &[Posting])> {
        let terms = self.terms.iter();
        terms.map(|(term, entry)| (term.as_ref(), entry.postings.as_slice()))
    }

    /// A word of the texts for a term, if the term occurs: the term itself, or a word with this stem.
    pub(super) fn word_of<'a>(&'a self, term: &'a str) -> Option<&'a str> {
        let entry = self.terms.get(term)?;
        Some(entry.word.as_deref().unwrap_or(term))
    }

    pub(super) fn documents_of(&self, list: List) -> Range<usize> {
        self.starts[list as usize]..self.starts[list as usize + 1]
    }

    /// The list of a document, and its position there.
    pub(super) fn position_of(&self, document: usize) -> (List, usize) {
        let contains = |list: &List| self.documents_of(*list).contains(&document);
        let list = List::ALL.into_iter().find(contains);
        let list = list.unwrap_or(List::Templates);
        (list, document - self.documents_of(list).start)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let terms = self.terms.iter().map(|(term, entry)| {
            term.len()
                + entry.word.as_ref().map_or(0, |word| word.len())
                + size_of::<(Box<str>, TermEntry)>()
                + entry.postings.capacity() * size_of::<Posting>()
        });
        terms.sum::<usize>() + self.lengths.capacity() * size_of::<f32>()
    }
}
