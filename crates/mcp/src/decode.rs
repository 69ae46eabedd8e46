//! Step 3, decode: bytes into messages. The only place that decides what a JSON-RPC message is.

use bytes::Bytes;
use bytestring::ByteString;
use serde_json::error::Category;
use serde_json::value::RawValue;
use tidegate_core::{Code, Error, Object, RawJson, Result, bounded_list, truncate_for_message};

use crate::message::{Inbound, Message, Rejection, ResponseBody, RpcError};
use crate::nesting::exceeds_depth;
use crate::request_id::RequestId;

/// Limits on one body or line.
#[derive(Clone, Copy, Debug)]
pub struct DecodeLimits {
    /// Nesting of arrays and objects.
    pub max_depth: usize,
    /// Messages in a batch.
    pub max_batch: usize,
}

/// Decodes a body or a line.
pub fn decode(bytes: Bytes, limits: DecodeLimits) -> Result<Inbound, Rejection> {
    let text = ByteString::try_from(bytes)
        .map_err(|_| without_id(Error::client(Code::ParseError, "the message is not UTF-8")))?;
    if text.trim_ascii_start().starts_with('[') {
        check_depth(&text, limits.max_depth).map_err(without_id)?;
        decode_batch(&text, limits.max_batch).map_err(without_id)
    } else {
        decode_message(&text, &text, limits.max_depth).map(Inbound::Single)
    }
}

/// Decodes a single message; a batch is an error.
pub fn decode_single(bytes: Bytes, limits: DecodeLimits) -> Result<Message, Rejection> {
    match decode(bytes, limits)? {
        Inbound::Single(message) => Ok(message),
        Inbound::Batch(_) => Err(without_id(batch_not_allowed())),
    }
}

/// Decodes an error response without an id: some servers send one when they reject a request
/// before they have read its id. `None` if the message is anything else.
pub fn decode_error_without_id(bytes: Bytes, limits: DecodeLimits) -> Option<RpcError> {
    let text = ByteString::try_from(bytes).ok()?;
    check_depth(&text, limits.max_depth).ok()?;
    let members = Object::parse(&text).ok()?;
    let has_no_id = members.get("id").is_none_or(|id| id == "null");
    let is_error = has_no_id && members.get("method").is_none() && members.get("result").is_none();
    parse_error(&text, members.get("error").filter(|_| is_error)?).ok()
}

/// The error for a batch in a revision without batches.
pub fn batch_not_allowed() -> Error {
    invalid_request("batches are not allowed in this revision; send one message at a time")
}

fn check_depth(text: &str, limit: usize) -> Result<()> {
    if exceeds_depth(text.as_bytes(), limit) {
        return Err(invalid_request(&format!(
            "the message nests deeper than {limit} levels"
        )));
    }
    Ok(())
}

fn decode_batch(text: &ByteString, limit: usize) -> Result<Inbound> {
    let items: Vec<&RawValue> = bounded_list(text, limit).map_err(|error| json_error(&error))?;
    if items.is_empty() {
        return Err(invalid_request("the batch is empty"));
    }
    let messages = items
        .iter()
        .map(|item| decode_message(text, item.get(), usize::MAX));
    Ok(Inbound::Batch(messages.collect()))
}

/// Decodes the message `text`, which is a part of `whole`. Duplicate members are rejected: two
/// readers could disagree on their value.
fn decode_message(whole: &ByteString, text: &str, max_depth: usize) -> Result<Message, Rejection> {
    let members = Object::parse(text).map_err(|error| without_id(json_error(&error)))?;
    // A copy: the id outlives the message and must not keep it in memory.
    let id = members
        .get("id")
        .map(|id| RequestId::new(RawJson::copy_of(id)));
    let decode = || -> Result<Message> {
        check_depth(text, max_depth)?;
        if members.string("jsonrpc").as_deref() != Some("2.0") {
            return Err(invalid_request("`jsonrpc` must be \"2.0\""));
        }
        if matches!(id, Some(None)) {
            return Err(invalid_request("`id` must be a string or an integer"));
        }
        message(whole, &members, id.clone().flatten())
    };
    decode().map_err(|error| (id.clone().flatten(), error))
}

fn message(whole: &ByteString, members: &Object<'_>, id: Option<RequestId>) -> Result<Message> {
    let body = (members.get("result"), members.get("error"));
    match (members.get("method"), id, body) {
        (Some(method), id, _) => {
            let method = parse_method(whole, method)?;
            let params = members
                .get("params")
                .map(|params| parse_params(whole, params));
            let params = params.transpose()?.flatten();
            Ok(match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            })
        }
        (None, Some(id), (Some(result), None)) => {
            let body = ResponseBody::Result(RawJson::part_of(whole, result));
            Ok(Message::Response { id, body })
        }
        (None, Some(id), (None, Some(error))) => {
            let body = ResponseBody::Error(parse_error(whole, error)?);
            Ok(Message::Response { id, body })
        }
        (None, ..) => Err(invalid_request(
            "a message needs a `method`, or an `id` with a `result` or an `error`",
        )),
    }
}

