//! The queue of messages that a duplex transport writes to its server.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Messages that may wait to be written.
const CAPACITY: usize = 256;

/// How long the messages that wait when the connection is closed may take to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// A message to the server.
pub(crate) struct OutgoingLine {
    pub(crate) json: String,
    /// The place of a request in the order in which requests are sent.
    pub(crate) request: Option<u64>,
}

/// A notification or a response.
impl From<String> for OutgoingLine {
    fn from(json: String) -> Self {
        Self {
            json,
            request: None,
        }
    }
}

/// A queue of outgoing messages for the connection that `closed` closes.
pub(crate) fn outgoing_queue(
    closed: CancellationToken,
) -> (mpsc::Sender<OutgoingLine>, OutgoingMessages) {
    let (sender, messages) = mpsc::channel(CAPACITY);
    (sender, OutgoingMessages { messages, closed })
}

/// The reading end of the queue.
pub(crate) struct OutgoingMessages {
    messages: mpsc::Receiver<OutgoingLine>,
    closed: CancellationToken,
}

impl OutgoingMessages {
    /// The next message to write. Messages that were queued before the connection was closed are
    /// still returned, so that a server learns which calls were cancelled.
    pub(crate) async fn next(&mut self) -> Option<OutgoingLine> {
        tokio::select! {
            biased;
            message = self.messages.recv() => message,
            () = self.closed.cancelled() => None,
        }
    }
}

/// Waits until the connection is closed and its time to write the queue is over.
pub(super) async fn flush_timeout(closed: &CancellationToken) {
    closed.cancelled().await;
    tokio::time::sleep(FLUSH_TIMEOUT).await;
}
