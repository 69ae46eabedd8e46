//! The default catalog of a server in a file, and what is known about its sessions and client classes, so
//! that after a restart of the gateway the first list is complete before the server has started.
//!
//! Must not know: which connection a catalog was loaded over.

use std::fs;
use std::io::{self, Write as _};
use std::sync::Arc;

use serde::Deserialize;
use tidegate_core::{CacheScope, Catalog, List, Object, RawJson, bounded_list};
use tidegate_mcp::Revision;
use tidegate_mcp::revision::client::{
    ServerFacts, SessionSupport, parse_declared, parse_initialize_result, parse_list_page,
};

use super::client_class::ClassKey;
use crate::config::CatalogFile;

/// The format of the file. A file with another format is ignored.
const FORMAT: &str = "2";

/// The largest file. A larger catalog is not saved.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Client classes in one file.
const MAX_CLASSES: usize = 100;

/// What is saved about a server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedCatalog {
    pub(crate) facts: Arc<ServerFacts>,
    pub(crate) catalog: Arc<Catalog>,
    /// Client classes that have the default lists.
    pub(crate) equal_classes: Vec<ClassKey>,
    /// Whether era detection is costly, because the server ignores unknown methods or exits.
    pub(crate) needs_session: bool,
}

impl CatalogFile {
    /// What was saved last; `None` if there is nothing that can be used.
    pub(crate) fn load(&self) -> Option<SavedCatalog> {
        if fs::metadata(&self.path).ok()?.len() > MAX_FILE_BYTES {
            return None;
        }
        let text = fs::read_to_string(&self.path).ok()?;
        let json = RawJson::parse(text).ok()?;
        let members = json.object()?;
        if members.get("format") != Some(FORMAT) || members.string("server")? != self.server {
            return None;
        }
        let revision = Revision::parse(&members.string("revision")?)?;
        let declared = RawJson::copy_of(members.get("declared")?);
        let mut facts = parse_declared(revision, &declared)?;
        if let Some(sessions) = members.get("sessions") {
            facts.sessions = parse_sessions(sessions)?;
        }
        let lists = RawJson::copy_of(members.get("lists")?);
        Some(SavedCatalog {
            catalog: Arc::new(parse_catalog(&facts, &lists)?),
            facts: Arc::new(facts),
            equal_classes: parse_classes(members.get("equalClasses")?)?,
            needs_session: members.get("needsSession") == Some("true"),
        })
    }

    /// Replaces the file as a whole, so that a crash leaves the old or the new one.
    pub(crate) fn save(&self, saved: &SavedCatalog) -> io::Result<()> {
        let text = self.encode(saved);
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder)?;
        // Readable by the owner only, like every temporary file.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&self.path)?;
        Ok(())
    }

    fn encode(&self, saved: &SavedCatalog) -> String {
        let mut lists = Object::default();
        for list in List::ALL {
            let entries = saved.catalog.list(list).iter();
            let entries: Vec<_> = entries.map(|entry| entry.definition.as_str()).collect();
            lists.set(list.member(), format!("[{}]", entries.join(",")));
        }
        let mut members = Object::default();
        members.set("format", FORMAT);
        members.set("server", RawJson::string(&self.server).as_str().to_owned());
        members.set("revision", format!("\"{}\"", saved.facts.revision));
        members.set("needsSession", saved.needs_session.to_string());
        members.set("declared", saved.facts.declared.as_str().to_owned());
        if let Some(sessions) = encode_sessions(&saved.facts.sessions) {
            members.set("sessions", sessions);
        }
        let classes: Vec<_> = saved
            .equal_classes
            .iter()
            .filter_map(encode_class)
            .collect();
        members.set("equalClasses", format!("[{}]", classes.join(",")));
        members.set("lists", lists.write().as_str().to_owned());
        members.write().as_str().to_owned()
    }
}

/// What the server declares in a session, or `false` if it has none; `None` if that is not known.
fn encode_sessions(sessions: &SessionSupport) -> Option<String> {
    match sessions {
        SessionSupport::Unsupported => Some("false".to_owned()),
        SessionSupport::Supported { facts: Some(facts) } => {
            Some(facts.declared.as_str().to_owned())
        }
        SessionSupport::Unknown | SessionSupport::Supported { facts: None } => None,
    }
}

