//! Keeps a server telling what is wanted: a stream of changes in the modern era, subscriptions in the
//! legacy one.

pub(crate) mod tasks;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, pending};
use tidegate_core::{Change, ChangeFilter};
use tidegate_mcp::revision::client::{ServerNotification, modern_headers};
use tidegate_mcp::{Era, ResponseBody};
use tokio::sync::mpsc;

use crate::resource_subscriptions::Watched;
use crate::session::connect::Open;
use crate::session::era_detection::{Probed, ask, discover};
use crate::session::{Heard, Talk};

/// How long to wait before a stream that ended is opened again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long a stream may take to say that it has begun.
const BEGINNING: Duration = Duration::from_secs(5);

/// Tells changes to `heard` for as long as it is polled.
pub(crate) async fn follow(open: &Open, mut watched: Watched, heard: mpsc::Sender<Change>) {
    match open.facts.revision.era() {
        Era::Modern => listen(open, &mut watched, &heard).await,
        Era::Legacy => subscribe(open, &mut watched, &heard).await,
    }
}

/// A filter cannot be changed: another one is another stream, and the old one stays until the new
/// one has begun. Ends when the server is no more what it was.
async fn listen(open: &Open, watched: &mut Watched, heard: &mpsc::Sender<Change>) {
    let mut known = watched.now();
    let mut talk = open_stream(open, &known);
    let mut wait = FIRST_WAIT;
    loop {
        tokio::select! {
            said = talk.next() => match said {
                Some(Ok(Heard::ServerNotification(said))) => {
                    wait = FIRST_WAIT;
                    tells_of(&known, watched, heard).await;
                    tell(said, heard).await;
                }
                Some(Ok(Heard::Answer(ResponseBody::Error(error)))) if error.is_unknown_method() => {
                    talk = pending().boxed();
                }
                _ => {
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                    if !is_still_stateless(open).await {
                        return;
                    }
                    let (another, has_begun) = begun(open, &known, heard).await;
                    talk = another;
                    if has_begun {
                        wait = FIRST_WAIT;
                        tells_of(&known, watched, heard).await;
                    }
                    missed(&known, heard).await;
                }
            },
            now = watched.other_than(&known) => {
                let (another, has_begun) = begun(open, &now, heard).await;
                talk = another;
                if has_begun {
                    tells_of(&now, watched, heard).await;
                }
                known = now;
            }
        }
    }
}

/// Whether the server is there, and speaks as it did: a stream ends also because its server did.
async fn is_still_stateless(open: &Open) -> bool {
    let probed = discover(open.link.as_ref(), &open.numbers).await;
    matches!(probed, Ok(Probed::Modern(_)))
}

async fn tell(said: ServerNotification, heard: &mpsc::Sender<Change>) {
    if let ServerNotification::Change(change) = said {
        heard.send(change).await.ok();
    }
}

/// A stream that has begun, or has had its time to; and which of the two.
async fn begun(open: &Open, uris: &BTreeSet<String>, heard: &mpsc::Sender<Change>) -> (Talk, bool) {
    let mut talk = open_stream(open, uris);
    match tokio::time::timeout(BEGINNING, talk.next()).await {
        Ok(Some(Ok(Heard::ServerNotification(said)))) => {
            tell(said, heard).await;
            (talk, true)
        }
        Ok(Some(ended)) => (stream::iter([ended]).boxed(), false),
        Ok(None) | Err(_) => (talk, false),
    }
}

/// What changed while there was no stream is not known: all of it may have. One list stands for
/// all, for they are taken in together.
async fn missed(uris: &BTreeSet<String>, heard: &mpsc::Sender<Change>) {
    let updates = uris
        .iter()
        .map(|uri| Change::ResourceUpdated(uri.as_str().into()));
    for change in std::iter::once(Change::Tools).chain(updates) {
        heard.send(change).await.ok();
    }
}

/// The server tells of these now. What someone believed too early, may have been missed.
async fn tells_of(uris: &BTreeSet<String>, watched: &Watched, heard: &mpsc::Sender<Change>) {
    for uri in watched.told(uris) {
        heard
            .send(Change::ResourceUpdated(uri.as_str().into()))
            .await
            .ok();
    }
}

fn open_stream(open: &Open, uris: &BTreeSet<String>) -> Talk {
    let features = open.facts.features;
    let filter = ChangeFilter {
        tools: features.tools,
        prompts: features.prompts,
        resources: features.resources,
        uris: uris.clone(),
        ..ChangeFilter::default()
    };
    if filter == ChangeFilter::default() {
        return pending().boxed();
    }
    let encoder = open.own_encoder();
    let outbound = encoder.listen(open.numbers.next(), &filter);
    let headers = modern_headers(encoder.revision, &outbound, None);
    open.link.request(outbound, headers)
}

/// Subscribes to what is wanted and not to what is not.
async fn subscribe(open: &Open, watched: &mut Watched, heard: &mpsc::Sender<Change>) {
    let encoder = open.own_encoder();
    let mut known = BTreeSet::new();
    if !open.facts.features.subscribe {
        return std::future::pending().await;
    }
    loop {
        let now = watched.other_than(&known).await;
        for uri in now.difference(&known) {
            ask(
                open.link.as_ref(),
                encoder.subscribe(open.numbers.next(), uri),
                Vec::new(),
            )
            .await
            .ok();
        }
        tells_of(&now, watched, heard).await;
        for uri in known.difference(&now) {
            ask(
                open.link.as_ref(),
                encoder.unsubscribe(open.numbers.next(), uri),
                Vec::new(),
            )
            .await
            .ok();
        }
        known = now;
    }
}