fn parse_error(whole: &ByteString, error: &str) -> Result<RpcError> {
    let members = Object::parse(error).map_err(|_| invalid_request("`error` must be an object"))?;
    let code = members.get("code").and_then(|code| code.parse().ok());
    Ok(RpcError {
        code: code.ok_or_else(|| invalid_request("`error.code` must be an integer"))?,
        message: members.string("message").unwrap_or_default(),
        data: members
            .get("data")
            .map(|data| RawJson::part_of(whole, data)),
    })
}

/// A method name without escapes shares the bytes of the message.
fn parse_method(whole: &ByteString, method: &str) -> Result<ByteString> {
    let plain = method
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match plain {
        Some(plain) if !plain.contains('\\') => Ok(whole.slice_ref(plain)),
        _ => serde_json::from_str::<String>(method)
            .map(ByteString::from)
            .map_err(|_| invalid_request("`method` must be a string")),
    }
}

/// `null` counts as absent: some clients send it.
fn parse_params(whole: &ByteString, params: &str) -> Result<Option<RawJson>> {
    match params.as_bytes().first() {
        Some(b'{') => Ok(Some(RawJson::part_of(whole, params))),
        Some(b'n') => Ok(None),
        _ => Err(invalid_request("`params` must be an object")),
    }
}

fn invalid_request(message: &str) -> Error {
    Error::client(Code::InvalidRequest, message)
}

fn without_id(error: Error) -> Rejection {
    (None, error)
}

fn json_error(error: &serde_json::Error) -> Error {
    let reason = truncate_for_message(&error.to_string());
    match error.classify() {
        Category::Data => invalid_request(&format!("not a JSON-RPC message: {reason}")),
        Category::Io | Category::Syntax | Category::Eof => {
            Error::client(Code::ParseError, format!("invalid JSON: {reason}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: DecodeLimits = DecodeLimits {
        max_depth: 8,
        max_batch: 4,
    };

    fn decode_text(text: &str) -> Result<Message> {
        decode_single(Bytes::copy_from_slice(text.as_bytes()), LIMITS).map_err(|(_, error)| error)
    }

    fn code(text: &str) -> Code {
        decode_text(text).unwrap_err().code()
    }

    #[test]
    fn decodes_requests_notifications_and_responses() {
        let request =
            decode_text(r#" {"jsonrpc":"2.0","id":"a","method":"x/y","params":{"n":1.50}} "#);
        assert!(
            matches!(request, Ok(Message::Request { id, method, params })
            if id.as_str() == "\"a\"" && method == "x/y" && params.as_ref().unwrap().as_str() == r#"{"n":1.50}"#)
        );
        let notification = decode_text(r#"{"jsonrpc":"2.0","method":"x","params":null}"#);
        assert!(matches!(
            notification,
            Ok(Message::Notification { params: None, .. })
        ));
        let response = decode_text(r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
        assert!(matches!(response, Ok(Message::Response { .. })));
    }

    #[test]
    fn invalid_json_is_a_parse_error_and_other_json_an_invalid_request() {
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
    fn rejects_duplicate_members() {
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
    fn a_rejection_carries_the_id_if_it_could_be_read() {
        let rejected_id = |text: &str| {
            let (id, _) =
                decode_single(Bytes::copy_from_slice(text.as_bytes()), LIMITS).unwrap_err();
            id.map(|id| id.as_str().to_owned())
        };
        let deep = format!(r#"{{"id":"a","x":{}{}}}"#, "[".repeat(9), "]".repeat(9));
        assert_eq!(rejected_id(&deep).as_deref(), Some("\"a\""));
        assert_eq!(
            rejected_id(r#"{"jsonrpc":"1.0","id":7,"method":"x"}"#).as_deref(),
            Some("7")
        );
        assert_eq!(
            rejected_id(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#),
            None
        );
        assert_eq!(
            rejected_id(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#),
            None
        );
    }

    #[test]
    fn decodes_errors_without_an_id() {
        let decode = |text: &str| {
            let error = decode_error_without_id(Bytes::copy_from_slice(text.as_bytes()), LIMITS);
            error.map(|error| (error.code, error.message))
        };
        for text in [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}"#,
        ] {
            assert_eq!(decode(text), Some((-32000, "no".to_owned())), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"error":"invalid_token"}"#,
            r#"{"error":{"message":"no"}}"#,
            "<html>",
            "",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn limits_depth_and_batch_size() {
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
            panic!("not a batch")
        };
        assert!(messages[0].is_err() && messages[1].is_ok());
    }

    proptest! {
        #[test]
        fn never_panics_on_any_bytes(bytes: Vec<u8>) {
            decode(bytes.into(), LIMITS).ok();
        }

        #[test]
        fn decodes_what_serde_json_encodes(method in ".*", id in ".*", value in ".*") {
            let text = serde_json::json!({"jsonrpc":"2.0","id":id,"method":method,"params":{"v":value}});
            let Message::Request { id: decoded_id, method: decoded_method, params } = decode_text(&text.to_string()).unwrap() else {
                panic!("not a request");
            };
            prop_assert_eq!(serde_json::from_str::<String>(decoded_id.as_str()).unwrap(), id);
            prop_assert_eq!(&decoded_method[..], method.as_str());
            prop_assert_eq!(params.unwrap().object().unwrap().string("v").unwrap(), value);
        }
    }
}
