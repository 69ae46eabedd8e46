//! `capability-index://stats`: the figures of the index.

use serde_json::{Value, json};

use super::Glance;
use super::figures::KINDS;
use crate::tokens;

/// What it may cost (S3.4), with room for the last source that is tried.
const MOST_TOKENS: usize = 950;

pub(super) fn render(glance: &Glance) -> String {
    let mut sources = glance.state.costs.of_all(&glance.index);
    let tokens: usize = sources.iter().map(|(_, one)| one.tokens).sum();
    // What costs most is what one wants to see.
    sources.sort_by_key(|(_, one)| std::cmp::Reverse(one.tokens));
    let mut shown = sources.len();
    loop {
        let told = sources[..shown].iter().map(|(id, of_source)| {
            let counts = KINDS.iter().zip(of_source.counts);
            let mut told: serde_json::Map<_, _> = counts
                .filter(|(_, count)| *count > 0)
                .map(|((many, _, _), count)| ((*many).to_owned(), json!(count)))
                .collect();
            told.insert("toolTokens".to_owned(), json!(of_source.tokens));
            (id.to_string(), Value::Object(told))
        });
        let told: serde_json::Map<_, _> = told.collect();
        let text = figures(glance, tokens, &told, sources.len() - shown).to_string();
        if shown == 0 || tokens::count(&text) <= MOST_TOKENS {
            return text;
        }
        shown = shown * 3 / 4;
    }
}

fn figures(
    glance: &Glance,
    tokens: usize,
    sources: &serde_json::Map<String, Value>,
    more: usize,
) -> Value {
    let counts = KINDS
        .iter()
        .map(|(many, _, list)| ((*many).to_owned(), json!(glance.count(*list))));
    let mut elements: serde_json::Map<_, _> = counts.collect();
    let total: usize = KINDS.iter().map(|(_, _, list)| glance.count(*list)).sum();
    elements.insert("total".to_owned(), json!(total));
    let usage = glance.state.cache.usage();
    let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now());
    let mut figures = json!({
        "generatedAt": now.to_string(),
        "elements": elements,
        "tokenizer": "o200k_base",
        "toolTokens": tokens,
        "sources": sources,
        "index": {
            "words": glance.index.term_count(),
            "memoryBytes": glance.index.memory_bytes(),
        },
        "cache": {
            "hits": usage.hits,
            "misses": usage.misses,
            "entries": usage.entries,
            "ttlSeconds": usage.ttl.as_secs(),
        },
    });
    if more > 0 {
        figures["moreSources"] = json!(more);
    }
    figures
}
