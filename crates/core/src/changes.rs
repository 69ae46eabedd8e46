//! The change hub: sources announce changes, and each listener receives the changes it subscribed
//! to.
//!
//! A listener that falls behind gets a change for everything it subscribed to, so that nothing is
//! missed silently.

mod filter;
mod listener;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, BoxStream, SelectAll, Stream, StreamExt};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::{AffinityKey, Caller, Principal, RawJson, SourceId};
pub use filter::{ChangeFilter, ExtensionMembers};
use listener::ChangeListener;
pub use listener::covering_uris;
pub(crate) use listener::{Interest, SubscribedResource};

/// How many changes a listener may fall behind.
const BUFFERED_CHANGES: usize = 1024;

/// A change that clients are notified of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources or of templates.
    Resources,
    /// The contents of one resource.
    ResourceUpdated(Arc<str>),
    /// The URL elicitation with this id is complete.
    ElicitationComplete(Arc<str>),
    /// A notification of an extension that the gateway does not know.
    Extension(Arc<ExtensionNotification>),
}

/// A notification of an extension that the gateway does not know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExtensionNotification {
    /// The client it is for; `None` for all clients of the source.
    pub client: Option<AffinityKey>,
    pub method: String,
    pub params: RawJson,
}

/// What a source announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    Change(Change),
    /// The contents of any resource of the source may have changed.
    AllResourcesUpdated,
    /// Changes were missed: anything may have changed.
    Missed,
}

/// A change event and its recipients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeNotice {
    pub recipients: Recipients,
    pub event: ChangeEvent,
}

/// Who is notified of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    Everyone,
    /// The principal whose data changed.
    Principal(Principal),
    Admins,
}

impl Recipients {
    pub fn includes(&self, listener: Option<&Caller>) -> bool {
        match self {
            Self::Everyone => true,
            Self::Principal(principal) => {
                listener.is_some_and(|caller| caller.principal == *principal)
            }
            Self::Admins => listener.is_some_and(|caller| caller.admin),
        }
    }
}

impl From<ChangeEvent> for ChangeNotice {
    fn from(event: ChangeEvent) -> Self {
        let recipients = Recipients::Everyone;
        Self { recipients, event }
    }
}

/// The changes of one source, from now on.
pub struct ChangeStream(BoxStream<'static, ChangeNotice>);

impl ChangeStream {
    /// For a source whose catalog and resources never change.
    pub fn never() -> Self {
        Self(stream::pending().boxed())
    }

    pub(crate) fn new(notices: impl Stream<Item = ChangeNotice> + Send + 'static) -> Self {
        Self(notices.boxed())
    }
}

impl Stream for ChangeStream {
    type Item = ChangeNotice;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<ChangeNotice>> {
        self.0.poll_next_unpin(context)
    }
}

/// Sends the changes of a source.
#[derive(Clone, Debug)]
pub struct ChangeSender(broadcast::Sender<ChangeNotice>);

impl Default for ChangeSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(BUFFERED_CHANGES))
    }
}

impl ChangeSender {
    pub fn send(&self, change: Change) {
        self.send_notice(Recipients::Everyone, ChangeEvent::Change(change));
    }

    pub fn send_to(&self, recipients: Recipients, change: Change) {
        self.send_notice(recipients, ChangeEvent::Change(change));
    }

    /// Announces that any resource may have changed: each listener gets the resources it
    /// subscribed to.
    pub fn send_all_updated(&self) {
        self.send_notice(Recipients::Everyone, ChangeEvent::AllResourcesUpdated);
    }

    /// Announces that anything may have changed: each listener gets everything it subscribed to.
    pub fn send_missed(&self, recipients: Recipients) {
        self.send_notice(recipients, ChangeEvent::Missed);
    }

    fn send_notice(&self, recipients: Recipients, event: ChangeEvent) {
        // An error means that nobody listens.
        self.0.send(ChangeNotice { recipients, event }).ok();
    }

    /// The changes from now on. A receiver that falls behind gets `ChangeEvent::Missed`.
    pub fn stream(&self) -> ChangeStream {
        let notices = stream::unfold(self.0.subscribe(), |mut receiver| async {
            let notice = match receiver.recv().await {
                Ok(notice) => notice,
                Err(RecvError::Lagged(_)) => ChangeEvent::Missed.into(),
                Err(RecvError::Closed) => return None,
            };
            Some((notice, receiver))
        });
        ChangeStream(notices.boxed())
    }
}

/// The changes of all sources in one place.
#[derive(Debug)]
pub(crate) struct Hub {
    sender: broadcast::Sender<(SourceId, ChangeNotice)>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BUFFERED_CHANGES),
        }
    }
}

impl Hub {
    /// Forwards the changes of the sources to the listeners, for as long as it is polled.
    pub(crate) async fn run(&self, sources: impl IntoIterator<Item = (SourceId, ChangeStream)>) {
        let sources = sources.into_iter().map(|(source, changes)| {
            until_panic(changes).map(move |notice| (source.clone(), notice))
        });
        let mut notices: SelectAll<_> = sources.collect();
        while let Some(notice) = notices.next().await {
            // An error means that nobody listens.
            self.sender.send(notice).ok();
        }
    }

    /// All notices of all sources, for any recipients. A receiver that falls behind misses
    /// some.
    pub(crate) fn notices(&self) -> impl Stream<Item = (SourceId, ChangeNotice)> + Send + use<> {
        stream::unfold(self.sender.subscribe(), |mut receiver| async {
            loop {
                match receiver.recv().await {
                    Ok(notice) => return Some((notice, receiver)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        })
    }

    /// The changes that a listener is interested in, from now on. A listener that falls behind gets
    /// everything its filter names.
    pub(crate) fn listen(&self, interest: Interest) -> impl Stream<Item = Change> + Send + use<> {
        let start = (self.sender.subscribe(), ChangeListener::new(interest));
        let changes = stream::unfold(start, |(mut receiver, listener)| async {
            loop {
                let changes = match receiver.recv().await {
                    Ok((source, notice)) => listener.changes_in(&source, notice),
                    Err(RecvError::Lagged(_)) => listener.all_changes(),
                    Err(RecvError::Closed) => return None,
                };
                if !changes.is_empty() {
                    return Some((changes, (receiver, listener)));
                }
            }
        });
        changes.flat_map(stream::iter)
    }
}

/// The changes up to a panic, which ends the changes of this source only.
fn until_panic(changes: ChangeStream) -> BoxStream<'static, ChangeNotice> {
    let caught = AssertUnwindSafe(changes).catch_unwind();
    caught
        .take_while(|notice| std::future::ready(notice.is_ok()))
        .filter_map(|notice| std::future::ready(notice.ok()))
        .boxed()
}
