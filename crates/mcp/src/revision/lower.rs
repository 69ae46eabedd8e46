//! Step 8, lower: what the core says into one revision's messages.

use tidegate_core::{
    Change, ChangeFilter, ClientContext, Code, CorrelationId, Error, Event, LogLevel, Object,
    Outcome, RawJson,
};

use super::client::url_elicitations;
use super::meta::key;
use super::{Era, Method, Revision, shape};
use crate::{RequestId, codes};

/// One message to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutgoingMessage {
    /// Something on the way.
    Notification(String),
    /// The answer, and the error's code if it is one.
    Response { json: String, code: Option<Code> },
}

impl OutgoingMessage {
    pub fn json(&self) -> &str {
        match self {
            Self::Notification(json) | Self::Response { json, .. } => json,
        }
    }
}

/// All that is needed to answer one request in its client's revision.
#[derive(Clone, Debug)]
pub struct Lowering {
    pub revision: Revision,
    pub method: Method,
    pub id: RequestId,
    pub correlation: CorrelationId,
    pub log_level: Option<LogLevel>,
    pub progress: Option<RawJson>,
}

/// The result of a tool that failed, in words for the model.
pub fn failed_result(text: &str) -> RawJson {
    let text = RawJson::string(text);
    RawJson::copy_of(&format!(
        r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#
    ))
}

impl Lowering {
    pub fn new(
        revision: Revision,
        method: Method,
        id: RequestId,
        correlation: CorrelationId,
        client: &ClientContext,
    ) -> Self {
        let (log_level, progress) = (client.log_level, client.progress.clone());
        Self {
            revision,
            method,
            id,
            correlation,
            log_level,
            progress,
        }
    }

    /// One event as a message; none for what this client did not ask for.
    pub fn event(&self, event: Event) -> Option<OutgoingMessage> {
        match event {
            Event::Done(outcome) => Some(self.outcome(&outcome)),
            Event::Progress(params) => self.progress(&params).map(OutgoingMessage::Notification),
            Event::Log { level, params } => {
                let wanted = self.log_level.is_some_and(|least| level >= least);
                wanted.then(|| {
                    OutgoingMessage::Notification(notification(Method::LogMessage, &params))
                })
            }
            Event::Acknowledged(filter) => {
                let told = self.revision.era() == Era::Modern;
                told.then(|| OutgoingMessage::Notification(self.acknowledgement(&filter)))
            }
            // A question is put to a client by the transport that keeps its session.
            Event::Question(_) | Event::QuestionWithdrawn | Event::KeepAlive => None,
            Event::ElicitationComplete(id) => self.elicited(&id),
            Event::Change(change) => Some(OutgoingMessage::Notification(self.change(&change))),
            Event::Task(task) => self.task(&task).map(OutgoingMessage::Notification),
        }
    }

    /// The answer to a request that ended well.
    pub fn outcome(&self, outcome: &Outcome) -> OutgoingMessage {
        let subscription = (self.method == Method::Listen).then_some(&self.id);
        match shape::result(self.revision, self.method, outcome, subscription) {
            Some(result) => OutgoingMessage::Response {
                json: response(&self.id, "result", &result),
                code: None,
            },
            None => self.error(&Error::internal(
                "the source answered with something this client cannot take",
            )),
        }
    }

    /// The answer to a request that did not.
    pub fn error(&self, error: &Error) -> OutgoingMessage {
        if let Some(result) = self.pages(error) {
            return OutgoingMessage::Response {
                json: response(&self.id, "result", &result),
                code: None,
            };
        }
        refusal(self.revision.era(), Some(&self.id), error, self.correlation)
    }

    /// Tells a client of the one revision that wants to know.
    fn elicited(&self, id: &str) -> Option<OutgoingMessage> {
        let row = Method::Elicited.row();
        let knows = row.since <= self.revision && self.revision <= row.until;
        let mut params = Object::default();
        params.set("elicitationId", RawJson::string(id).as_str().to_owned());
        knows
            .then(|| OutgoingMessage::Notification(notification(Method::Elicited, &params.write())))
    }

    /// The pages that the user must go to first, for a client that does not know such an error: in
    /// words, as the result of the tool.
    fn pages(&self, error: &Error) -> Option<RawJson> {
        let knows = Method::Elicited.row().since <= self.revision;
        if knows || self.method != Method::ToolsCall {
            return None;
        }
        let mut text = error.message().to_owned();
        for page in url_elicitations(error)? {
            let page = page.object()?;
            let (message, url) = (page.string("message"), page.string("url")?);
            text += &format!("\n{}: {url}", message.unwrap_or_default());
        }
        Some(failed_result(&text))
    }

    /// A change on the stream that asked for it.
    fn change(&self, change: &Change) -> String {
        let tag = (self.revision.era() == Era::Modern).then_some(&self.id);
        change_notice(change, tag)
    }

