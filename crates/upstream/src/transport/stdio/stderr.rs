//! What a program says on its standard error: it is always read, and goes to our log as far as that
//! has room for it.
//!
//! Must not know: messages of the protocol.

use std::time::Duration;

use bytes::Bytes;
use tidegate_mcp::lines::{Line, LineSplitter};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio_util::sync::CancellationToken;

use crate::log_rate_limit::Ration;

/// Bytes of a line that still goes to our log.
const LONGEST_LINE: usize = 8 * 1024;

/// Lines of one program that go to our log in one window.
const MOST_LINES: u32 = 100;
const WINDOW: Duration = Duration::from_secs(1);

/// Reads to the end, or until told to stop. Gives the last line, which is often why a program
/// ended.
pub(super) async fn drain(
    source: String,
    mut stderr: ChildStderr,
    stop: CancellationToken,
) -> Option<String> {
    let mut said = ServerNotification {
        source,
        ration: Ration::new(MOST_LINES, WINDOW),
        last: None,
    };
    let mut splitter = LineSplitter::new(LONGEST_LINE);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = tokio::select! {
            () = stop.cancelled() => break,
            read = stderr.read(&mut buffer) => read,
            () = tokio::time::sleep(WINDOW), if said.ration.owes_count() => {
                said.tell_count();
                continue;
            }
        };
        let Ok(count @ 1..) = read else { break };
        for line in splitter.push(&buffer[..count]) {
            said.take(line);
        }
    }
    if let Some(line) = splitter.finish() {
        said.take(line);
    }
    said.tell_count();
    said.last.as_ref().map(readable)
}

/// One program's words.
struct ServerNotification {
    source: String,
    ration: Ration,
    last: Option<Bytes>,
}

impl ServerNotification {
    fn take(&mut self, line: Line) {
        if self.ration.is_over() {
            self.tell_count();
        }
        let Line::Text(text) = line else {
            return self.ration.drop_one();
        };
        if self.ration.take() {
            let line = readable(&text);
            tracing::debug!(source = self.source, line, "the source says");
        }
        self.last = Some(text);
    }

    /// Tells how much was left out of the log.
    fn tell_count(&mut self) {
        if let Some(lines) = self.ration.dropped() {
            let source = &self.source;
            tracing::debug!(source, lines, "the source says more than is logged");
        }
    }
}

fn readable(line: &Bytes) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}
