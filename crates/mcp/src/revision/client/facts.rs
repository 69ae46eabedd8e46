//! What a server says of itself and of what it offers.

use std::time::Duration;

use serde_json::value::RawValue;
use tidegate_core::{CatalogEntry, Features, List, Object, RawJson, bounded_list};

use super::super::{Era, Revision, tasks};
use super::entry::entry;

/// More entries than any page has.
const MOST_ENTRIES: usize = 100_000;

/// More versions than any server names.
const MOST_VERSIONS: usize = 100;

/// A server, by its own word.
#[derive(Clone, Debug)]
pub struct ServerFacts {
    pub revision: Revision,
    pub features: Features,
    /// Whether it tells when any of its lists changes.
    pub tells_changes: bool,
    pub instructions: Option<String>,
    /// Whether the server can also be spoken to in a session, where it was asked without one.
    pub also_sessions: bool,
}

/// The answer to a handshake; none if it is no answer we can go on with.
pub fn initialized(result: &RawJson) -> Option<ServerFacts> {
    let members = result.object()?;
    let revision = Revision::parse(&members.string("protocolVersion")?)?;
    Some(facts(revision, &members))
}

/// The answer to discover; none if it is none, or names legacy revisions alone.
pub(super) fn discovered(revision: Revision, result: &RawJson) -> Option<ServerFacts> {
    let members = result.object()?;
    let versions = versions(members.get("supportedVersions")?)?;
    let is_legacy =
        |version: &String| Revision::parse(version).is_some_and(|one| one.era() == Era::Legacy);
    let also_sessions = versions.iter().any(is_legacy);
    if also_sessions && versions.iter().all(is_legacy) {
        return None;
    }
    Some(ServerFacts {
        also_sessions,
        ..facts(revision, &members)
    })
}

/// The revisions that a server names; none if it is no list.
pub(super) fn versions(list: &str) -> Option<Vec<String>> {
    bounded_list(list, MOST_VERSIONS).ok()
}

fn facts(revision: Revision, members: &Object<'_>) -> ServerFacts {
    let capabilities = members
        .get("capabilities")
        .and_then(|text| Object::parse(text).ok());
    let capabilities = capabilities.unwrap_or_default();
    let part = |name: &str| Object::parse(capabilities.get(name)?).ok();
    let has = |name: &str| capabilities.get(name).is_some();
    let tells = |name| part(name).is_none_or(|one| one.get("listChanged") == Some("true"));
    let features = Features {
        tools: has("tools"),
        prompts: has("prompts"),
        resources: has("resources"),
        subscribe: part("resources").is_some_and(|one| one.get("subscribe") == Some("true")),
        completions: has("completions"),
        logging: has("logging"),
        tasks: revision.era() == Era::Modern && tasks::declares(&capabilities.write()),
    };
    let instructions = members.string("instructions");
    ServerFacts {
        revision,
        features,
        tells_changes: ["tools", "prompts", "resources"].into_iter().all(tells),
        instructions,
        also_sessions: false,
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    pub entries: Vec<CatalogEntry>,
    /// Those that lacked something, by their names.
    pub mended: Vec<String>,
    /// How many entries could not be read, and are left out.
    pub malformed: usize,
    /// The next page's cursor. An empty one is one too.
    pub next: Option<String>,
    /// How long the server says the page stays as it is.
    pub ttl: Option<Duration>,
}

/// Reads a page; none if it is no page. An entry without a name is left out.
pub fn page(list: List, result: &RawJson) -> Option<Page> {
    let members = result.object()?;
    let items: Vec<&RawValue> = bounded_list(members.get(list.member())?, MOST_ENTRIES).ok()?;
    let (in_all, mut mended) = (items.len(), Vec::new());
    let read = items.into_iter().filter_map(|item| entry(list, item));
    let entries = read.map(|(entry, was_mended)| {
        mended.extend(was_mended.then(|| entry.key.clone()));
        entry
    });
    let entries: Vec<_> = entries.collect();
    Some(Page {
        malformed: in_all - entries.len(),
        entries,
        mended,
        next: members.string("nextCursor"),
        ttl: members
            .get("ttlMs")
            .and_then(|ttl| ttl.parse().ok())
            .map(Duration::from_millis),
    })
}
