//! Step 4, lift: one revision's message into what the core understands.

use std::collections::BTreeSet;

use tidegate_core::{
    ChangeFilter, ClientContext, Code, Error, GatewayOperation, List, LogLevel, Object, Operation,
    RawJson, Reference, Result, bounded_list, truncate_for_message,
};

use super::legacy::{self, Handshake};
use super::methods::{Kind, Method};
use super::{Revision, StandardHeaders, modern};
use crate::{Answer, Message, Rejection, RequestId};

/// More than any filter names; how much a client may watch is decided elsewhere.
const MOST_WATCHED: usize = 10_000;

/// What a message means.
#[derive(Debug)]
pub enum Lifted {
    /// Something for the core.
    Request(LiftedRequest),
    /// Opens a session.
    Handshake {
        id: RequestId,
        handshake: Handshake,
    },
    /// Sets the session's log level.
    SetLevel {
        id: RequestId,
        level: LogLevel,
    },
    Subscribe {
        id: RequestId,
        uri: String,
    },
    Unsubscribe {
        id: RequestId,
        uri: String,
    },
    /// The client gives up on a request.
    Cancelled {
        id: RequestId,
    },
    /// The answer to a question of ours.
    Answered {
        id: RequestId,
        answer: Answer,
    },
    /// The client works in other folders than before.
    RootsChanged,
    /// Known, and nothing to do about it.
    Noted,
}

/// A request for the core.
#[derive(Debug)]
pub struct LiftedRequest {
    pub id: RequestId,
    pub method: Method,
    pub operation: Operation,
    /// The parameters as they came.
    pub params: RawJson,
    pub client: ClientContext,
    /// Whether it goes on with a request that was answered with a question.
    pub is_continuation: bool,
}

/// Lifts a stateless message. `headers` are those of HTTP; stdio has none.
pub fn lift_modern(
    message: Message,
    headers: Option<&StandardHeaders>,
) -> Result<(Revision, Lifted), Rejection> {
    match message {
        Message::Request { id, method, params } => {
            let params = params.unwrap_or_else(RawJson::empty_object);
            match modern::request(&id, &method, params, headers) {
                Ok(lifted) => Ok(lifted),
                Err(error) => Err((Some(id), error)),
            }
        }
        Message::Notification { method, params } => {
            let lifted = notification(Revision::NEWEST, &method, params.as_ref());
            Ok((Revision::NEWEST, lifted))
        }
        // Its id is of our numbering: an answer must not carry it.
        Message::Response { .. } => Err((
            None,
            Error::client(
                Code::InvalidRequest,
                "a response was not asked for in this revision",
            ),
        )),
    }
}

/// Lifts a message of a session, or of a client that says nothing about itself. `client` is what the
/// session knows of its client.
pub fn lift_legacy(
    message: Message,
    revision: Revision,
    client: ClientContext,
) -> Result<Lifted, Rejection> {
    match message {
        Message::Request { id, method, params } => {
            let params = params.unwrap_or_else(RawJson::empty_object);
            legacy::request(&id, &method, params, revision, client)
                .map_err(|error| (Some(id), error))
        }
        Message::Notification { method, params } => {
            Ok(notification(revision, &method, params.as_ref()))
        }
        Message::Response { id, answer } => Ok(Lifted::Answered { id, answer }),
    }
}

/// Unknown and malformed notifications are let be, as the protocol asks.
fn notification(revision: Revision, method: &str, params: Option<&RawJson>) -> Lifted {
    let cancelled = || {
        let params = params?.object()?;
        RequestId::new(super::meta::own(params.get("requestId")?))
    };
    match Method::from_client(method, revision, Kind::Notification) {
        Some(Method::Cancelled) => match cancelled() {
            Some(id) => Lifted::Cancelled { id },
            None => Lifted::Noted,
        },
        Some(Method::RootsChanged) => Lifted::RootsChanged,
        _ => Lifted::Noted,
    }
}

