//! `search`: full-text search over everything that the caller can use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tidegate_core::{ElementFacts, GatewayHandle, List, SearchFilter, SearchHit, SourceId};

use super::relay::{check_source, index_for};
use crate::declarations::{ToolCall, ToolError};

const DEFAULT_LIMIT: usize = 10;

/// The number of tools that the gateway itself has: they are removed from the hits.
const GATEWAY_TOOLS: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// Words to search for.
    query: String,
    /// Only this kind.
    kind: Option<ElementKind>,
    /// Only this source.
    source: Option<String>,
    /// Maximum number of results, from 1 to 50; default: 10.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ElementKind {
    Tool,
    Prompt,
    Resource,
    Template,
}

impl ElementKind {
    fn list(self) -> List {
        match self {
            Self::Tool => List::Tools,
            Self::Prompt => List::Prompts,
            Self::Resource => List::Resources,
            Self::Template => List::Templates,
        }
    }

    fn of(list: List) -> Self {
        match list {
            List::Tools => Self::Tool,
            List::Prompts => Self::Prompt,
            List::Resources => Self::Resource,
            List::Templates => Self::Template,
        }
    }
}

#[derive(Serialize)]
pub(super) struct SearchResults {
    results: Vec<SearchResult>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SearchResult {
    kind: ElementKind,
    /// The name of a tool or prompt, the URI of a resource or template.
    name: String,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    /// For tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Box<RawValue>>,
    /// For prompts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<ResultArgument>,
}

#[derive(Serialize)]
struct ResultArgument {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    required: bool,
}

pub(super) async fn search(
    gateway: &GatewayHandle,
    tool_call: ToolCall<'_>,
    arguments: SearchArguments,
) -> Result<SearchResults, ToolError> {
    if arguments.query.trim().is_empty() {
        return Err(ToolError::reported("`query` must not be empty"));
    }
    let index = index_for(gateway, tool_call.call()).await?;
    let source = arguments.source.as_deref();
    check_source(&index, source)?;
    let filter = SearchFilter {
        list: arguments.kind.map(ElementKind::list),
        source,
    };
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
    // The gateway tools are always listed, so they are no useful result.
    let gateway_id = SourceId::gateway();
    let is_useful =
        |hit: &SearchHit<'_>| hit.element.list != List::Tools || *hit.element.source != gateway_id;
    let hits = index.search(&arguments.query, filter, limit + GATEWAY_TOOLS);
    let results = hits.into_iter().filter(is_useful).take(limit);
    Ok(SearchResults {
        results: results.map(to_result).collect(),
    })
}

fn to_result(hit: SearchHit<'_>) -> SearchResult {
    let element = hit.element;
    let facts = ElementFacts::of(element.list, element.definition);
    let arguments = match element.list {
        List::Prompts => facts.arguments,
        List::Tools | List::Resources | List::Templates => Vec::new(),
    };
    let definition = element.definition.object();
    let schema = definition.as_ref().and_then(|tool| tool.get("inputSchema"));
    SearchResult {
        kind: ElementKind::of(element.list),
        name: element.name.to_owned(),
        source: element.source.to_string(),
        title: facts.title,
        description: facts.description,
        mime_type: facts.mime,
        input_schema: schema.and_then(|text| RawValue::from_string(text.to_owned()).ok()),
        arguments: arguments
            .into_iter()
            .map(|argument| ResultArgument {
                name: argument.name,
                description: argument.description,
                required: argument.required,
            })
            .collect(),
    }
}
