//! Keeps a server telling one client how its tasks are: on a stream of changes of its own, for they
//! are nobody else's.
//!
//! Must not know: under which ids the client knows them.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tidegate_core::{Ask, Filter, Followed, RawJson, TaskAsk, Terms};
use tidegate_mcp::revision::client::{Said, Status, Task, modern_headers};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use super::{FIRST_WAIT, LONGEST_WAIT};
use crate::connect::Open;
use crate::link::{Heard, Talk};
use crate::probe::ask;

/// Clients that hear of tasks of one server at once.
pub(crate) const MOST_FOLLOWERS: usize = 256;

/// How long a server may take to say of which tasks it tells; its client waits meanwhile.
const BEGINNING: Duration = Duration::from_secs(2);

/// How long it may take to say how one is.
const LOOKING: Duration = Duration::from_secs(5);

/// How a task is, by its id.
type News = (String, RawJson);

/// One client that hears of its tasks.
struct Follower {
    /// Everyone's link, on which the tasks began.
    link: Arc<ArcSwapOption<Open>>,
    /// Those that are not over.
    ids: BTreeSet<String>,
    terms: Terms,
    /// How long to wait before a stream that ended is opened again.
    wait: Duration,
    _room: OwnedSemaphorePermit,
}

/// Has a server tell of tasks. What it does not agree to tell of is left out.
pub(crate) async fn follow(
    link: Arc<ArcSwapOption<Open>>,
    ids: BTreeSet<String>,
    terms: Terms,
    room: OwnedSemaphorePermit,
) -> Followed {
    let mut follower = Follower {
        link,
        ids,
        // Neither belongs on such a stream.
        terms: Terms {
            log_level: None,
            progress: None,
            ..terms
        },
        wait: FIRST_WAIT,
        _room: room,
    };
    let Some((talk, told)) = follower.listen().await else {
        return Followed::default();
    };
    follower.ids = told;
    Followed {
        ids: follower.ids.clone(),
        news: follower.news(talk),
    }
}

impl Follower {
    /// Opens a stream; gives it, and the tasks that it tells of, unless there are none.
    async fn listen(&self) -> Option<(Talk, BTreeSet<String>)> {
        let open = self.link.load_full()?;
        if !open.facts.features.tasks {
            return None;
        }
        let filter = Filter {
            tasks: self.ids.clone(),
            ..Filter::default()
        };
        let wording = open.wording(self.terms.clone());
        let outbound = wording.listen(open.numbers.next(), &filter);
        let headers = modern_headers(open.facts.revision, &outbound, None);
        let mut talk = open.link.request(outbound, headers);
        let acknowledged = timeout(BEGINNING, acknowledged(&mut talk)).await.ok()??;
        let told: BTreeSet<_> = acknowledged.intersection(&self.ids).cloned().collect();
        (!told.is_empty()).then_some((talk, told))
    }

    /// What the server tells, until every task is over.
    fn news(self, talk: Talk) -> BoxStream<'static, News> {
        let start = (self, talk, VecDeque::new());
        let news = stream::unfold(start, |(mut follower, mut talk, mut seen)| async {
            loop {
                if let Some(news) = seen.pop_front() {
                    follower.note(&news);
                    return Some((news, (follower, talk, seen)));
                }
                if follower.ids.is_empty() {
                    return None;
                }
                match talk.next().await {
                    Some(Ok(Heard::Said(Said::Task { id, task, .. }))) => {
                        follower.wait = FIRST_WAIT;
                        if follower.ids.contains(&id) {
                            seen.push_back((id, task));
                        }
                    }
                    Some(Ok(Heard::Said(_))) => {}
                    _ => (talk, seen) = follower.again().await,
                }
            }
        });
        news.boxed()
    }

    /// Nothing more comes of a task that is over.
    fn note(&mut self, (id, task): &News) {
        if Task::seen(task).is_some_and(|task| task.status == Status::Over) {
            self.ids.remove(id);
        }
    }

    /// Another stream for one that has ended; and, for nothing is said twice, how the tasks are now.
    async fn again(&mut self) -> (Talk, VecDeque<News>) {
        loop {
            sleep(self.wait).await;
            self.wait = (self.wait * 2).min(LONGEST_WAIT);
            if let Some((talk, told)) = self.listen().await {
                return (talk, self.look(&told).await);
            }
        }
    }

    async fn look(&self, ids: &BTreeSet<String>) -> VecDeque<News> {
        let mut seen = VecDeque::new();
        for id in ids {
            if let Some(task) = self.look_at(id).await {
                seen.push_back((id.clone(), task));
            }
        }
        seen
    }

    /// How a task is; none if the server does not say.
    async fn look_at(&self, id: &str) -> Option<RawJson> {
        let open = self.link.load_full()?;
        let look = Ask::Task {
            ask: TaskAsk::Look,
            id: id.to_owned(),
        };
        let wording = open.wording(self.terms.clone());
        let nothing = RawJson::empty_object();
        let outbound = wording.call(open.numbers.next(), &look, &nothing, None)?;
        let headers = modern_headers(open.facts.revision, &outbound, None);
        let asked = ask(open.link.as_ref(), outbound, headers);
        timeout(LOOKING, asked).await.ok()?.ok()?.ok()
    }
}

/// The tasks that a stream tells of, once it says so; none if it ends before.
async fn acknowledged(talk: &mut Talk) -> Option<BTreeSet<String>> {
    loop {
        match talk.next().await? {
            Ok(Heard::Said(Said::Acknowledged { tasks, .. })) => return Some(tasks),
            Ok(Heard::Said(_)) => {}
            _ => return None,
        }
    }
}
