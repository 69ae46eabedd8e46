//! The change hub: sources say what changed, every listener hears what it asked for.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, BoxStream, SelectAll, Stream, StreamExt};
use tokio::sync::broadcast;

use crate::Filter;

/// How many changes a listener may be behind before it is told to look at everything again.
const BACKLOG: usize = 1024;

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Tools,
    Prompts,
    /// The list of resources or of templates.
    Resources,
    /// The contents of one resource.
    Updated(Arc<str>),
}

/// The changes of one source, or of all of them.
pub struct ChangeStream(BoxStream<'static, Change>);

impl ChangeStream {
    /// For a source whose offer never changes.
    pub fn never() -> Self {
        Self(stream::pending().boxed())
    }
}

impl Stream for ChangeStream {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Change>> {
        self.0.poll_next_unpin(context)
    }
}

/// Where a source says what changed.
#[derive(Clone, Debug)]
pub struct ChangeSender(broadcast::Sender<Change>);

impl Default for ChangeSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl ChangeSender {
    /// Tells whoever listens; with no listener it is nothing.
    pub fn send(&self, change: Change) {
        // An error means that nobody listens.
        self.0.send(change).ok();
    }

    /// The changes from now on. One that falls behind hears that all lists changed.
    pub fn stream(&self) -> ChangeStream {
        ChangeStream(heard(self.0.subscribe()).flat_map(stream::iter).boxed())
    }
}

/// One listener's view of a channel: each step is one change, or all lists after a gap.
fn heard(receiver: broadcast::Receiver<Change>) -> impl Stream<Item = Vec<Change>> + Send {
    stream::unfold(receiver, |mut receiver| async {
        match receiver.recv().await {
            Ok(change) => Some((vec![change], receiver)),
            Err(broadcast::error::RecvError::Lagged(_)) => Some((
                vec![Change::Tools, Change::Prompts, Change::Resources],
                receiver,
            )),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    })
}

/// All sources' changes in one place.
#[derive(Debug)]
pub struct Hub {
    sender: broadcast::Sender<Change>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
        }
    }
}

impl Hub {
    /// Carries what the sources say to the listeners, for as long as it is polled.
    pub async fn pump(&self, sources: impl IntoIterator<Item = ChangeStream>) {
        let mut all: SelectAll<ChangeStream> = sources.into_iter().collect();
        while let Some(change) = all.next().await {
            self.sender.send(change).ok();
        }
    }

    /// What matches a filter, from now on. After a gap, everything the filter names.
    pub fn listen(&self, filter: Filter) -> impl Stream<Item = Change> + Send + use<> {
        let receiver = self.sender.subscribe();
        stream::unfold((receiver, filter), |(mut receiver, filter)| async {
            loop {
                match receiver.recv().await {
                    Ok(change) if filter.wants(&change) => {
                        return Some((vec![change], (receiver, filter)));
                    }
                    Ok(_) => {}
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        return Some((filter.everything(), (receiver, filter)));
                    }
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        })
        .flat_map(stream::iter)
    }
}

impl Filter {
    /// Whether a change is one of those asked for. A subscription covers what lies below its URI.
    pub fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Updated(uri) => is_covered(&self.uris, uri),
        }
    }

    /// Every change this filter could let through.
    fn everything(&self) -> Vec<Change> {
        let lists = [
            (self.tools, Change::Tools),
            (self.prompts, Change::Prompts),
            (self.resources, Change::Resources),
        ];
        let lists = lists
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, change)| change);
        let uris = self
            .uris
            .iter()
            .map(|uri| Change::Updated(uri.as_str().into()));
        lists.chain(uris).collect()
    }
}

/// Whether `uri` or something it lies below is among `wanted`. Looks up each URI above it, so that
/// a long list costs no more than a short one.
fn is_covered(wanted: &BTreeSet<String>, uri: &str) -> bool {
    let above = uri.match_indices(['/', '?', '#']).flat_map(|(at, mark)| {
        let folder = (mark == "/").then(|| &uri[..=at]);
        std::iter::once(&uri[..at]).chain(folder)
    });
    std::iter::once(uri)
        .chain(above)
        .any(|uri| wanted.contains(uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_covers_the_uri_and_what_lies_below() {
        let covers = |wanted: &str, uri| is_covered(&BTreeSet::from([wanted.to_owned()]), uri);
        assert!(covers("a://b/c", "a://b/c"));
        assert!(covers("a://b/c", "a://b/c/d"));
        assert!(covers("a://b/c", "a://b/c?d"));
        assert!(covers("a://b/", "a://b/c"));
        assert!(covers("a://b/", "a://b/c/d"));
        assert!(!covers("a://b/c", "a://b/cd"));
        assert!(!covers("a://b/c/d", "a://b/c"));
    }

    #[tokio::test]
    async fn a_listener_hears_what_it_asked_for_and_nothing_else() {
        let hub = Hub::default();
        let source = ChangeSender::default();
        let heard = hub.listen(Filter {
            tools: true,
            ..Filter::uri("x://y")
        });
        let pump = hub.pump([source.stream()]);
        for change in [
            Change::Prompts,
            Change::Updated("x://z".into()),
            Change::Updated("x://y".into()),
            Change::Tools,
        ] {
            source.send(change);
        }
        let two = heard.take(2).collect::<Vec<_>>();
        tokio::select! {
            () = pump => unreachable!("the source is still there"),
            two = two => assert_eq!(two, [Change::Updated("x://y".into()), Change::Tools]),
        }
    }

    #[tokio::test]
    async fn a_listener_that_fell_behind_is_told_everything_it_asked_for() {
        let hub = Hub::default();
        let mut heard = Box::pin(hub.listen(Filter {
            tools: true,
            ..Filter::uri("x://y")
        }));
        for _ in 0..=BACKLOG {
            hub.sender.send(Change::Prompts).unwrap();
        }
        assert_eq!(heard.next().await, Some(Change::Tools));
        assert_eq!(heard.next().await, Some(Change::Updated("x://y".into())));
    }
}
