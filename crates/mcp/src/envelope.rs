//! Step 3, decode: bytes into messages. Parsed once, here; everything below reads this value.

use std::borrow::Cow;

use bytes::Bytes;
use bytestring::ByteString;
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;
use tidegate_core::{Code, Error, RawJson, Result};

use crate::RequestId;
use crate::depth::is_deeper_than;

/// The bounds of what is decoded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub depth: usize,
    pub batch: usize,
}

/// What one body or one line holds.
#[derive(Debug)]
pub enum Inbound {
    One(Message),
    /// Only one revision has batches; whether they are allowed is not decided here. Each message
    /// stands or falls alone.
    Batch(Vec<Result<Message>>),
}

/// One JSON-RPC message.
#[derive(Debug)]
pub enum Message {
    Request {
        id: RequestId,
        method: ByteString,
        params: Option<RawJson>,
    },
    Notification {
        method: ByteString,
        params: Option<RawJson>,
    },
    /// The answer to a request of ours.
    Response { id: RequestId },
}

/// Decodes a body or a line.
pub fn decode(bytes: Bytes, limits: Limits) -> Result<Inbound> {
    let text = ByteString::try_from(bytes)
        .map_err(|_| Error::client(Code::ParseError, "the message is not UTF-8"))?;
    if is_deeper_than(text.as_bytes(), limits.depth) {
        let message = format!("the message nests deeper than {} levels", limits.depth);
        return Err(Error::client(Code::InvalidRequest, message));
    }
    if text.trim_ascii_start().starts_with('[') {
        decode_batch(&text, limits.batch)
    } else {
        decode_message(&text, &text).map(Inbound::One)
    }
}

/// Decodes what must be one message.
pub fn decode_one(bytes: Bytes, limits: Limits) -> Result<Message> {
    match decode(bytes, limits)? {
        Inbound::One(message) => Ok(message),
        Inbound::Batch(_) => Err(batch_refused()),
    }
}

/// The answer to a batch where there are none.
pub fn batch_refused() -> Error {
    Error::client(
        Code::InvalidRequest,
        "a batch is not allowed in this revision; send one message at a time",
    )
}

fn decode_batch(text: &ByteString, limit: usize) -> Result<Inbound> {
    let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    if parts.is_empty() {
        return Err(Error::client(Code::InvalidRequest, "the batch is empty"));
    }
    if parts.len() > limit {
        let message = format!(
            "the batch has {} messages; at most {limit} are allowed",
            parts.len()
        );
        return Err(Error::client(Code::InvalidRequest, message));
    }
    Ok(Inbound::Batch(
        parts
            .iter()
            .map(|part| decode_message(text, part.get()))
            .collect(),
    ))
}

fn decode_message(whole: &ByteString, text: &str) -> Result<Message> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(invalid("`jsonrpc` must be \"2.0\""));
    }
    let id = envelope.id.map(|id| read_id(whole, id)).transpose()?;
    let params = envelope
        .params
        .map(|params| read_params(whole, params))
        .transpose()?
        .flatten();
    match (envelope.method, id) {
        (Some(method), Some(id)) => Ok(Message::Request {
            id,
            method: shared(whole, method),
            params,
        }),
        (Some(method), None) => Ok(Message::Notification {
            method: shared(whole, method),
            params,
        }),
        (None, Some(id)) if envelope.result.is_some() != envelope.error.is_some() => {
            Ok(Message::Response { id })
        }
        (None, _) => Err(invalid(
            "a message has a `method`, or an `id` with a `result` or an `error`",
        )),
    }
}

/// The members we decide on. A member that stands twice is refused by the derived reader.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps `null` apart from absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn read_id(whole: &ByteString, id: &RawValue) -> Result<RequestId> {
    RequestId::new(RawJson::part_of(whole, id))
        .ok_or_else(|| invalid("`id` must be a string or an integer"))
}

