//! Step 8, lower: replies of the core into messages of one revision.

use tidegate_core::{
    Change, ChangeFilter, ClientContext, Code, CorrelationId, Era, Error, Event, LoggingLevel,
    Object, Outcome, RawJson,
};

use super::change_filter::encode_filter;
use super::meta::keys;
use super::methods::Method;
use super::result::encode_result;
use super::url_elicitation::url_elicitations;
use super::version::Revision;
use crate::codes;
use crate::request_id::RequestId;

/// A message to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutgoingMessage {
    Notification(String),
    /// A question.
    Request(String),
    /// The response, and its code if it is an error.
    Response {
        json: String,
        code: Option<Code>,
    },
}

impl OutgoingMessage {
    pub fn json(&self) -> &str {
        match self {
            Self::Notification(json) | Self::Request(json) | Self::Response { json, .. } => json,
        }
    }
}

/// Encodes the messages for one request in its client's revision.
#[derive(Clone, Debug)]
pub struct Lowering {
    pub revision: Revision,
    pub method: Method,
    pub id: RequestId,
    pub correlation_id: CorrelationId,
    pub log_level: Option<LoggingLevel>,
    pub progress: Option<RawJson>,
}

impl Lowering {
    pub fn new(
        revision: Revision,
        method: Method,
        id: RequestId,
        correlation_id: CorrelationId,
        client: &ClientContext,
    ) -> Self {
        Self {
            revision,
            method,
            id,
            correlation_id,
            log_level: client.log_level,
            progress: client.progress.clone(),
        }
    }

    /// Encodes an event; `None` if this client does not receive it.
    pub fn event(&self, event: Event) -> Option<OutgoingMessage> {
        let notification = match event {
            Event::Done(outcome) => return Some(self.outcome(&outcome)),
            Event::Progress(params) => self.progress(&params),
            Event::Log { level, params } => {
                // Without a level, a legacy client gets what the server sends, a modern one nothing.
                let is_legacy = self.revision.era() == Era::Legacy;
                let is_enabled = self.log_level.map_or(is_legacy, |minimum| level >= minimum);
                is_enabled.then(|| encode_notification(Method::LogMessage, &params))
            }
            Event::Acknowledged { filter, .. } => {
                let is_modern = self.revision.era() == Era::Modern;
                is_modern.then(|| self.acknowledgement(&filter))
            }
            // The transport sends questions, because it keeps the client's session.
            Event::Question(_) | Event::QuestionWithdrawn | Event::KeepAlive => None,
            Event::ElicitationComplete(id) => self.elicitation_complete(&id),
            Event::Extension { method, params } => Some(encode_message(&method, &params)),
            Event::Change(change) => Some(self.change(&change)),
            Event::Task(task) => self.task(&task),
        };
        notification.map(OutgoingMessage::Notification)
    }

    /// Encodes the response to a request that succeeded.
    pub fn outcome(&self, outcome: &Outcome) -> OutgoingMessage {
        let subscription = (self.method == Method::Listen).then_some(&self.id);
        match encode_result(self.revision, self.method, outcome, subscription) {
            Some(result) => self.result(&result),
            None => self.error(&Error::internal(
                "the source's result is malformed or does not exist in the client's revision",
            )),
        }
    }

    /// Encodes the response to a request that failed.
    pub fn error(&self, error: &Error) -> OutgoingMessage {
        match self.url_elicitation_result(error) {
            Some(result) => self.result(&result),
            None => error_response(
                self.revision.era(),
                Some(&self.id),
                error,
                self.correlation_id,
            ),
        }
    }

    fn result(&self, result: &RawJson) -> OutgoingMessage {
        OutgoingMessage::Response {
            json: encode_response(&self.id, "result", result),
            code: None,
        }
    }

    fn elicitation_complete(&self, id: &str) -> Option<String> {
        let method = Method::ElicitationComplete;
        let mut params = Object::default();
        params.set("elicitationId", RawJson::string(id).as_str().to_owned());
        method
            .spec()
            .exists_in(self.revision)
            .then(|| encode_notification(method, &params.write()))
    }

    /// The URLs that the user must visit first, as a tool result for clients whose revision does not
    /// have that error.
    fn url_elicitation_result(&self, error: &Error) -> Option<RawJson> {
        let has_error = Method::ElicitationComplete.spec().since <= self.revision;
        if has_error || self.method != Method::ToolsCall {
            return None;
        }
        let mut text = error.message().to_owned();
        for params in url_elicitations(error)? {
            let params = params.object()?;
            let (message, url) = (params.string("message"), params.string("url")?);
            text += &format!("\n{}: {url}", message.unwrap_or_default());
        }
        Some(tool_error_result(&text))
    }

    /// A change, on the stream of the request that subscribed to it.
    fn change(&self, change: &Change) -> String {
        let subscription = (self.revision.era() == Era::Modern).then_some(&self.id);
        change_notification(change, subscription)
    }

