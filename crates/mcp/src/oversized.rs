//! Whose answer a message was that was too long to be kept: told from its edges.
//!
//! Must not know: how long is too long.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use tidegate_core::RawJson;

use crate::RequestId;

/// The id of the answer that begins with `head` and ends with `tail`; none if it was no answer, or if
/// that cannot be told. Servers write the id before the result or behind it, last of all.
pub fn answered_id(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    let mut edge = Edge::default();
    // What is cut off has no good end, but its beginning can be told.
    serde_json::Deserializer::from_slice(head)
        .deserialize_map(&mut edge)
        .ok();
    let id = match edge {
        Edge { asks: true, .. } => None,
        Edge { id: Some(id), .. } => Some(id),
        Edge { id: None, .. } => last_number(tail),
    };
    RequestId::new(RawJson::parse(id?).ok()?)
}

/// What the beginning of a message shows.
#[derive(Default)]
struct Edge {
    id: Option<String>,
    /// It is a request or a notification.
    asks: bool,
}

impl<'de> Visitor<'de> for &mut Edge {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                "id" => self.id = Some(members.next_value::<&RawValue>()?.get().to_owned()),
                "method" => self.asks = true,
                _ => {}
            }
            if key != "id" {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The number under `id` where that is the last member. The last brace of a message closes the
/// message itself, so what stands right before it is the message's own.
fn last_number(tail: &[u8]) -> Option<String> {
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

    /// The id, if only so many bytes of either edge are known.
    fn id(message: &str, edge: usize) -> Option<String> {
        let bytes = message.as_bytes();
        let (head, tail) = (
            &bytes[..edge.min(bytes.len())],
            bytes.len().saturating_sub(edge),
        );
        answered_id(head, &bytes[tail..]).map(|id| id.as_str().to_owned())
    }

    #[test]
    fn the_id_may_stand_before_the_result_or_last() {
        let long = "x".repeat(1000);
        for message in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"text":"{long}"}}}}"#),
            format!(r#"{{ "id" : 7, "error": {{"message":"{long}"}} }}"#),
            format!(r#"{{"result":{{"text":"{long}"}},"jsonrpc":"2.0","id":7}}"#),
            format!(r#"{{"result":"{long}" , "id" : 7 }} "#),
        ] {
            assert_eq!(id(&message, 100).as_deref(), Some("7"), "{message}");
        }
    }

    #[test]
    fn what_is_no_answer_or_only_looks_like_one_has_none() {
        let long = "x".repeat(1000);
        for message in [
            format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{long}","id":7}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":"{long}"}}"#),
            format!(r#"{{"result":{{"text":"{long}","id":7}}}}"#),
            format!(r#"{{"result":"{long},\"id\":7"}}"#),
            format!(r#"{{"result":"{long}","a\"id":7}}"#),
            format!("{long} no message"),
        ] {
            assert_eq!(id(&message, 100), None, "{message}");
        }
    }
}
