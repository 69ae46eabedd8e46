//! What was lifted, as text that a person can check against the protocol.

use tidegate_core::{
    ChangeFilter, ClientContext, Error, GatewayOperation, Operation, RawJson, Reference,
    TaskOperation,
};
use tidegate_mcp::revision::{Classification, Handshake, LiftedRequest};
use tidegate_mcp::{Answer, Era, Lifted, Message, RequestId, Revision, codes};

pub(crate) fn framing(framing: &Classification) -> String {
    match framing {
        Classification::Modern => "modern".to_owned(),
        Classification::Handshake => "handshake".to_owned(),
        Classification::Session { id } => format!("session `{id}`"),
        Classification::Sessionless(revision) => format!("sessionless, as {revision}"),
    }
}

/// A refusal of a message that was read, and the request it answers.
pub(crate) fn refused(era: Era, id: Option<&RequestId>, error: &Error) -> String {
    let id = id.map_or("no request", RequestId::as_str);
    format!("{}\nanswers: {id}", refusal(era, error))
}

pub(crate) fn refusal(era: Era, error: &Error) -> String {
    let row = codes::of(error.code());
    let (kind, number, status) = (row.kind, row.number(era), row.status(era));
    let data = error.data().map_or("none", RawJson::as_str);
    format!("refused: {kind}, {number}, status {status}\nmessage: {error}\ndata: {data}")
}

/// The params of a message, to tell whether they are passed on as they came.
pub(crate) fn sent(message: &Message) -> Option<RawJson> {
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
            "request {id:?}: {} in {revision}\nask: {}\nparams: {}\n{}",
            method.name(),
            ask(operation),
            if Some(params) == sent {
                "as sent"
            } else {
                params.as_str()
            },
            self::client(client)
        ),
        Lifted::Handshake { id, handshake } => self::handshake(id.as_str(), handshake),
        Lifted::SetLevel { id, level } => {
            format!("level {id:?} in {revision}: {}", level.as_str())
        }
        Lifted::Subscribe { id, uri } => format!("subscribe {id:?} in {revision}: {uri}"),
        Lifted::Unsubscribe { id, uri } => format!("unsubscribe {id:?} in {revision}: {uri}"),
        Lifted::Cancelled { id } => format!("cancelled: {id:?}"),
        Lifted::Answered { id, answer } => match answer {
            Answer::Result(result) => format!("answer to our question {id:?}: {result}"),
            Answer::Error(error) => {
                format!(
                    "refusal of our question {id:?}: {} {}",
                    error.code, error.message
                )
            }
        },
        Lifted::RootsChanged => "roots changed".to_owned(),
        Lifted::Noted => "noted".to_owned(),
    }
}

fn handshake(id: &str, handshake: &Handshake) -> String {
    let Handshake {
        revision,
        capabilities,
        client,
    } = handshake;
    let client = client.as_ref().map_or("unsaid", RawJson::as_str);
    format!("handshake {id}: speaks {revision}\ncapabilities: {capabilities}\nclient: {client}")
}

fn client(client: &ClientContext) -> String {
    let ClientContext {
        capabilities,
        client_info,
        log_level,
        progress,
        stateless: _,
        affinity: _,
    } = client;
    let client = client_info.as_ref().map_or("unsaid", RawJson::as_str);
    let level = log_level.map_or("none", tidegate_core::LogLevel::as_str);
    let token = progress.as_ref().map_or("none", RawJson::as_str);
    format!(
        "capabilities: {capabilities}\nclient: {client}\nlog level: {level}\nprogress token: {token}"
    )
}

fn ask(operation: &Operation) -> String {
    match operation {
        Operation::Gateway(own) => self::own(own),
        Operation::Tool { name } => format!("tool `{name}`"),
        Operation::Prompt { name } => format!("prompt `{name}`"),
        Operation::Resource { uri } => format!("resource `{uri}`"),
        Operation::Completion { reference } => match reference {
            Reference::Prompt(name) => format!("completion for the prompt `{name}`"),
            Reference::Resource(uri) => format!("completion for the resource `{uri}`"),
        },
        Operation::Task { operation, id } => match operation {
            TaskOperation::Get => format!("how the task `{id}` is"),
            TaskOperation::Update => format!("answers for the task `{id}`"),
            TaskOperation::Cancel => format!("end of the task `{id}`"),
        },
    }
}

fn own(own: &GatewayOperation) -> String {
    match own {
        GatewayOperation::Ping => "ping".to_owned(),
        GatewayOperation::Discover => "discover".to_owned(),
        GatewayOperation::List { list, cursor: None } => {
            format!("list of {}, from its start", list.member())
        }
        GatewayOperation::List {
            list,
            cursor: Some(cursor),
        } => format!("list of {}, from `{cursor}`", list.member()),
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
        .filter(|(on, _)| *on)
        .map(|(_, name)| name.to_owned());
    let uris = filter.uris.iter().map(|uri| format!("`{uri}`"));
    let tasks = filter.tasks.iter().map(|id| format!("task `{id}`"));
    let all: Vec<_> = lists.chain(uris).chain(tasks).collect();
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(", ")
    }
}
