//! The input of a lift golden, on its way from bytes to what the core is asked.
//!
//! The first line says the transport: `POST` with headers, a blank line and the body; or `PIPE`, or
//! `PIPE in a session`, with a blank line and the body. In a header's value `\xNN` is a byte. A
//! message of a session belongs to one that speaks the revision of the golden's folder.

use bytes::Bytes;
use tidegate_core::{ClientContext, LogLevel, RawJson, Result};
use tidegate_mcp::revision::{Classification, StandardHeaders, classify, lift_legacy, lift_modern};
use tidegate_mcp::{
    Era, Inbound, Limits, Message, Rejection, RequestId, Revision, batch_refused, decode,
};

use crate::show;

const LIMITS: Limits = Limits {
    depth: 16,
    batch: 3,
};

/// What a session's client said of itself when it came.
fn session_terms() -> ClientContext {
    ClientContext {
        affinity: None,
        stateless: false,
        capabilities: RawJson::from(serde_json::json!({ "roots": {} })),
        client_info: Some(RawJson::from(
            serde_json::json!({ "name": "session", "version": "1" }),
        )),
        log_level: Some(LogLevel::Notice),
        progress: None,
    }
}

/// How a message comes in.
struct Door {
    /// None on a pipe.
    headers: Option<StandardHeaders>,
    in_session: bool,
    revision: Revision,
}

pub(crate) fn outcome(revision: Revision, input: &str) -> String {
    match taken(revision, input) {
        Ok(text) => text,
        Err((id, error)) => {
            let refused = show::refused(Era::Modern, id.as_ref(), &error);
            format!("framing: none\n{refused}")
        }
    }
}

/// The body of a lift golden's input.
pub(crate) fn body(input: &str) -> &str {
    input.split_once("\n\n").map_or("", |(_, body)| body)
}

/// An error here came before the era was known: it is answered in the newest.
fn taken(revision: Revision, input: &str) -> Result<String, Rejection> {
    let head = input.split("\n\n").next().unwrap_or_default();
    let mut lines = head.lines();
    let transport = lines.next().unwrap_or_default();
    let lines: Option<Vec<_>> = match transport {
        "POST" => Some(lines.collect()),
        "PIPE" | "PIPE in a session" => None,
        other => panic!("`{other}` is not a transport"),
    };
    let open = |id: Option<&RequestId>| -> Result<Door, Rejection> {
        let headers = lines
            .as_ref()
            .map(|lines| read_headers(lines.iter().copied()));
        let headers = headers.transpose().map_err(|error| (id.cloned(), error))?;
        let in_session = match &headers {
            Some(headers) => headers.session.is_some(),
            None => transport != "PIPE",
        };
        Ok(Door {
            headers,
            in_session,
            revision,
        })
    };
    let bytes = Bytes::copy_from_slice(body(input).as_bytes());
    match decode(bytes, LIMITS)? {
        Inbound::One(message) => open(message.request_id())?.one(message),
        Inbound::Batch(messages) => open(None)?.batch(messages),
    }
}

impl Door {
    fn one(&self, message: Message) -> Result<String, Rejection> {
        let none = StandardHeaders::default();
        let headers = self.headers.as_ref();
        let framing = classify(&message, headers.unwrap_or(&none))
            .map_err(|error| (message.request_id().cloned(), error))?;
        let sent = show::sent(&message);
        let (era, lifted) = match &framing {
            Classification::Modern => (Era::Modern, lift_modern(message, headers)),
            Classification::Handshake => (
                Era::Legacy,
                legacy(message, Revision::NEWEST_LEGACY, ClientContext::default()),
            ),
            Classification::Session { .. } => {
                (Era::Legacy, legacy(message, self.revision, session_terms()))
            }
            Classification::Sessionless(_) if self.in_session => {
                (Era::Legacy, legacy(message, self.revision, session_terms()))
            }
            Classification::Sessionless(revision) => (
                Era::Legacy,
                legacy(message, *revision, ClientContext::default()),
            ),
        };
        let outcome = match lifted {
            Ok((revision, lifted)) => show::lifted(revision, &lifted, sent.as_ref()),
            Err((id, error)) => show::refused(era, id.as_ref(), &error),
        };
        let framing = match framing {
            Classification::Sessionless(_) if self.in_session => "session of the pipe".to_owned(),
            framing => show::framing(&framing),
        };
        Ok(format!("framing: {framing}\n{outcome}"))
    }

    fn batch(&self, messages: Vec<Result<Message, Rejection>>) -> Result<String, Rejection> {
        if !(self.in_session && self.revision.has_batches()) {
            return Err((None, batch_refused()));
        }
        let parts = messages.into_iter().map(|message| match message {
            Ok(message) => {
                let sent = show::sent(&message);
                match legacy(message, self.revision, session_terms()) {
                    Ok((revision, lifted)) => show::lifted(revision, &lifted, sent.as_ref()),
                    Err((id, error)) => show::refused(Era::Legacy, id.as_ref(), &error),
                }
            }
            Err((id, error)) => show::refused(Era::Modern, id.as_ref(), &error),
        });
        let parts: Vec<_> = parts.collect();
        Ok(format!("framing: batch\n{}", parts.join("\n\n")))
    }
}

type Lifting = Result<(Revision, tidegate_mcp::Lifted), Rejection>;

fn legacy(message: Message, revision: Revision, client: ClientContext) -> Lifting {
    lift_legacy(message, revision, client).map(|lifted| (revision, lifted))
}

fn read_headers<'a>(lines: impl Iterator<Item = &'a str>) -> Result<StandardHeaders> {
    let headers: Vec<_> = lines
        .map(|line| {
            let (name, value) = line.split_once(':').expect("a header has a colon");
            (name, unescape(value.strip_prefix(' ').unwrap_or(value)))
        })
        .collect();
    StandardHeaders::read(
        headers
            .iter()
            .map(|(name, value)| (*name, value.as_slice())),
    )
}

/// `\xNN` as a byte, so that a file stays text and no editor trims what matters.
fn unescape(value: &str) -> Vec<u8> {
    let mut parts = value.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two hexadecimal digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}
