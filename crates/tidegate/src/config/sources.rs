//! The sources of the file: their ids and kinds.
//!
//! Knows no source itself: each kind reads its own fields.

use std::borrow::Cow;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use tidegate_sources::files::FilesConfig;
use tidegate_sources::memory::Limits;
use tidegate_sources::prompts::PromptsConfig;

use super::capability_index::{self, IndexSettings, RawIndex, read_index};
use super::endpoint::RawEndpoint;
use super::entries::Entries;
use super::environment::Environment;
use super::folders::{self, RawFiles, RawPrompts, read_files, read_prompts};
use super::memory::{self, RawMemory, read_memory};
use super::problem::Diagnostics;
use super::read_error::unknown_word;
use super::remote::{RawRemote, Server, read_remote};
use super::tree::{Node, Value};

/// Ids that name parts of the gateway.
const RESERVED: &[&str] = &["gateway", "plugin", "system", "ui"];
const LONGEST_ID: usize = 32;

/// A source: a remote MCP server, with a `command` to run or a `url`, or a `kind` of Tidegate's
/// own. Which other fields it has depends on its kind.
// So unknown fields are not refused here but by what reads the kind.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a mapping of fields")]
pub(crate) struct RawSource {
    pub(crate) kind: Option<String>,
    pub(crate) endpoint: Option<RawEndpoint>,
}

/// All fields that a source of any kind has.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct AnySource {
    /// What the source is; a remote server need not say it.
    kind: Option<String>,
    /// What `/mcp/{source}` shows of the source's tools.
    endpoint: Option<RawEndpoint>,
    #[serde(flatten)]
    remote: RawRemote,
    #[serde(flatten)]
    files: Option<RawFiles>,
    #[serde(flatten)]
    index: Option<RawIndex>,
    #[serde(flatten)]
    memory: RawMemory,
    #[serde(flatten)]
    prompts: Option<RawPrompts>,
}

impl JsonSchema for RawSource {
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        AnySource::json_schema(generator)
    }
}

/// A source to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source<K = SourceKind> {
    pub id: String,
    pub kind: K,
}

/// What a source is, with the settings of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    Remote(Server),
    Files(FilesConfig),
    Index(IndexSettings),
    Memory(Limits),
    Prompts(PromptsConfig),
}

