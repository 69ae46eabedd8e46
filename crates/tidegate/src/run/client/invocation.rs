//! A client command with validated arguments. Invalid arguments are found here, before anything
//! starts.
//!
//! Must not know: the gateway.

use std::path::PathBuf;

use tidegate_core::{List, RawJson};

use super::arguments::{ToolArguments, prompt_arguments};
use super::call::ToolCall;
use crate::cli::{ClientCommand, ListKind};

#[derive(Debug)]
pub(super) enum Invocation {
    Sources,
    Ls(Vec<List>),
    Read {
        uri: String,
        output: Option<PathBuf>,
    },
    Get {
        prompt: String,
        arguments: RawJson,
    },
    Call(ToolCall),
    Search {
        query: String,
    },
    Explain {
        uri: String,
    },
}

impl Invocation {
    pub(super) fn new(command: &ClientCommand) -> Result<Self, String> {
        Ok(match command {
            ClientCommand::Sources { .. } => Self::Sources,
            ClientCommand::Ls { kind, .. } => Self::Ls(lists(*kind)),
            ClientCommand::Read { uri, output, .. } => Self::Read {
                uri: uri.clone(),
                output: output.clone(),
            },
            ClientCommand::Search { words, .. } => Self::Search {
                query: words.join(" "),
            },
            ClientCommand::Explain { uri, .. } => Self::Explain { uri: uri.clone() },
            ClientCommand::Get {
                prompt, arguments, ..
            } => Self::Get {
                prompt: prompt.clone(),
                arguments: prompt_arguments(arguments)?,
            },
            ClientCommand::Call {
                tool,
                arguments,
                yes,
                ..
            } => Self::Call(ToolCall {
                tool: tool.clone(),
                arguments: ToolArguments::parse(arguments)?,
                yes: *yes,
            }),
        })
    }
}

fn lists(kind: Option<ListKind>) -> Vec<List> {
    match kind {
        None => List::ALL.to_vec(),
        Some(ListKind::Resources) => vec![List::Resources],
        Some(ListKind::Templates) => vec![List::Templates],
        Some(ListKind::Prompts) => vec![List::Prompts],
        Some(ListKind::Tools) => vec![List::Tools],
    }
}
