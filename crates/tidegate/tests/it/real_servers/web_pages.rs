//! Web pages for the fetch server, on the loopback interface.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Path, content type and content of each page.
const PAGES: [(&str, &str, &str); 3] = [
    (
        "/robots.txt",
        "text/plain",
        "User-agent: *\nDisallow: /private\n",
    ),
    (
        "/tides.html",
        "text/html",
        "<html><head><title>Tides</title></head><body><article><h1>Tides</h1><p>Twice a day the \
         sea rises and falls, and ships wait for it.</p></article></body></html>",
    ),
    ("/table.txt", "text/plain", "dover 6.8\nbrest 7.4\n"),
];

/// A server for these pages. Stops on drop.
pub(super) struct WebPages {
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

impl WebPages {
    pub(super) fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        thread::spawn(move || {
            for visitor in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // A client may disconnect early.
                answer(visitor).ok();
            }
        });
        Self { address, over }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for WebPages {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the accept loop.
        TcpStream::connect(self.address).ok();
    }
}

fn answer(mut visitor: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(visitor.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default();
    let found = PAGES.iter().find(|(known, _, _)| *known == path);
    let (status, kind, body) = match found {
        Some((_, kind, body)) => ("200 OK", *kind, *body),
        None => ("404 Not Found", "text/plain", "not found"),
    };
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    write!(
        visitor,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}
