//! One source's part of the index: which words stand where. Made once for each catalog, so that a
//! change at one source costs nothing at the others.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::ElementFacts;
use crate::{Catalog, List};

/// The words of one catalog.
pub(crate) struct Segment {
    catalog: Arc<Catalog>,
    postings: HashMap<Box<str>, Vec<Posting>>,
    lengths: Vec<f32>,
    /// Where the documents of each list begin, and where the last one ends.
    starts: [usize; 5],
}

/// A word in a document.
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
                segment.add(&ElementFacts::of(list, &entry.definition));
            }
            segment.starts[list as usize + 1] = segment.lengths.len();
        }
        segment
    }

    fn add(&mut self, facts: &ElementFacts) {
        let document = u32::try_from(self.lengths.len()).unwrap_or(u32::MAX);
        let mut length = 0.0;
        facts.weigh(|word, weight| {
            length += weight;
            if !self.postings.contains_key(word) {
                self.postings.insert(word.into(), Vec::new());
            }
            let Some(postings) = self.postings.get_mut(word) else {
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

    pub(super) fn count(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn length(&self) -> f32 {
        self.lengths.iter().sum()
    }

    pub(super) fn length_of(&self, document: usize) -> f32 {
        self.lengths[document]
    }

    pub(super) fn postings(&self, word: &str) -> &[Posting] {
        self.postings
            .get(word)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    pub(super) fn words(&self) -> impl Iterator<Item = (&str, &[Posting])> {
        let all = self.postings.iter();
        all.map(|(word, postings)| (word.as_ref(), postings.as_slice()))
    }

    /// The documents of a list.
    pub(super) fn range(&self, list: List) -> Range<usize> {
        self.starts[list as usize]..self.starts[list as usize + 1]
    }

    /// Where a document stands in the catalog.
    pub(super) fn place(&self, document: usize) -> (List, usize) {
        let of = |list: &List| self.range(*list).contains(&document);
        let list = List::ALL.into_iter().find(of).unwrap_or(List::Templates);
        (list, document - self.range(list).start)
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self.postings.iter().map(|(word, postings)| {
            word.len()
                + size_of::<(Box<str>, Vec<Posting>)>()
                + postings.capacity() * size_of::<Posting>()
        });
        lists.sum::<usize>() + self.lengths.capacity() * size_of::<f32>()
    }
}
