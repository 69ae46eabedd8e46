//! Runs the input of a lift case: decode, classify, lift.
//!
//! The first line names the transport: `POST`, followed by headers, a blank line and the body; or
//! `STDIO` or `STDIO in a session`, followed by a blank line and the body. `\xNN` in a header value
//! is a byte. A session has the revision of the file's folder.

use bytes::Bytes;
use tidegate_core::{ClientContext, LoggingLevel, RawJson, Result};
use tidegate_mcp::revision::{Classification, StandardHeaders, classify, lift_legacy, lift_modern};
use tidegate_mcp::{
    DecodeLimits, Era, Inbound, Message, Rejection, RequestId, Revision, batch_not_allowed, decode,
};

use crate::describe;

const LIMITS: DecodeLimits = DecodeLimits {
    max_depth: 16,
    max_batch: 3,
};

/// The client of a session.
fn session_client() -> ClientContext {
    ClientContext {
        affinity: None,
        era: Era::Legacy,
        capabilities: RawJson::from(serde_json::json!({ "roots": {} })),
        client_info: Some(RawJson::from(
            serde_json::json!({ "name": "session", "version": "1" }),
        )),
        log_level: Some(LoggingLevel::Notice),
        progress: None,
    }
}

/// How a message was received.
struct Transport {
    /// `None` on stdio.
    headers: Option<StandardHeaders>,
    in_session: bool,
    revision: Revision,
}

pub(crate) fn output(revision: Revision, input: &str) -> String {
    match receive(revision, input) {
        Ok(text) => text,
        Err((id, error)) => {
            let rejected = describe::rejection(Era::Modern, id.as_ref(), &error);
            format!("classification: none\n{rejected}")
        }
    }
}

/// The body of the message in an input.
pub(crate) fn body(input: &str) -> &str {
    input.split_once("\n\n").map_or("", |(_, body)| body)
}

/// An error means that the message was rejected before its era was known; it is described as modern.
fn receive(revision: Revision, input: &str) -> Result<String, Rejection> {
    let head = input.split("\n\n").next().unwrap_or_default();
    let mut lines = head.lines();
    let transport = lines.next().unwrap_or_default();
    let lines: Option<Vec<_>> = match transport {
        "POST" => Some(lines.collect()),
        "STDIO" | "STDIO in a session" => None,
        other => panic!("`{other}` is not a transport"),
    };
    let open_transport = |id: Option<&RequestId>| -> Result<Transport, Rejection> {
        let headers = lines
            .as_ref()
            .map(|lines| parse_headers(lines.iter().copied()));
        let headers = headers.transpose().map_err(|error| (id.cloned(), error))?;
        let in_session = match &headers {
            Some(headers) => headers.session.is_some(),
            None => transport != "STDIO",
        };
        Ok(Transport {
            headers,
            in_session,
            revision,
        })
    };
    let bytes = Bytes::copy_from_slice(body(input).as_bytes());
    match decode(bytes, LIMITS)? {
        Inbound::Single(message) => open_transport(message.request_id())?.lift(message),
        Inbound::Batch(messages) => open_transport(None)?.lift_batch(messages),
    }
}

impl Transport {
    fn lift(&self, message: Message) -> Result<String, Rejection> {
        let no_headers = StandardHeaders::default();
        let headers = self.headers.as_ref();
        let classification = classify(&message, headers.unwrap_or(&no_headers))
            .map_err(|error| (message.request_id().cloned(), error))?;
        let sent = describe::params(&message);
        let (era, lifted) = match &classification {
            Classification::Modern => (Era::Modern, lift_modern(message, headers)),
            Classification::Handshake => (
                Era::Legacy,
                lift_in_session(message, Revision::NEWEST_LEGACY, ClientContext::default()),
            ),
            Classification::Session { .. } => (
                Era::Legacy,
                lift_in_session(message, self.revision, session_client()),
            ),
            Classification::Sessionless(_) if self.in_session => (
                Era::Legacy,
                lift_in_session(message, self.revision, session_client()),
            ),
            Classification::Sessionless(revision) => (
                Era::Legacy,
                lift_in_session(message, *revision, ClientContext::default()),
            ),
        };
        let output = match lifted {
            Ok((revision, lifted)) => describe::lifted(revision, &lifted, sent.as_ref()),
            Err((id, error)) => describe::rejection(era, id.as_ref(), &error),
        };
        let classification = match classification {
            Classification::Sessionless(_) if self.in_session => "session of stdio".to_owned(),
            classification => describe::classification(&classification),
        };
        Ok(format!("classification: {classification}\n{output}"))
    }

    fn lift_batch(&self, messages: Vec<Result<Message, Rejection>>) -> Result<String, Rejection> {
        if !(self.in_session && self.revision.has_batches()) {
            return Err((None, batch_not_allowed()));
        }
        let parts = messages.into_iter().map(|message| match message {
            Ok(message) => {
                let sent = describe::params(&message);
                match lift_in_session(message, self.revision, session_client()) {
                    Ok((revision, lifted)) => describe::lifted(revision, &lifted, sent.as_ref()),
                    Err((id, error)) => describe::rejection(Era::Legacy, id.as_ref(), &error),
                }
            }
            Err((id, error)) => describe::rejection(Era::Modern, id.as_ref(), &error),
        });
        let parts: Vec<_> = parts.collect();
        Ok(format!("classification: batch\n{}", parts.join("\n\n")))
    }
}

type LiftResult = Result<(Revision, tidegate_mcp::Lifted), Rejection>;

fn lift_in_session(message: Message, revision: Revision, client: ClientContext) -> LiftResult {
    lift_legacy(message, revision, client).map(|lifted| (revision, lifted))
}

fn parse_headers<'a>(lines: impl Iterator<Item = &'a str>) -> Result<StandardHeaders> {
    let headers: Vec<_> = lines
        .map(|line| {
            let (name, value) = line.split_once(':').expect("missing colon in a header");
            (name, unescape(value.strip_prefix(' ').unwrap_or(value)))
        })
        .collect();
    StandardHeaders::parse(
        headers
            .iter()
            .map(|(name, value)| (*name, value.as_slice())),
    )
}

/// Replaces `\xNN` by a byte, so that files stay text and editors cannot trim white space.
fn unescape(value: &str) -> Vec<u8> {
    let mut parts = value.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("expected two hexadecimal digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}
