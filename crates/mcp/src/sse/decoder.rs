//! Reads server-sent events from bytes as they arrive, by the rules of the HTML standard, with a
//! bound on the size of one event.

use std::time::Duration;

/// One event, or a bare id or retry that came without data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The last id seen on the stream so far.
    pub id: Option<String>,
    /// The event's name; none means `message`.
    pub name: Option<String>,
    pub data: String,
    pub retry: Option<Duration>,
}

/// An event has more bytes than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Takes bytes, gives events.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    line: Vec<u8>,
    /// A CR was the last byte, so an LF now is part of the same line end.
    after_cr: bool,
    at_start: bool,
    last_id: Option<String>,
    event: Pending,
}

#[derive(Debug, Default)]
struct Pending {
    name: Option<String>,
    data: Option<String>,
    retry: Option<Duration>,
    size: usize,
    has_id: bool,
}

impl Decoder {
    /// Events may have up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            last_id: None,
            event: Pending::default(),
        }
    }

    /// Takes the next bytes and gives the events that are complete now.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
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

    fn check_size(&self) -> Result<(), TooLarge> {
        let size = self.line.len() + self.event.size;
        if size > self.limit {
            Err(TooLarge)
        } else {
            Ok(())
        }
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        let starts = std::mem::take(&mut self.at_start);
        let line = if starts {
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
        // A line counts even when it is empty: its line break becomes part of the data.
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

    fn dispatch(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        let says_something = event.data.is_some() || event.has_id || event.retry.is_some();
        says_something.then(|| Event {
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
        let mut decoder = Decoder::new(64);
        decoder
            .push(wire)
            .unwrap()
            .into_iter()
            .map(|event| event.data)
            .collect()
    }

    #[test]
    fn all_line_ends_comments_and_a_byte_order_mark() {
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
    fn an_id_stays_until_the_next_one_and_nul_is_ignored() {
        let mut decoder = Decoder::new(64);
        let events = decoder
            .push(b"id: 1\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\n")
            .unwrap();
        assert!(events.iter().all(|event| event.id.as_deref() == Some("1")));
    }

    #[test]
    fn an_event_without_end_is_refused_at_the_limit() {
        assert_eq!(Decoder::new(64).push(&b"data: x".repeat(20)), Err(TooLarge));
        for line in [&b"data: 0123456789\n"[..], b"data\n", b"unknown: x\n"] {
            assert_eq!(Decoder::new(64).push(&line.repeat(100)), Err(TooLarge));
        }
    }
}
