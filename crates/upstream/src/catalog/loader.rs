//! Loads the lists of a server, with all their pages.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use tidegate_core::{
    CacheScope, Catalog, CatalogEntry, ClientContext, List, ListDefect, RawJson, Result,
    truncate_for_message,
};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{
    ListPage, MistypedMembers, RequestEncoder, invalid_header_annotation, modern_headers,
    parse_list_page,
};

use crate::config::RemoteConfig;
use crate::error::source_failed;
use crate::session::Connection;
use crate::session::own_requests::send_request;

/// Pages, entries and bytes of one list. A list with more is cut off.
const MAX_PAGES: usize = 1_000;
const MAX_ENTRIES: usize = 100_000;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Entries, and members of one entry, that the message about members of the wrong type names.
const MAX_MISTYPED_IN_MESSAGE: usize = 3;

/// All lists of a server, and the shortest ttlMs of their pages.
pub(crate) struct LoadedCatalog {
    pub(crate) catalog: Catalog,
    pub(crate) ttl: Option<Duration>,
    /// Whether a list could not be loaded; another attempt may succeed.
    pub(crate) has_failed: bool,
}

/// Loads all lists that a server declares, for clients with these capabilities. A list that fails
/// keeps the entries it has in `previous`, with a defect.
pub(crate) async fn load_catalog(
    config: &RemoteConfig,
    connection: &Connection,
    capabilities: &RawJson,
    previous: &Catalog,
) -> LoadedCatalog {
    let facts = &connection.facts;
    let mut catalog = Catalog {
        features: facts.features,
        instructions: facts.instructions.clone(),
        declaration: Some(facts.declaration()),
        scope: CacheScope::Private,
        ..Catalog::default()
    };
    let loader = ListLoader::new(config, connection, capabilities);
    let (mut ttl, mut has_failed) = (None, false);
    for list in List::ALL {
        if !facts.features.has(list) {
            continue;
        }
        let started = Instant::now();
        let loaded = match loader.list(list).await {
            Ok(loaded) => {
                config.listed.observe(list, started.elapsed());
                ttl = [ttl, loaded.ttl].into_iter().flatten().min();
                loaded
            }
            Err(error) => {
                has_failed = true;
                LoadedList {
                    entries: previous.list(list).to_vec(),
                    defects: vec![format!(
                        "cannot load its {}: {}",
                        list.member(),
                        error.message()
                    )],
                    ..LoadedList::default()
                }
            }
        };
        *catalog.list_mut(list) = loaded.entries;
        let defects = loaded.defects.into_iter();
        let defects = defects.map(|reason| ListDefect { list, reason });
        catalog.defects.extend(defects);
    }
    log_new_defects(config, &catalog, previous);
    LoadedCatalog {
        catalog,
        ttl,
        has_failed,
    }
}

/// Loads the tools that a server lists for clients with these capabilities.
pub(crate) async fn load_tools(
    config: &RemoteConfig,
    connection: &Connection,
    capabilities: &RawJson,
) -> Result<Vec<CatalogEntry>> {
    let loader = ListLoader::new(config, connection, capabilities);
    Ok(loader.list(List::Tools).await?.entries)
}

/// Logs each defect once, for as long as it persists.
fn log_new_defects(config: &RemoteConfig, catalog: &Catalog, previous: &Catalog) {
    let source = &config.name;
    let defects = catalog.defects.iter();
    for defect in defects.filter(|defect| !previous.defects.contains(defect)) {
        let (list, reason) = (defect.list.member(), &defect.reason);
        tracing::warn!(source, list, reason, "list is incomplete");
    }
}

/// One list with all its pages.
#[derive(Default)]
struct LoadedList {
    entries: Vec<CatalogEntry>,
    ttl: Option<Duration>,
    malformed: usize,
    /// Entries from which members of the wrong type were removed: the first few, and how many.
    mistyped: Vec<String>,
    mistyped_count: usize,
    /// Tools with invalid header annotations.
    uncallable: Vec<String>,
    /// Why the list is incomplete.
    defects: Vec<String>,
}

impl LoadedList {
    fn add_mistyped(&mut self, mistyped: &[MistypedMembers]) {
        self.mistyped_count += mistyped.len();
        let free = MAX_MISTYPED_IN_MESSAGE - self.mistyped.len();
        self.mistyped
            .extend(mistyped.iter().take(free).map(|entry| {
                let members: Vec<_> = entry.members.iter().take(MAX_MISTYPED_IN_MESSAGE).collect();
                let members: Vec<_> = members.iter().map(|member| member.as_str()).collect();
                let entry = truncate_for_message(&entry.entry);
                format!("`{entry}` ({})", members.join(", "))
            }));
    }
}

struct ListLoader<'a> {
    config: &'a RemoteConfig,
    connection: &'a Connection,
    encoder: RequestEncoder,
}

