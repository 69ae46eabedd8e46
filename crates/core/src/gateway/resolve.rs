//! Step 5, resolve: which source a request is for, and the name of its target there.

use std::sync::Arc;

use super::GatewayInner;
use super::gateway_source::RejectingSource;
use super::rewrite::ResponseRewriter;
use super::task_ids::{self, TaskIds};
use super::view::View;
use crate::error::{NO_RESOURCE, truncate_for_message};
use crate::names::{NameMap, Resolved, page_uris};
use crate::{
    Call, Code, Error, ErrorOrigin, List, Operation, Reference, Request, Result, SkillOperation,
    Source, SourceId, Step, TaskOperation,
};

/// Entries with the same native name that one message lists.
const MAX_ALTERNATIVES: usize = 5;

/// A call, the source it goes to, and how its reply is rewritten for the client.
pub(super) struct ResolvedCall {
    pub(super) call: Call,
    pub(super) source: Arc<dyn Source>,
    pub(super) rewriter: Option<ResponseRewriter>,
}

/// The target of a request.
enum RequestTarget {
    /// The gateway itself.
    Gateway,
    /// An entry or a task of a source of the view, under the name it has there.
    Source {
        number: usize,
        operation: Operation,
        idempotent: bool,
    },
}

impl RequestTarget {
    fn entry(resolved: Resolved, operation: impl FnOnce(String) -> Operation) -> Self {
        Self::Source {
            number: resolved.source,
            operation: operation(resolved.native),
            idempotent: resolved.idempotent,
        }
    }
}

impl GatewayInner {
    /// Resolves a request. A request without a target goes to a source that rejects it, so that it
    /// passes the same layers as any other call.
    pub(super) fn resolve(&self, mut request: Request, view: &View) -> ResolvedCall {
        match self.target(view, &mut request) {
            Ok(RequestTarget::Gateway) => {
                let source = Arc::clone(&self.gateway_source().1);
                gateway_call(request, true, source)
            }
            Ok(RequestTarget::Source {
                number,
                operation,
                idempotent,
            }) => {
                // A continuation is part of a multi round trip: it works once.
                let idempotent = idempotent && !request.is_continuation;
                let source = Arc::clone(view.source(number));
                let id = view.names.sources()[number].id.clone();
                let rewriter = self.rewriter(&request, view, number, &id, &operation);
                ResolvedCall {
                    call: call(request, id, operation, idempotent),
                    source,
                    rewriter,
                }
            }
            Err(error) => {
                let rejecting = RejectingSource::new(error.at(Step::Resolve));
                gateway_call(request, false, Arc::new(rejecting))
            }
        }
    }

    fn rewriter(
        &self,
        request: &Request,
        view: &View,
        number: usize,
        id: &SourceId,
        operation: &Operation,
    ) -> Option<ResponseRewriter> {
        // The gateway tools relay replies that are already rewritten.
        if id.is_gateway() && matches!(operation, Operation::Tool { .. }) {
            return None;
        }
        let catalog = &view.names.sources()[number].catalog;
        let task_ids = TaskIds::for_reply(&self.config.seal, request, id, catalog);
        let requested_uri = match &request.operation {
            Operation::Resource { uri } => Some(uri.clone()),
            Operation::Skill(operation) => operation.uri().map(str::to_owned),
            _ => None,
        };
        Some(ResponseRewriter {
            names: Arc::clone(&view.names),
            source: number,
            operation: operation.clone(),
            requested_uri,
            task_ids,
        })
    }

    fn target(&self, view: &View, request: &mut Request) -> Result<RequestTarget> {
        let names = &view.names;
        match &request.operation {
            Operation::Gateway(_) => Ok(RequestTarget::Gateway),
            Operation::Tool { name } => {
                let pages = page_uris(&request.params).into_iter();
                let of_app = { pages }.find_map(|page| names.tool_of_app(&page, name));
                let tool = of_app.or_else(|| names.tool(name));
                let tool = tool.ok_or_else(|| unknown(names, List::Tools, name))?;
                let definition = names.definition(List::Tools, &tool);
                if let (Some(precondition), Some(definition)) =
                    (request.precondition.take(), definition)
                {
                    precondition.check(definition)?;
                }
                Ok(RequestTarget::entry(tool, |name| Operation::Tool { name }))
            }
            Operation::Prompt { name } => {
                let prompt = names.prompt(name);
                let prompt = prompt.ok_or_else(|| unknown(names, List::Prompts, name))?;
                Ok(RequestTarget::entry(prompt, |name| Operation::Prompt {
                    name,
                }))
            }
            Operation::Resource { uri } => {
                let resource = names.resource(uri);
                let resource = resource.ok_or_else(|| resource_not_found(names, uri))?;
                Ok(RequestTarget::entry(resource, |uri| Operation::Resource {
                    uri,
                }))
            }
            Operation::Completion { reference } => completion(names, reference),
            Operation::Skill(operation) => skill(names, operation),
            Operation::Extension { method } => extension(names, method),
            Operation::Task { operation, id } => {
                let (number, id) = task_ids::open(&self.config.seal, names, &request.caller, id)?;
                let operation = *operation;
                Ok(RequestTarget::Source {
                    number,
                    idempotent: operation == TaskOperation::Get,
                    operation: Operation::Task { operation, id },
                })
            }
        }
    }
}

