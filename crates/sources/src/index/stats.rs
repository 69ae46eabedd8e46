//! `capability-index://stats`: statistics of the index.

use std::cmp::Reverse;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::kinds::KINDS;
use super::token_costs::SourceCosts;
use super::view::IndexView;
use crate::tokens;

/// Slightly below the limit of 1,000 tokens (S3.4).
const MAX_TOKENS: usize = 950;

pub(super) fn render(view: &IndexView) -> String {
    let mut sources = view.state.token_costs.by_source(&view.index);
    let tool_tokens: usize = sources.iter().map(|(_, costs)| costs.tool_tokens).sum();
    // The most expensive sources come first, because the others may be left out.
    sources.sort_by_key(|(_, costs)| Reverse(costs.tool_tokens));
    let mut included = sources.len();
    loop {
        let by_source: Map<_, _> = sources[..included]
            .iter()
            .map(|(id, costs)| (id.to_string(), source_stats(costs)))
            .collect();
        let omitted = sources.len() - included;
        let text = stats(view, tool_tokens, &by_source, omitted).to_string();
        if included == 0 || tokens::count(&text) <= MAX_TOKENS {
            return text;
        }
        included = included * 3 / 4;
    }
}

fn source_stats(costs: &SourceCosts) -> Value {
    let counts = KINDS.iter().zip(costs.element_counts);
    let mut stats: Map<_, _> = counts
        .filter(|(_, count)| *count > 0)
        .map(|((plural, _, _), count)| ((*plural).to_owned(), json!(count)))
        .collect();
    stats.insert("toolTokens".to_owned(), json!(costs.tool_tokens));
    Value::Object(stats)
}

fn stats(
    view: &IndexView,
    tool_tokens: usize,
    sources: &Map<String, Value>,
    omitted_sources: usize,
) -> Value {
    let counts = KINDS
        .iter()
        .map(|(plural, _, list)| ((*plural).to_owned(), json!(view.count(*list))));
    let mut elements: Map<_, _> = counts.collect();
    let total: usize = KINDS.iter().map(|(_, _, list)| view.count(*list)).sum();
    elements.insert("total".to_owned(), json!(total));
    let cache = view.state.cache.stats();
    let mut stats = json!({
        "generatedAt": humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        "elements": elements,
        "tokenizer": "o200k_base",
        "toolTokens": tool_tokens,
        "sources": sources,
        "index": {
            "words": view.index.term_count(),
            "memoryBytes": view.index.memory_bytes(),
        },
        "cache": {
            "hits": cache.hits,
            "misses": cache.misses,
            "entries": cache.entries,
            "ttlSeconds": cache.ttl.as_secs(),
        },
    });
    if omitted_sources > 0 {
        stats["moreSources"] = json!(omitted_sources);
    }
    stats
}
