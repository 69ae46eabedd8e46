//! Assigns listed names: merges the lists of all sources into one.

use super::conflict::RenamedEntry;
use super::definition::{definition_as, is_idempotent};
use super::pages::first_segment;
use super::qualified::{named_source, prefixed_page};
use super::reserved::{UriClaim, name_owner, uri_claim};
use super::template_index::RefusedTemplate;
use super::{
    ListedEntry, NameConflict, NamedList, Naming, SourceCatalog, UI_SCHEME, qualified_uri,
};
use crate::extensions::is_app_only;
use crate::{CatalogEntry, List, SourceId, UriTemplate};

/// The longest tool name that all known hosts accept.
const MAX_TOOL_NAME_CHARS: usize = 64;

pub(super) fn merge(
    list: List,
    sources: &[SourceCatalog],
    templates: &[Vec<Result<UriTemplate, RefusedTemplate>>],
    naming: Option<Naming>,
    conflicts: &mut Vec<NameConflict>,
) -> NamedList {
    let mut merge = Merge {
        list,
        sources,
        templates,
        naming,
        conflicts,
        merged: NamedList::default(),
    };
    for (number, source) in sources.iter().enumerate() {
        for (position, entry) in source.catalog.list(list).iter().enumerate() {
            merge.add_if_allowed(number, position, entry);
        }
    }
    merge.merged
}

/// A list that is being merged.
struct Merge<'a> {
    list: List,
    sources: &'a [SourceCatalog],
    /// The templates of each source.
    templates: &'a [Vec<Result<UriTemplate, RefusedTemplate>>],
    naming: Option<Naming>,
    conflicts: &'a mut Vec<NameConflict>,
    merged: NamedList,
}

impl Merge<'_> {
    /// Adds an entry, unless its URI is owned by another source or reserved, or its template is refused.
    fn add_if_allowed(&mut self, number: usize, position: usize, entry: &CatalogEntry) {
        let claim = match self.list {
            List::Resources | List::Templates => {
                uri_claim(self.sources, self.naming, number, &entry.key)
            }
            List::Tools | List::Prompts => None,
        };
        match claim {
            Some(claim) => self.conflicts.push(NameConflict::Claim {
                list: self.list,
                uri: entry.key.clone(),
                owner: match claim {
                    UriClaim::Owned(owner) => Some(self.sources[owner].id.clone()),
                    UriClaim::Reserved => None,
                },
                claimed_by: self.sources[number].id.clone(),
            }),
            None => match self.refusal(number, position) {
                Some(reason) => self.conflicts.push(NameConflict::RefusedTemplate {
                    template: entry.key.clone(),
                    reason,
                    source: self.sources[number].id.clone(),
                }),
                None => self.add(number, position, entry),
            },
        }
    }

    /// Why URIs of a template would not lead to its source, if they would not. At the endpoint of one
    /// source, all do.
    fn refusal(&self, number: usize, position: usize) -> Option<RefusedTemplate> {
        if self.list != List::Templates || self.naming.is_none() {
            return None;
        }
        self.templates[number][position].as_ref().err().copied()
    }

    /// Adds an entry under the first of its names that is free and resolves to it.
    fn add(&mut self, number: usize, position: usize, entry: &CatalogEntry) {
        let (list, id) = (self.list, &self.sources[number].id);
        let mut names = candidate_names(list, self.naming, id, &entry.key);
        let owner = self.name_owner(number, &names[0]);
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
        let renamed = |requested: &str, owner| RenamedEntry {
            list,
            name: requested.to_owned(),
            owner,
            source: id.clone(),
            listed_as: name.clone(),
        };
        if let Some(owner) = owner {
            let renamed = renamed(&entry.key, owner);
            self.conflicts.push(NameConflict::ReservedName(renamed));
        }
        if let Some(holder) = holder {
            let renamed = renamed(&names[0], self.sources[holder].id.clone());
            self.conflicts.push(NameConflict::Collision(renamed));
        }
        self.merged.add(ListedEntry {
            source: u32::try_from(number).unwrap_or(u32::MAX),
            position: u32::try_from(position).unwrap_or(u32::MAX),
            name: name.as_str().into(),
            definition: definition_as(list, entry, name, self.naming.map(|_| id)),
            idempotent: list != List::Tools || is_idempotent(&entry.definition),
            is_app_only: list == List::Tools && is_app_only(&entry.definition),
        });
    }

    /// The source that has this name already.
    fn holder(&self, name: &str) -> Option<usize> {
        let index = self.merged.by_name.get(name)?;
        Some(self.merged.entries[*index as usize].source())
    }

    /// Whether a name, once listed, resolves to this entry and cannot be taken for that of another
    /// source.
    fn leads_to(&self, name: &str, number: usize, key: &str) -> bool {
        if matches!(self.list, List::Tools | List::Prompts) {
            return self.name_owner(number, name).is_none();
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

    /// The source that owns the name of a tool or prompt, if this source cannot have it.
    fn name_owner(&self, number: usize, name: &str) -> Option<SourceId> {
        match self.list {
            List::Tools | List::Prompts => {
                name_owner(self.sources, self.naming, self.list, number, name)
            }
            List::Resources | List::Templates => None,
        }
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
            let (native, prefixed) = match list {
                List::Tools => (safe_tool_name(native), tool_name(source.as_str(), key)),
                _ => (native, format!("{source}/{key}")),
            };
            match naming {
                // The gateway tools are prefixed at every endpoint.
                _ if source.is_gateway() && list == List::Tools => vec![prefixed],
                Some(Naming::Prefixed) => vec![prefixed],
                Some(Naming::Native) => vec![native, prefixed],
                None => vec![key.to_owned(), prefixed],
            }
        }
    }
}

