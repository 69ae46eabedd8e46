//! The standard error of a server process: it is always read, logged up to a rate, and its last lines
//! are kept for the report of a failure.
//!
//! Must not know: protocol messages.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tidegate_mcp::lines::{Line, LineSplitter};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use super::secrets::Secrets;
use crate::log_rate_limit::LogRateLimit;

/// Bytes of a line that is still logged.
const LINE_LIMIT: usize = 8 * 1024;

/// Lines of one process that are logged in one window.
const LINES_PER_WINDOW: u32 = 100;
const WINDOW: Duration = Duration::from_secs(1);

/// Lines that are kept for the report of a failure.
const KEPT_LINES: usize = 20;

/// Logs each line to the end, or until stopped. `alive` is cancelled at the first output. Returns the
/// last lines.
pub(super) async fn forward(
    source: String,
    mut stderr: impl AsyncRead + Unpin,
    secrets: Secrets,
    stop: CancellationToken,
    alive: CancellationToken,
) -> Vec<String> {
    let mut log = StderrLog {
        source,
        secrets,
        rate_limit: LogRateLimit::new(LINES_PER_WINDOW, WINDOW),
        last_lines: VecDeque::new(),
    };
    let mut splitter = LineSplitter::new(LINE_LIMIT);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = tokio::select! {
            () = stop.cancelled() => break,
            read = stderr.read(&mut buffer) => read,
            () = tokio::time::sleep(WINDOW), if log.rate_limit.has_suppressed() => {
                log.report_suppressed();
                continue;
            }
        };
        let Ok(count @ 1..) = read else { break };
        alive.cancel();
        for line in splitter.push(&buffer[..count]) {
            log.take(line);
        }
    }
    if let Some(line) = splitter.finish() {
        log.take(line);
    }
    log.report_suppressed();
    let lines = log.last_lines.iter();
    lines.map(|line| log.readable(line)).collect()
}

struct StderrLog {
    source: String,
    secrets: Secrets,
    rate_limit: LogRateLimit,
    last_lines: VecDeque<Bytes>,
}

impl StderrLog {
    fn take(&mut self, line: Line) {
        if self.rate_limit.is_window_over() {
            self.report_suppressed();
        }
        let Line::Text(text) = line else {
            return self.rate_limit.suppress();
        };
        if self.rate_limit.allow() {
            let line = self.readable(&text);
            tracing::debug!(source = self.source, line, "server stderr");
        }
        if self.last_lines.len() == KEPT_LINES {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(text);
    }

    fn report_suppressed(&mut self) {
        if let Some(lines) = self.rate_limit.take_suppressed() {
            tracing::debug!(
                source = self.source,
                lines,
                "server stderr lines suppressed"
            );
        }
    }

    fn readable(&self, line: &Bytes) -> String {
        self.secrets.mask(String::from_utf8_lossy(line).trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_the_last_twenty_lines() {
        let text: String = (1..=30).map(|number| format!("line {number}\n")).collect();
        let stop = CancellationToken::new();
        let lines = forward(
            "s".to_owned(),
            text.as_bytes(),
            Secrets::default(),
            stop,
            CancellationToken::new(),
        )
        .await;
        assert_eq!(lines.len(), KEPT_LINES);
        assert_eq!(lines[0], "line 11");
        assert_eq!(lines[19], "line 30");
    }

    #[tokio::test]
    async fn keeps_a_last_line_without_a_line_break() {
        let stop = CancellationToken::new();
        let lines = forward(
            "s".to_owned(),
            &b"one\ntwo"[..],
            Secrets::default(),
            stop,
            CancellationToken::new(),
        )
        .await;
        assert_eq!(lines, ["one", "two"]);
    }
}