/// A call that the gateway serves itself, or rejects.
fn gateway_call(request: Request, idempotent: bool, source: Arc<dyn Source>) -> ResolvedCall {
    let operation = request.operation.clone();
    ResolvedCall {
        call: call(request, SourceId::gateway(), operation, idempotent),
        source,
        rewriter: None,
    }
}

fn call(request: Request, source: SourceId, operation: Operation, idempotent: bool) -> Call {
    Call {
        correlation_id: request.correlation_id,
        caller: request.caller,
        scope: request.scope,
        label: request.label,
        client: request.client,
        source,
        operation,
        idempotent,
        params: request.params,
    }
}

fn completion(names: &NameMap, reference: &Reference) -> Result<RequestTarget> {
    let (resolved, reference): (_, fn(String) -> Reference) = match reference {
        Reference::Prompt(name) => {
            let prompt = names.prompt(name);
            let prompt = prompt.ok_or_else(|| unknown(names, List::Prompts, name))?;
            (prompt, Reference::Prompt)
        }
        Reference::Resource(uri) => {
            let template = names.template(uri).or_else(|| names.resource(uri));
            let template = template.ok_or_else(|| unknown(names, List::Templates, uri))?;
            (template, Reference::Resource)
        }
    };
    Ok(RequestTarget::entry(resolved, |native| {
        Operation::Completion {
            reference: reference(native),
        }
    }))
}

/// The list of all skills is merged by the gateway. A skill or a directory is at the source of its URI.
fn skill(names: &NameMap, operation: &SkillOperation) -> Result<RequestTarget> {
    let Some(uri) = operation.uri() else {
        return match names.only_source() {
            Some(number) => Ok(RequestTarget::Source {
                number,
                operation: Operation::Skill(SkillOperation::List),
                idempotent: true,
            }),
            None => Ok(RequestTarget::Gateway),
        };
    };
    let resource = names.resource(uri).ok_or_else(|| {
        let message = "no source has a skill or directory with this URI";
        Error::client(Code::InvalidParams, message).with_uri(uri)
    })?;
    Ok(RequestTarget::entry(resource, |uri| {
        Operation::Skill(operation.with_uri(uri))
    }))
}

/// A method that the gateway does not know goes to the source of the endpoint.
fn extension(names: &NameMap, method: &str) -> Result<RequestTarget> {
    let number = names.only_source().ok_or_else(|| {
        let method = truncate_for_message(method);
        let message = format!(
            "unknown method `{method}`; methods of extensions are available at the endpoint of their \
             source, `/mcp/{{source}}`"
        );
        Error::client(Code::MethodNotFound, message)
    })?;
    Ok(RequestTarget::Source {
        number,
        operation: Operation::Extension {
            method: method.to_owned(),
        },
        idempotent: false,
    })
}

/// Nothing has this name, or the source that may have it is unavailable.
fn unknown(names: &NameMap, list: List, name: &str) -> Error {
    let data = serde_json::json!({ "name": name });
    if let Some(message) = names.unavailable_source_of(list, name) {
        return Error::new(Code::SourceDown, ErrorOrigin::Source, message).with_data(data);
    }
    let (kind, shown) = (list.singular(), truncate_for_message(name));
    let alternatives = names.names_of_native(list, name);
    let message = if alternatives.is_empty() {
        with_unavailable_sources(format!("no {kind} named `{shown}`"), names, list)
    } else {
        let alternatives = alternatives.iter().take(MAX_ALTERNATIVES);
        let alternatives = alternatives.map(|name| format!("`{}`", truncate_for_message(name)));
        let alternatives = alternatives.collect::<Vec<_>>().join(", ");
        format!("several sources have a {kind} `{shown}`; use one of {alternatives}")
    };
    Error::client(Code::UnknownTarget, message).with_data(data)
}

fn resource_not_found(names: &NameMap, uri: &str) -> Error {
    let error = Error::resource_not_found(uri);
    if error.code() != Code::ResourceNotFound {
        return error;
    }
    let message = with_unavailable_sources(NO_RESOURCE.to_owned(), names, List::Resources);
    Error::client(Code::ResourceNotFound, message).with_uri(uri)
}

/// Appends unavailable sources that may have the target.
fn with_unavailable_sources(message: String, names: &NameMap, list: List) -> String {
    let unavailable = names.unavailable_sources(list);
    unavailable.fold(message, |message, source| format!("{message}; {source}"))
}
