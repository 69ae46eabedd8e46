//! `list_resources`: resources and templates, in pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_core::{Element, ElementFacts, GatewayHandle, List};

use super::relay::{check_source, index_for};
use crate::declarations::{ToolCall, ToolError};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListResourcesArguments {
    /// Only this source.
    source: Option<String>,
    /// Index of the first item: `nextOffset` of the previous result.
    offset: Option<usize>,
    /// Maximum number of items; default: 100, maximum: 1000.
    limit: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourcePage {
    resources: Vec<ResourceItem>,
    /// The number of items in all pages.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
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
    gateway: &GatewayHandle,
    tool_call: ToolCall<'_>,
    arguments: ListResourcesArguments,
) -> Result<ResourcePage, ToolError> {
    let index = index_for(gateway, tool_call.call()).await?;
    let source = arguments.source.as_deref();
    check_source(&index, source)?;
    let resources = index.list(List::Resources);
    let elements = resources.chain(index.list(List::Templates));
    let elements: Vec<_> = elements
        .filter(|element| source.is_none_or(|id| element.source.as_str() == id))
        .collect();
    let start = arguments.offset.unwrap_or(0).min(elements.len());
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
    let end = start.saturating_add(limit.clamp(1, MAX_LIMIT));
    let end = end.min(elements.len());
    Ok(ResourcePage {
        resources: elements[start..end].iter().map(item).collect(),
        total: elements.len(),
        next_offset: (end < elements.len()).then_some(end),
    })
}

fn item(element: &Element<'_>) -> ResourceItem {
    let facts = ElementFacts::of(element.list, element.definition);
    let key = Some(element.name.to_owned());
    let (uri, uri_template) = match element.list {
        List::Templates => (None, key),
        List::Resources | List::Tools | List::Prompts => (key, None),
    };
    ResourceItem {
        uri,
        uri_template,
        name: facts.name,
        source: element.source.to_string(),
        title: facts.title,
        description: facts.description,
        mime_type: facts.mime,
    }
}
