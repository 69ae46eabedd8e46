//! The output of a process, read by a thread of its own so that no wait is without an end.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use super::PATIENCE;

/// Lines as they come. Tests may share them.
pub(crate) struct Lines {
    coming: Mutex<Receiver<String>>,
    /// What was taken already, for messages and for `all`.
    taken: Mutex<String>,
}

impl Lines {
    pub(crate) fn of(output: impl Read + Send + 'static) -> Self {
        let (sender, coming) = channel();
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
        let coming = Mutex::new(coming);
        let taken = Mutex::default();
        Self { coming, taken }
    }

    /// Of an output that is not read.
    pub(crate) fn none() -> Self {
        Self::of(io::empty())
    }

    /// The next line without its end, or `None` at the end of the output.
    pub(crate) fn next(&self) -> Option<String> {
        let line = self.coming.lock().unwrap().recv_timeout(PATIENCE);
        match line {
            Ok(line) => {
                self.taken.lock().unwrap().push_str(&line);
                Some(line.trim_end_matches(['\r', '\n']).to_owned())
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line came; before: {}", self.so_far()),
        }
    }

    /// The first line from here on that contains this.
    pub(crate) fn find(&self, part: &str) -> String {
        while let Some(line) = self.next() {
            if line.contains(part) {
                return line;
            }
        }
        panic!("no line has {part:?}: {}", self.so_far());
    }

    /// Everything to the end of the output, with what was taken before.
    pub(crate) fn all(&self) -> String {
        while self.next().is_some() {}
        self.so_far()
    }

    /// Everything that has come by now.
    pub(crate) fn so_far(&self) -> String {
        let mut taken = self.taken.lock().unwrap();
        self.coming
            .lock()
            .unwrap()
            .try_iter()
            .for_each(|line| taken.push_str(&line));
        taken.clone()
    }
}
