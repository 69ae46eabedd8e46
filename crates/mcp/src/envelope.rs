//! Step 3, decode: bytes into messages. What a message is, is decided here and nowhere else.

use bytes::Bytes;
use bytestring::ByteString;
use serde_json::error::Category;
use serde_json::value::RawValue;
use tidegate_core::{Code, Error, Object, RawJson, Result, bounded_list, truncate_for_message};

use crate::depth::is_deeper_than;
use crate::{RequestId, codes};

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
    Batch(Vec<Result<Message, Rejection>>),
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
    Response { id: RequestId, answer: Answer },
}

/// What an answer says.
#[derive(Clone, Debug)]
pub enum Answer {
    Result(RawJson),
    Error(RpcError),
}

/// An error of the other side, as it came.
#[derive(Clone, Debug)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<RawJson>,
}

impl RpcError {
    /// Whether the other side does not know the method at all.
    pub fn is_unknown_method(&self) -> bool {
        self.code == codes::of(Code::MethodNotFound).legacy
    }
}

/// A message that cannot be taken: why, and the id to answer under where it could be read.
pub type Rejection = (Option<RequestId>, Error);

impl Message {
    /// The id under which this message wants an answer.
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Request { id, .. } => Some(id),
            Self::Notification { .. } | Self::Response { .. } => None,
        }
    }
}

/// Decodes a body or a line.
pub fn decode(bytes: Bytes, limits: Limits) -> Result<Inbound, Rejection> {
    let text = ByteString::try_from(bytes)
        .map_err(|_| nameless(Error::client(Code::ParseError, "the message is not UTF-8")))?;
    if text.trim_ascii_start().starts_with('[') {
        check_depth(&text, limits.depth).map_err(nameless)?;
        decode_batch(&text, limits.batch).map_err(nameless)
    } else {
        decode_message(&text, &text, limits.depth).map(Inbound::One)
    }
}

/// Decodes what must be one message.
pub fn decode_one(bytes: Bytes, limits: Limits) -> Result<Message, Rejection> {
    match decode(bytes, limits)? {
        Inbound::One(message) => Ok(message),
        Inbound::Batch(_) => Err(nameless(batch_refused())),
    }
}

/// The error in a message that does not say which request it answers: some servers refuse so what
/// they did not read to its end. None where the message is anything else.
pub fn decode_error_without_id(bytes: Bytes, limits: Limits) -> Option<RpcError> {
    let text = ByteString::try_from(bytes).ok()?;
    check_depth(&text, limits.depth).ok()?;
    let members = Object::parse(&text).ok()?;
    let unnamed = members.get("id").is_none_or(|id| id == "null");
    let answer = unnamed && members.get("method").is_none() && members.get("result").is_none();
    read_error(&text, members.get("error").filter(|_| answer)?).ok()
}

/// The answer to a batch where there are none.
pub fn batch_refused() -> Error {
    invalid("a batch is not allowed in this revision; send one message at a time")
}

fn check_depth(text: &str, limit: usize) -> Result<()> {
    if is_deeper_than(text.as_bytes(), limit) {
        return Err(invalid(&format!(
            "the message nests deeper than {limit} levels"
        )));
    }
    Ok(())
}

fn decode_batch(text: &ByteString, limit: usize) -> Result<Inbound> {
    let parts: Vec<&RawValue> = bounded_list(text, limit).map_err(|error| unreadable(&error))?;
    if parts.is_empty() {
        return Err(invalid("the batch is empty"));
    }
    let messages = parts
        .iter()
        .map(|part| decode_message(text, part.get(), usize::MAX));
    Ok(Inbound::Batch(messages.collect()))
}

