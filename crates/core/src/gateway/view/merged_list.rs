//! One merged list: which entries are in it, and under which names.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::resolve::owner_of;
use super::{Found, Naming, PAGES, Part, QUALIFIED};
use crate::gateway::{Exposure, GatewayConfig};
use crate::{CatalogEntry, List, Object, RawJson, Scope, SourceId};

/// What some hosts take as the name of a tool.
const LONGEST_TOOL_NAME: usize = 64;

/// Where a tool names the page that shows what it does, now and in earlier drafts.
const PAGE_OF_A_TOOL: [&str; 2] = ["resourceUri", "ui/resourceUri"];

/// Something about names that whoever runs the gateway should know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Finding {
    /// Two sources have the same URI or name; the second is listed under another.
    Collision {
        list: List,
        name: String,
        kept_by: SourceId,
        lost_by: SourceId,
        listed_as: String,
    },
    /// A source lists what belongs to another alone. It is not listed.
    Claim {
        uri: String,
        owner: SourceId,
        claimed_by: SourceId,
    },
    /// A source lists the same name twice. The second is not listed.
    Twice {
        list: List,
        name: String,
        source: SourceId,
    },
}

/// One entry of a merged list.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Which part of the view it is from, and its place there.
    pub(crate) part: u32,
    at: u32,
    pub(crate) name: String,
    pub(crate) definition: RawJson,
}

/// A list as clients see it.
#[derive(Default)]
pub(super) struct Listing {
    all: Vec<Listed>,
    /// Those that are in the list itself; the others are found by searching.
    shown: Vec<u32>,
    by_name: HashMap<String, Found>,
    /// The number that its cursors carry.
    pub(super) generation: u64,
}

