//! What is asked, from the command line's words. Wrong words are found here, before anything starts.
//!
//! Knows no gateway.

use tidegate_core::{List, Object, RawJson};

use super::given::{Given, named};
use crate::cli::{Kind, Look};

/// One question.
#[derive(Debug)]
pub(super) enum Question {
    Sources,
    List(Vec<List>),
    Read { uri: String },
    Get { prompt: String, arguments: RawJson },
    Call { tool: String, arguments: Given },
    Search { words: String },
    Explain { uri: String },
}

impl Question {
    pub(super) fn of(look: &Look) -> Result<Self, String> {
        Ok(match look {
            Look::Sources { .. } => Self::Sources,
            Look::Ls { kind, .. } => Self::List(lists(*kind)),
            Look::Read { uri, .. } => Self::Read { uri: uri.clone() },
            Look::Search { words, .. } => Self::Search {
                words: words.join(" "),
            },
            Look::Explain { uri, .. } => Self::Explain { uri: uri.clone() },
            Look::Get {
                prompt, arguments, ..
            } => Self::Get {
                prompt: prompt.clone(),
                arguments: texts(arguments)?,
            },
            Look::Call {
                tool, arguments, ..
            } => Self::Call {
                tool: tool.clone(),
                arguments: Given::of(arguments)?,
            },
        })
    }
}

fn lists(kind: Option<Kind>) -> Vec<List> {
    match kind {
        None => List::ALL.to_vec(),
        Some(Kind::Resources) => vec![List::Resources],
        Some(Kind::Templates) => vec![List::Templates],
        Some(Kind::Prompts) => vec![List::Prompts],
        Some(Kind::Tools) => vec![List::Tools],
    }
}

/// The arguments of a prompt are strings, whatever they look like.
fn texts(words: &[String]) -> Result<RawJson, String> {
    let named = named(words)?;
    let mut members = Object::default();
    for (name, text) in &named {
        members.set(name, RawJson::string(text).as_str().to_owned());
    }
    Ok(members.write())
}
