//! Step 5, resolve: which source a request is for, and what it is called there.

use super::view::{Found, View};
use super::{Shared, task};
use crate::error::{NO_RESOURCE, truncate_for_message};
use crate::{Code, Error, ErrorOrigin, List, Operation, Reference, Request, Result, TaskOperation};

/// Things of one name that a message tells of.
const MOST_NAMESAKES: usize = 5;

/// Where a request goes, under the name it has there.
pub(super) struct Target {
    pub(super) source: usize,
    pub(super) operation: Operation,
    pub(super) idempotent: bool,
}

impl Target {
    fn of(found: Found, operation: impl FnOnce(String) -> Operation) -> Self {
        Self {
            source: found.source,
            operation: operation(found.native),
            idempotent: found.idempotent,
        }
    }
}

impl Shared {
    /// Where a request goes; an error if nowhere.
    pub(super) fn find(&self, view: &View, request: &mut Request) -> Result<Target> {
        match &request.operation {
            Operation::Gateway(own) => Ok(Target {
                source: self.sources.len() - 1,
                operation: Operation::Gateway(own.clone()),
                idempotent: true,
            }),
            Operation::Tool { name } => {
                let found = view.tool(name);
                let found = found.ok_or_else(|| unknown(view, List::Tools, name))?;
                if let (Some(check), Some(tool)) = (
                    request.precondition.take(),
                    view.definition(List::Tools, &found),
                ) {
                    check.check(tool)?;
                }
                Ok(Target::of(found, |name| Operation::Tool { name }))
            }
            Operation::Prompt { name } => {
                let found = view.prompt(name);
                let found = found.ok_or_else(|| unknown(view, List::Prompts, name))?;
                Ok(Target::of(found, |name| Operation::Prompt { name }))
            }
            Operation::Resource { uri } => {
                let found = view.resource(uri).ok_or_else(|| no_resource(view, uri))?;
                Ok(Target::of(found, |uri| Operation::Resource { uri }))
            }
            Operation::Completion { reference } => completion(view, reference),
            Operation::Task { operation, id } => {
                let (source, id) = task::open(self, view, &request.caller, id)?;
                Ok(Target {
                    source,
                    idempotent: *operation == TaskOperation::Get,
                    operation: Operation::Task {
                        operation: *operation,
                        id,
                    },
                })
            }
        }
    }
}

fn completion(view: &View, reference: &Reference) -> Result<Target> {
    let (found, name): (_, fn(String) -> Reference) = match reference {
        Reference::Prompt(name) => (
            view.prompt(name)
                .ok_or_else(|| unknown(view, List::Prompts, name))?,
            Reference::Prompt,
        ),
        Reference::Resource(uri) => (
            view.template(uri)
                .or_else(|| view.resource(uri))
                .ok_or_else(|| unknown(view, List::Templates, uri))?,
            Reference::Resource,
        ),
    };
    Ok(Target::of(found, |native| Operation::Completion {
        reference: name(native),
    }))
}

/// Nothing has this name; or whoever has it is not there, which is said.
fn unknown(view: &View, list: List, name: &str) -> Error {
    let data = serde_json::json!({ "name": name });
    if let Some(absent) = view.absent(list, name) {
        return Error::new(Code::SourceDown, ErrorOrigin::Source, absent).with_data(data);
    }
    let message = format!(
        "no {} is called `{}`",
        list.singular(),
        truncate_for_message(name)
    );
    let namesakes = view.namesakes(list, name);
    if !namesakes.is_empty() {
        let names = namesakes.iter().take(MOST_NAMESAKES);
        let names: Vec<_> = names
            .map(|name| format!("`{}`", truncate_for_message(name)))
            .collect();
        let message = format!("{message} alone; there are {}", names.join(", "));
        return Error::client(Code::UnknownTarget, message).with_data(data);
    }
    let message = with_absences(message, view, list);
    Error::client(Code::UnknownTarget, message).with_data(data)
}

fn no_resource(view: &View, uri: &str) -> Error {
    let message = with_absences(NO_RESOURCE.to_owned(), view, List::Resources);
    Error::client(Code::ResourceNotFound, message).with_uri(uri)
}

/// A message, and which sources may have what was not found.
fn with_absences(message: String, view: &View, list: List) -> String {
    let absences = view.absences(list);
    absences.fold(message, |message, absence| format!("{message}; {absence}"))
}
