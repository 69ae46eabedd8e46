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

/// How long a stream may take to say that it has begun.
const BEGINNING: Duration = Duration::from_secs(5);

/// Tells changes to `heard` for as long as it is polled.
pub(crate) async fn follow(open: &Open, mut watched: Watched, heard: mpsc::Sender<Change>) {
    match open.facts.revision.era() {
        Era::Modern => listen(open, &mut watched, &heard).await,
        Era::Legacy => subscribe(open, &mut watched).await,
    }
}

/// A filter cannot be changed: another one is another stream, and the old one stays until the new
/// one has begun.
async fn listen(open: &Open, watched: &mut Watched, heard: &mpsc::Sender<Change>) {
    let mut known = watched.now();
    let mut talk = open_stream(open, &known);
    loop {
        tokio::select! {
            said = talk.next() => match said {
                Some(Ok(said)) if !matches!(said, Heard::Answer(_)) => tell(said, heard).await,
                Some(_) | None => {
                    tokio::time::sleep(AGAIN).await;
                    talk = begun(open, &known, heard).await;
                    missed(&known, heard).await;
                }
            },
            now = watched.other_than(&known) => {
                known = now;
                talk = begun(open, &known, heard).await;
            }
        }
    }
}

async fn tell(said: Heard, heard: &mpsc::Sender<Change>) {
    if let Heard::Said(Said::Change(change)) = said {
        heard.send(change).await.ok();
    }
}

/// A stream that has begun, or has had its time to.
async fn begun(open: &Open, uris: &BTreeSet<String>, heard: &mpsc::Sender<Change>) -> Talk {
    let mut talk = open_stream(open, uris);
    if let Ok(Some(Ok(said))) = tokio::time::timeout(BEGINNING, talk.next()).await {
        tell(said, heard).await;
    }
    talk
}

/// What changed while there was no stream is not known: all of it may have. One list stands for
/// all, for they are taken in together.
async fn missed(uris: &BTreeSet<String>, heard: &mpsc::Sender<Change>) {
    let updates = uris.iter().map(|uri| Change::Updated(uri.as_str().into()));
    for change in std::iter::once(Change::Tools).chain(updates) {
        heard.send(change).await.ok();
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
