//! A server of the oldest HTTP transport: one stream for everything it says, and an address, which
//! it says first, to post to.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tidegate_core::Result;
use tidegate_mcp::sse::{SseDecoder, SseEvent};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::config::RemoteConfig;
use crate::session::demultiplexer::Ear;
use crate::session::duplex::{Ends, OneWay, next_word, silence};
use crate::session::{Unasked, unavailable};
use crate::transport::http::{Endpoint, within};

/// How long a server may take to take a word.
const STALL: Duration = Duration::from_secs(10);

/// Opens the stream and hears where to post.
/// The source waits with its own end for the link's last words, which are `unfinished`.
pub(crate) async fn open(
    config: &RemoteConfig,
    server: &Endpoint,
    unfinished: &TaskTracker,
) -> Result<(OneWay, Unasked)> {
    let response = server.send(Method::GET, Vec::new(), String::new()).await?;
    if !(response.status.is_success() && response.is_events) {
        return Err(unavailable(
            "the source has no stream of the oldest transport either",
        ));
    }
    let mut events = Events {
        body: response.body,
        decoder: SseDecoder::new(config.max_message_bytes),
        ready: Vec::new().into_iter(),
    };
    let endpoint = loop {
        match events.next().await {
            Some(event) if event.name.as_deref() == Some("endpoint") => break event.data,
            Some(_) => {}
            None => return Err(unavailable("the source did not say where to post")),
        }
    };
    // The address that a server names must be its own: nothing of ours goes anywhere else.
    let address = within(server.url(), &endpoint).map_err(|other| {
        unavailable("the source names an address to post to that is not its own")
            .with_cause(format!("it leads to {other}"))
    })?;
    let (
        link,
        Ends {
            to_send,
            ear,
            unasked,
        },
    ) = OneWay::new(&config.name);
    let silent = CancellationToken::new();
    let (closed, server) = (link.closed.clone(), server.at(address));
    let posting = post_all(server, to_send, closed.clone(), silent.clone().drop_guard());
    unfinished.spawn(posting);
    tokio::spawn(hear(events, ear, closed, silent));
    Ok((link, unasked))
}

/// Posts each word; then the other half of the link may be `silent`.
async fn post_all(
    server: Endpoint,
    words: mpsc::Receiver<String>,
    closed: CancellationToken,
    _silent: DropGuard,
) {
    tokio::select! {
        () = silence(&closed) => {}
        () = post(server, words, &closed) => closed.cancel(),
    }
}

/// A server that does not take a word is of no more use.
async fn post(server: Endpoint, mut words: mpsc::Receiver<String>, closed: &CancellationToken) {
    while let Some(word) = next_word(&mut words, closed).await {
        match timeout(STALL, server.send(Method::POST, Vec::new(), word)).await {
            Ok(Ok(response)) if response.status.is_success() => {}
            _ => return,
        }
    }
}

/// Hears the server for as long as something is posted: its stream is the session, and a word to one
/// that has ended would be lost.
async fn hear(mut events: Events, ear: Ear, closed: CancellationToken, silent: CancellationToken) {
    loop {
        let event = tokio::select! {
            () = silent.cancelled() => break,
            event = events.next() => event,
        };
        match event {
            Some(event) if event.data.is_empty() => {}
            Some(event) => ear.take(&Bytes::from(event.data)),
            None => break,
        }
    }
    closed.cancel();
    ear.close();
}

/// The events of a body as they come.
struct Events {
    body: Incoming,
    decoder: SseDecoder,
    ready: std::vec::IntoIter<SseEvent>,
}

impl Events {
    async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.ready.next() {
                return Some(event);
            }
            let data = self
                .body
                .frame()
                .await?
                .ok()?
                .into_data()
                .unwrap_or_default();
            self.ready = self.decoder.push(&data).ok()?.into_iter();
        }
    }
}
