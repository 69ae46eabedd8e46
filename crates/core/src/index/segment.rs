//! One source's part of the index: which terms each element contains. Built once for each catalog, so
//! that a change at one source costs nothing at the others.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::ElementFacts;
use crate::extensions::is_app_only;
use crate::{Catalog, List};

/// The inverted index of one catalog.
pub(crate) struct Segment {
    catalog: Arc<Catalog>,
    postings: HashMap<Box<str>, Vec<Posting>>,
    /// The length of each document: the sum of the weights of its terms.
    lengths: Vec<f32>,
    /// Where the documents of each list begin, and where the last list ends.
    starts: [usize; 5],
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
            postings: HashMap::new(),
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
            if !self.postings.contains_key(term) {
                self.postings.insert(term.into(), Vec::new());
            }
            let Some(postings) = self.postings.get_mut(term) else {
                return;
            };
            match postings.last_mut().filter(|last| last.document == document) {
                Some(last) => last.weight += weight,
                None => postings.push(Posting { document, weight }),
            }
        });
        self.lengths.push(length);
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
        self.postings
            .get(term)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (&str, &[Posting])> {
        let postings = self.postings.iter();
        postings.map(|(term, postings)| (term.as_ref(), postings.as_slice()))
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
        let postings = self.postings.iter().map(|(term, postings)| {
            term.len()
                + size_of::<(Box<str>, Vec<Posting>)>()
                + postings.capacity() * size_of::<Posting>()
        });
        postings.sum::<usize>() + self.lengths.capacity() * size_of::<f32>()
    }
}
