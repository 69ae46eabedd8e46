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
use tidegate_core::{ChangeFilter, ClientContext, Operation, RawJson, TaskOperation, TaskUpdates};
use tidegate_mcp::revision::client::{
    LegacyTask, LegacyTaskStatus, ServerNotification, modern_headers,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use super::{FIRST_WAIT, LONGEST_WAIT};
use crate::session::connect::Open;
use crate::session::era_detection::ask;
use crate::session::{Heard, Talk};

/// Clients that hear of tasks of one server at once.
pub(crate) const MOST_FOLLOWERS: usize = 256;

/// How long a server may take to say of which tasks it tells; its client waits meanwhile.
const BEGINNING: Duration = Duration::from_secs(2);

/// How long it may take to say how one is.
const LOOKING: Duration = Duration::from_secs(5);

/// How a task is, by its id.
type ChangeEvent = (String, RawJson);

/// One client that hears of its tasks.
struct Follower {
    /// Everyone's link, on which the tasks began.
    link: Arc<ArcSwapOption<Open>>,
    /// Those that are not over.
    ids: BTreeSet<String>,
    client: ClientContext,
    /// How long to wait before a stream that ended is opened again.
    wait: Duration,
    _room: OwnedSemaphorePermit,
}

/// Has a server tell of tasks. What it does not agree to tell of is left out.
pub(crate) async fn follow(
    link: Arc<ArcSwapOption<Open>>,
    ids: BTreeSet<String>,
    client: ClientContext,
    room: OwnedSemaphorePermit,
) -> TaskUpdates {
    let mut follower = Follower {
        link,
        ids,
        // Neither belongs on such a stream.
        client: ClientContext {
            log_level: None,
            progress: None,
            ..client
        },
        wait: FIRST_WAIT,
        _room: room,
    };
    let Some((talk, told)) = follower.listen().await else {
        return TaskUpdates::default();
    };
    follower.ids = told;
    TaskUpdates {
        ids: follower.ids.clone(),
        updates: follower.news(talk),
    }
}

impl Follower {
    /// Opens a stream; gives it, and the tasks that it tells of, unless there are none.
    async fn listen(&self) -> Option<(Talk, BTreeSet<String>)> {
        let open = self.link.load_full()?;
        if !open.facts.features.tasks {
            return None;
        }
        let filter = ChangeFilter {
            tasks: self.ids.clone(),
            ..ChangeFilter::default()
        };
        let encoder = open.encoder(self.client.clone());
        let outbound = encoder.listen(open.numbers.next(), &filter);
        let headers = modern_headers(open.facts.revision, &outbound, None);
        let mut talk = open.link.request(outbound, headers);
        let acknowledged = timeout(BEGINNING, acknowledged(&mut talk)).await.ok()??;
        let told: BTreeSet<_> = acknowledged.intersection(&self.ids).cloned().collect();
        (!told.is_empty()).then_some((talk, told))
    }

    /// What the server tells, until every task is over.
    fn news(self, talk: Talk) -> BoxStream<'static, ChangeEvent> {
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
                    Some(Ok(Heard::ServerNotification(ServerNotification::Task {
                        id,
                        task,
                        ..
                    }))) => {
                        follower.wait = FIRST_WAIT;
                        if follower.ids.contains(&id) {
                            seen.push_back((id, task));
                        }
                    }
                    Some(Ok(Heard::ServerNotification(_))) => {}
                    _ => (talk, seen) = follower.again().await,
                }
            }
        });
        news.boxed()
    }

    /// Nothing more comes of a task that is over.
    fn note(&mut self, (id, task): &ChangeEvent) {
        if LegacyTask::from_task_result(task)
            .is_some_and(|task| task.status == LegacyTaskStatus::Ended)
        {
            self.ids.remove(id);
        }
    }

    /// Another stream for one that has ended; and, for nothing is said twice, how the tasks are now.
    async fn again(&mut self) -> (Talk, VecDeque<ChangeEvent>) {
        loop {
            sleep(self.wait).await;
            self.wait = (self.wait * 2).min(LONGEST_WAIT);
            if let Some((talk, told)) = self.listen().await {
                return (talk, self.look(&told).await);
            }
        }
    }

    async fn look(&self, ids: &BTreeSet<String>) -> VecDeque<ChangeEvent> {
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
        let look = Operation::Task {
            operation: TaskOperation::Get,
            id: id.to_owned(),
        };
        let encoder = open.encoder(self.client.clone());
        let nothing = RawJson::empty_object();
        let outbound = encoder.call(open.numbers.next(), &look, &nothing, None)?;
        let headers = modern_headers(open.facts.revision, &outbound, None);
        let asked = ask(open.link.as_ref(), outbound, headers);
        timeout(LOOKING, asked).await.ok()?.ok()?.ok()
    }
}

/// The tasks that a stream tells of, once it says so; none if it ends before.
async fn acknowledged(talk: &mut Talk) -> Option<BTreeSet<String>> {
    loop {
        match talk.next().await? {
            Ok(Heard::ServerNotification(ServerNotification::Acknowledged { tasks, .. })) => {
                return Some(tasks);
            }
            Ok(Heard::ServerNotification(_)) => {}
            _ => return None,
        }
    }
}
