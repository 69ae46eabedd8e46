//! What a client hears of its calls that go on after their answer: each stream of changes has its own
//! way to the sources, for nobody else may hear of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::stream::{self, BoxStream, StreamExt, select_all};

use super::rewrite::ResponseRewriter;
use super::view::View;
use super::{Shared, task};
use crate::{Call, Event, Operation, RawJson, Scope, TaskOperation, TaskUpdates};

/// The calls at one source that a client asked to hear of.
struct Following {
    /// By the source's own ids: those that the client was given.
    spelled: BTreeMap<String, Vec<String>>,
    rewriter: ResponseRewriter,
}

impl Shared {
    /// Has sources tell of what these ids lead to. Gives the ids of what they do tell of, and what
    /// they tell.
    pub(super) fn follow(
        &self,
        view: &Arc<View>,
        call: &Call,
        ids: &BTreeSet<String>,
    ) -> impl Future<Output = (BTreeSet<String>, BoxStream<'static, Event>)> + Send + use<> {
        let mut by_source = BTreeMap::<usize, BTreeMap<String, Vec<String>>>::new();
        for id in ids {
            if let Ok((source, native)) = task::open(self, view, &call.caller, id) {
                let spelled = by_source.entry(source).or_default();
                spelled.entry(native).or_default().push(id.clone());
            }
        }
        let begun = by_source.into_iter().map(|(number, spelled)| {
            let (id, source) = &self.sources[number];
            let followed = source.task_updates(spelled.keys().cloned().collect(), &call.client);
            let rewriter = ResponseRewriter {
                ids: None,
                view: Arc::clone(view),
                source: number,
                id: id.clone(),
                operation: Operation::Task {
                    operation: TaskOperation::Get,
                    id: String::new(),
                },
                spelled: None,
                is_shared: call.scope == Scope::All,
            };
            let following = Following { spelled, rewriter };
            async move { following.told(followed.await) }
        });
        let begun = join_all(begun);
        async {
            let (ids, news): (Vec<_>, Vec<_>) = begun.await.into_iter().unzip();
            let ids = ids.into_iter().flatten().collect();
            (ids, select_all(news).boxed())
        }
    }
}

impl Following {
    fn told(self, followed: TaskUpdates) -> (Vec<String>, BoxStream<'static, Event>) {
        let ids = followed.ids.iter();
        let ids = ids.filter_map(|id| self.spelled.get(id)).flatten().cloned();
        let ids = ids.collect();
        let news = followed.updates;
        let events = news.flat_map(move |(id, task)| stream::iter(self.events(&id, task)));
        (ids, events.boxed())
    }

    /// How a call is, under each id that the client has for it.
    fn events(&self, id: &str, task: RawJson) -> Vec<Event> {
        let task = self.rewriter.result(&task).unwrap_or(task);
        let spelled = self.spelled.get(id).into_iter().flatten();
        let turned = spelled.filter_map(|spelled| task::under(spelled, &task));
        turned.map(Event::Task).collect()
    }
}
