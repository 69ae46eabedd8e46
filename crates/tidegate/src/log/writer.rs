//! Writes log lines and a status line to standard error.
//!
//! Must not know: threads and queues.

use std::io::Write;

/// Returns to the start of the line and clears it.
const ERASE_LINE: &[u8] = b"\r\x1b[K";

/// Owns the output. The status line, if there is one, is always the last line.
pub(super) struct Writer<W> {
    out: W,
    status: String,
}

// Write errors are ignored: a closed standard error must not stop the gateway.
impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            status: String::new(),
        }
    }

    /// Writes a line above the status line.
    pub(super) fn write_line(&mut self, line: &[u8]) {
        if self.status.is_empty() {
            self.out.write_all(line).ok();
            return;
        }
        self.out.write_all(ERASE_LINE).ok();
        self.out.write_all(line).ok();
        self.out.write_all(self.status.as_bytes()).ok();
        self.out.flush().ok();
    }

    /// Replaces the status line; an empty text removes it.
    pub(super) fn set_status(&mut self, text: String) {
        if !self.status.is_empty() {
            self.out.write_all(ERASE_LINE).ok();
        }
        self.out.write_all(text.as_bytes()).ok();
        self.out.flush().ok();
        self.status = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_go_above_the_status_line() {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.write_line(b"one\n");
        writer.set_status("starting".to_owned());
        writer.write_line(b"two\n");
        writer.set_status(String::new());
        writer.write_line(b"three\n");
        let expected = "one\nstarting\r\x1b[Ktwo\nstarting\r\x1b[Kthree\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
