//! Takes in what a server offers: every list, through all its pages.

use std::collections::HashSet;

use tidegate_core::{CacheScope, Catalog, Entry, List, Result};
use tidegate_mcp::revision::client::{Facts, Wording, modern_headers, page};

use crate::link::{Link, unavailable};
use crate::probe::{Numbers, ask};

/// Pages of one list: what has more pages for ever.
const MOST_PAGES: usize = 1000;

/// Reads all lists that a server says it has. One that fails is empty, and said.
pub(crate) async fn load(
    name: &str,
    link: &dyn Link,
    numbers: &Numbers,
    wording: &Wording,
    facts: &Facts,
) -> Catalog {
    let mut catalog = Catalog {
        features: facts.features,
        scope: CacheScope::Private,
        ..Catalog::default()
    };
    for list in List::ALL {
        let offered = match list {
            List::Tools => facts.features.tools,
            List::Prompts => facts.features.prompts,
            List::Resources | List::Templates => facts.features.resources,
        };
        if !offered {
            continue;
        }
        let entries = drain(name, link, numbers, wording, list)
            .await
            .unwrap_or_else(|error| {
                tracing::warn!(
                    source = name,
                    list = list.member(),
                    error = error.message(),
                    "a list could not be read"
                );
                Vec::new()
            });
        match list {
            List::Tools => catalog.tools = entries,
            List::Prompts => catalog.prompts = entries,
            List::Resources => catalog.resources = entries,
            List::Templates => catalog.templates = entries,
        }
    }
    catalog
}

/// Every page of one list. A cursor that comes twice ends it.
async fn drain(
    name: &str,
    link: &dyn Link,
    numbers: &Numbers,
    wording: &Wording,
    list: List,
) -> Result<Vec<Entry>> {
    let (mut entries, mut cursor, mut seen) = (Vec::new(), None::<String>, HashSet::new());
    for _ in 0..MOST_PAGES {
        let outbound = wording.list(numbers.next(), list, cursor.as_deref());
        let headers = modern_headers(wording.revision, &outbound, None);
        let headers = if wording.terms.stateless {
            headers
        } else {
            Vec::new()
        };
        let result = ask(link, outbound, headers).await?;
        let result = match result {
            Ok(result) => result,
            // A server may say that it has resources and know nothing of templates.
            Err(error) if error.is_unknown_method() && list == List::Templates => {
                return Ok(entries);
            }
            Err(error) => {
                return Err(unavailable("the source refused the list").caused_by(error.message));
            }
        };
        let page =
            page(list, &result).ok_or_else(|| unavailable("the source's list cannot be read"))?;
        entries.extend(page.entries);
        match page.next {
            None => return Ok(entries),
            Some(next) if !seen.insert(next.clone()) => {
                tracing::warn!(
                    source = name,
                    list = list.member(),
                    "a cursor came twice; the list ends here"
                );
                return Ok(entries);
            }
            Some(next) => cursor = Some(next),
        }
    }
    tracing::warn!(
        source = name,
        list = list.member(),
        "the list has no end; it ends here"
    );
    Ok(entries)
}