/// What a method that exists in both eras asks of the core; none for the methods of one era alone.
pub(super) fn common_ask(method: Method, params: &Object<'_>) -> Option<Result<Operation>> {
    let operation = match method {
        Method::ToolsList => list(List::Tools, params),
        Method::PromptsList => list(List::Prompts, params),
        Method::ResourcesList => list(List::Resources, params),
        Method::TemplatesList => list(List::Templates, params),
        Method::ToolsCall => required(params, "name").map(|name| Operation::Tool { name }),
        Method::PromptsGet => required(params, "name").map(|name| Operation::Prompt { name }),
        Method::ResourcesRead => required(params, "uri").map(|uri| Operation::Resource { uri }),
        Method::Complete => completion(params),
        _ => return None,
    };
    Some(operation.and_then(|operation| operation.check(params).map(|()| operation)))
}

fn list(list: List, params: &Object<'_>) -> Result<Operation> {
    let cursor = match params.get("cursor") {
        None | Some("null") => None,
        Some(_) => Some(
            params
                .string("cursor")
                .ok_or_else(|| invalid("`cursor` must be a string"))?,
        ),
    };
    Ok(Operation::Gateway(GatewayOperation::List { list, cursor }))
}

fn completion(params: &Object<'_>) -> Result<Operation> {
    let reference = params
        .get("ref")
        .and_then(|text| Object::parse(text).ok())
        .ok_or_else(|| invalid("`ref` must be an object"))?;
    let argument = params
        .get("argument")
        .and_then(|text| Object::parse(text).ok())
        .ok_or_else(|| invalid("`argument` must be an object"))?;
    required(&argument, "name")?;
    let value = argument.string("value");
    value.ok_or_else(|| invalid("`argument.value` must be a string"))?;
    let reference = match reference.string("type").as_deref() {
        Some("ref/prompt") => Reference::Prompt(required(&reference, "name")?),
        Some("ref/resource") => Reference::Resource(required(&reference, "uri")?),
        _ => return Err(invalid("`ref.type` must be `ref/prompt` or `ref/resource`")),
    };
    Ok(Operation::Completion { reference })
}

/// The filter of a stream of changes.
pub(super) fn filter(params: &Object<'_>) -> Result<ChangeFilter> {
    let wanted = params
        .get("notifications")
        .and_then(|text| Object::parse(text).ok())
        .ok_or_else(|| invalid("`notifications` must be an object"))?;
    let flag = |name: &str| match wanted.get(name) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(invalid(&format!(
            "`notifications.{name}` must be true or false"
        ))),
    };
    let names = |name: &str, what: &str| match wanted.get(name) {
        None => Ok(BTreeSet::new()),
        Some(text) => bounded_list::<String>(text, MOST_WATCHED)
            .map(BTreeSet::from_iter)
            .map_err(|_| invalid(&format!("`notifications.{name}` must be a list of {what}"))),
    };
    Ok(ChangeFilter {
        tools: flag("toolsListChanged")?,
        prompts: flag("promptsListChanged")?,
        resources: flag("resourcesListChanged")?,
        elicitation_complete: false,
        uris: names("resourceSubscriptions", "URIs")?,
        tasks: names("taskIds", "ids")?,
    })
}

/// A member that must be a string with something in it.
pub(super) fn required(params: &Object<'_>, member: &str) -> Result<String> {
    match params.string(member) {
        Some(text) if !text.is_empty() => Ok(text),
        Some(_) => Err(invalid(&format!("`{member}` must not be empty"))),
        None => Err(invalid(&format!("`{member}` is missing or not a string"))),
    }
}

/// The members of params, none of which may stand twice.
pub(super) fn members(params: &RawJson) -> Result<Object<'_>> {
    Object::parse(params.as_str()).map_err(|error| {
        invalid(&format!(
            "the params cannot be read: {}",
            truncate_for_message(&error.to_string())
        ))
    })
}

/// The answer to a method that a client's revision does not have.
pub(super) fn no_such_method(method: &str, revision: Revision) -> Error {
    let method = truncate_for_message(method);
    Error::client(
        Code::MethodNotFound,
        format!("there is no method `{method}` in {revision}"),
    )
}

pub(super) fn invalid(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}