    /// The state of a task, as in the result of `tasks/get`.
    fn task(&self, task: &RawJson) -> Option<String> {
        let mut params = task.object()?;
        params.remove("resultType");
        let meta = params.get("_meta").map(ToOwned::to_owned);
        let meta = meta.as_deref().and_then(|meta| Object::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        meta.remove(keys::SERVER_INFO);
        meta.set(keys::SUBSCRIPTION_ID, self.id.as_str());
        params.set("_meta", meta.write().as_str().to_owned());
        Some(encode_notification(Method::TaskChanged, &params.write()))
    }

    fn progress(&self, params: &RawJson) -> Option<String> {
        let token = self.progress.as_ref()?;
        let mut params = params.object()?;
        params.set(keys::PROGRESS_TOKEN, token.as_str());
        Some(encode_notification(Method::Progress, &params.write()))
    }

    fn acknowledgement(&self, filter: &ChangeFilter) -> String {
        let mut params = Object::default();
        params.set("notifications", encode_filter(filter));
        params.set("_meta", subscription_meta(&self.id));
        encode_notification(Method::Acknowledged, &params.write())
    }

    /// The cancellation of a change stream that the gateway ends. Only for stdio, where the
    /// connection stays open.
    pub fn listen_cancellation(&self) -> Option<OutgoingMessage> {
        (self.method == Method::Listen).then(|| {
            let mut params = Object::default();
            params.set("requestId", self.id.as_str());
            params.set("reason", "\"the gateway is stopping\"");
            OutgoingMessage::Notification(encode_notification(Method::Cancelled, &params.write()))
        })
    }
}

/// The result of a tool that failed, with a text for the model.
pub fn tool_error_result(text: &str) -> RawJson {
    let text = RawJson::string(text);
    RawJson::copy_of(&format!(
        r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#
    ))
}

/// A change for a client of the legacy era.
pub fn legacy_change_notification(change: &Change) -> String {
    change_notification(change, None)
}

/// A log message outside of a call, for a client of the legacy era. In the modern era there are none.
pub fn legacy_log_notification(params: &RawJson) -> String {
    encode_notification(Method::LogMessage, params)
}

/// A change; `subscription` is the id of the request that subscribed, in the modern era.
fn change_notification(change: &Change, subscription: Option<&RequestId>) -> String {
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
            Method::ElicitationComplete
        }
        Change::Extension(notification) => {
            let params = &notification.params;
            let tagged = subscription.and_then(|id| with_subscription(params, id));
            return encode_message(&notification.method, tagged.as_ref().unwrap_or(params));
        }
    };
    if let Some(id) = subscription {
        params.set("_meta", subscription_meta(id));
    }
    encode_notification(method, &params.write())
}

/// The params of a notification on the change stream of a request.
fn with_subscription(params: &RawJson, id: &RequestId) -> Option<RawJson> {
    let mut params = params.object()?;
    let meta = params.get("_meta").map(ToOwned::to_owned);
    let meta = meta.as_deref().and_then(|meta| Object::parse(meta).ok());
    let mut meta = meta.unwrap_or_default();
    meta.set(keys::SUBSCRIPTION_ID, id.as_str());
    params.set("_meta", meta.write().as_str().to_owned());
    Some(params.write())
}

fn subscription_meta(id: &RequestId) -> String {
    format!(r#"{{"{}":{}}}"#, keys::SUBSCRIPTION_ID, id.as_str())
}

/// Encodes an error response. `id` is `None` if the id of the request could not be read.
pub fn error_response(
    era: Era,
    id: Option<&RequestId>,
    error: &Error,
    correlation_id: CorrelationId,
) -> OutgoingMessage {
    let spec = codes::of(error.code());
    let data = error_data(era, error, correlation_id);
    let mut body = Object::default();
    body.set("code", spec.number(era).to_string());
    body.set(
        "message",
        RawJson::string(error.message()).as_str().to_owned(),
    );
    body.set("data", data.as_str().to_owned());
    let body = body.write();
    let json = match id {
        Some(id) => encode_response(id, "error", &body),
        None => format!(r#"{{"jsonrpc":"2.0","error":{body}}}"#),
    };
    OutgoingMessage::Response {
        json,
        code: Some(error.code()),
    }
}

/// The data of an error, with our members. Data of a source that is not an object has no room for
/// them and stays as it is.
fn error_data(era: Era, error: &Error, correlation_id: CorrelationId) -> RawJson {
    let mut members = match error.data() {
        Some(data) if !data.is_object() => return data.clone(),
        data => data.and_then(RawJson::object).unwrap_or_default(),
    };
    let spec = codes::of(error.code());
    if let Code::Source(number) = error.code()
        && number != spec.number(era)
    {
        members.set("backendCode", number.to_string());
    }
    members.set("kind", format!("\"{}\"", spec.kind));
    // A server behind the source may have mapped its error itself.
    if members.get("httpStatus").is_none() {
        members.set("httpStatus", spec.mapped_status.to_string());
    }
    members.set("correlationId", format!("\"{correlation_id}\""));
    members.write()
}

fn encode_response(id: &RequestId, member: &str, body: &RawJson) -> String {
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

fn encode_notification(method: Method, params: &RawJson) -> String {
    encode_message(method.name(), params)
}

/// A notification with any method.
pub(super) fn encode_message(method: &str, params: &RawJson) -> String {
    let method = RawJson::string(method);
    if params.as_str() == "{}" {
        format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#)
    } else {
        format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
    }
}
