//! Matches a URI against the parts of a template without backtracking.
//!
//! Each part maps the set of offsets at which it can begin to the set at which it can end. The
//! sets are intervals. Occurrences of a literal that make no difference to a later part are
//! dropped, so a match costs at most one pass over the URI for each expression, and usually one
//! pass in total.

use std::cell::LazyCell;

use memchr::memmem::Finder;

use super::TemplatePart;
use super::expression::Expression;

/// Offsets `from..=to` of the URI.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from: usize,
    to: usize,
}

/// Sorted, without overlaps.
type Offsets = Vec<Interval>;

pub(super) fn matches(parts: &[TemplatePart], uri: &str) -> bool {
    let mut offsets = start();
    for (index, part) in parts.iter().enumerate() {
        offsets = ends(part, parts.get(index + 1), uri, &offsets);
        if offsets.is_empty() {
            return false;
        }
    }
    contains(&offsets, uri.len())
}

/// The expressions with the text that each matched.
pub(super) fn capture<'t, 'u>(
    parts: &'t [TemplatePart],
    uri: &'u str,
) -> Option<Vec<(&'t Expression, &'u str)>> {
    let mut starts = vec![start()];
    for (index, part) in parts.iter().enumerate() {
        let offsets = ends(part, parts.get(index + 1), uri, &starts[index]);
        if offsets.is_empty() {
            return None;
        }
        starts.push(offsets);
    }
    let mut end = uri.len();
    if !contains(starts.last()?, end) {
        return None;
    }
    // Backwards, each part as long as possible, so that earlier parts are as short as possible.
    let mut captured = Vec::new();
    for (part, starts) in parts.iter().zip(&starts).rev() {
        let from = match part {
            TemplatePart::Literal(text) => end - text.len(),
            TemplatePart::Expression(expression) => {
                let from = earliest_start(expression, uri.as_bytes(), starts, end)?;
                captured.push((expression, uri.get(from..end)?));
                from
            }
        };
        end = from;
    }
    captured.reverse();
    Some(captured)
}

fn start() -> Offsets {
    vec![Interval { from: 0, to: 0 }]
}

fn contains(offsets: &Offsets, offset: usize) -> bool {
    let after = offsets.partition_point(|interval| interval.from <= offset);
    after > 0 && offset <= offsets[after - 1].to
}

/// The offsets at which a part can end if it begins at one of `starts`.
fn ends(part: &TemplatePart, next: Option<&TemplatePart>, uri: &str, starts: &Offsets) -> Offsets {
    match part {
        TemplatePart::Literal(text) => literal_ends(text, next, uri.as_bytes(), starts),
        TemplatePart::Expression(expression) => expression_ends(expression, uri, starts),
    }
}

fn literal_ends(text: &str, next: Option<&TemplatePart>, uri: &[u8], starts: &Offsets) -> Offsets {
    let finder = LazyCell::new(|| Finder::new(text));
    let mut ends = Offsets::new();
    for interval in starts {
        if interval.from == interval.to {
            if uri[interval.from..].starts_with(text.as_bytes()) {
                let end = interval.from + text.len();
                ends.push(Interval { from: end, to: end });
            }
            continue;
        }
        let limit = (interval.to + text.len()).min(uri.len());
        let mut from = interval.from;
        while let Some(found) = uri.get(from..limit).and_then(|window| finder.find(window)) {
            let end = from + found + text.len();
            ends.push(Interval { from: end, to: end });
            let Some(skip_to) = next_useful_end(next, uri, end) else {
                return ends;
            };
            from = (from + found + 1).max(skip_to.saturating_sub(text.len()));
        }
    }
    ends
}

