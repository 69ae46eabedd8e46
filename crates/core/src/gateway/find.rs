//! Step 5, resolve: which source a request is for, and what it is called there.

use super::view::{Found, View};
use super::{Shared, task};
use crate::error::clip;
use crate::{Ask, Code, Error, List, Reference, Request, Result, TaskAsk};

/// Where a request goes, under the name it has there.
pub(super) struct Target {
    pub(super) source: usize,
    pub(super) ask: Ask,
    pub(super) repeatable: bool,
}

impl Target {
    fn of(found: Found, ask: impl FnOnce(String) -> Ask) -> Self {
        Self {
            source: found.source,
            ask: ask(found.native),
            repeatable: found.repeatable,
        }
    }
}

impl Shared {
    /// Where a request goes; an error if nowhere.
    pub(super) fn find(&self, view: &View, request: &mut Request) -> Result<Target> {
        match &request.ask {
            Ask::Own(own) => Ok(Target {
                source: self.sources.len() - 1,
                ask: Ask::Own(own.clone()),
                repeatable: true,
            }),
            Ask::Tool { name } => {
                let found = view.tool(name).ok_or_else(|| unknown("tool", name))?;
                if let (Some(check), Some(tool)) = (
                    request.precondition.take(),
                    view.definition(List::Tools, &found),
                ) {
                    check.check(tool)?;
                }
                Ok(Target::of(found, |name| Ask::Tool { name }))
            }
            Ask::Prompt { name } => {
                let found = view.prompt(name).ok_or_else(|| unknown("prompt", name))?;
                Ok(Target::of(found, |name| Ask::Prompt { name }))
            }
            Ask::Resource { uri } => {
                let found = view
                    .resource(uri)
                    .ok_or_else(|| Error::resource_not_found(uri))?;
                Ok(Target::of(found, |uri| Ask::Resource { uri }))
            }
            Ask::Completion { reference } => completion(view, reference),
            Ask::Task { ask, id } => {
                let (source, id) = task::open(self, view, &request.caller, id)?;
                Ok(Target {
                    source,
                    repeatable: *ask == TaskAsk::Look,
                    ask: Ask::Task { ask: *ask, id },
                })
            }
        }
    }
}

fn completion(view: &View, reference: &Reference) -> Result<Target> {
    let (found, name): (_, fn(String) -> Reference) = match reference {
        Reference::Prompt(name) => (
            view.prompt(name).ok_or_else(|| unknown("prompt", name))?,
            Reference::Prompt,
        ),
        Reference::Resource(uri) => (
            view.template(uri)
                .or_else(|| view.resource(uri))
                .ok_or_else(|| unknown("resource template", uri))?,
            Reference::Resource,
        ),
    };
    Ok(Target::of(found, |native| Ask::Completion {
        reference: name(native),
    }))
}

fn unknown(kind: &str, name: &str) -> Error {
    Error::client(
        Code::UnknownTarget,
        format!("no {kind} is called `{}`", clip(name)),
    )
    .with_data(serde_json::json!({ "name": name }))
}
