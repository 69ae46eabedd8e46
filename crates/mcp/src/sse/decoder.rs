//! Decodes server-sent events from chunks of bytes by the rules of the HTML standard, with a limit
//! on the size of an event.

use std::time::Duration;

/// One event; its data is empty for a bare id or retry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The last id on the stream so far.
    pub id: Option<String>,
    /// The event's name; `None` means `message`.
    pub name: Option<String>,
    pub data: String,
    pub retry: Option<Duration>,
}

/// An event exceeded the size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTooLarge;

#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a CR, so an LF now belongs to the same line ending.
    after_cr: bool,
    at_start: bool,
    last_id: Option<String>,
    event: PartialEvent,
}

#[derive(Debug, Default)]
struct PartialEvent {
    name: Option<String>,
    data: Option<String>,
    retry: Option<Duration>,
    size: usize,
    has_id: bool,
}

impl SseDecoder {
    /// `limit` is the maximum size of an event in bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            last_id: None,
            event: PartialEvent::default(),
        }
    }

    /// Adds bytes and returns the events that are complete now.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, EventTooLarge> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.line
                .extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            self.check_size()?;
            let Some(end) = end else { break };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line());
            self.check_size()?;
        }
        Ok(events)
    }

    fn check_size(&self) -> Result<(), EventTooLarge> {
        let size = self.line.len() + self.event.size;
        if size > self.limit {
            Err(EventTooLarge)
        } else {
            Ok(())
        }
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        let is_first_line = std::mem::take(&mut self.at_start);
        let line = if is_first_line {
            line.strip_prefix('\u{feff}').unwrap_or(&line)
        } else {
            &line
        };
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        self.field(field, value.strip_prefix(' ').unwrap_or(value));
        None
    }

    fn field(&mut self, field: &str, value: &str) {
        // An empty line counts too: its line break becomes part of the data.
        self.event.size += value.len() + 1;
        match field {
            "data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.event.data = Some(value.to_owned()),
            },
            "event" => self.event.name = Some(value.to_owned()),
            "id" if !value.contains('\0') => {
                self.last_id = Some(value.to_owned());
                self.event.has_id = true;
            }
            "retry" => {
                self.event.retry = value
                    .parse()
                    .ok()
                    .map(Duration::from_millis)
                    .or(self.event.retry);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        let is_event = event.data.is_some() || event.has_id || event.retry.is_some();
        is_event.then(|| SseEvent {
            id: self.last_id.clone(),
            name: event.name.filter(|name| !name.is_empty()),
            data: event.data.unwrap_or_default(),
            retry: event.retry,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(wire: &[u8]) -> Vec<String> {
        let mut decoder = SseDecoder::new(64);
        decoder
            .push(wire)
            .unwrap()
            .into_iter()
            .map(|event| event.data)
            .collect()
    }

    #[test]
    fn handles_all_line_endings_comments_and_a_byte_order_mark() {
        assert_eq!(
            data(b"data: a\n\ndata: b\r\n\r\ndata:c\r\r"),
            ["a", "b", "c"]
        );
        assert_eq!(data("\u{feff}data: a\n\n".as_bytes()), ["a"]);
        assert_eq!(data(b": hello\n\nunknown: x\n\ndata\n\n"), [""]);
        assert_eq!(data(b"data: 1\ndata: 2\n\n"), ["1\n2"]);
        assert_eq!(data(b"data: unfinished\n"), Vec::<String>::new());
    }

    #[test]
    fn an_id_applies_until_the_next_and_an_id_with_nul_is_ignored() {
        let mut decoder = SseDecoder::new(64);
        let events = decoder
            .push(b"id: 1\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\n")
            .unwrap();
        assert!(events.iter().all(|event| event.id.as_deref() == Some("1")));
    }

    #[test]
    fn rejects_an_event_over_the_limit() {
        assert_eq!(
            SseDecoder::new(64).push(&b"data: x".repeat(20)),
            Err(EventTooLarge)
        );
        for line in [&b"data: 0123456789\n"[..], b"data\n", b"unknown: x\n"] {
            assert_eq!(
                SseDecoder::new(64).push(&line.repeat(100)),
                Err(EventTooLarge)
            );
        }
    }
}