impl Listing {
    /// The entries of all sources, in their order.
    pub(super) fn new(
        list: List,
        scope: &Scope,
        config: &GatewayConfig,
        parts: &[Part],
        name_conflicts: &mut Vec<Finding>,
    ) -> Self {
        let mut merge = Merge {
            list,
            scope,
            naming: config.naming,
            parts,
            name_conflicts,
            listing: Self::default(),
        };
        for (number, part) in parts.iter().enumerate() {
            for (at, entry) in part.catalog.list(list).iter().enumerate() {
                merge.take(number, at, entry);
            }
        }
        let mut listing = merge.listing;
        let exposure = match list {
            List::Tools => &config.endpoints.of(scope).exposure,
            List::Prompts | List::Resources | List::Templates => &Exposure::Direct,
        };
        listing.shown = exposure.shown(&listing.all, parts);
        listing.generation = listing.number();
        listing
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Found)> {
        self.by_name
            .iter()
            .map(|(name, found)| (name.as_str(), found))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Found> {
        self.by_name.get(name)
    }

    pub(super) fn all(&self) -> &[Listed] {
        &self.all
    }

    /// What a part of the view has at a place, if it is listed.
    pub(super) fn at(&self, part: usize, at: usize) -> Option<&Listed> {
        let place = |one: &Listed| (one.part as usize, one.at as usize);
        let found = self.all.binary_search_by_key(&(part, at), place);
        found.ok().map(|found| &self.all[found])
    }

    /// The definitions of the list itself, from a place on.
    pub(super) fn from(&self, start: usize) -> impl ExactSizeIterator<Item = &RawJson> + Clone {
        let shown = self.shown.get(start..).unwrap_or_default().iter();
        shown.map(|at| &self.all[*at as usize].definition)
    }

    /// Made from the names: where a client stands is the same place while those are.
    fn number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for at in &self.shown {
            self.all[*at as usize].name.hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// A list in the making.
struct Merge<'a> {
    list: List,
    scope: &'a Scope,
    naming: Naming,
    parts: &'a [Part],
    name_conflicts: &'a mut Vec<Finding>,
    listing: Listing,
}

impl Merge<'_> {
    /// Takes one entry of one source, unless it is another's own.
    fn take(&mut self, number: usize, at: usize, entry: &CatalogEntry) {
        let part = &self.parts[number];
        let owner = match self.list {
            List::Resources | List::Templates => owner_of(self.parts, &entry.key),
            List::Tools | List::Prompts => None,
        };
        match owner {
            Some(owner) if owner.source != part.source => {
                self.name_conflicts.push(Finding::Claim {
                    uri: entry.key.clone(),
                    owner: owner.id.clone(),
                    claimed_by: part.id.clone(),
                });
            }
            _ => self.add(number, at, entry),
        }
    }

    /// Adds an entry under the first of its names that is free.
    fn add(&mut self, number: usize, at: usize, entry: &CatalogEntry) {
        let (list, part) = (self.list, &self.parts[number]);
        let names = names(list, self.scope, self.naming, &part.id, &entry.key);
        let by_name = &self.listing.by_name;
        let taken_by = by_name.get(&names[0]).map(|found| found.source);
        let again = taken_by == Some(part.source);
        let free = names.iter().find(|name| !by_name.contains_key(*name));
        let Some(name) = free.filter(|_| !again) else {
            return self.name_conflicts.push(Finding::Twice {
                list,
                name: entry.key.clone(),
                source: part.id.clone(),
            });
        };
        let keeper = self.parts.iter().find(|one| Some(one.source) == taken_by);
        if let Some(keeper) = keeper {
            self.name_conflicts.push(Finding::Collision {
                list,
                name: names[0].clone(),
                kept_by: keeper.id.clone(),
                lost_by: part.id.clone(),
                listed_as: name.clone(),
            });
        }
        let pages_of = (*self.scope == Scope::All).then_some(&part.id);
        let definition = presented(list, entry, name, pages_of);
        self.listing.all.push(Listed {
            part: u32::try_from(number).unwrap_or(u32::MAX),
            at: u32::try_from(at).unwrap_or(u32::MAX),
            name: name.clone(),
            definition,
        });
        let found = Found {
            source: part.source,
            native: entry.key.clone(),
            at: Some(at),
            idempotent: list != List::Tools || is_idempotent(&entry.definition),
        };
        self.listing.by_name.insert(name.clone(), found);
    }
}

/// Whether a tool says that calling it twice does no more than calling it once.
pub(super) fn is_idempotent(definition: &RawJson) -> bool {
    if !definition.as_str().contains("Hint\"") {
        return false;
    }
    let definition = definition.object();
    let annotations = definition.as_ref().and_then(|tool| tool.get("annotations"));
    let annotations = annotations.and_then(|text| Object::parse(text).ok());
    annotations.is_some_and(|hints| {
        let says = |hint| hints.get(hint) == Some("true");
        says("readOnlyHint") || says("idempotentHint")
    })
}

/// The names under which a scope may list an entry, the best first.
fn names(
    list: List,
    scope: &Scope,
    naming: Naming,
    source: &SourceId,
    native: &str,
) -> Vec<String> {
    let plain = native.to_owned();
    // What is the gateway's own says so everywhere.
    let is_own = list == List::Tools && *source == SourceId::gateway();
    if matches!(scope, Scope::Source(_)) && !is_own {
        return vec![plain];
    }
    let prefixed = match list {
        List::Tools => shortened(format!("{source}__{native}")),
        List::Prompts => format!("{source}/{native}"),
        List::Resources | List::Templates => match native.strip_prefix(PAGES) {
            Some(page) => return vec![format!("{PAGES}{source}/{page}")],
            None => return vec![plain, format!("{QUALIFIED}{source}/{native}")],
        },
    };
    match naming {
        Naming::Native if !is_own => vec![plain, prefixed],
        Naming::Prefixed | Naming::Native => vec![prefixed],
    }
}

/// A tool's name of at most 64 characters: a longer one ends in a number made from all of it.
pub(super) fn shortened(name: String) -> String {
    if name.chars().count() <= LONGEST_TOOL_NAME {
        return name;
    }
    // FNV-1a: the same on every machine and in every version.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let kept: String = name.chars().take(LONGEST_TOOL_NAME - 9).collect();
    format!("{kept}_{:08x}", hash >> 32)
}

/// A definition under the name it is listed by. Of a tool, the page it names moves to `pages_of`.
fn presented(list: List, entry: &CatalogEntry, name: &str, pages_of: Option<&SourceId>) -> RawJson {
    let member = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    let shows_a_page = pages_of.is_some() && entry.definition.as_str().contains(PAGES);
    if name == entry.key && !shows_a_page {
        return entry.definition.clone();
    }
    let Some(mut definition) = entry.definition.object() else {
        return entry.definition.clone();
    };
    definition.set(member, RawJson::string(name).as_str().to_owned());
    if let Some(source) = pages_of
        && let Some(meta) = definition
            .get("_meta")
            .and_then(|meta| moved_page(meta, source))
    {
        definition.set("_meta", meta);
    }
    definition.write()
}

/// `_meta` with its page under the source's own part of `ui://`; none if it names none.
pub(crate) fn moved_page(meta: &str, source: &SourceId) -> Option<String> {
    let mut meta = Object::parse(meta).ok()?;
    let mut ui = meta.get("ui").and_then(|ui| Object::parse(ui).ok());
    let mut moved = false;
    if let Some(page) = ui
        .as_mut()
        .and_then(|ui| page_of(ui, PAGE_OF_A_TOOL[0], source))
    {
        let mut ui = ui.unwrap_or_default();
        ui.set(PAGE_OF_A_TOOL[0], page);
        let ui = ui.write().as_str().to_owned();
        meta.set("ui", ui);
        moved = true;
    }
    if let Some(page) = page_of(&meta, PAGE_OF_A_TOOL[1], source) {
        meta.set(PAGE_OF_A_TOOL[1], page);
        moved = true;
    }
    moved.then(|| meta.write().as_str().to_owned())
}

fn page_of(object: &Object<'_>, member: &str, source: &SourceId) -> Option<String> {
    let page = object.string(member)?;
    let page = page.strip_prefix(PAGES)?;
    Some(
        RawJson::string(&format!("{PAGES}{source}/{page}"))
            .as_str()
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_stays_its_own() {
        let long = |end: &str| shortened(format!("source__{}{end}", "x".repeat(80)));
        assert_eq!(long("a").len(), LONGEST_TOOL_NAME);
        assert_ne!(long("a"), long("b"));
        assert_eq!(long("a"), long("a"));
        assert_eq!(shortened("s__t".to_owned()), "s__t");
    }

    #[test]
    fn the_page_of_a_tool_moves_with_its_source() {
        let source = "maps".parse().unwrap();
        let moved = |meta| moved_page(meta, &source);
        assert_eq!(
            moved(r#"{"ui":{"resourceUri":"ui://view/a","x":1.50}}"#).as_deref(),
            Some(r#"{"ui":{"resourceUri":"ui://maps/view/a","x":1.50}}"#)
        );
        assert_eq!(
            moved(r#"{"ui/resourceUri":"ui://a"}"#).as_deref(),
            Some(r#"{"ui/resourceUri":"ui://maps/a"}"#)
        );
        assert_eq!(moved(r#"{"ui":{"resourceUri":"https://a"}}"#), None);
        assert_eq!(moved(r#"{"x":"ui://a"}"#), None);
    }
}