/// `null` is taken as absent: some clients write it.
fn read_params(whole: &ByteString, params: &RawValue) -> Result<Option<RawJson>> {
    match params.get().as_bytes().first() {
        Some(b'{') => Ok(Some(RawJson::part_of(whole, params))),
        Some(b'n') => Ok(None),
        _ => Err(invalid("`params` must be an object")),
    }
}

fn shared(whole: &ByteString, text: Cow<'_, str>) -> ByteString {
    match text {
        Cow::Borrowed(part) => whole.slice_ref(part),
        Cow::Owned(text) => text.into(),
    }
}

fn invalid(message: &str) -> Error {
    Error::client(Code::InvalidRequest, message)
}

fn unreadable(error: &serde_json::Error) -> Error {
    match error.classify() {
        Category::Data => invalid(&format!("not a JSON-RPC message: {error}")),
        Category::Io | Category::Syntax | Category::Eof => {
            Error::client(Code::ParseError, format!("not JSON: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits = Limits { depth: 8, batch: 4 };

    fn one(text: &str) -> Result<Message> {
        decode_one(Bytes::copy_from_slice(text.as_bytes()), LIMITS)
    }

    fn code(text: &str) -> Code {
        one(text).unwrap_err().code()
    }

    #[test]
    fn the_three_kinds_of_message() {
        let request = one(r#" {"jsonrpc":"2.0","id":"a","method":"x/y","params":{"n":1.50}} "#);
        assert!(
            matches!(request, Ok(Message::Request { id, method, params })
            if id.as_str() == "\"a\"" && method == "x/y" && params.as_ref().unwrap().as_str() == r#"{"n":1.50}"#)
        );
        let notification = one(r#"{"jsonrpc":"2.0","method":"x","params":null}"#);
        assert!(matches!(
            notification,
            Ok(Message::Notification { params: None, .. })
        ));
        let response = one(r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
        assert!(matches!(response, Ok(Message::Response { .. })));
    }

    #[test]
    fn what_is_not_json_is_a_parse_error_and_what_is_no_message_an_invalid_request() {
        for text in [
            "",
            "{",
            "nope",
            "{\"jsonrpc\":\"2.0\"",
            "{} {}",
            "\u{feff}{}",
        ] {
            assert_eq!(code(text), Code::ParseError, "{text}");
        }
        for text in [
            "1",
            "null",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","Method":"x","id":1}"#,
        ] {
            assert_eq!(code(text), Code::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn a_member_twice_is_refused() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","\u006dethod":"y"}"#,
        ] {
            assert_eq!(code(text), Code::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn depth_and_batches_are_bounded() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}1{}}}}}"#,
            "[".repeat(9),
            "]".repeat(9)
        );
        assert_eq!(code(&deep), Code::InvalidRequest);
        let batch = |text: &str| decode(Bytes::copy_from_slice(text.as_bytes()), LIMITS);
        assert!(batch("[]").is_err());
        assert!(batch("[1,1,1,1,1]").is_err());
        let Ok(Inbound::Batch(messages)) = batch(r#"[1,{"jsonrpc":"2.0","method":"x"}]"#) else {
            panic!()
        };
        assert!(messages[0].is_err() && messages[1].is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            decode(bytes.into(), LIMITS).ok();
        }

        #[test]
        fn what_was_written_is_read(method in ".*", id in ".*", value in ".*") {
            let text = serde_json::json!({"jsonrpc":"2.0","id":id,"method":method,"params":{"v":value}});
            let Message::Request { id: read_id, method: read_method, params } = one(&text.to_string()).unwrap() else {
                panic!("not a request");
            };
            prop_assert_eq!(serde_json::from_str::<String>(read_id.as_str()).unwrap(), id);
            prop_assert_eq!(&read_method[..], method.as_str());
            prop_assert_eq!(params.unwrap().object().unwrap().string("v").unwrap(), value);
        }
    }
}