/// A tool name of the characters that all known hosts accept. Others are replaced, and a hash of the
/// whole keeps the name stable and distinct.
fn safe_tool_name(name: String) -> String {
    let safe: String = name.chars().map(safe_char).collect();
    if safe == name {
        return name;
    }
    let start: String = safe.chars().take(MAX_TOOL_NAME_CHARS - 9).collect();
    format!("{start}_{}", hash(&name))
}

fn safe_char(c: char) -> char {
    match c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') {
        true => c,
        false => '_',
    }
}

/// The name of a tool with its source, in at most 64 characters: of a longer one, the middle of the
/// tool's name is replaced by a hash of the whole, so that both ends stay readable.
fn tool_name(source: &str, key: &str) -> String {
    let name = format!("{source}__{key}");
    if name.chars().count() <= MAX_TOOL_NAME_CHARS {
        return safe_tool_name(name);
    }
    let key: Vec<char> = key.chars().map(safe_char).collect();
    let shown = MAX_TOOL_NAME_CHARS.saturating_sub(source.len() + "__".len() + "_01234567_".len());
    let (start, end) = key.split_at(key.len().min(shown / 2));
    let end = &end[end.len().saturating_sub(shown - shown / 2)..];
    let (start, end) = (String::from_iter(start), String::from_iter(end));
    format!("{source}__{start}_{}_{end}", hash(&name))
}

/// Eight digits. FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_and_stay_distinct() {
        let middle = "x".repeat(80);
        let long = |start: &str, end: &str| tool_name("source", &format!("{start}{middle}{end}"));
        assert_eq!(long("a", "b").len(), MAX_TOOL_NAME_CHARS);
        assert_ne!(long("a", "b"), long("a", "c"));
        assert_eq!(long("a", "b"), long("a", "b"));
        assert_eq!(tool_name("s", "t"), "s__t");
        let longest_id = "i".repeat(32);
        let name = tool_name(&longest_id, &middle);
        assert_eq!(name.len(), MAX_TOOL_NAME_CHARS);
        assert!(
            name.starts_with(&format!("{longest_id}__xxxxxxxxxx_")),
            "{name}"
        );
    }

    #[test]
    fn both_ends_of_a_shortened_name_are_readable() {
        let name = |end: &str| {
            let middle = "for_all_projects_of_the_current_organization_with";
            tool_name("tracker", &format!("list_open_work_items_{middle}_{end}"))
        };
        for end in ["labels", "assignees"] {
            let name = name(end);
            assert!(name.starts_with("tracker__list_open_work_items"), "{name}");
            assert!(name.ends_with(&format!("_with_{end}")), "{name}");
        }
    }

    #[test]
    fn tool_names_have_only_characters_that_hosts_accept() {
        let safe = |name: &str| safe_tool_name(name.to_owned());
        assert_eq!(safe("s__a.b-c_1"), "s__a.b-c_1");
        for name in ["s__get user", "s__größe", "s__a/b:c", "s__日本"] {
            let listed = safe(name);
            assert!(
                listed
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)),
                "{listed}"
            );
            assert_eq!(listed, safe(name));
        }
        assert!(safe("s__get user").starts_with("s__get_user_"));
        assert_ne!(safe("s__a b"), safe("s__a/b"));
    }
}
