//! The instructions for clients: a short summary of each source.

use std::fmt::Write as _;

use super::super::Exposure;
use super::super::GatewayInner;
use crate::{Call, List, SearchIndex, SourceId};

/// The token budget of the instructions.
const MAX_INSTRUCTION_TOKENS: usize = 300;

/// Keywords that describe one source.
const MAX_KEYWORDS_PER_SOURCE: usize = 6;

const SEARCH_HINT: &str = "Not all tools are listed: find one with `gateway__search`, call it with \
    `gateway__call_tool`.";

impl GatewayInner {
    pub(super) fn instructions(&self, call: &Call) -> String {
        let view = self.view(&call.scope, &call.viewer());
        let summary = view.summary.get_or_init(|| {
            let index = self.index(&call.scope, &call.viewer());
            self.summarize(&index)
        });
        summary.clone()
    }

    fn summarize(&self, index: &SearchIndex) -> String {
        let mut text = self.config.instructions.clone();
        if self.config.endpoints.all.exposure != Exposure::Direct {
            push_line(&mut text, SEARCH_HINT);
        }
        for source in index.sources().filter(|id| !id.is_gateway()) {
            let line = source_summary(index, source);
            if estimate_tokens(&text) + estimate_tokens(&line) + 8 > MAX_INSTRUCTION_TOKENS {
                push_line(&mut text, "…");
                break;
            }
            push_line(&mut text, &line);
        }
        text
    }
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// One line on a source: how many entries of each kind, and its keywords.
fn source_summary(index: &SearchIndex, source: &SourceId) -> String {
    let mut line = format!("- {source}:");
    for (list, singular) in [
        (List::Tools, "tool"),
        (List::Prompts, "prompt"),
        (List::Resources, "resource"),
        (List::Templates, "template"),
    ] {
        let of_source = index.list(list).filter(|element| element.source == source);
        match of_source.count() {
            0 => {}
            1 => write!(line, " 1 {singular},").unwrap_or_default(),
            count => write!(line, " {count} {singular}s,").unwrap_or_default(),
        }
    }
    line.pop();
    let keywords = index.keywords(Some(source), MAX_KEYWORDS_PER_SOURCE);
    let keywords: Vec<_> = keywords
        .iter()
        .map(|keyword| keyword.word.as_str())
        .collect();
    if !keywords.is_empty() {
        line.push_str(": ");
        line.push_str(&keywords.join(", "));
    }
    line
}

/// An upper estimate of the number of tokens in a text, for common tokenizers.
fn estimate_tokens(text: &str) -> usize {
    let mut count = 0;
    let mut run = 0_usize;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            run += 1;
            continue;
        }
        count += run.div_ceil(3);
        run = 0;
        count += match c {
            ' ' => 0,
            _ if c.is_ascii() => 1,
            _ => 2,
        };
    }
    count + run.div_ceil(3)
}
