//! Server-sent events: writing them, and reading them as they come in pieces.

mod decoder;

use std::fmt::Write as _;
use std::time::Duration;

use crate::single_line;

pub use decoder::{Decoder, Event, TooLarge};

/// A comment: keeps a silent stream open.
pub const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// Writes one event that carries a message.
pub fn message(id: Option<&str>, json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 48);
    push_id(&mut text, id);
    text.push_str("event: message\n");
    push_data(&mut text, json);
    text
}

/// Writes the event a resumable stream begins with: an id to come back with, and no message.
pub fn priming(id: &str, retry: Duration) -> String {
    let mut text = String::new();
    push_id(&mut text, Some(id));
    write!(text, "retry: {}\ndata: \n\n", retry.as_millis()).ok();
    text
}

/// Writes the event that tells a client of the oldest transport where to post.
pub fn endpoint(uri: &str) -> String {
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

    fn read(chunks: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::new(1 << 20);
        chunks
            .iter()
            .flat_map(|chunk| decoder.push(chunk).unwrap())
            .collect()
    }

    #[test]
    fn a_priming_event_has_an_id_and_no_data() {
        let events = read(&[priming("3-0", Duration::from_millis(1500)).as_bytes()]);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].id.as_deref(), Some("3-0"));
        assert_eq!(events[0].retry, Some(Duration::from_millis(1500)));
        assert_eq!(events[0].data, "");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_however_it_arrives(texts in prop::collection::vec(".*", 1..5), cut in 1_usize..40) {
            let jsons: Vec<_> = texts.iter().map(|text| serde_json::to_string(text).unwrap()).collect();
            let wire: String = jsons.iter().map(|json| message(Some("1-2"), json) + KEEP_ALIVE).collect();
            let chunks: Vec<_> = wire.as_bytes().chunks(cut).collect();
            let read: Vec<_> = read(&chunks).into_iter().map(|event| event.data).collect();
            prop_assert_eq!(read, jsons);
        }

        #[test]
        fn pretty_printed_json_stays_one_event(map in prop::collection::btree_map(".{0,5}", ".{0,5}", 0..4)) {
            let pretty = serde_json::to_string_pretty(&map).unwrap();
            let events = read(&[message(None, &pretty).as_bytes()]);
            prop_assert_eq!(events.len(), 1);
            let again: std::collections::BTreeMap<String, String> = serde_json::from_str(&events[0].data).unwrap();
            prop_assert_eq!(again, map);
        }
    }
}