/// The word for a kind, and what reads the other fields of its entries.
type Kinds<'a, K> = &'a [(&'a str, fn(Node, &str, &mut Diagnostics) -> Option<K>)];

/// Every kind there is. Adding one is a variant of [`SourceKind`] and a row here.
const KINDS: Kinds<'static, SourceKind> = &[
    (REMOTE, |node, name, diagnostics| {
        read_remote(node, name, diagnostics).map(SourceKind::Remote)
    }),
    ("files", |node, name, diagnostics| {
        read_files(node, name, diagnostics).map(SourceKind::Files)
    }),
    (capability_index::KIND, |node, name, diagnostics| {
        read_index(node, name, diagnostics).map(SourceKind::Index)
    }),
    ("memory", |node, name, diagnostics| {
        read_memory(node, name, diagnostics).map(SourceKind::Memory)
    }),
    ("prompts", |node, name, diagnostics| {
        read_prompts(node, name, diagnostics).map(SourceKind::Prompts)
    }),
];

/// What runs where there is no file at all.
pub(crate) fn without_file() -> Vec<Source> {
    vec![Source {
        id: "memory".to_owned(),
        kind: SourceKind::Memory(memory::shipped()),
    }]
}

/// The kind of an entry that does not say one, but has what only a remote server has.
const REMOTE: &str = "remote";
/// The fields of every entry.
const OF_ALL: [&str; 2] = ["kind", "endpoint"];

const OF_REMOTE: [&str; 2] = ["command", "url"];

pub(crate) fn check(raw: Entries<RawSource>, diagnostics: &mut Diagnostics) -> Vec<Source> {
    check_against(KINDS, raw, diagnostics)
}

/// Fetches what the sources keep elsewhere.
pub(crate) fn fetch(
    sources: &mut [Source],
    folder: &Path,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) {
    for Source { kind, .. } in sources {
        match kind {
            SourceKind::Remote(server) => server.fetch(folder, environment, diagnostics),
            SourceKind::Files(files) => folders::settle(&mut files.root, folder, environment),
            SourceKind::Index(_) => {}
            SourceKind::Memory(_) => {}
            SourceKind::Prompts(prompts) => {
                folders::settle(&mut prompts.folder, folder, environment)
            }
        }
    }
}

fn check_against<K>(
    kinds: Kinds<'_, K>,
    raw: Entries<RawSource>,
    diagnostics: &mut Diagnostics,
) -> Vec<Source<K>> {
    let mut sources = Vec::new();
    for (id, RawSource { kind, .. }) in raw.0 {
        if let Err(message) = check_id(&id) {
            diagnostics.key(&["sources", &id], message);
        }
        let kind = kind.or_else(|| implied_kind(&id, diagnostics));
        let known = kind
            .as_ref()
            .and_then(|kind| kinds.iter().find(|(name, _)| name == kind));
        let Some((_, read)) = known else {
            refuse_kind(kinds, &id, kind.as_deref(), diagnostics);
            continue;
        };
        let fields = fields_of(&id, diagnostics);
        let kind = fields.and_then(|node| read(node, &format!("sources.{id}"), diagnostics));
        sources.extend(kind.map(|kind| Source { id, kind }));
    }
    sources
}

/// The kind of an entry that does not say one.
fn implied_kind(id: &str, diagnostics: &Diagnostics) -> Option<String> {
    let entry = diagnostics.tree().find(&["sources", id])?;
    let is_remote = OF_REMOTE.iter().any(|field| entry.entry(field).is_some());
    is_remote.then(|| REMOTE.to_owned())
}

/// The entry without what all have: what is left is the kind's own.
fn fields_of(id: &str, diagnostics: &Diagnostics) -> Option<Node> {
    let mut node = diagnostics.tree().find(&["sources", id])?.clone();
    if let Value::Map(entries) = &mut node.value {
        entries.retain(|entry| !OF_ALL.contains(&entry.key.as_str()));
    }
    Some(node)
}

fn refuse_kind<K>(
    kinds: Kinds<'_, K>,
    id: &str,
    kind: Option<&str>,
    diagnostics: &mut Diagnostics,
) {
    let known: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
    let path = ["sources", id, "kind"];
    match kind {
        Some(kind) => diagnostics.value(
            &path,
            format!("`sources.{id}.kind`: {}", unknown_word(kind, &known)),
        ),
        None => diagnostics.key(
            &path[..2],
            format!("`sources.{id}` needs a `kind`: one of {}", known.join(", ")),
        ),
    }
}

/// The id that a name of another program's becomes: lower case, and `-` for what an id cannot have.
pub(crate) fn id_from(name: &str) -> String {
    let id = name.to_ascii_lowercase();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    id.chars().map(|c| if fits(c) { c } else { '-' }).collect()
}

pub(crate) fn check_id(id: &str) -> Result<(), String> {
    if RESERVED.contains(&id) {
        return Err(format!(
            "the id `{id}` is taken by Tidegate itself; choose another"
        ));
    }
    let first = id.starts_with(|c: char| c.is_ascii_lowercase());
    let rest = id
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    match first && rest && id.len() <= LONGEST_ID {
        true => Ok(()),
        false => Err(format!(
            "`{id}` cannot be the id of a source; use a lower-case letter, then up to {} of a-z \
             0-9 -",
            LONGEST_ID - 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde::Deserialize;

    use super::{Kinds, Source, check_against};
    use crate::config::problem::Diagnostics;
    use crate::config::raw::Raw;
    use crate::config::read::read;
    use crate::config::tree::parse;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shelf {
        books: usize,
    }

    const KINDS: Kinds<'static, Shelf> = &[("shelf", read)];

    fn check(text: &str) -> Result<Vec<Source<Shelf>>, String> {
        let tree = parse(text).unwrap();
        let mut diagnostics = Diagnostics::new(PathBuf::from("t.yaml"), tree.clone());
        let raw: Raw = read(tree, "", &mut diagnostics).unwrap();
        let sources = check_against(KINDS, raw.sources.unwrap(), &mut diagnostics);
        diagnostics
            .settle(sources)
            .map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_kind_reads_its_own_fields_in_the_order_of_the_file() {
        let text = "sources:\n  z: { kind: shelf, books: 3 }\n  a: { books: 4, kind: shelf }\n";
        let sources = check(text).unwrap();
        let read: Vec<_> = sources
            .iter()
            .map(|source| (source.id.as_str(), source.kind.books))
            .collect();
        assert_eq!(read, [("z", 3), ("a", 4)]);
    }

    #[test]
    fn what_does_not_fit_a_kind_is_told() {
        for (entry, expected) in [
            (
                "{ kind: shelf, bocks: 3 }",
                "1:30: unknown field `sources.a.bocks`; did you mean `books`?",
            ),
            (
                "{ kind: shelf }",
                "1:15: `sources.a` needs the field `books`",
            ),
            (
                "{ kind: shlef }",
                "1:23: `sources.a.kind`: unknown value `shlef`; did you mean `shelf`?",
            ),
            (
                "{ books: 3 }",
                "1:12: `sources.a` needs a `kind`: one of shelf",
            ),
        ] {
            let problems = check(&format!("sources: {{ a: {entry} }}\n")).unwrap_err();
            assert!(
                problems.starts_with(&format!("t.yaml:{expected}\n")),
                "{problems}"
            );
        }
    }
}
