//! The change hub: sources say what changed, every listener hears what it asked for. `ear` knows what
//! that is.

mod filter;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, BoxStream, SelectAll, Stream, StreamExt};
use tokio::sync::broadcast;

use crate::{Caller, Principal};
use filter::Ear;
pub use filter::covering_uris;
pub(crate) use filter::{Interest, Watched};

/// How many changes a listener may be behind before it is told to look at everything again.
const BACKLOG: usize = 1024;

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    Tools,
    Prompts,
    /// The list of resources or of templates.
    Resources,
    /// The contents of one resource.
    ResourceUpdated(Arc<str>),
    /// What a user was sent to do elsewhere, under this id, is done.
    ElicitationComplete(Arc<str>),
}

/// What a source has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    Change(Change),
    /// The contents of all its resources may be others.
    AllResourcesUpdated,
    /// Changes may have been missed: anything may be different.
    Missed,
}

/// ChangeEvent, and who may hear it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeNotice {
    pub recipients: Recipients,
    pub event: ChangeEvent,
}

/// Who may hear of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    Everyone,
    /// It is about what one principal has.
    Principal(Principal),
    /// It is about what only those see who run the gateway.
    Admins,
}

impl Recipients {
    pub fn includes(&self, listener: Option<&Caller>) -> bool {
        match self {
            Self::Everyone => true,
            Self::Principal(principal) => listener.is_some_and(|one| one.principal == *principal),
            Self::Admins => listener.is_some_and(|one| one.admin),
        }
    }
}

impl From<ChangeEvent> for ChangeNotice {
    fn from(event: ChangeEvent) -> Self {
        let recipients = Recipients::Everyone;
        Self { recipients, event }
    }
}

/// What one source says, from now on.
pub struct ChangeStream(BoxStream<'static, ChangeNotice>);

impl ChangeStream {
    /// For a source whose offer never changes.
    pub fn never() -> Self {
        Self(stream::pending().boxed())
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

/// Where a source says what changed.
#[derive(Clone, Debug)]
pub struct ChangeSender(broadcast::Sender<ChangeNotice>);

impl Default for ChangeSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl ChangeSender {
    /// Tells whoever listens; with no listener it is nothing.
    pub fn send(&self, change: Change) {
        // An error means that nobody listens.
        self.0.send(ChangeEvent::Change(change).into()).ok();
    }

    /// Tells these alone.
    pub fn send_to(&self, recipients: Recipients, change: Change) {
        let event = ChangeEvent::Change(change);
        self.0.send(ChangeNotice { recipients, event }).ok();
    }

    /// Tells whoever listens that all resources of this source may be different: each hears of those
    /// it listens for itself.
    pub fn send_all_updated(&self) {
        self.0.send(ChangeEvent::AllResourcesUpdated.into()).ok();
    }

    /// Tells these that anything may be different: each hears of what it listens for itself.
    pub fn send_missed(&self, recipients: Recipients) {
        let event = ChangeEvent::Missed;
        self.0.send(ChangeNotice { recipients, event }).ok();
    }

    /// The changes from now on. One that falls behind hears that there is a gap.
    pub fn stream(&self) -> ChangeStream {
        let heard = stream::unfold(self.0.subscribe(), |mut receiver| async {
            match receiver.recv().await {
                Ok(telling) => Some((telling, receiver)),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    Some((ChangeEvent::Missed.into(), receiver))
                }
                Err(broadcast::error::RecvError::Closed) => None,
            }
        });
        ChangeStream(heard.boxed())
    }
}

/// All sources' changes in one place, each with the number of its source.
#[derive(Debug)]
pub(crate) struct Hub {
    sender: broadcast::Sender<(usize, ChangeNotice)>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
        }
    }
}

/// A source that panics while it tells ends its own news and nobody else's.
fn unbroken(news: ChangeStream) -> BoxStream<'static, ChangeNotice> {
    let caught = AssertUnwindSafe(news).catch_unwind();
    caught
        .take_while(|news| std::future::ready(news.is_ok()))
        .filter_map(|news| std::future::ready(news.ok()))
        .boxed()
}

impl Hub {
    /// Carries what the sources say to the listeners, for as long as it is polled.
    pub(crate) async fn pump(&self, sources: impl IntoIterator<Item = ChangeStream>) {
        let numbered = sources
            .into_iter()
            .enumerate()
            .map(|(source, news)| unbroken(news).map(move |news| (source, news)));
        let mut all: SelectAll<_> = numbered.collect();
        while let Some(news) = all.next().await {
            // An error means that nobody listens.
            self.sender.send(news).ok();
        }
    }

    /// All that is told, with the number of the source that tells it. What is missed is missed.
    pub(crate) fn change_notices(
        &self,
    ) -> impl Stream<Item = (usize, ChangeNotice)> + Send + use<> {
        stream::unfold(self.sender.subscribe(), |mut receiver| async {
            loop {
                match receiver.recv().await {
                    Ok(told) => return Some((told, receiver)),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        })
    }

    /// What is of interest, from now on. After a gap, everything the filter names.
    pub(crate) fn listen(&self, interest: Interest) -> impl Stream<Item = Change> + Send + use<> {
        let receiver = self.sender.subscribe();
        stream::unfold(
            (receiver, Ear::new(interest)),
            |(mut receiver, ear)| async {
                loop {
                    let heard = match receiver.recv().await {
                        Ok((source, telling)) => ear.hears(source, telling),
                        Err(broadcast::error::RecvError::Lagged(_)) => ear.everything(),
                        Err(broadcast::error::RecvError::Closed) => return None,
                    };
                    if !heard.is_empty() {
                        return Some((heard, (receiver, ear)));
                    }
                }
            },
        )
        .flat_map(stream::iter)
    }
}