    /// How a task is, in the words of the answer to whoever asks after it.
    fn task(&self, task: &RawJson) -> Option<String> {
        let mut params = task.object()?;
        params.remove("resultType");
        let meta = params.get("_meta").map(ToOwned::to_owned);
        let meta = meta.as_deref().and_then(|meta| Object::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        meta.remove(key::SERVER_INFO);
        meta.set(key::SUBSCRIPTION_ID, self.id.as_str());
        params.set("_meta", meta.write().as_str().to_owned());
        Some(notification(Method::TaskChanged, &params.write()))
    }

    fn progress(&self, params: &RawJson) -> Option<String> {
        let token = self.progress.as_ref()?;
        let mut params = params.object()?;
        params.set(key::PROGRESS_TOKEN, token.as_str());
        Some(notification(Method::Progress, &params.write()))
    }

    fn acknowledgement(&self, filter: &ChangeFilter) -> String {
        let mut params = Object::default();
        params.set("notifications", filter_json(filter));
        params.set("_meta", subscription_meta(&self.id));
        notification(Method::Acknowledged, &params.write())
    }

    /// On a pipe, which stays open, a stream of changes that we end is also called off by name.
    pub fn farewell(&self) -> Option<OutgoingMessage> {
        (self.method == Method::Listen).then(|| {
            let mut params = Object::default();
            params.set("requestId", self.id.as_str());
            params.set("reason", "\"the gateway is stopping\"");
            OutgoingMessage::Notification(notification(Method::Cancelled, &params.write()))
        })
    }
}

/// A change for a client of the legacy era: it asked once, and hears of it for as long as it stays.
pub fn legacy_change(change: &Change) -> String {
    change_notice(change, None)
}

/// A change for a client; `subscription` is the id of the request that asked for it, where one did.
fn change_notice(change: &Change, subscription: Option<&RequestId>) -> String {
    let mut params = Object::default();
    let method = match change {
        Change::Tools => Method::ToolsChanged,
        Change::Prompts => Method::PromptsChanged,
        Change::Resources => Method::ResourcesChanged,
        Change::ResourceUpdated(uri) => {
            params.set("uri", RawJson::string(uri).as_str().to_owned());
            Method::ResourceUpdated
        }
        Change::ElicitationComplete(id) => {
            params.set("elicitationId", RawJson::string(id).as_str().to_owned());
            Method::Elicited
        }
    };
    if let Some(id) = subscription {
        params.set("_meta", subscription_meta(id));
    }
    notification(method, &params.write())
}

/// A filter as a client writes it and a server echoes it.
pub(super) fn filter_json(filter: &ChangeFilter) -> String {
    let mut wanted = serde_json::Map::new();
    let lists = [
        (filter.tools, "toolsListChanged"),
        (filter.prompts, "promptsListChanged"),
        (filter.resources, "resourcesListChanged"),
    ];
    for (_, name) in lists.into_iter().filter(|(on, _)| *on) {
        wanted.insert(name.to_owned(), true.into());
    }
    let names = [
        (&filter.uris, "resourceSubscriptions"),
        (&filter.tasks, "taskIds"),
    ];
    for (all, name) in names.into_iter().filter(|(all, _)| !all.is_empty()) {
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        wanted.insert(name.to_owned(), all.into());
    }
    serde_json::Value::from(wanted).to_string()
}

fn subscription_meta(id: &RequestId) -> String {
    format!(r#"{{"{}":{}}}"#, key::SUBSCRIPTION_ID, id.as_str())
}

/// An error as a message. Without an id it answers something that could not be read as far as that.
pub fn refusal(
    era: Era,
    id: Option<&RequestId>,
    error: &Error,
    correlation: CorrelationId,
) -> OutgoingMessage {
    let row = codes::of(error.code());
    let mut data = error.data().and_then(RawJson::object).unwrap_or_default();
    let correlation = format!("\"{correlation}\"");
    if let Code::Source(number) = error.code()
        && number != row.number(era)
    {
        data.set("backendCode", number.to_string());
    }
    data.set("kind", format!("\"{}\"", row.kind));
    data.set("correlationId", correlation);
    let mut body = Object::default();
    body.set("code", row.number(era).to_string());
    body.set(
        "message",
        RawJson::string(error.message()).as_str().to_owned(),
    );
    body.set("data", data.write().as_str().to_owned());
    let body = body.write();
    let json = match id {
        Some(id) => response(id, "error", &body),
        None => format!(r#"{{"jsonrpc":"2.0","error":{body}}}"#),
    };
    OutgoingMessage::Response {
        json,
        code: Some(error.code()),
    }
}

fn response(id: &RequestId, member: &str, body: &RawJson) -> String {
    let mut json = String::with_capacity(body.as_str().len() + id.as_str().len() + 40);
    json.push_str(r#"{"jsonrpc":"2.0","id":"#);
    json.push_str(id.as_str());
    json.push_str(",\"");
    json.push_str(member);
    json.push_str("\":");
    json.push_str(body.as_str());
    json.push('}');
    json
}

fn notification(method: Method, params: &RawJson) -> String {
    let name = method.name();
    if params.as_str() == "{}" {
        format!(r#"{{"jsonrpc":"2.0","method":"{name}"}}"#)
    } else {
        format!(r#"{{"jsonrpc":"2.0","method":"{name}","params":{params}}}"#)
    }
}
