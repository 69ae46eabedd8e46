//! Recovers the request id of a response that exceeded the size limit, from its first and last
//! bytes.
//!
//! Must not know: the size limit.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use tidegate_core::RawJson;

use crate::request_id::RequestId;

/// The request id of the response that begins with `head` and ends with `tail`. `None` if the
/// message is not a response or the id is in neither part: servers write it before the result or as
/// the last member.
pub fn oversized_response_id(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    let mut start = MessageStart::default();
    // Parsing fails where the head ends; the members before that have been visited.
    serde_json::Deserializer::from_slice(head)
        .deserialize_map(&mut start)
        .ok();
    if start.has_method {
        return None;
    }
    let id = start.id.or_else(|| trailing_id(tail))?;
    RequestId::new(RawJson::parse(id).ok()?)
}

/// The members found at the start of a message.
#[derive(Default)]
struct MessageStart {
    id: Option<String>,
    /// The message is a request or a notification.
    has_method: bool,
}

impl<'de> Visitor<'de> for &mut MessageStart {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON-RPC message")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                "id" => self.id = Some(members.next_value::<&RawValue>()?.get().to_owned()),
                "method" => self.has_method = true,
                _ => {}
            }
            if key != "id" {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The number under `id` if that is the last member. The last brace closes the message itself, so
/// the member before it belongs to the message and not to its result.
fn trailing_id(tail: &[u8]) -> Option<String> {
    let members = tail.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let colon = members.iter().rposition(|byte| *byte == b':')?;
    let (key, value) = (members[..colon].trim_ascii_end(), &members[colon + 1..]);
    let before = key.strip_suffix(b"\"id\"")?.trim_ascii_end();
    let is_key = before.ends_with(b",") || before.ends_with(b"{");
    let number = std::str::from_utf8(value.trim_ascii_start()).ok()?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_key && is_number).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The id recovered from this many bytes at either end.
    fn recover(message: &str, kept: usize) -> Option<String> {
        let bytes = message.as_bytes();
        let (head, tail) = (
            &bytes[..kept.min(bytes.len())],
            bytes.len().saturating_sub(kept),
        );
        oversized_response_id(head, &bytes[tail..]).map(|id| id.as_str().to_owned())
    }

    #[test]
    fn recovers_an_id_before_the_result_or_at_the_end() {
        let long = "x".repeat(1000);
        for message in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"text":"{long}"}}}}"#),
            format!(r#"{{ "id" : 7, "error": {{"message":"{long}"}} }}"#),
            format!(r#"{{"result":{{"text":"{long}"}},"jsonrpc":"2.0","id":7}}"#),
            format!(r#"{{"result":"{long}" , "id" : 7 }} "#),
        ] {
            assert_eq!(recover(&message, 100).as_deref(), Some("7"), "{message}");
        }
    }

    #[test]
    fn finds_no_id_in_requests_results_or_strings() {
        let long = "x".repeat(1000);
        for message in [
            format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{long}","id":7}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":"{long}"}}"#),
            format!(r#"{{"result":{{"text":"{long}","id":7}}}}"#),
            format!(r#"{{"result":"{long},\"id\":7"}}"#),
            format!(r#"{{"result":"{long}","a\"id":7}}"#),
            format!("{long} not a message"),
        ] {
            assert_eq!(recover(&message, 100), None, "{message}");
        }
    }
}
