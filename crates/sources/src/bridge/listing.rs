//! `list_resources`: what can be read, in parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::{Element, ElementFacts, GatewayHandle, List};

use super::relay::{check_source, index_for};
use crate::declare::{Asking, Stop};

const USUAL: usize = 100;
const MOST: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Only those of one source.
    source: Option<String>,
    /// Where to begin: what an earlier answer said in `nextOffset`.
    offset: Option<usize>,
    /// How many at most: 100 by default, up to 1000.
    limit: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed {
    resources: Vec<Item>,
    /// How many there are in all.
    total: usize,
    /// Where the rest begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// A URI with variables in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_template: Option<String>,
    name: String,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
}

pub(super) async fn list(
    gateway_handle: &GatewayHandle,
    asking: Asking<'_>,
    arguments: Arguments,
) -> Result<Listed, Stop> {
    let call = asking.call();
    let index = index_for(gateway_handle, call).await?;
    let source = arguments.source.as_deref();
    check_source(&index, source)?;
    let of_source = |element: &Element<'_>| source.is_none_or(|id| element.source.as_str() == id);
    let all = index
        .list(List::Resources)
        .chain(index.list(List::Templates));
    let all: Vec<_> = all.filter(of_source).collect();
    let start = arguments.offset.unwrap_or(0).min(all.len());
    let limit = arguments.limit.unwrap_or(USUAL).clamp(1, MOST);
    let end = start.saturating_add(limit).min(all.len());
    Ok(Listed {
        resources: all[start..end].iter().map(item).collect(),
        total: all.len(),
        next_offset: (end < all.len()).then_some(end),
    })
}

fn item(element: &Element<'_>) -> Item {
    let facts = ElementFacts::of(element.list, element.definition);
    let key = Some(element.name.to_owned());
    let (uri, uri_template) = match element.list {
        List::Templates => (None, key),
        List::Resources | List::Tools | List::Prompts => (key, None),
    };
    Item {
        uri,
        uri_template,
        name: facts.name,
        source: element.source.to_string(),
        title: facts.title,
        description: facts.description,
        mime_type: facts.mime,
    }
}
