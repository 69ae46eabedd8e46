//! Server-sent events: encoding, and decoding from chunks of bytes.

mod decoder;

use std::fmt::Write as _;
use std::time::Duration;

use crate::lines::single_line;

pub use decoder::{EventTooLarge, SseDecoder, SseEvent};

/// A comment that keeps an idle stream open.
pub const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// Encodes a message as an event.
pub fn encode_message(id: Option<&str>, json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 48);
    push_id(&mut text, id);
    text.push_str("event: message\n");
    push_data(&mut text, json);
    text
}

/// Encodes the first event of a resumable stream: an id to resume from, and no message.
pub fn encode_priming(id: &str, retry: Duration) -> String {
    let mut text = String::new();
    push_id(&mut text, Some(id));
    write!(text, "retry: {}\ndata: \n\n", retry.as_millis()).ok();
    text
}

/// Encodes the `endpoint` event of the HTTP+SSE transport, with the URL to post to.
pub fn encode_endpoint(uri: &str) -> String {
    let mut text = "event: endpoint\n".to_owned();
    push_data(&mut text, uri);
    text
}

fn push_id(text: &mut String, id: Option<&str>) {
    if let Some(id) = id {
        text.push_str("id: ");
        text.push_str(id);
        text.push('\n');
    }
}

fn push_data(text: &mut String, data: &str) {
    text.push_str("data: ");
    text.push_str(&single_line(data));
    text.push_str("\n\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::new(1 << 20);
        chunks
            .iter()
            .flat_map(|chunk| decoder.push(chunk).unwrap())
            .collect()
    }

    #[test]
    fn a_priming_event_has_an_id_and_no_data() {
        let events = decode(&[encode_priming("3-0", Duration::from_millis(1500)).as_bytes()]);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].id.as_deref(), Some("3-0"));
        assert_eq!(events[0].retry, Some(Duration::from_millis(1500)));
        assert_eq!(events[0].data, "");
    }

    proptest! {
        #[test]
        fn decodes_encoded_messages_however_they_are_split(texts in prop::collection::vec(".*", 1..5), cut in 1_usize..40) {
            let jsons: Vec<_> = texts.iter().map(|text| serde_json::to_string(text).unwrap()).collect();
            let wire: String = jsons.iter().map(|json| encode_message(Some("1-2"), json) + KEEP_ALIVE).collect();
            let chunks: Vec<_> = wire.as_bytes().chunks(cut).collect();
            let decoded: Vec<_> = decode(&chunks).into_iter().map(|event| event.data).collect();
            prop_assert_eq!(decoded, jsons);
        }

        #[test]
        fn encodes_pretty_printed_json_as_one_event(map in prop::collection::btree_map(".{0,5}", ".{0,5}", 0..4)) {
            let pretty = serde_json::to_string_pretty(&map).unwrap();
            let events = decode(&[encode_message(None, &pretty).as_bytes()]);
            prop_assert_eq!(events.len(), 1);
            let decoded: std::collections::BTreeMap<String, String> = serde_json::from_str(&events[0].data).unwrap();
            prop_assert_eq!(decoded, map);
        }
    }
}
