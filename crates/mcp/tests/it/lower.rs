//! Runs the input of a lower case. The output is the exact message.
//!
//! The lines `method:`, `id:`, `log level:` and `progress token:` describe the request. The line
//! `event:` names an event, result or error of the core; the lines below it are the result, the
//! params, or the message and the data of an error.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{
    CacheScope, Change, ChangeFilter, ClientContext, Code, CorrelationId, Error, ErrorOrigin,
    Event, ExtensionNotification, LoggingLevel, Outcome, RawJson,
};
use tidegate_mcp::revision::{Method, error_response, legacy_change_notification};
use tidegate_mcp::{Era, Lowering, OutgoingMessage, RequestId, Revision, codes};

/// A parsed input.
pub(crate) struct LowerInput<'a> {
    pub(crate) method: &'a str,
    id: &'a str,
    log_level: Option<LoggingLevel>,
    progress: Option<RawJson>,
    pub(crate) event: &'a str,
    body: &'a str,
}

impl<'a> LowerInput<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let (head, event) = text.split_once("event: ").expect("missing line `event:`");
        let (event, body) = event.split_once('\n').unwrap_or((event, ""));
        let field = |name: &str| {
            head.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        Self {
            method: field("method").unwrap_or("tools/call"),
            id: field("id").unwrap_or("1"),
            log_level: field("log level").map(level),
            progress: field("progress token").map(json),
            event,
            body,
        }
    }

    fn lowering(&self, revision: Revision) -> Lowering {
        let method = Method::ALL
            .iter()
            .find(|method| method.name() == self.method)
            .unwrap_or_else(|| panic!("`{}` is not a method", self.method));
        let client = ClientContext {
            log_level: self.log_level,
            progress: self.progress.clone(),
            ..ClientContext::default()
        };
        let id = RequestId::new(json(self.id)).expect("not a request id");
        Lowering::new(revision, *method, id, CorrelationId::generate(), &client)
    }

    fn parse_event(&self, name: &str, argument: &str) -> Event {
        match name {
            "complete" => Event::Done(self.complete(argument)),
            "input-required" => Event::Done(Outcome::InputRequired(json(self.body))),
            "task" => Event::Done(Outcome::Task(json(self.body))),
            "keep-alive" => Event::KeepAlive,
            "progress" => Event::Progress(json(self.body)),
            "log" => Event::Log {
                level: level(argument),
                params: json(self.body),
            },
            "acknowledged" => Event::Acknowledged {
                filter: filter(argument),
                refused: Vec::new(),
            },
            "change" => Event::Change(change(argument)),
            "task-changed" => Event::Task(json(self.body)),
            "elicitation-complete" => Event::ElicitationComplete(argument.to_owned()),
            other => panic!("unknown event `{other}`"),
        }
    }

    /// `argument` is empty, or the cache lifetime and scope of the result.
    fn complete(&self, argument: &str) -> Outcome {
        let result = json(self.body);
        let Some((ttl, scope)) = argument.split_once(" ms, ") else {
            return Outcome::complete(result);
        };
        let ttl = Duration::from_millis(ttl.parse().expect("not a number of milliseconds"));
        let scope = match scope {
            "public" => CacheScope::Public,
            "private" => CacheScope::Private,
            other => panic!("`{other}` is not a scope"),
        };
        Outcome::cacheable(result, ttl, scope)
    }

    /// The first line is the message; the data follows.
    fn error(&self, kind: &str) -> Error {
        let (message, data) = self.body.split_once('\n').unwrap_or((self.body, ""));
        let error = Error::new(code(kind), ErrorOrigin::Gateway, message);
        match data {
            "" => error,
            data => error.with_data(json(data)),
        }
    }
}

pub(crate) fn output(revision: Revision, text: &str) -> String {
    let input = LowerInput::parse(text);
    let lowering = input.lowering(revision);
    let (name, argument) = input.event.split_once(' ').unwrap_or((input.event, ""));
    let message = match name {
        "error" => Some(lowering.error(&input.error(argument))),
        // The id of the request could not be read.
        "error-without-id" => {
            let error = input.error(argument);
            let correlation_id = lowering.correlation_id;
            Some(error_response(revision.era(), None, &error, correlation_id))
        }
        "listen-cancellation" => lowering.listen_cancellation(),
        _ => lowering.event(input.parse_event(name, argument)),
    };
    if name == "change" && revision.era() == Era::Legacy {
        let legacy = legacy_change_notification(&change(argument));
        assert_eq!(
            message,
            Some(OutgoingMessage::Notification(legacy)),
            "both functions encode a change alike"
        );
    }
    describe(revision, message.as_ref(), lowering.correlation_id)
}

fn describe(
    revision: Revision,
    message: Option<&OutgoingMessage>,
    correlation_id: CorrelationId,
) -> String {
    let Some(message) = message else {
        return "nothing".to_owned();
    };
    let json = stable(message.json(), correlation_id);
    match message {
        OutgoingMessage::Request(_) => format!("request\n{json}"),
        OutgoingMessage::Notification(_) => format!("notification\n{json}"),
        OutgoingMessage::Response { code: None, .. } => format!("response\n{json}"),
        OutgoingMessage::Response {
            code: Some(code), ..
        } => {
            let status = codes::of(*code).status(revision.era());
            format!("error response, status {status}\n{json}")
        }
    }
}

/// Replaces what changes from run to run and from release to release.
fn stable(json: &str, correlation_id: CorrelationId) -> String {
    let info = |version: &str| format!(r#""title":"Tidegate","version":"{version}""#);
    json.replace(&correlation_id.to_string(), "<correlation>")
        .replace(&info(env!("CARGO_PKG_VERSION")), &info("<version>"))
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn level(text: &str) -> LoggingLevel {
    text.parse().expect("not a log level")
}

/// The code of a kind; `source` is followed by the source's own number.
fn code(kind: &str) -> Code {
    match kind.split_once(' ') {
        Some(("source", number)) => Code::Source(number.parse().expect("not a number")),
        _ => codes::ALL
            .into_iter()
            .find(|code| codes::of(*code).kind == kind)
            .unwrap_or_else(|| panic!("`{kind}` is not a kind of error")),
    }
}

/// Names of lists, URIs, task ids and members of extensions, separated by spaces.
fn filter(text: &str) -> ChangeFilter {
    let mut filter = ChangeFilter::default();
    for entry in text.split_whitespace() {
        match entry {
            "tools" => filter.tools = true,
            "prompts" => filter.prompts = true,
            "resources" => filter.resources = true,
            entry => match entry.split_once(':') {
                Some(("task", id)) => drop(filter.tasks.insert(id.to_owned())),
                Some(("extension", name)) => {
                    let members = &mut filter.extension_members;
                    members.insert(name.to_owned(), RawJson::empty_object());
                }
                _ => drop(filter.uris.insert(entry.to_owned())),
            },
        }
    }
    filter
}

fn change(text: &str) -> Change {
    match text {
        "tools" => Change::Tools,
        "prompts" => Change::Prompts,
        "resources" => Change::Resources,
        "extension" => Change::Extension(Arc::new(ExtensionNotification {
            client: None,
            method: "notifications/tides/rising".to_owned(),
            params: RawJson::copy_of(r#"{"level":1.50}"#),
        })),
        uri => Change::ResourceUpdated(uri.into()),
    }
}
