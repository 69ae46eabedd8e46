//! Takes in what a server offers: every list, through all its pages.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use tidegate_core::{
    CacheScope, Catalog, CatalogEntry, ClientContext, List, ListDefect, RawJson, Result,
    truncate_for_message,
};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{
    ListPage, RequestEncoder, invalid_header_annotation, modern_headers, parse_list_page,
};

use crate::config::RemoteConfig;
use crate::session::connect::Open;
use crate::session::era_detection::ask;
use crate::session::unavailable;

/// Pages, entries and bytes of one list: what has more has no end.
const MOST_PAGES: usize = 1_000;
const MOST_ENTRIES: usize = 100_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// All that a server lists, and how long it says that stays so.
pub(crate) struct Loaded {
    pub(crate) catalog: Catalog,
    pub(crate) ttl: Option<Duration>,
}

/// Reads all lists that a server says it has, for clients that can do this. One that fails stays as
/// it was in `known`, and is said to be missing.
pub(crate) async fn load(
    config: &RemoteConfig,
    open: &Open,
    capabilities: &RawJson,
    known: &Catalog,
) -> Loaded {
    let facts = &open.facts;
    let mut catalog = Catalog {
        features: facts.features,
        instructions: facts.instructions.clone(),
        scope: CacheScope::Private,
        ..Catalog::default()
    };
    let drain = Drain::new(config, open, capabilities);
    let mut ttl = None;
    for list in List::ALL {
        if !facts.features.has(list) {
            continue;
        }
        let started = Instant::now();
        let read = match drain.list(list).await {
            Ok(read) => {
                config.listed.tell(list, started.elapsed());
                ttl = [ttl, read.ttl].into_iter().flatten().min();
                read
            }
            Err(error) => Read {
                entries: known.list(list).to_vec(),
                defects: vec![format!(
                    "its list of {} could not be read: {}",
                    list.member(),
                    error.message()
                )],
                ..Read::default()
            },
        };
        *catalog.list_mut(list) = read.entries;
        let defects = read
            .defects
            .into_iter()
            .map(|reason| ListDefect { list, reason });
        catalog.defects.extend(defects);
    }
    tell(config, &catalog, known);
    Loaded { catalog, ttl }
}

/// Logs what the lists lack, once for as long as it is so.
fn tell(config: &RemoteConfig, catalog: &Catalog, known: &Catalog) {
    let source = &config.name;
    for defect in &catalog.defects {
        if !known.defects.contains(defect) {
            let list = defect.list.member();
            tracing::warn!(source, list, why = defect.reason, "a list is not whole");
        }
    }
}

/// One list as it was read.
#[derive(Default)]
struct Read {
    entries: Vec<CatalogEntry>,
    ttl: Option<Duration>,
    /// Entries that are no entries.
    malformed: usize,
    /// Why this is not all of it.
    defects: Vec<String>,
}

/// Reads the tools that a server lists for clients that can do this.
pub(crate) async fn tools(
    config: &RemoteConfig,
    open: &Open,
    capabilities: &RawJson,
) -> Result<Vec<CatalogEntry>> {
    let drain = Drain::new(config, open, capabilities);
    Ok(drain.list(List::Tools).await?.entries)
}

/// One server whose lists are read.
struct Drain<'a> {
    config: &'a RemoteConfig,
    open: &'a Open,
    encoder: RequestEncoder,
}

impl<'a> Drain<'a> {
    fn new(config: &'a RemoteConfig, open: &'a Open, capabilities: &RawJson) -> Self {
        let encoder = open.encoder(ClientContext {
            stateless: open.facts.revision.era() == Era::Modern,
            capabilities: capabilities.clone(),
            ..ClientContext::default()
        });
        Self {
            config,
            open,
            encoder,
        }
    }

    /// Every page of one list, as far as it has an end.
    async fn list(&self, list: List) -> Result<Read> {
        let mut read = Read::default();
        let cut = self.pages(list, &mut read).await?;
        let name = list.member();
        let cut = cut.map(|why| format!("its list of {name} is cut off: {why}"));
        read.defects.extend(cut);
        if read.malformed > 0 {
            let count = read.malformed;
            let left_out = format!("{count} of its {name} cannot be read and are left out");
            read.defects.push(left_out);
        }
        Ok(read)
    }

    /// Reads page after page; gives why there may be more.
    async fn pages(&self, list: List, read: &mut Read) -> Result<Option<&'static str>> {
        let (mut cursor, mut seen, mut bytes) = (None::<String>, HashSet::new(), 0);
        for _ in 0..MOST_PAGES {
            let Some((page, size)) = self.page(list, cursor.as_deref()).await? else {
                return Ok(None);
            };
            bytes += size;
            self.tell_mended(list, &page.repaired);
            read.malformed += page.malformed;
            read.ttl = [read.ttl, page.ttl].into_iter().flatten().min();
            let callable = |entry: &CatalogEntry| list != List::Tools || self.is_callable(entry);
            let entries = page.entries.into_iter().filter(callable);
            read.entries.extend(entries);
            match page.next_cursor {
                None => return Ok(None),
                Some(_) if read.entries.len() > MOST_ENTRIES || bytes > MOST_BYTES => break,
                Some(next) if !seen.insert(next.clone()) => {
                    return Ok(Some("a cursor came twice"));
                }
                Some(next) => cursor = Some(next),
            }
        }
        Ok(Some("it has no end"))
    }

    /// One page and its size; none where the server does not know this list after all.
    async fn page(&self, list: List, cursor: Option<&str>) -> Result<Option<(ListPage, usize)>> {
        let outbound = self.encoder.list(self.open.numbers.next(), list, cursor);
        let headers = match self.encoder.revision.era() {
            Era::Modern => modern_headers(self.encoder.revision, &outbound, None),
            Era::Legacy => Vec::new(),
        };
        let asked = ask(self.open.link.as_ref(), outbound, headers);
        let answer = tokio::time::timeout(self.config.connect_timeout, asked).await;
        match answer.map_err(|_| unavailable("the source did not list in time"))?? {
            Ok(result) => {
                let page = parse_list_page(list, &result);
                let page = page.ok_or_else(|| unavailable("the source's list cannot be read"))?;
                Ok(Some((page, result.as_str().len())))
            }
            // A server may say that it has resources and know nothing of templates.
            Err(error) if error.is_unknown_method() && list == List::Templates => Ok(None),
            Err(error) => Err(unavailable("the source refused the list").with_cause(error.message)),
        }
    }

    /// Whether a tool can be called where headers repeat arguments. One that cannot is left out, and
    /// said.
    fn is_callable(&self, tool: &CatalogEntry) -> bool {
        let has_headers =
            self.encoder.revision.era() == Era::Modern && self.open.link.has_headers();
        let wrong = invalid_header_annotation(&tool.definition).filter(|_| has_headers);
        if let Some(wrong) = &wrong
            && self.open.is_newly_faulty(&tool.key)
        {
            tracing::warn!(
                source = self.config.name,
                tool = truncate_for_message(&tool.key),
                wrong,
                "a tool is left out: its schema marks arguments wrongly"
            );
        }
        wrong.is_none()
    }

    /// Says, once, that entries lacked what clients rely on.
    fn tell_mended(&self, list: List, mended: &[String]) {
        for name in mended.iter().filter(|name| self.open.is_newly_faulty(name)) {
            tracing::warn!(
                source = self.config.name,
                list = list.member(),
                name = truncate_for_message(name),
                "an entry lacks what clients rely on; it was added"
            );
        }
    }
}
