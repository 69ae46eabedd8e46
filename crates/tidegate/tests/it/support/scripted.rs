//! A server that responds with exactly the given bytes and records its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::PATIENCE;

type Answer = dyn Fn(&str) -> String + Send + Sync;

/// A server that sends one response per connection.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    state: Arc<ScriptedState>,
}

struct ScriptedState {
    answer: Box<Answer>,
    received: Mutex<Vec<String>>,
    ended: AtomicBool,
}

impl Scripted {
    /// Responds to each request; `answer` gets the request line.
    pub(crate) fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(ScriptedState {
            answer: Box::new(answer),
            received: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let serving = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.ended.load(Ordering::Relaxed) {
                    return;
                }
                // A client may disconnect before it reads the response.
                serving.serve(stream).ok();
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, head and body.
    pub(crate) fn received(&self) -> Vec<String> {
        self.state.received.lock().unwrap().clone()
    }
}

impl ScriptedState {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.trim().parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let answer = (self.answer)(head.lines().next().unwrap_or_default());
        let body = String::from_utf8_lossy(&body);
        self.received.lock().unwrap().push(head + &body);
        stream.write_all(answer.as_bytes())
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        // Wakes the accept loop.
        TcpStream::connect(self.address).ok();
    }
}
