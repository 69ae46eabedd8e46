//! The instructions for clients: a short summary of each source, then the instructions that the
//! sources give, in equal shares of a budget.

use std::fmt::Write as _;

use super::super::Exposure;
use super::super::GatewayInner;
use crate::names::SourceCatalog;
use crate::{Call, List, SearchIndex, SourceId};

/// The token budget of the summary.
const MAX_SUMMARY_TOKENS: usize = 300;

/// The token budget of the instructions of all sources together.
const MAX_SOURCE_INSTRUCTION_TOKENS: usize = 1500;

/// Keywords that describe one source.
const MAX_KEYWORDS_PER_SOURCE: usize = 6;

const SEARCH_HINT: &str = "Not all tools are listed: find one with `gateway__search`, call it with \
    `gateway__call_tool`.";

impl GatewayInner {
    pub(super) fn instructions(&self, call: &Call) -> String {
        let view = self.view(&call.scope, &call.viewer());
        let summary = view.summary.get_or_init(|| {
            let index = self.index(&call.scope, &call.viewer());
            let mut text = self.summarize(&index);
            push_source_instructions(&mut text, view.names.sources());
            text
        });
        summary.clone()
    }

    fn summarize(&self, index: &SearchIndex) -> String {
        let mut text = self.config.instructions.clone();
        if self.config.endpoints.all.exposure != Exposure::Direct {
            push_line(&mut text, SEARCH_HINT);
        }
        let sources: Vec<_> = index.sources().filter(|id| !id.is_gateway()).collect();
        let mut lines = Vec::new();
        // Keywords for all sources, or for none.
        for max_keywords in [MAX_KEYWORDS_PER_SOURCE, MAX_KEYWORDS_PER_SOURCE / 2, 0] {
            lines = sources
                .iter()
                .map(|source| source_summary(index, source, max_keywords))
                .collect();
            let needed: usize = lines.iter().map(|line| line_tokens(line)).sum();
            if estimate_tokens(&text) + needed <= MAX_SUMMARY_TOKENS {
                break;
            }
        }
        push_lines(&mut text, &lines);
        text
    }
}

/// Adds as many lines as the budget allows, and how many were left out.
fn push_lines(text: &mut String, lines: &[String]) {
    const REMAINDER_TOKENS: usize = 12;
    for (position, line) in lines.iter().enumerate() {
        let is_last = position + 1 == lines.len();
        let reserve = if is_last { 0 } else { REMAINDER_TOKENS };
        if estimate_tokens(text) + line_tokens(line) + reserve > MAX_SUMMARY_TOKENS {
            let omitted = lines.len() - position;
            push_line(text, &format!("- … and {omitted} more sources"));
            return;
        }
        push_line(text, line);
    }
}

/// Adds the instructions of the sources. If they exceed the budget, the longest are cut, so that
/// each source has an equal share.
fn push_source_instructions(text: &mut String, sources: &[SourceCatalog]) {
    let given: Vec<_> = sources
        .iter()
        .filter(|source| !source.id.is_gateway())
        .filter_map(|source| {
            let instructions = source.catalog.instructions.as_deref()?.trim();
            (!instructions.is_empty()).then_some((&source.id, instructions))
        })
        .collect();
    let needs: Vec<_> = given
        .iter()
        .map(|(_, instructions)| estimate_tokens(instructions))
        .collect();
    let shares = fair_shares(&needs, MAX_SOURCE_INSTRUCTION_TOKENS);
    for ((id, instructions), share) in given.into_iter().zip(shares) {
        push_line(text, &format!("\nInstructions of `{id}`:"));
        push_line(text, &cut_to_tokens(instructions, share));
    }
}

/// Divides a budget: a need below the equal share is met, and what it leaves over is shared by the
/// others.
fn fair_shares(needs: &[usize], budget: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..needs.len()).collect();
    order.sort_by_key(|&index| needs[index]);
    let (mut shares, mut remaining) = (vec![0; needs.len()], budget);
    for (done, index) in order.into_iter().enumerate() {
        shares[index] = needs[index].min(remaining / (needs.len() - done));
        remaining -= shares[index];
    }
    shares
}

/// The text, or its beginning up to a word.
fn cut_to_tokens(text: &str, max_tokens: usize) -> String {
    if estimate_tokens(text) <= max_tokens {
        return text.to_owned();
    }
    let (mut end, mut tokens) = (0, estimate_tokens("…"));
    for word in text.split_inclusive(char::is_whitespace) {
        tokens += estimate_tokens(word);
        if tokens > max_tokens {
            break;
        }
        end += word.len();
    }
    format!("{}…", text[..end].trim_end())
}

/// The tokens of a line with its line break.
fn line_tokens(line: &str) -> usize {
    estimate_tokens(line) + 1
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// One line on a source: how many entries of each kind, and its keywords.
fn source_summary(index: &SearchIndex, source: &SourceId, max_keywords: usize) -> String {
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
    if max_keywords == 0 {
        return line;
    }
    let keywords = index.keywords(Some(source), max_keywords);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_shared_equally_by_those_that_need_more() {
        assert_eq!(fair_shares(&[10, 20], 100), [10, 20]);
        assert_eq!(fair_shares(&[500, 10, 500], 110), [50, 10, 50]);
        assert_eq!(fair_shares(&[7; 4], 8), [2; 4]);
        assert_eq!(fair_shares(&[], 8), [0; 0]);
    }

    #[test]
    fn long_texts_are_cut_at_a_word() {
        assert_eq!(cut_to_tokens("use it well", 100), "use it well");
        let long = "carefully ".repeat(100);
        let cut = cut_to_tokens(&long, 20);
        assert!(cut.ends_with("carefully…"), "{cut}");
        assert!(estimate_tokens(&cut) <= 20, "{cut}");
    }

    #[test]
    fn every_source_is_named_while_the_budget_lasts() {
        let lines: Vec<_> = (0..500).map(|n| format!("- source-{n}: 2 tools")).collect();
        let mut text = String::new();
        push_lines(&mut text, &lines[..20]);
        assert_eq!(text.lines().count(), 20);
        let mut text = String::new();
        push_lines(&mut text, &lines);
        assert!(estimate_tokens(&text) <= MAX_SUMMARY_TOKENS);
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with("- … and 4"), "{last}");
    }
}
