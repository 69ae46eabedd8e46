//! The change hub: sources say what changed, every listener hears what it asked for.

use std::collections::{BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, BoxStream, SelectAll, Stream, StreamExt};
use tokio::sync::broadcast;

use crate::{Caller, Filter, Principal};

/// How many changes a listener may be behind before it is told to look at everything again.
const BACKLOG: usize = 1024;

/// How many levels above a changed URI are looked at.
const MOST_LEVELS: usize = 64;

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    Tools,
    Prompts,
    /// The list of resources or of templates.
    Resources,
    /// The contents of one resource.
    Updated(Arc<str>),
    /// What a user was sent to do elsewhere, under this id, is done.
    Elicited(Arc<str>),
}

/// What a source has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Change(Change),
    /// The contents of all its resources may be others.
    AllUpdated,
    /// Changes may have been missed: anything may be different.
    Gap,
}

/// News, and who may hear it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telling {
    pub to: Hearers,
    pub news: News,
}

/// Who may hear of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hearers {
    Everyone,
    /// It is about what one principal has.
    Principal(Principal),
    /// It is about what only those see who run the gateway.
    Admins,
}

impl Hearers {
    pub fn include(&self, listener: Option<&Caller>) -> bool {
        match self {
            Self::Everyone => true,
            Self::Principal(principal) => listener.is_some_and(|one| one.principal == *principal),
            Self::Admins => listener.is_some_and(|one| one.admin),
        }
    }
}

impl From<News> for Telling {
    fn from(news: News) -> Self {
        let to = Hearers::Everyone;
        Self { to, news }
    }
}

/// What one source says, from now on.
pub struct ChangeStream(BoxStream<'static, Telling>);

impl ChangeStream {
    /// For a source whose offer never changes.
    pub fn never() -> Self {
        Self(stream::pending().boxed())
    }
}

impl Stream for ChangeStream {
    type Item = Telling;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Telling>> {
        self.0.poll_next_unpin(context)
    }
}

/// Where a source says what changed.
#[derive(Clone, Debug)]
pub struct ChangeSender(broadcast::Sender<Telling>);

impl Default for ChangeSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl ChangeSender {
    /// Tells whoever listens; with no listener it is nothing.
    pub fn send(&self, change: Change) {
        // An error means that nobody listens.
        self.0.send(News::Change(change).into()).ok();
    }

    /// Tells these alone.
    pub fn send_to(&self, to: Hearers, change: Change) {
        let news = News::Change(change);
        self.0.send(Telling { to, news }).ok();
    }

    /// Tells whoever listens that all resources of this source may be different: each hears of those
    /// it listens for itself.
    pub fn all_updated(&self) {
        self.0.send(News::AllUpdated.into()).ok();
    }

    /// Tells these that anything may be different: each hears of what it listens for itself.
    pub fn gap(&self, to: Hearers) {
        let news = News::Gap;
        self.0.send(Telling { to, news }).ok();
    }

    /// The changes from now on. One that falls behind hears that there is a gap.
    pub fn stream(&self) -> ChangeStream {
        let heard = stream::unfold(self.0.subscribe(), |mut receiver| async {
            match receiver.recv().await {
                Ok(telling) => Some((telling, receiver)),
                Err(broadcast::error::RecvError::Lagged(_)) => Some((News::Gap.into(), receiver)),
                Err(broadcast::error::RecvError::Closed) => None,
            }
        });
        ChangeStream(heard.boxed())
    }
}

/// All sources' changes in one place, each with the number of its source.
#[derive(Debug)]
pub(crate) struct Hub {
    sender: broadcast::Sender<(usize, Telling)>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
        }
    }
}

/// A source that panics while it tells ends its own news and nobody else's.
fn unbroken(news: ChangeStream) -> BoxStream<'static, Telling> {
    let caught = AssertUnwindSafe(news).catch_unwind();
    caught
        .take_while(|news| std::future::ready(news.is_ok()))
        .filter_map(|news| std::future::ready(news.ok()))
        .boxed()
}

/// What one listener wants to hear, and from whom.
pub(crate) struct Interest {
    /// Who listens; none hears only what is everyone's.
    pub(crate) listener: Option<Arc<Caller>>,
    pub(crate) filter: Filter,
    pub(crate) watched: Vec<Watched>,
    /// The one source whose lists are meant, where not all are.
    pub(crate) only: Option<usize>,
}

