//! `search`: everything the caller can use, by words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tidegate_core::{ElementFacts, GatewayHandle, List, SearchFilter, SearchHit, SourceId};

use super::relay::{check_source, index_for};
use crate::declare::{Asking, Stop};

const USUAL: usize = 10;
const MOST: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What you look for, in a few words.
    query: String,
    /// Only one kind.
    kind: Option<Kind>,
    /// Only one source.
    source: Option<String>,
    /// How many at most: 10 by default, up to 50.
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Tool,
    Prompt,
    Resource,
    Template,
}

impl Kind {
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
pub(super) struct Found {
    results: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    kind: Kind,
    /// The name to call or get it by, or the URI to read.
    name: String,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    /// What a tool takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Box<RawValue>>,
    /// What a prompt takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<Argument>,
}

#[derive(Serialize)]
struct Argument {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    required: bool,
}

pub(super) async fn search(
    gateway_handle: &GatewayHandle,
    asking: Asking<'_>,
    arguments: Arguments,
) -> Result<Found, Stop> {
    if arguments.query.trim().is_empty() {
        return Err(Stop::fault("say in `query` what you look for"));
    }
    let call = asking.call();
    let index = index_for(gateway_handle, call).await?;
    let source = arguments.source.as_deref();
    check_source(&index, source)?;
    let wanted = SearchFilter {
        list: arguments.kind.map(Kind::list),
        source,
    };
    let limit = arguments.limit.unwrap_or(USUAL).clamp(1, MOST);
    // The gateway's own tools are in every list, and no answer to a search.
    let own = SourceId::gateway();
    let is_other =
        |hit: &SearchHit<'_>| hit.element.list != List::Tools || *hit.element.source != own;
    let hits = index.search(&arguments.query, wanted, limit + 5);
    let results = hits.into_iter().filter(is_other).take(limit).map(item);
    Ok(Found {
        results: results.collect(),
    })
}

fn item(hit: SearchHit<'_>) -> Item {
    let element = hit.element;
    let facts = ElementFacts::of(element.list, element.definition);
    let arguments = match element.list {
        List::Prompts => facts.arguments,
        List::Tools | List::Resources | List::Templates => Vec::new(),
    };
    let schema = element.definition.object();
    let schema = schema.as_ref().and_then(|tool| tool.get("inputSchema"));
    Item {
        kind: Kind::of(element.list),
        name: element.name.to_owned(),
        source: element.source.to_string(),
        title: facts.title,
        description: facts.description,
        mime_type: facts.mime,
        input_schema: schema.and_then(|text| RawValue::from_string(text.to_owned()).ok()),
        arguments: arguments
            .into_iter()
            .map(|argument| Argument {
                name: argument.name,
                description: argument.description,
                required: argument.required,
            })
            .collect(),
    }
}