fn parse_sessions(text: &str) -> Option<SessionSupport> {
    if text == "false" {
        return Some(SessionSupport::Unsupported);
    }
    let facts = parse_initialize_result(&RawJson::copy_of(text))?;
    Some(SessionSupport::Supported {
        facts: Some(Arc::new(facts)),
    })
}

/// A client class. The text of its capabilities distinguishes it, so they are saved as a string.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedClass {
    in_session: bool,
    capabilities: String,
}

fn encode_class(class: &ClassKey) -> Option<String> {
    let ClassKey::Clients {
        in_session,
        capabilities,
    } = class
    else {
        return None;
    };
    let mut members = Object::default();
    members.set("inSession", in_session.to_string());
    let capabilities = RawJson::string(capabilities.as_str());
    members.set("capabilities", capabilities.as_str().to_owned());
    Some(members.write().as_str().to_owned())
}

fn parse_classes(list: &str) -> Option<Vec<ClassKey>> {
    let classes: Vec<SavedClass> = bounded_list(list, MAX_CLASSES).ok()?;
    let classes = classes.into_iter().map(|class| {
        Some(ClassKey::Clients {
            in_session: class.in_session,
            capabilities: RawJson::parse(class.capabilities).ok()?,
        })
    });
    classes.collect()
}

fn parse_catalog(facts: &ServerFacts, lists: &RawJson) -> Option<Catalog> {
    let mut catalog = Catalog {
        features: facts.features,
        instructions: facts.instructions.clone(),
        declaration: Some(facts.declaration()),
        scope: CacheScope::Private,
        ..Catalog::default()
    };
    for list in List::ALL {
        *catalog.list_mut(list) = parse_list_page(list, lists)?.entries;
    }
    Some(catalog)
}

#[cfg(test)]
mod tests {
    use tidegate_core::CatalogEntry;

    use super::*;

    fn file(folder: &tempfile::TempDir, server: &str) -> CatalogFile {
        CatalogFile {
            path: folder.path().join("catalogs/one.json"),
            server: server.to_owned(),
        }
    }

    fn saved() -> SavedCatalog {
        let declared = RawJson::copy_of(
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":"use it"}"#,
        );
        let facts = parse_declared(Revision::parse("2025-06-18").unwrap(), &declared).unwrap();
        let definition = r#"{"name":"t","inputSchema":{"type":"object"},"x":1.50}"#;
        let catalog = Catalog {
            features: facts.features,
            instructions: facts.instructions.clone(),
            declaration: Some(facts.declaration()),
            tools: vec![CatalogEntry {
                key: "t".to_owned(),
                definition: RawJson::copy_of(definition),
            }],
            ..Catalog::default()
        };
        SavedCatalog {
            facts: Arc::new(facts),
            catalog: Arc::new(catalog),
            equal_classes: vec![ClassKey::Clients {
                in_session: true,
                capabilities: RawJson::copy_of(r#"{"roots":{}}"#),
            }],
            needs_session: true,
        }
    }

    #[test]
    fn what_is_saved_is_loaded_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        assert!(file(&folder, "a").load().is_none(), "nothing is saved yet");
        file(&folder, "a").save(&saved()).unwrap();
        assert_eq!(file(&folder, "a").load().unwrap(), saved());
    }

    #[test]
    fn what_is_known_about_sessions_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let in_session = Arc::clone(&saved().facts);
        let discovered =
            RawJson::copy_of(r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#);
        let lists = r#"{"tools":[],"prompts":[],"resources":[],"resourceTemplates":[]}"#;
        let lists = RawJson::copy_of(lists);
        for sessions in [
            SessionSupport::Unknown,
            SessionSupport::Unsupported,
            SessionSupport::Supported {
                facts: Some(in_session),
            },
        ] {
            let mut facts = parse_declared(Revision::NEWEST, &discovered).unwrap();
            facts.sessions = sessions;
            let saved = SavedCatalog {
                catalog: Arc::new(parse_catalog(&facts, &lists).unwrap()),
                facts: Arc::new(facts),
                ..saved()
            };
            file(&folder, "a").save(&saved).unwrap();
            assert_eq!(file(&folder, "a").load().unwrap(), saved);
        }
    }

    #[test]
    fn what_was_saved_for_another_server_or_is_damaged_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        file(&folder, "a").save(&saved()).unwrap();
        assert!(file(&folder, "b").load().is_none());
        fs::write(file(&folder, "a").path, "{\"format\":1,").unwrap();
        assert!(file(&folder, "a").load().is_none());
    }
}
