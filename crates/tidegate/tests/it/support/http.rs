//! A hand-written HTTP/1.1 client that sends exactly the given bytes.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;

use serde_json::Value;

use super::PATIENCE;

/// A request under construction. Only `Host` and `Content-Length` are added.
pub(crate) struct Post {
    address: SocketAddr,
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Post {
    pub(crate) fn to(address: SocketAddr, path: &str) -> Self {
        Self {
            address,
            method: "POST",
            path: path.to_owned(),
            headers: Vec::new(),
        }
    }

    pub(crate) fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn at(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The two headers that every MCP client sends.
    pub(crate) fn with_mcp_headers(self) -> Self {
        self.header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
    }

    /// Sends the body and reads the whole response.
    pub(crate) fn send(self, body: &[u8]) -> Answer {
        self.open(body).answer()
    }

    /// Sends the body and reads only the head of the response.
    pub(crate) fn open(self, body: &[u8]) -> OpenResponse {
        let head = self.head(body.len());
        let mut stream = self.connect();
        // A server that rejects the request need not read all of it.
        stream.write_all(head.as_bytes()).ok();
        stream.write_all(body).ok();
        OpenResponse::read(stream)
    }

    /// Announces this length and sends the body until all is sent or a response arrives. Returns
    /// the response and the number of bytes sent.
    pub(crate) fn send_length(self, length: usize, part: &[u8]) -> (Answer, usize) {
        let head = self.head(length);
        self.send_until_response(&head, length, part)
    }

    /// The same with chunked encoding.
    pub(crate) fn send_chunks(self, length: usize, part: &[u8]) -> (Answer, usize) {
        let post = self.header("Transfer-Encoding", "chunked");
        let head = post.head(0).replace("Content-Length: 0\r\n", "");
        let size = format!("{:x}\r\n", part.len());
        let chunk = [size.as_bytes(), part, b"\r\n"].concat();
        post.send_until_response(&head, length, &chunk)
    }

    fn send_until_response(&self, head: &str, length: usize, part: &[u8]) -> (Answer, usize) {
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let reader = stream.try_clone().unwrap();
        // Read while writing: the server may close the connection after its response.
        let answer = thread::spawn(move || OpenResponse::read(reader).answer());
        let mut sent = 0;
        while sent < length && !answer.is_finished() && stream.write_all(part).is_ok() {
            sent += part.len();
        }
        (answer.join().unwrap(), sent)
    }

    /// Sends bytes that need not be HTTP; reads to the end.
    pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> String {
        let mut stream = Self::to(address, "").connect();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends the head with this length and a part of the body only. When this returns, the server
    /// is waiting for the remainder.
    pub(crate) fn send_partly(self, length: usize, part: &[u8]) -> TcpStream {
        let post = self.header("Expect", "100-continue");
        let mut stream = post.connect();
        stream.write_all(post.head(length).as_bytes()).unwrap();
        let status = line(&mut BufReader::new(stream.try_clone().unwrap()));
        assert_eq!(status, "HTTP/1.1 100 Continue");
        stream.write_all(part).unwrap();
        stream
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn head(&self, length: usize) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name == "Host") {
            write!(head, "Host: {}\r\n", self.address).unwrap();
        }
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        if self.method == "POST" {
            write!(head, "Content-Length: {length}\r\n").unwrap();
        }
        head + "\r\n"
    }
}

/// A response whose body is not read yet.
pub(crate) struct OpenResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

impl OpenResponse {
    fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let first = line(&mut reader);
        let status = first.split(' ').nth(1).and_then(|text| text.parse().ok());
        let mut headers = Vec::new();
        while let Some((name, value)) = line(&mut reader).split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Self {
            status: status.unwrap_or_else(|| panic!("no status line: {first:?}")),
            headers,
            reader,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The body as it arrives.
    pub(crate) fn body(self) -> Body {
        let remaining = match find(&self.headers, "content-length") {
            Some(length) => RemainingBody::Length(length.parse().unwrap()),
            None if find(&self.headers, "transfer-encoding") == Some("chunked") => {
                RemainingBody::Chunk(0)
            }
            None => RemainingBody::Length(0),
        };
        Body {
            reader: self.reader,
            remaining,
        }
    }

    /// Reads the whole response.
    pub(crate) fn answer(self) -> Answer {
        let (status, headers) = (self.status, self.headers.clone());
        let mut body = String::new();
        self.body().read_to_string(&mut body).unwrap();
        Answer {
            status,
            headers,
            body,
        }
    }
}

/// A body without its transfer encoding.
pub(crate) struct Body {
    reader: BufReader<TcpStream>,
    remaining: RemainingBody,
}

enum RemainingBody {
    Length(usize),
    /// Bytes remaining in this chunk; another one follows.
    Chunk(usize),
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if let RemainingBody::Chunk(0) = self.remaining {
            let size = line(&mut self.reader);
            let size = usize::from_str_radix(&size, 16).unwrap_or(0);
            self.remaining = if size == 0 {
                RemainingBody::Length(0)
            } else {
                RemainingBody::Chunk(size)
            };
        }
        let (RemainingBody::Length(remaining) | RemainingBody::Chunk(remaining)) =
            &mut self.remaining;
        let limit = buffer.len().min(*remaining);
        if limit == 0 {
            // A read of zero bytes would block.
            return Ok(0);
        }
        let count = self.reader.read(&mut buffer[..limit])?;
        *remaining -= count;
        if let RemainingBody::Chunk(0) = self.remaining {
            line(&mut self.reader);
        }
        Ok(count)
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The message: the JSON body, or the last event.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let is_events = self.header("content-type") == Some("text/event-stream");
        let events = self.body.lines().rev();
        let last = events.filter_map(|line| line.strip_prefix("data: ")).next();
        let text = last.filter(|_| is_events).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The error; panics if there is none.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let mut answer = self.json();
        assert!(answer["error"].is_object(), "{self:?}");
        answer["error"].take()
    }

    /// The result; panics on an error.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        let mut json = self.json();
        assert!(json.get("error").is_none(), "{}: {json}", self.status);
        json["result"].take()
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let header = headers.iter().find(|(header, _)| header == name);
    header.map(|(_, value)| value.as_str())
}

/// A line without its terminator; empty at the end of the head.
fn line(reader: &mut BufReader<TcpStream>) -> String {
    let mut bytes = Vec::new();
    reader.read_until(b'\n', &mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}