/// One resource that a listener asked for.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// The source that may tell of it. What another says of it is not believed.
    pub(crate) source: usize,
    /// Its URI at that source.
    pub(crate) native: String,
    /// Its URI as the listener spelled it, which is how it hears of it.
    pub(crate) spelled: String,
}

/// The URIs whose subscriptions cover a URI: those it lies below, the widest first, and itself.
pub fn covering(uri: &str) -> impl Iterator<Item = &str> {
    let above = uri.match_indices(['/', '?', '#']).take(MOST_LEVELS);
    let ends = above.flat_map(|(at, mark)| {
        let folder = (mark == "/").then_some(at + 1);
        std::iter::once(at).chain(folder)
    });
    ends.chain([uri.len()]).map(|end| &uri[..end])
}

/// An interest, arranged for looking things up.
struct Ear {
    listener: Option<Arc<Caller>>,
    filter: Filter,
    /// By source, then by the URI there: how the listener spells it.
    watched: HashMap<usize, HashMap<String, Vec<String>>>,
    only: Option<usize>,
}

impl Ear {
    fn new(interest: Interest) -> Self {
        let mut watched: HashMap<_, HashMap<_, Vec<String>>> = HashMap::new();
        for Watched {
            source,
            native,
            spelled,
        } in interest.watched
        {
            watched
                .entry(source)
                .or_default()
                .entry(native)
                .or_default()
                .push(spelled);
        }
        Self {
            listener: interest.listener,
            filter: interest.filter,
            watched,
            only: interest.only,
        }
    }

    /// What the listener hears of the news of a source.
    fn hears(&self, source: usize, telling: Telling) -> Vec<Change> {
        if !telling.to.include(self.listener.as_deref()) {
            return Vec::new();
        }
        match telling.news {
            News::Change(change) => self.hears_of(source, change),
            News::AllUpdated => self.all_of(source),
            News::Gap => self.everything(),
        }
    }

    /// Nothing, or the change under the listener's own spellings.
    fn hears_of(&self, source: usize, change: Change) -> Vec<Change> {
        let in_scope = self.only.is_none_or(|only| only == source);
        let wanted = match &change {
            Change::Tools => self.filter.tools,
            Change::Prompts => self.filter.prompts,
            Change::Resources => self.filter.resources,
            Change::Elicited(_) => self.filter.elicited,
            Change::Updated(uri) => return self.updates(source, uri),
        };
        if in_scope && wanted {
            vec![change]
        } else {
            Vec::new()
        }
    }

    /// A subscription covers its URI and what lies below. Each URI above the changed one is looked
    /// up, so that a long list costs no more than a short one.
    fn updates(&self, source: usize, uri: &str) -> Vec<Change> {
        let Some(watched) = self.watched.get(&source) else {
            return Vec::new();
        };
        let mut updates = Vec::new();
        for above in covering(uri) {
            for spelled in watched.get(above).into_iter().flatten() {
                let rest = &uri[above.len()..];
                let update = Change::Updated(format!("{spelled}{rest}").into());
                if !updates.contains(&update) {
                    updates.push(update);
                }
            }
        }
        updates
    }

    /// An update of each resource of a source that the listener asked for.
    fn all_of(&self, source: usize) -> Vec<Change> {
        let watched = self.watched.get(&source).into_iter();
        let spelled = watched.flat_map(|uris| uris.values().flatten());
        let spelled: BTreeSet<_> = spelled.collect();
        let updates = spelled.into_iter();
        updates
            .map(|uri| Change::Updated(uri.as_str().into()))
            .collect()
    }