impl<'a> ListLoader<'a> {
    fn new(config: &'a RemoteConfig, connection: &'a Connection, capabilities: &RawJson) -> Self {
        let encoder = connection.encoder(ClientContext {
            era: connection.facts.revision.era(),
            capabilities: capabilities.clone(),
            ..ClientContext::default()
        });
        Self {
            config,
            connection,
            encoder,
        }
    }

    /// Loads one list, up to the limits.
    async fn list(&self, list: List) -> Result<LoadedList> {
        let mut loaded = LoadedList::default();
        let cut_off = self.pages(list, &mut loaded).await?;
        let name = list.member();
        let cut_off = cut_off.map(|reason| format!("its list of {name} is cut off: {reason}"));
        loaded.defects.extend(cut_off);
        if loaded.malformed > 0 {
            let count = loaded.malformed;
            let defect = format!("{count} of its {name} are malformed and left out");
            loaded.defects.push(defect);
        }
        if loaded.mistyped_count > 0 {
            let (count, shown) = (loaded.mistyped_count, loaded.mistyped.join(", "));
            let more = if count > loaded.mistyped.len() {
                ", …"
            } else {
                ""
            };
            let defect = format!(
                "{count} of its {name} have members of the wrong type, which are left out: {shown}{more}"
            );
            loaded.defects.push(defect);
        }
        if let Some(first) = loaded.uncallable.first() {
            let count = loaded.uncallable.len();
            let first = truncate_for_message(first);
            let defect = format!(
                "{count} of its {name} have invalid header annotations and are left out, for instance \
                 `{first}`"
            );
            loaded.defects.push(defect);
        }
        Ok(loaded)
    }

    /// Loads page after page. Returns why there may be more.
    async fn pages(&self, list: List, loaded: &mut LoadedList) -> Result<Option<&'static str>> {
        let (mut cursor, mut cursors, mut bytes) = (None::<String>, HashSet::new(), 0);
        for _ in 0..MAX_PAGES {
            let Some((page, size)) = self.page(list, cursor.as_deref()).await? else {
                return Ok(None);
            };
            bytes += size;
            self.log_repaired(list, &page.repaired);
            loaded.malformed += page.malformed;
            loaded.add_mistyped(&page.mistyped);
            loaded.ttl = [loaded.ttl, page.ttl].into_iter().flatten().min();
            for entry in page.entries {
                match list != List::Tools || self.is_callable(&entry) {
                    true => loaded.entries.push(entry),
                    false => loaded.uncallable.push(entry.key),
                }
            }
            match page.next_cursor {
                None => return Ok(None),
                Some(_) if loaded.entries.len() > MAX_ENTRIES || bytes > MAX_BYTES => break,
                Some(next) if !cursors.insert(next.clone()) => {
                    return Ok(Some("a cursor was repeated"));
                }
                Some(next) => cursor = Some(next),
            }
        }
        Ok(Some("it has too many pages or entries"))
    }

    /// One page and its size; `None` if the server turns out not to have this list.
    async fn page(&self, list: List, cursor: Option<&str>) -> Result<Option<(ListPage, usize)>> {
        let request = self.encoder.list(self.connection.ids.next(), list, cursor);
        let headers = match self.encoder.revision.era() {
            Era::Modern => modern_headers(self.encoder.revision, &request, None),
            Era::Legacy => Vec::new(),
        };
        let response = send_request(self.connection.channel.as_ref(), request, headers);
        let response = tokio::time::timeout(self.config.connect_timeout, response).await;
        match response.map_err(|_| source_failed("no response in time"))?? {
            Ok(result) => {
                let page = parse_list_page(list, &result);
                let page = page.ok_or_else(|| source_failed("the response is malformed"))?;
                Ok(Some((page, result.as_str().len())))
            }
            // A server may declare a feature without implementing its lists: it has none.
            Err(error) if error.is_unknown_method() => Ok(None),
            Err(error) => {
                let reason = truncate_for_message(&error.message);
                Err(source_failed(&format!("{reason} ({})", error.code)))
            }
        }
    }

    /// Whether a tool can be called over HTTP, where headers repeat annotated arguments. A tool with
    /// invalid annotations is left out and logged.
    fn is_callable(&self, tool: &CatalogEntry) -> bool {
        let has_headers =
            self.encoder.revision.era() == Era::Modern && self.connection.channel.has_headers();
        let invalid = invalid_header_annotation(&tool.definition).filter(|_| has_headers);
        if let Some(invalid) = &invalid
            && self.connection.should_report_entry(&tool.key)
        {
            tracing::warn!(
                source = self.config.name,
                tool = truncate_for_message(&tool.key),
                invalid,
                "tool left out: invalid header annotation in its input schema"
            );
        }
        invalid.is_none()
    }

    /// Logs, once, the entries whose required members were added.
    fn log_repaired(&self, list: List, repaired: &[String]) {
        let repaired = repaired.iter();
        for name in repaired.filter(|name| self.connection.should_report_entry(name)) {
            tracing::warn!(
                source = self.config.name,
                list = list.member(),
                name = truncate_for_message(name),
                "entry lacked required members; they were added"
            );
        }
    }
}
