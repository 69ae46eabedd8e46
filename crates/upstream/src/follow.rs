//! Keeps a server telling what is wanted: a stream of changes in the modern era, subscriptions in the
//! legacy one.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::pending;
use tidegate_core::{Change, Filter};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{Said, modern_headers};
use tokio::sync::mpsc;

use crate::connect::Open;
use crate::link::{Heard, Talk};
use crate::probe::ask;
use crate::watches::Watched;

/// How long to wait before a stream that ended is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Tells changes to `heard` for as long as it is polled.
pub(crate) async fn follow(open: &Open, mut watched: Watched, heard: mpsc::Sender<Change>) {
    match open.facts.revision.era() {
        Era::Modern => listen(open, &mut watched, &heard).await,
        Era::Legacy => subscribe(open, &mut watched).await,
    }
}

/// A filter cannot be changed: another one is another stream, opened before the old one is closed.
async fn listen(open: &Open, watched: &mut Watched, heard: &mpsc::Sender<Change>) {
    let mut known = watched.now();
    let mut talk = open_stream(open, &known);
    loop {
        tokio::select! {
            said = talk.next() => match said {
                Some(Ok(Heard::Said(Said::Change(change)))) => {
                    heard.send(change).await.ok();
                }
                Some(Ok(Heard::Said(_) | Heard::Question { .. })) => {}
                // The end of a stream: what changed until the next one begins is not known.
                Some(Ok(Heard::Answer(_)) | Err(_)) | None => {
                    tokio::time::sleep(AGAIN).await;
                    talk = open_stream(open, &known);
                }
            },
            now = watched.other_than(&known) => {
                known = now;
                talk = open_stream(open, &known);
            }
        }
    }
}

fn open_stream(open: &Open, uris: &BTreeSet<String>) -> Talk {
    let features = open.facts.features;
    let filter = Filter {
        tools: features.tools,
        prompts: features.prompts,
        resources: features.resources,
        uris: uris.clone(),
    };
    if filter == Filter::default() {
        return pending().boxed();
    }
    let wording = open.own_wording();
    let outbound = wording.listen(open.numbers.next(), &filter);
    let headers = modern_headers(wording.revision, &outbound, None);
    open.link.request(outbound, headers)
}

/// Subscribes to what is wanted and not to what is not.
async fn subscribe(open: &Open, watched: &mut Watched) {
    let wording = open.own_wording();
    let mut known = BTreeSet::new();
    if !open.facts.features.subscribe {
        return std::future::pending().await;
    }
    loop {
        let now = watched.other_than(&known).await;
        for uri in now.difference(&known) {
            ask(
                open.link.as_ref(),
                wording.subscribe(open.numbers.next(), uri),
                Vec::new(),
            )
            .await
            .ok();
        }
        for uri in known.difference(&now) {
            ask(
                open.link.as_ref(),
                wording.unsubscribe(open.numbers.next(), uri),
                Vec::new(),
            )
            .await
            .ok();
        }
        known = now;
    }
}
