//! The input of a lower golden: who asked, and what the core says. The outcome is the exact message.
//!
//! Lines `method:`, `id:`, `log level:` and `progress token:` say who asked. The line `says:` is what
//! the core says; below it stand the result, the params, or the words of an error and its data.

use std::time::Duration;

use tidegate_core::{
    CacheScope, Change, ChangeFilter, ClientContext, Code, CorrelationId, Error, ErrorOrigin,
    Event, LogLevel, Outcome, RawJson,
};
use tidegate_mcp::revision::{Method, legacy_change, refusal};
use tidegate_mcp::{Era, Lowering, OutgoingMessage, RequestId, Revision, codes};

/// One input, taken apart.
pub(crate) struct Input<'a> {
    pub(crate) method: &'a str,
    id: &'a str,
    log_level: Option<LogLevel>,
    progress: Option<RawJson>,
    pub(crate) says: &'a str,
    body: &'a str,
}

impl<'a> Input<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let (head, says) = text.split_once("says: ").expect("the core says something");
        let (says, body) = says.split_once('\n').unwrap_or((says, ""));
        let field = |name: &str| {
            head.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        Self {
            method: field("method").unwrap_or("tools/call"),
            id: field("id").unwrap_or("1"),
            log_level: field("log level").map(level),
            progress: field("progress token").map(json),
            says,
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
        let id = RequestId::new(json(self.id)).expect("an id");
        Lowering::new(revision, *method, id, CorrelationId::fresh(), &client)
    }

    fn event(&self, name: &str, rest: &str) -> Event {
        match name {
            "complete" => Event::Done(self.complete(rest)),
            "input" => Event::Done(Outcome::InputRequired(json(self.body))),
            "task" => Event::Done(Outcome::Task(json(self.body))),
            "alive" => Event::KeepAlive,
            "progress" => Event::Progress(json(self.body)),
            "log" => Event::Log {
                level: level(rest),
                params: json(self.body),
            },
            "acknowledged" => Event::Acknowledged(filter(rest)),
            "change" => Event::Change(change(rest)),
            "task-changed" => Event::Task(json(self.body)),
            "elicited" => Event::ElicitationComplete(rest.to_owned()),
            other => panic!("the core never says `{other}`"),
        }
    }

    /// `rest` is empty, or how long and for whom the result may be kept.
    fn complete(&self, rest: &str) -> Outcome {
        let result = json(self.body);
        let Some((ttl, scope)) = rest.split_once(" ms, ") else {
            return Outcome::complete(result);
        };
        let ttl = Duration::from_millis(ttl.parse().expect("milliseconds"));
        let scope = match scope {
            "public" => CacheScope::Public,
            "private" => CacheScope::Private,
            other => panic!("`{other}` is not a scope"),
        };
        Outcome::cacheable(result, ttl, scope)
    }

    /// The words stand on the first line, facts for programs below.
    fn error(&self, kind: &str) -> Error {
        let (message, data) = self.body.split_once('\n').unwrap_or((self.body, ""));
        let error = Error::new(code(kind), ErrorOrigin::Gateway, message);
        match data {
            "" => error,
            data => error.with_data(json(data)),
        }
    }
}

pub(crate) fn outcome(revision: Revision, text: &str) -> String {
    let input = Input::read(text);
    let lowering = input.lowering(revision);
    let (name, rest) = input.says.split_once(' ').unwrap_or((input.says, ""));
    let frame = match name {
        "error" => Some(lowering.error(&input.error(rest))),
        // What could not be read as far as its id.
        "refusal" => {
            let error = input.error(rest);
            let correlation = lowering.correlation;
            Some(refusal(revision.era(), None, &error, correlation))
        }
        "farewell" => lowering.farewell(),
        _ => lowering.event(input.event(name, rest)),
    };
    if name == "change" && revision.era() == Era::Legacy {
        let alone = legacy_change(&change(rest));
        assert_eq!(
            frame,
            Some(OutgoingMessage::Notification(alone)),
            "two ways to say a change"
        );
    }
    show(revision, frame.as_ref(), lowering.correlation)
}

fn show(revision: Revision, frame: Option<&OutgoingMessage>, correlation: CorrelationId) -> String {
    let Some(frame) = frame else {
        return "nothing".to_owned();
    };
    let json = steady(frame.json(), correlation);
    match frame {
        OutgoingMessage::Notification(_) => format!("notice\n{json}"),
        OutgoingMessage::Response { code: None, .. } => format!("answer\n{json}"),
        OutgoingMessage::Response {
            code: Some(code), ..
        } => {
            let status = codes::of(*code).status(revision.era());
            format!("answer, status {status}\n{json}")
        }
    }
}

/// Leaves out what differs from run to run and from release to release.
fn steady(json: &str, correlation: CorrelationId) -> String {
    let ours = |version: &str| format!(r#""title":"Tidegate","version":"{version}""#);
    json.replace(&correlation.to_string(), "<correlation>")
        .replace(&ours(env!("CARGO_PKG_VERSION")), &ours("<version>"))
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn level(text: &str) -> LogLevel {
    text.parse().expect("a log level")
}

/// The code of a kind; a source's own number stands behind `source`.
fn code(kind: &str) -> Code {
    match kind.split_once(' ') {
        Some(("source", number)) => Code::Source(number.parse().expect("a number")),
        _ => codes::ALL
            .into_iter()
            .find(|code| codes::of(*code).kind == kind)
            .unwrap_or_else(|| panic!("`{kind}` is not a kind of error")),
    }
}

/// Words of the lists, URIs and ids of tasks, with spaces between them.
fn filter(text: &str) -> ChangeFilter {
    let mut filter = ChangeFilter::default();
    for word in text.split_whitespace() {
        match word {
            "tools" => filter.tools = true,
            "prompts" => filter.prompts = true,
            "resources" => filter.resources = true,
            word => match word.strip_prefix("task:") {
                Some(id) => drop(filter.tasks.insert(id.to_owned())),
                None => drop(filter.uris.insert(word.to_owned())),
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
        uri => Change::ResourceUpdated(uri.into()),
    }
}
