//! What a client is told about the gateway when it meets it: a few words on what is behind it.

use std::fmt::Write as _;

use super::super::{Exposure, Shared};
use crate::{Call, List, SearchIndex, SourceId};

/// What it may cost a model's context, in tokens.
const MOST_TOKENS: usize = 300;

/// Words that say what a source is about.
const KEYWORDS: usize = 6;

const SEARCHING: &str = "Not all tools are listed: find one with `gateway__search`, call it with \
    `gateway__call_tool`.";

impl Shared {
    pub(super) fn instructions(&self, call: &Call) -> String {
        let index = self.index(&call.scope, &call.viewer());
        let made = index.instructions.get_or_init(|| self.introduced(&index));
        made.clone()
    }

    fn introduced(&self, index: &SearchIndex) -> String {
        let mut text = self.config.instructions.clone();
        if self.config.endpoints.all.exposure != Exposure::Direct {
            add(&mut text, SEARCHING);
        }
        for source in index.sources().filter(|id| **id != SourceId::gateway()) {
            let about = about(index, source);
            if tokens(&text) + tokens(&about) + 8 > MOST_TOKENS {
                add(&mut text, "…");
                break;
            }
            add(&mut text, &about);
        }
        text
    }
}

fn add(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// One line on a source: how much it has, and of what.
fn about(index: &SearchIndex, source: &SourceId) -> String {
    let mut line = format!("- {source}:");
    for (list, one) in [
        (List::Tools, "tool"),
        (List::Prompts, "prompt"),
        (List::Resources, "resource"),
        (List::Templates, "template"),
    ] {
        let of_source = index.list(list).filter(|element| element.source == source);
        match of_source.count() {
            0 => {}
            1 => write!(line, " 1 {one},").unwrap_or_default(),
            many => write!(line, " {many} {one}s,").unwrap_or_default(),
        }
    }
    let keywords = index.keywords(Some(source), KEYWORDS);
    let keywords: Vec<_> = keywords.iter().map(|one| one.word.as_str()).collect();
    line.pop();
    if !keywords.is_empty() {
        line.push_str(": ");
        line.push_str(&keywords.join(", "));
    }
    line
}

/// No fewer tokens than any usual tokenizer makes of a text: short pieces of words, signs alone.
fn tokens(text: &str) -> usize {
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
