//! Assigns listed names: merges the lists of all sources into one.

use super::definition::{definition_as, is_idempotent};
use super::pages::first_segment;
use super::qualified::{named_source, owner_of, prefixed_page};
use super::{
    ListedEntry, NameConflict, NamedList, Naming, SourceCatalog, UI_SCHEME, qualified_uri,
};
use crate::extensions::is_app_only;
use crate::{CatalogEntry, List, SourceId};

/// The longest tool name that all known hosts accept.
const MAX_TOOL_NAME_CHARS: usize = 64;

pub(super) fn merge(
    list: List,
    sources: &[SourceCatalog],
    naming: Option<Naming>,
    conflicts: &mut Vec<NameConflict>,
) -> NamedList {
    let mut merge = Merge {
        list,
        sources,
        naming,
        conflicts,
        merged: NamedList::default(),
    };
    for (number, source) in sources.iter().enumerate() {
        for (position, entry) in source.catalog.list(list).iter().enumerate() {
            merge.add_unless_claimed(number, position, entry);
        }
    }
    merge.merged
}

/// A list that is being merged.
struct Merge<'a> {
    list: List,
    sources: &'a [SourceCatalog],
    naming: Option<Naming>,
    conflicts: &'a mut Vec<NameConflict>,
    merged: NamedList,
}

impl Merge<'_> {
    /// Adds an entry, unless its URI is owned by another source.
    fn add_unless_claimed(&mut self, number: usize, position: usize, entry: &CatalogEntry) {
        let owner = match self.list {
            List::Resources | List::Templates => owner_of(self.sources, &entry.key),
            List::Tools | List::Prompts => None,
        };
        match owner.filter(|owner| *owner != number) {
            Some(owner) => self.conflicts.push(NameConflict::Claim {
                uri: entry.key.clone(),
                owner: self.sources[owner].id.clone(),
                claimed_by: self.sources[number].id.clone(),
            }),
            None => self.add(number, position, entry),
        }
    }

    /// Adds an entry under the first of its names that is free and resolves to it.
    fn add(&mut self, number: usize, position: usize, entry: &CatalogEntry) {
        let (list, id) = (self.list, &self.sources[number].id);
        let mut names = candidate_names(list, self.naming, id, &entry.key);
        names.retain(|name| self.leads_to(name, number, &entry.key));
        let holder = names.first().and_then(|name| self.holder(name));
        let free = names.iter().find(|name| self.holder(name).is_none());
        let Some(name) = free.filter(|_| holder != Some(number)) else {
            return self.conflicts.push(NameConflict::Duplicate {
                list,
                name: entry.key.clone(),
                source: id.clone(),
            });
        };
        if let Some(holder) = holder {
            self.conflicts.push(NameConflict::Collision {
                list,
                name: names[0].clone(),
                kept_by: self.sources[holder].id.clone(),
                lost_by: id.clone(),
                listed_as: name.clone(),
            });
        }
        self.merged.add(ListedEntry {
            source: u32::try_from(number).unwrap_or(u32::MAX),
            position: u32::try_from(position).unwrap_or(u32::MAX),
            name: name.as_str().into(),
            definition: definition_as(list, entry, name),
            idempotent: list != List::Tools || is_idempotent(&entry.definition),
            is_app_only: list == List::Tools && is_app_only(&entry.definition),
        });
    }

    /// The source that has this name already.
    fn holder(&self, name: &str) -> Option<usize> {
        let index = self.merged.by_name.get(name)?;
        Some(self.merged.entries[*index as usize].source())
    }

    /// Whether a name, once listed, resolves to this entry. Only a URI can resolve to another
    /// entry, if it reads as one that names its source.
    fn leads_to(&self, name: &str, number: usize, key: &str) -> bool {
        if matches!(self.list, List::Tools | List::Prompts) {
            return true;
        }
        let source = &self.sources[number];
        if let (Some(page), Some(_)) = (name.strip_prefix(UI_SCHEME), self.naming) {
            let named = first_segment(page);
            let is_foreign = |id| self.sources.iter().any(|other| other.id.as_str() == id);
            let names_other = named.is_some_and(|id| id != source.id.as_str() && is_foreign(id));
            return !names_other && (name == key || !source.catalog.has(self.list, name));
        }
        let named = named_source(self.sources, name);
        named.is_none_or(|(source, native)| source == number && native == key)
    }
}

/// The names under which an entry may be listed, the preferred one first.
fn candidate_names(
    list: List,
    naming: Option<Naming>,
    source: &SourceId,
    key: &str,
) -> Vec<String> {
    let native = key.to_owned();
    match list {
        // The entries of the gateway source have only qualified URIs.
        List::Resources | List::Templates if source.is_gateway() => {
            vec![qualified_uri(source, key)]
        }
        List::Resources | List::Templates => {
            let prefixed = naming.and_then(|_| prefixed_page(source, key));
            let names = [Some(native), prefixed, Some(qualified_uri(source, key))];
            names.into_iter().flatten().collect()
        }
        List::Tools | List::Prompts => {
            let prefixed = match list {
                List::Tools => shorten(format!("{source}__{key}")),
                _ => format!("{source}/{key}"),
            };
            match naming {
                // The gateway tools are prefixed at every endpoint.
                _ if source.is_gateway() && list == List::Tools => vec![prefixed],
                Some(Naming::Prefixed) => vec![prefixed],
                Some(Naming::Native) => vec![native, prefixed],
                None => vec![native],
            }
        }
    }
}

/// A tool name of at most 64 characters: a longer one is cut and ends with a hash of the whole.
fn shorten(name: String) -> String {
    if name.chars().count() <= MAX_TOOL_NAME_CHARS {
        return name;
    }
    // FNV-1a: the same on every machine and in every version.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let start: String = name.chars().take(MAX_TOOL_NAME_CHARS - 9).collect();
    format!("{start}_{:08x}", hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_and_stay_distinct() {
        let long = |end: &str| shorten(format!("source__{}{end}", "x".repeat(80)));
        assert_eq!(long("a").len(), MAX_TOOL_NAME_CHARS);
        assert_ne!(long("a"), long("b"));
        assert_eq!(long("a"), long("a"));
        assert_eq!(shorten("s__t".to_owned()), "s__t");
    }
}