    /// Every change this listener could hear of.
    fn everything(&self) -> Vec<Change> {
        let lists = [
            (self.filter.tools, Change::Tools),
            (self.filter.prompts, Change::Prompts),
            (self.filter.resources, Change::Resources),
        ];
        let lists = lists
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, change)| change);
        let uris = self
            .filter
            .uris
            .iter()
            .map(|uri| Change::Updated(uri.as_str().into()));
        lists.chain(uris).collect()
    }
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
    pub(crate) fn overhear(&self) -> impl Stream<Item = (usize, Telling)> + Send + use<> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Source 0 owns the URI.
    fn interest(uri: &str, spelled: &str) -> Interest {
        let watched = Watched {
            source: 0,
            native: uri.to_owned(),
            spelled: spelled.to_owned(),
        };
        let filter = Filter {
            tools: true,
            ..Filter::uri(spelled)
        };
        Interest {
            listener: Some(Arc::new(Caller {
                principal: Principal::new("ada"),
                admin: false,
            })),
            filter,
            watched: vec![watched],
            only: None,
        }
    }

    fn updated(uri: &str) -> Change {
        Change::Updated(uri.into())
    }

    #[test]
    fn a_subscription_covers_the_uri_and_what_lies_below() {
        let covers = |wanted: &str, uri| {
            Ear::new(interest(wanted, wanted)).hears_of(0, updated(uri)) == [updated(uri)]
        };
        assert!(covers("a://b/c", "a://b/c"));
        assert!(covers("a://b/c", "a://b/c/d"));
        assert!(covers("a://b/c", "a://b/c?d"));
        assert!(covers("a://b/", "a://b/c"));
        assert!(covers("a://b/", "a://b/c/d"));
        assert!(!covers("a://b/c", "a://b/cd"));
        assert!(!covers("a://b/c/d", "a://b/c"));
    }

    #[test]
    fn an_update_comes_under_the_spelling_that_was_asked_for() {
        let ear = Ear::new(interest("a://b", "gateway://s/a://b"));
        assert_eq!(
            ear.hears_of(0, updated("a://b/c")),
            [updated("gateway://s/a://b/c")]
        );
    }

    #[test]
    fn a_source_tells_of_its_own_alone() {
        let mut ear = Ear::new(interest("a://b", "a://b"));
        assert_eq!(ear.hears_of(1, updated("a://b")), []);
        assert_eq!(ear.hears_of(1, Change::Tools), [Change::Tools]);
        ear.only = Some(0);
        assert_eq!(ear.hears_of(1, Change::Tools), []);
    }

    #[test]
    fn when_all_of_a_source_is_updated_each_hears_of_what_it_asked_for() {
        let ear = Ear::new(interest("a://b?c", "gateway://s/a://b?c"));
        let all = |source| ear.hears(source, News::AllUpdated.into());
        assert_eq!(all(0), [updated("gateway://s/a://b?c")]);
        assert_eq!(all(1), []);
    }

    #[test]
    fn what_is_private_is_heard_by_those_it_concerns() {
        let mut ear = Ear::new(interest("a://b", "a://b"));
        let hears = |ear: &Ear, to: Hearers| {
            let news = News::Change(updated("a://b"));
            ear.hears(0, Telling { to, news }) == [updated("a://b")]
        };
        let of = |name| Hearers::Principal(Principal::new(name));
        assert!(hears(&ear, of("ada")));
        assert!(!hears(&ear, of("bob")));
        assert!(!hears(&ear, Hearers::Admins));
        ear.listener = Some(Arc::new(Caller::local()));
        assert!(hears(&ear, Hearers::Admins));
        ear.listener = None;
        assert!(!hears(&ear, Hearers::Admins));
        assert!(hears(&ear, Hearers::Everyone));
    }

    #[tokio::test]
    async fn a_listener_hears_what_it_asked_for_and_nothing_else() {
        let hub = Hub::default();
        let source = ChangeSender::default();
        let heard = hub.listen(interest("x://y", "x://y"));
        let pump = hub.pump([source.stream()]);
        for change in [
            Change::Prompts,
            updated("x://z"),
            updated("x://y"),
            Change::Tools,
        ] {
            source.send(change);
        }
        let two = heard.take(2).collect::<Vec<_>>();
        tokio::select! {
            () = pump => unreachable!("the source is still there"),
            two = two => assert_eq!(two, [updated("x://y"), Change::Tools]),
        }
    }

    #[tokio::test]
    async fn a_listener_that_fell_behind_is_told_everything_it_asked_for() {
        let hub = Hub::default();
        let mut heard = Box::pin(hub.listen(interest("x://y", "x://y")));
        for _ in 0..=BACKLOG {
            let news = News::Change(Change::Prompts);
            hub.sender.send((0, news.into())).unwrap();
        }
        assert_eq!(heard.next().await, Some(Change::Tools));
        assert_eq!(heard.next().await, Some(updated("x://y")));
    }
}
