//! The output of a process, read by a thread so that every wait has a timeout.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use super::PATIENCE;

/// Lines as they arrive. Can be shared between threads.
pub(crate) struct Lines {
    receiver: Mutex<Receiver<String>>,
    /// What was read already, for error messages and for `all`.
    read: Mutex<String>,
}

impl Lines {
    pub(crate) fn of(output: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output
                .read_until(b'\n', &mut line)
                .is_ok_and(|count| count > 0)
            {
                let text = String::from_utf8_lossy(&line).into_owned();
                if sender.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let receiver = Mutex::new(receiver);
        let read = Mutex::default();
        Self { receiver, read }
    }

    /// For an output that is not captured.
    pub(crate) fn none() -> Self {
        Self::of(io::empty())
    }

    /// The next line without its terminator; `None` at the end of the output.
    pub(crate) fn next(&self) -> Option<String> {
        let line = self.receiver.lock().unwrap().recv_timeout(PATIENCE);
        match line {
            Ok(line) => {
                self.read.lock().unwrap().push_str(&line);
                Some(line.trim_end_matches(['\r', '\n']).to_owned())
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("no further line; output so far: {}", self.so_far())
            }
        }
    }

    /// The next line that contains `part`; skips others.
    pub(crate) fn find(&self, part: &str) -> String {
        while let Some(line) = self.next() {
            if line.contains(part) {
                return line;
            }
        }
        panic!("no line contains {part:?}; output: {}", self.so_far());
    }

    /// The whole output up to its end.
    pub(crate) fn all(&self) -> String {
        while self.next().is_some() {}
        self.so_far()
    }

    /// The output so far.
    pub(crate) fn so_far(&self) -> String {
        let mut read = self.read.lock().unwrap();
        self.receiver
            .lock()
            .unwrap()
            .try_iter()
            .for_each(|line| read.push_str(&line));
        read.clone()
    }
}