/// Takes a message apart. No member may stand twice: two readers could disagree on it.
fn decode_message(whole: &ByteString, text: &str, depth: usize) -> Result<Message, Rejection> {
    let members = Object::parse(text).map_err(|error| nameless(unreadable(&error)))?;
    // A copy: an id outlives its message, and must not keep it in memory.
    let id = members
        .get("id")
        .map(|id| RequestId::new(RawJson::copy_of(id)));
    let read = || -> Result<Message> {
        check_depth(text, depth)?;
        if members.string("jsonrpc").as_deref() != Some("2.0") {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        if matches!(id, Some(None)) {
            return Err(invalid("`id` must be a string or an integer"));
        }
        kind(whole, &members, id.clone().flatten())
    };
    read().map_err(|error| (id.clone().flatten(), error))
}

fn kind(whole: &ByteString, members: &Object<'_>, id: Option<RequestId>) -> Result<Message> {
    let answer = (members.get("result"), members.get("error"));
    match (members.get("method"), id, answer) {
        (Some(method), id, _) => {
            let method = read_method(whole, method)?;
            let params = members
                .get("params")
                .map(|params| read_params(whole, params));
            let params = params.transpose()?.flatten();
            Ok(match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            })
        }
        (None, Some(id), (Some(result), None)) => {
            let answer = Answer::Result(part(whole, result));
            Ok(Message::Response { id, answer })
        }
        (None, Some(id), (None, Some(error))) => {
            let answer = Answer::Error(read_error(whole, error)?);
            Ok(Message::Response { id, answer })
        }
        (None, ..) => Err(invalid(
            "a message has a `method`, or an `id` with a `result` or an `error`",
        )),
    }
}

fn read_error(whole: &ByteString, error: &str) -> Result<RpcError> {
    let members = Object::parse(error).map_err(|_| invalid("`error` must be an object"))?;
    let code = members.get("code").and_then(|code| code.parse().ok());
    Ok(RpcError {
        code: code.ok_or_else(|| invalid("`error.code` must be an integer"))?,
        message: members.string("message").unwrap_or_default(),
        data: members.get("data").map(|data| part(whole, data)),
    })
}

/// A name without escapes is shared with the message.
fn read_method(whole: &ByteString, method: &str) -> Result<ByteString> {
    let plain = method
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match plain {
        Some(plain) if !plain.contains('\\') => Ok(whole.slice_ref(plain)),
        _ => serde_json::from_str::<String>(method)
            .map(ByteString::from)
            .map_err(|_| invalid("`method` must be a string")),
    }
}

/// `null` is taken as absent: some clients write it.
fn read_params(whole: &ByteString, params: &str) -> Result<Option<RawJson>> {
    match params.as_bytes().first() {
        Some(b'{') => Ok(Some(part(whole, params))),
        Some(b'n') => Ok(None),
        _ => Err(invalid("`params` must be an object")),
    }
}

/// A member of the message, sharing its bytes.
fn part(whole: &ByteString, member: &str) -> RawJson {
    RawJson::part_of(whole, member)
}

fn invalid(message: &str) -> Error {
    Error::client(Code::InvalidRequest, message)
}

fn nameless(error: Error) -> Rejection {
    (None, error)
}

fn unreadable(error: &serde_json::Error) -> Error {
    let words = truncate_for_message(&error.to_string());
    match error.classify() {
        Category::Data => invalid(&format!("not a JSON-RPC message: {words}")),
        Category::Io | Category::Syntax | Category::Eof => {
            Error::client(Code::ParseError, format!("not JSON: {words}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits = Limits { depth: 8, batch: 4 };

    fn one(text: &str) -> Result<Message> {
        decode_one(Bytes::copy_from_slice(text.as_bytes()), LIMITS).map_err(|(_, error)| error)
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
            r#"{"jsonrpc":"2.0","id":1,"method":"x","other":1,"other":2}"#,
        ] {
            assert_eq!(code(text), Code::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn a_refusal_carries_the_id_where_it_could_be_read() {
        let refused = |text: &str| {
            let refused = decode_one(Bytes::copy_from_slice(text.as_bytes()), LIMITS).unwrap_err();
            refused.0.map(|id| id.as_str().to_owned())
        };
        let deep = format!(r#"{{"id":"a","x":{}{}}}"#, "[".repeat(9), "]".repeat(9));
        assert_eq!(refused(&deep).as_deref(), Some("\"a\""));
        assert_eq!(
            refused(r#"{"jsonrpc":"1.0","id":7,"method":"x"}"#).as_deref(),
            Some("7")
        );
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#), None);
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#),
            None
        );
    }

    #[test]
    fn an_error_that_names_no_request_can_be_read_where_it_is_wanted() {
        let read = |text: &str| {
            let error = decode_error_without_id(Bytes::copy_from_slice(text.as_bytes()), LIMITS);
            error.map(|error| (error.code, error.message))
        };
        for text in [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}"#,
        ] {
            assert_eq!(read(text), Some((-32000, "no".to_owned())), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"error":"invalid_token"}"#,
            r#"{"error":{"message":"no"}}"#,
            "<html>",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
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
