//! Words for what went wrong with something that was asked for by name: whether there is such a
//! thing, what is called nearly so, and which sources could have it but are not there.

use tidegate_core::{Code, Error, List};

use super::lists::{entries, key, word};
use super::place::{Lack, Place, Unwell};
use crate::config::nearest;

/// An error about this name, with what may help.
pub(super) async fn explained(
    place: &Place,
    list: List,
    name: &str,
    error: &Error,
) -> anyhow::Error {
    let what = match error.code() {
        Code::ResourceNotFound => format!("no resource has the URI `{name}`"),
        _ => error.message().to_owned(),
    };
    let advice = match (list, error.code()) {
        // A resource that is there may well be listed nowhere.
        (List::Resources, code) if code != Code::ResourceNotFound => None,
        (_, Code::SourceDown) => None,
        _ => advice(place, list, name).await,
    };
    let lost = match advice.is_some() || error.code() == Code::SourceDown {
        true => missing_sources(place),
        false => Vec::new(),
    };
    let advice = advice.map(|advice| format!("; {advice}"));
    let lost = lost.iter().filter(|line| !what.contains(*line));
    let lost: String = lost.map(|line| format!("\n  {line}")).collect();
    anyhow::anyhow!("{what}{}{lost}", advice.unwrap_or_default())
}

/// What to try instead of a name that nothing has; none if it is listed.
pub(super) async fn advice(place: &Place, list: List, name: &str) -> Option<String> {
    // Whoever cannot list cannot help, and the first error is the one to tell.
    let entries = entries(place, list).await.ok()?;
    let names: Vec<String> = entries.iter().filter_map(|one| key(list, one)).collect();
    let spellings: Vec<(String, &str)> = names
        .iter()
        .flat_map(|full| spellings(list, full).map(|spelling| (spelling, full.as_str())))
        .collect();
    let known: Vec<&str> = spellings.iter().map(|(one, _)| one.as_str()).collect();
    if known.contains(&name) {
        return None;
    }
    let near = nearest(name, &known)
        .and_then(|near| spellings.iter().find(|(spelling, _)| *spelling == near));
    Some(match near {
        Some((_, full)) => format!("did you mean `{full}`?"),
        None => format!("`tidegate ls {}` lists what there is", word(list)),
    })
}

/// The ways in which something is asked for: as it is listed, and without its source.
pub(super) fn spellings(list: List, full: &str) -> impl Iterator<Item = String> {
    let parts = match list {
        List::Tools => full.split_once("__"),
        List::Prompts => full.split_once('/'),
        List::Resources | List::Templates => None,
    };
    let bare = parts.map(|(_, bare)| bare.to_owned());
    let dotted = parts
        .filter(|_| list == List::Tools)
        .map(|(source, bare)| format!("{source}.{bare}"));
    [Some(full.to_owned()), bare, dotted].into_iter().flatten()
}

/// A line for each source of which something cannot be had now.
pub(super) fn missing_sources(place: &Place) -> Vec<String> {
    let line = |Unwell { id, why, lack }| match lack {
        Lack::Everything => format!("the source `{id}` is missing: {why}"),
        Lack::Part => format!("a part of the source `{id}` is missing: {why}"),
        Lack::Nothing => format!("the source `{id}` is not as it should be: {why}"),
    };
    place.unwell().into_iter().map(line).collect()
}
