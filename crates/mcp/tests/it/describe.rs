//! Describes lifted messages as text for the golden files.

use tidegate_core::{
    ChangeFilter, ClientContext, Error, GatewayOperation, Operation, RawJson, Reference,
    SkillOperation, TaskOperation,
};
use tidegate_mcp::revision::{Classification, HandshakeRequest, LiftedRequest};
use tidegate_mcp::{Era, Lifted, Message, RequestId, ResponseBody, Revision, codes};

pub(crate) fn classification(classification: &Classification) -> String {
    match classification {
        Classification::Modern => "modern".to_owned(),
        Classification::Handshake => "handshake".to_owned(),
        Classification::Session { id } => format!("session `{id}`"),
        Classification::Sessionless(revision) => format!("sessionless, as {revision}"),
    }
}

/// A rejected message.
pub(crate) fn rejection(era: Era, id: Option<&RequestId>, error: &Error) -> String {
    let id = id.map_or("none", RequestId::as_str);
    let spec = codes::of(error.code());
    let (kind, number, status) = (spec.kind, spec.number(era), spec.status(era));
    let data = error.data().map_or("none", RawJson::as_str);
    format!("rejected: {kind}, {number}, status {status}\nmessage: {error}\ndata: {data}\nid: {id}")
}

/// The params of a message.
pub(crate) fn params(message: &Message) -> Option<RawJson> {
    match message {
        Message::Request { params, .. } | Message::Notification { params, .. } => params.clone(),
        Message::Response { .. } => None,
    }
}

pub(crate) fn lifted(revision: Revision, lifted: &Lifted, sent: Option<&RawJson>) -> String {
    match lifted {
        Lifted::Request(LiftedRequest {
            id,
            method,
            operation,
            params,
            client,
            is_continuation: _,
        }) => format!(
            "request {id:?}: {} in {revision}\noperation: {}\nparams: {}\n{}",
            method.name(),
            self::operation(operation),
            if Some(params) == sent {
                "unchanged"
            } else {
                params.as_str()
            },
            self::client(client)
        ),
        Lifted::Handshake { id, handshake } => self::handshake(id.as_str(), handshake),
        Lifted::SetLevel { id, level } => {
            format!("set level {id:?} in {revision}: {}", level.as_str())
        }
        Lifted::Subscribe { id, uri } => format!("subscribe {id:?} in {revision}: {uri}"),
        Lifted::Unsubscribe { id, uri } => format!("unsubscribe {id:?} in {revision}: {uri}"),
        Lifted::Cancelled { id } => format!("cancelled: {id:?}"),
        Lifted::Response { id, body } => match body {
            ResponseBody::Result(result) => format!("response to our question {id:?}: {result}"),
            ResponseBody::Error(error) => {
                format!(
                    "error response to our question {id:?}: {} {}",
                    error.code, error.message
                )
            }
        },
        Lifted::RootsChanged => "roots changed".to_owned(),
        Lifted::Extension {
            method,
            params,
            client,
        } => {
            let info = client.as_ref().map(|client| client.client_info.as_ref());
            let info = info.map(|info| info.map_or("no name", RawJson::as_str));
            let client = info.unwrap_or("not described");
            format!("notification of an extension: {method} {params}\nclient: {client}")
        }
        Lifted::Ignored => "ignored".to_owned(),
    }
}

fn handshake(id: &str, handshake: &HandshakeRequest) -> String {
    let HandshakeRequest {
        revision,
        capabilities,
        client_info,
    } = handshake;
    let client = client_info.as_ref().map_or("none", RawJson::as_str);
    format!("handshake {id}: {revision}\ncapabilities: {capabilities}\nclient info: {client}")
}

fn client(client: &ClientContext) -> String {
    let ClientContext {
        capabilities,
        client_info,
        log_level,
        progress,
        era: _,
        affinity: _,
    } = client;
    let client = client_info.as_ref().map_or("none", RawJson::as_str);
    let level = log_level.map_or("none", tidegate_core::LoggingLevel::as_str);
    let token = progress.as_ref().map_or("none", RawJson::as_str);
    format!(
        "capabilities: {capabilities}\nclient info: {client}\nlog level: {level}\nprogress token: {token}"
    )
}

fn operation(operation: &Operation) -> String {
    match operation {
        Operation::Gateway(operation) => gateway_operation(operation),
        Operation::Tool { name } => format!("tool `{name}`"),
        Operation::Prompt { name } => format!("prompt `{name}`"),
        Operation::Resource { uri } => format!("resource `{uri}`"),
        Operation::Completion { reference } => match reference {
            Reference::Prompt(name) => format!("completion for prompt `{name}`"),
            Reference::Resource(uri) => format!("completion for resource `{uri}`"),
        },
        Operation::Task { operation, id } => match operation {
            TaskOperation::Get => format!("get task `{id}`"),
            TaskOperation::Update => format!("update task `{id}`"),
            TaskOperation::Cancel => format!("cancel task `{id}`"),
        },
        Operation::Skill(operation) => match operation {
            SkillOperation::List => "list skills".to_owned(),
            SkillOperation::Get { uri } => format!("skill `{uri}`"),
            SkillOperation::ReadDirectory { uri } => format!("directory `{uri}`"),
        },
        Operation::Extension { method } => format!("method of an extension `{method}`"),
    }
}

fn gateway_operation(operation: &GatewayOperation) -> String {
    match operation {
        GatewayOperation::Ping => "ping".to_owned(),
        GatewayOperation::Discover => "discover".to_owned(),
        GatewayOperation::List { list, cursor: None } => {
            format!("list {}", list.member())
        }
        GatewayOperation::List {
            list,
            cursor: Some(cursor),
        } => format!("list {} from cursor `{cursor}`", list.member()),
        GatewayOperation::Listen(filter) => format!("listen to {}", self::filter(filter)),
    }
}

fn filter(filter: &ChangeFilter) -> String {
    let lists = [
        (filter.tools, "tools"),
        (filter.prompts, "prompts"),
        (filter.resources, "resources"),
    ];
    let lists = lists
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, name)| name.to_owned());
    let uris = filter.uris.iter().map(|uri| format!("`{uri}`"));
    let tasks = filter.tasks.iter().map(|id| format!("task `{id}`"));
    let members = filter.extension_members.iter();
    let members = members.map(|(name, value)| format!("`{name}` of an extension: {value}"));
    let entries: Vec<_> = lists.chain(uris).chain(tasks).chain(members).collect();
    if entries.is_empty() {
        "nothing".to_owned()
    } else {
        entries.join(", ")
    }
}
