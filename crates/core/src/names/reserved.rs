//! Names and URIs that belong to the gateway and to built-in sources. Where all sources share one
//! namespace, no other source can list them or answer for them, whether or not the built-in source is
//! configured. At the endpoint of one source, everything is that of the source.

use super::qualified::{is_at_or_below, owner_of};
use super::{Naming, SourceCatalog};
use crate::{List, SourceId};

/// Schemes and authorities of built-in sources and of the gateway.
const RESERVED_URIS: [&str; 6] = [
    "gateway:",
    "plugin:",
    "capability-index:",
    "requirements:",
    "resource://system",
    "resource://knowledge",
];

/// The usual ids of built-in sources. In a merged list, no other source has names with these
/// prefixes.
const RESERVED_PREFIXES: [&str; 5] = ["gateway", "system", "memory", "requirements", "knowledge"];

/// Whether a URI is in a reserved namespace.
pub(super) fn is_reserved_uri(naming: Option<Naming>, uri: &str) -> bool {
    let mut reserved = RESERVED_URIS.iter();
    naming.is_some() && reserved.any(|reserved| is_at_or_below(uri, reserved))
}

/// Why a source cannot have a URI.
pub(super) enum UriClaim {
    /// Another source owns it.
    Owned(usize),
    /// It is in a reserved namespace.
    Reserved,
}

/// Why the source with this number cannot list or serve a URI, if it cannot.
pub(super) fn uri_claim(
    sources: &[SourceCatalog],
    naming: Option<Naming>,
    number: usize,
    uri: &str,
) -> Option<UriClaim> {
    match owner_of(sources, uri) {
        Some(owner) if owner == number => None,
        Some(owner) => Some(UriClaim::Owned(owner)),
        // The URIs of the gateway source are relative, and qualified in every view.
        None if is_reserved_uri(naming, uri) => Some(UriClaim::Reserved),
        None => None,
    }
}

/// The owner of a tool or prompt name that the source with this number cannot be listed under.
pub(super) fn name_owner(
    sources: &[SourceCatalog],
    naming: Option<Naming>,
    list: List,
    number: usize,
    name: &str,
) -> Option<SourceId> {
    let source = &sources[number];
    let others = || sources.iter().filter(|other| other.id != source.id);
    if naming == Some(Naming::Native) && !source.catalog.is_built_in {
        let mut built_in = others().filter(|other| other.catalog.is_built_in);
        if let Some(owner) = built_in.find(|other| other.catalog.has(list, name)) {
            return Some(owner.id.clone());
        }
    }
    prefixes(list, name).find_map(|prefix| {
        if prefix == source.id.as_str() {
            return None;
        }
        let other = others().find(|other| other.id.as_str() == prefix);
        match (naming, other) {
            // At the endpoint of one source its names stay native, except for the gateway tools.
            (None, other) => other
                .filter(|other| other.id.is_gateway())
                .map(|other| other.id.clone()),
            (Some(_), Some(other)) => Some(other.id.clone()),
            (Some(_), None) => {
                let is_reserved = RESERVED_PREFIXES.contains(&prefix);
                is_reserved.then(|| prefix.parse().ok()).flatten()
            }
        }
    })
}

/// What a name begins with, if it reads as the name of another source with its prefix.
fn prefixes(list: List, name: &str) -> impl Iterator<Item = &str> {
    let dividers: &[&str] = match list {
        List::Tools => &["__", "."],
        _ => &["/"],
    };
    let prefix = |divider: &&str| Some(name.split_once(*divider)?.0);
    dividers.iter().filter_map(prefix)
}
