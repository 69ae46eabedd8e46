//! An open connection, whatever it goes through.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// What bytes go over.
pub(super) trait Io: Read + Write + Send + Unpin + 'static {}

impl<T: Read + Write + Send + Unpin + 'static> Io for T {}

/// A connection that requests can be sent on.
pub(crate) struct Stream {
    pub(super) io: Box<dyn Io>,
    /// Whether both sides chose HTTP/2.
    pub(super) http2: bool,
    /// Whether a proxy reads the requests, and so wants whole addresses.
    pub(super) forwarded: bool,
}

impl Stream {
    pub(super) fn plain(io: impl Io) -> Self {
        Self {
            io: Box::new(io),
            http2: false,
            forwarded: false,
        }
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.forwarded);
        match self.http2 {
            true => connected.negotiated_h2(),
            false => connected,
        }
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Stream {
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
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, parts)
    }
}