/// The first end after `end` from which the next part can match anything new; `None` if there is
/// no such end. Up to the next separator, a required expression that starts earlier can end
/// wherever one that starts later can.
fn next_useful_end(next: Option<&TemplatePart>, uri: &[u8], end: usize) -> Option<usize> {
    match next {
        Some(TemplatePart::Expression(expression)) if !expression.is_optional() => {
            let run = run_end(uri, end, expression.excluded());
            (run < uri.len()).then_some(run + 1)
        }
        _ => Some(end + 1),
    }
}

fn expression_ends(expression: &Expression, uri: &str, starts: &Offsets) -> Offsets {
    let bytes = uri.as_bytes();
    let mut ends = Offsets::new();
    let mut push_run = |from: usize| {
        let run = run_end(bytes, from, expression.excluded());
        let first = match expression.needs_value() {
            true => from + char_len(bytes, from),
            false => from,
        };
        if first <= run {
            ends.push(Interval {
                from: first,
                to: run,
            });
        }
        run
    };
    for interval in starts {
        let mut from = interval.from;
        while from <= interval.to {
            from = match expression.prefix() {
                None => push_run(from) + 1,
                Some(prefix) => match find_byte(bytes, prefix, from, interval.to) {
                    // A later prefix in the same run adds no new ends.
                    Some(at) => push_run(at + 1).max(at + 1),
                    None => break,
                },
            };
        }
    }
    if expression.is_optional() {
        ends.extend_from_slice(starts);
    }
    merge(ends)
}

/// The earliest of these offsets from which the expression matches up to `end`.
fn earliest_start(
    expression: &Expression,
    uri: &[u8],
    starts: &Offsets,
    end: usize,
) -> Option<usize> {
    let run = run_start(uri, end, expression.excluded());
    let shortest = usize::from(expression.needs_value());
    for interval in starts {
        let start = match expression.prefix() {
            None => Some(interval.from.max(run)).filter(|from| *from <= interval.to),
            Some(prefix) => {
                let from = interval.from.max(run.saturating_sub(1));
                find_byte(uri, prefix, from, interval.to).filter(|at| at + 1 >= run)
            }
        };
        let value = start.map(|start| start + usize::from(expression.prefix().is_some()));
        if value.is_some_and(|value| value + shortest <= end) {
            return start;
        }
    }
    (expression.is_optional() && contains(starts, end)).then_some(end)
}

/// The end of the longest allowed run that starts at `from`.
fn run_end(uri: &[u8], from: usize, excluded: &[u8]) -> usize {
    let rest = uri.get(from..).unwrap_or_default();
    let stop = match *excluded {
        [] => None,
        [a] => memchr::memchr(a, rest),
        [a, b] => memchr::memchr2(a, b, rest),
        [a, b, c, ..] => memchr::memchr3(a, b, c, rest),
    };
    stop.map_or(uri.len(), |stop| from + stop)
}

/// The start of the longest allowed run that ends at `end`.
fn run_start(uri: &[u8], end: usize, excluded: &[u8]) -> usize {
    let before = uri[..end].iter().rposition(|byte| excluded.contains(byte));
    before.map_or(0, |at| at + 1)
}

fn find_byte(uri: &[u8], byte: u8, from: usize, to: usize) -> Option<usize> {
    let window = uri.get(from..uri.len().min(to + 1))?;
    memchr::memchr(byte, window).map(|at| from + at)
}

/// The length of the UTF-8 character at `from`; 1 at the end of the URI, which is out of bounds.
fn char_len(uri: &[u8], from: usize) -> usize {
    let continuation = |byte: &&u8| **byte & 0xc0 == 0x80;
    1 + uri.iter().skip(from + 1).take_while(continuation).count()
}

fn merge(mut offsets: Offsets) -> Offsets {
    offsets.sort_unstable_by_key(|interval| interval.from);
    let mut merged = Offsets::with_capacity(offsets.len());
    for interval in offsets {
        match merged.last_mut() {
            Some(last) if interval.from <= last.to + 1 => last.to = last.to.max(interval.to),
            _ => merged.push(interval),
        }
    }
    merged
}
