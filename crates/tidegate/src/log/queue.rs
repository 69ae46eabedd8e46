//! A writer that never waits. Lines go through a bounded queue to one thread that owns standard
//! error: whoever does not read it, or closes it, must not stop the gateway.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

/// Lines that may wait.
const WAITING: usize = 4096;

/// How long the last lines may take to go out.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Where lines go in.
#[derive(Clone)]
pub(super) struct Queue {
    lines: SyncSender<Vec<u8>>,
    lost: Arc<AtomicU64>,
}

/// The thread that writes. Dropping this waits a little for what is left.
pub(crate) struct Writing {
    queue: Queue,
    done: Receiver<()>,
}

/// Starts the thread that writes to `out`.
pub(super) fn start(out: impl Write + Send + 'static) -> (Queue, Writing) {
    let (lines, waiting) = sync_channel(WAITING);
    let (finished, done) = sync_channel(1);
    let lost = Arc::new(AtomicU64::new(0));
    let queue = Queue {
        lines,
        lost: Arc::clone(&lost),
    };
    std::thread::spawn(move || {
        write(&waiting, &lost, out);
        finished.send(()).ok();
    });
    let writing = Writing {
        queue: queue.clone(),
        done,
    };
    (queue, writing)
}

fn write(waiting: &Receiver<Vec<u8>>, lost: &AtomicU64, mut out: impl Write) {
    while let Ok(line) = waiting.recv() {
        if is_end(&line) {
            return;
        }
        let missing = lost.swap(0, Ordering::Relaxed);
        if missing > 0 {
            writeln!(out, "… {missing} lines of the log were lost here …").ok();
        }
        // Nobody reads: that is no reason to stop.
        out.write_all(&line).ok();
    }
}

/// An empty line is never logged, so it can say that nothing more comes.
fn is_end(line: &[u8]) -> bool {
    line.is_empty()
}

impl Queue {
    fn put(&self, line: Vec<u8>) {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(line) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let until = Instant::now() + LAST_LINES;
        while let Err(TrySendError::Full(_)) = self.queue.lines.try_send(Vec::new()) {
            if Instant::now() >= until {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let left = until.saturating_duration_since(Instant::now());
        self.done.recv_timeout(left).ok();
    }
}

/// One line: the formatter writes a whole event at once.
pub(super) struct Line<'a>(&'a Queue);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.put(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Queue {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_come_out_in_order_and_before_the_end() {
        let paper = Paper::default();
        let (queue, writing) = start(paper.clone());
        for number in 0..100 {
            writeln!(queue.make_writer(), "{number}").unwrap();
        }
        drop(writing);
        let expected: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert_eq!(
            String::from_utf8(paper.0.lock().unwrap().clone()).unwrap(),
            expected
        );
    }

    #[test]
    fn a_writer_that_is_stuck_stops_nobody() {
        struct Stuck;
        impl Write for Stuck {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                loop {
                    std::thread::park();
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (queue, _writing) = start(Stuck);
        for _ in 0..3 * WAITING {
            queue.put(b"x\n".to_vec());
        }
        assert!(queue.lost.load(Ordering::Relaxed) > 0);
    }
}
