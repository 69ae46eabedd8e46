//! A log writer that never blocks: lines go through a bounded queue to the one thread that owns
//! standard error. A slow or closed reader must not stop the gateway.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

use super::writer::Writer;

/// How many messages may wait in the queue.
const CAPACITY: usize = 4096;

/// How long to wait for the queue to be written out.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

enum Message {
    Line(Vec<u8>),
    Status(String),
    /// Everything before this has been written.
    Flush(SyncSender<()>),
    Stop,
}

/// The sending side of the queue. Drops lines when the queue is full.
#[derive(Clone)]
pub(super) struct LogQueue {
    messages: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

/// Stops the log when dropped, after writing out the queue.
pub(crate) struct LogGuard {
    queue: LogQueue,
    stopped: Receiver<()>,
}

/// A line below the log that is replaced in place, for terminals. Removed when dropped.
pub(crate) struct StatusLine(LogQueue);

/// Starts the thread that writes to `out`.
pub(super) fn start(out: impl Write + Send + 'static) -> (LogQueue, LogGuard) {
    let (messages, receiver) = sync_channel(CAPACITY);
    let (stop, stopped) = sync_channel(1);
    let dropped = Arc::new(AtomicU64::new(0));
    let queue = LogQueue {
        messages,
        dropped: Arc::clone(&dropped),
    };
    std::thread::spawn(move || {
        write_messages(&receiver, &dropped, Writer::new(out));
        stop.send(()).ok();
    });
    let guard = LogGuard {
        queue: queue.clone(),
        stopped,
    };
    (queue, guard)
}

fn write_messages(
    messages: &Receiver<Message>,
    dropped: &AtomicU64,
    mut writer: Writer<impl Write>,
) {
    while let Ok(message) = messages.recv() {
        let missing = dropped.swap(0, Ordering::Relaxed);
        if missing > 0 {
            writer.write_line(format!("… {missing} log lines dropped …\n").as_bytes());
        }
        match message {
            Message::Line(line) => writer.write_line(&line),
            Message::Status(text) => writer.set_status(text),
            Message::Flush(done) => {
                done.try_send(()).ok();
            }
            Message::Stop => return,
        }
    }
}

impl LogQueue {
    fn push(&self, line: Vec<u8>) {
        if let Err(TrySendError::Full(_)) = self.messages.try_send(Message::Line(line)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends a message that must not be dropped, waiting for space in the queue until a deadline.
    fn send_until(&self, mut message: Message, deadline: Instant) {
        while let Err(TrySendError::Full(unsent)) = self.messages.try_send(message) {
            if Instant::now() >= deadline {
                return;
            }
            message = unsent;
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl LogGuard {
    pub(crate) fn status_line(&self) -> StatusLine {
        StatusLine(self.queue.clone())
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let deadline = Instant::now() + FLUSH_TIMEOUT;
        self.queue.send_until(Message::Stop, deadline);
        let left = deadline.saturating_duration_since(Instant::now());
        self.stopped.recv_timeout(left).ok();
    }
}

impl StatusLine {
    /// Replaces the text. It must fit on one line.
    pub(crate) fn show(&self, text: String) {
        self.0.messages.try_send(Message::Status(text)).ok();
    }
}

impl Drop for StatusLine {
    /// Waits until the line is removed, so that others can write to standard error.
    fn drop(&mut self) {
        let deadline = Instant::now() + FLUSH_TIMEOUT;
        let (done, flushed) = sync_channel(1);
        self.0.send_until(Message::Status(String::new()), deadline);
        self.0.send_until(Message::Flush(done), deadline);
        let left = deadline.saturating_duration_since(Instant::now());
        flushed.recv_timeout(left).ok();
    }
}

/// Writes one log line: the formatter passes a whole event to each write.
pub(super) struct LineWriter<'a>(&'a LogQueue);

impl Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> LineWriter<'a> {
        LineWriter(self)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

    impl SharedBuffer {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for SharedBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn writes_all_lines_in_order_before_the_guard_is_gone() {
        let buffer = SharedBuffer::default();
        let (queue, guard) = start(buffer.clone());
        for number in 0..100 {
            writeln!(queue.make_writer(), "{number}").unwrap();
        }
        drop(guard);
        let expected: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert_eq!(buffer.text(), expected);
    }

    #[test]
    fn a_dropped_status_line_is_gone_at_once() {
        let buffer = SharedBuffer::default();
        let (_queue, guard) = start(buffer.clone());
        let status = guard.status_line();
        status.show("starting".to_owned());
        drop(status);
        assert_eq!(buffer.text(), "starting\r\x1b[K");
    }

    #[test]
    fn discards_lines_after_the_guard_is_dropped() {
        let buffer = SharedBuffer::default();
        let (queue, guard) = start(buffer.clone());
        drop(guard);
        writeln!(queue.make_writer(), "late").unwrap();
        assert_eq!(buffer.text(), "");
        assert_eq!(queue.dropped.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn drops_lines_instead_of_blocking_on_a_stuck_output() {
        struct StuckOutput;
        impl Write for StuckOutput {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                loop {
                    std::thread::park();
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (queue, _guard) = start(StuckOutput);
        for _ in 0..3 * CAPACITY {
            queue.push(b"x\n".to_vec());
        }
        assert!(queue.dropped.load(Ordering::Relaxed) > 0);
    }
}
