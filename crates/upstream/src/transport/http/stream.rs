//! An open connection for HTTP: plain, encrypted or through a proxy.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// A byte stream.
pub(super) trait Io: Read + Write + Send + Unpin + 'static {}

impl<T: Read + Write + Send + Unpin + 'static> Io for T {}

/// A connection that requests can be sent on.
pub(crate) struct HttpStream {
    pub(super) io: Box<dyn Io>,
    /// Whether both sides negotiated HTTP/2.
    pub(super) is_http2: bool,
    /// Whether a proxy forwards the requests, which then carry absolute URLs.
    pub(super) is_forwarded: bool,
}

impl HttpStream {
    pub(super) fn plain(io: impl Io) -> Self {
        Self {
            io: Box::new(io),
            is_http2: false,
            is_forwarded: false,
        }
    }
}

impl Connection for HttpStream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_forwarded);
        match self.is_http2 {
            true => connected.negotiated_h2(),
            false => connected,
        }
    }
}

impl Read for HttpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for HttpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }
}
