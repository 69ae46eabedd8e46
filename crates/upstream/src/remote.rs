//! A remote server as a source: it connects, takes in what the server offers, carries calls, and
//! comes back by itself when the server goes away.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use futures_util::future::{BoxFuture, join_all, ready};
use parking_lot::Mutex;
use tidegate_core::{
    AffinityKey, Call, Catalog, ChangeSender, ChangeStream, ClientContext, EventStream, GaugeValue,
    Health, List, Reply, ResourceSubscription, Result, Source, TaskUpdates, Viewer, on_end,
};
use tidegate_interaction::Interaction;
use tidegate_mcp::revision::client::ServerFacts;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::catalog::client_class::{Class, Classes, Key, coming};
use crate::catalog::loader as lists;
use crate::catalog::refresh::seen;
use crate::catalog::schedule::Lasting;
use crate::change_stream::tasks;
use crate::config::RemoteConfig;
use crate::pool::{Leased, Pool};
use crate::relay;
use crate::relay::retry_once::{Again, first_word};
use crate::resource_subscriptions::Watches;
use crate::session::connect::{Known, Open};
use crate::session::not_asked;

/// How long someone who asks for what nobody lists waits for the lists to be taken in again, and
/// how long they are good enough for the next one.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
const LOOKED_LATELY: Duration = Duration::from_secs(5);

/// Longer than a program takes to be killed that does not want to end.
const ENDING: Duration = Duration::from_secs(30);

/// A server behind the gateway.
pub struct Remote {
    pub(crate) config: RemoteConfig,
    pub(crate) known: Known,
    /// The link that speaks for everyone.
    pub(crate) open: Arc<ArcSwapOption<Open>>,
    /// What the server said of itself when it was last there.
    pub(crate) facts: ArcSwapOption<ServerFacts>,
    /// What everyone sees.
    pub(crate) catalog: ArcSwap<Catalog>,
    /// How long that stays so.
    pub(crate) lasting: ArcSwap<Lasting>,
    pub(crate) classes: Classes,
    pub(crate) health: ArcSwap<Health>,
    pub(crate) changes: ChangeSender,
    pub(crate) watches: Watches,
    /// Room for those who hear of tasks.
    followers: Arc<Semaphore>,
    pub(crate) pool: Pool,
    /// What must have ended before this has: programs, and the last words on links.
    pub(crate) unfinished: TaskTracker,
    /// The questions of the server to clients.
    interaction: Interaction,
    started: tokio::time::Instant,
    /// Whether the server has been reached, or not been reached, once.
    pub(crate) ready: CancellationToken,
    /// Counts how often it was reached, and how often its lists were taken in.
    pub(crate) connected: watch::Sender<u64>,
    pub(crate) listed: watch::Sender<u64>,
    /// Someone wants the lists to be taken in again.
    pub(crate) wanted: Notify,
    looked: Mutex<Option<Instant>>,
}

impl Remote {
    pub fn new(config: RemoteConfig) -> Self {
        let connecting = Health::Degraded("has not been reached yet".to_owned());
        let unfinished = TaskTracker::new();
        let changes = ChangeSender::default();
        let seal = Arc::clone(&config.seal);
        let interaction = Interaction::new(seal, config.parked_call_timeout, changes.clone());
        let url_elicitations = Arc::clone(&interaction.url_elicitations);
        Self {
            config,
            started: tokio::time::Instant::now(),
            known: Known::default(),
            open: Arc::default(),
            facts: ArcSwapOption::empty(),
            catalog: ArcSwap::new(coming()),
            lasting: ArcSwap::from_pointee(Lasting::Unknown),
            classes: Classes::default(),
            health: ArcSwap::from_pointee(connecting),
            changes,
            watches: Watches::default(),
            followers: Arc::new(Semaphore::new(tasks::MOST_FOLLOWERS)),
            pool: Pool::new(url_elicitations, unfinished.clone()),
            unfinished,
            interaction,
            ready: CancellationToken::new(),
            connected: watch::Sender::default(),
            listed: watch::Sender::default(),
            wanted: Notify::new(),
            looked: Mutex::default(),
        }
    }

    /// Keeps the server connected and its lists fresh, for as long as it is polled.
    pub async fn run(&self) {
        tokio::join!(
            self.keep_connected(),
            self.tend_classes(),
            self.pool.sweep(),
            self.interaction.parked_calls.sweep()
        );
    }

    /// Closes the way to the server, and waits until it has been told what is over and a process of
    /// ours is gone. For when nothing polls [`Self::run`] any more, which would connect again.
    pub async fn stop(&self) {
        self.interaction.parked_calls.cancel_all();
        let links = self.pool.drain().into_iter().chain(self.open.swap(None));
        join_all(links.map(|open| async move { open.link.end().await })).await;
        self.unfinished.close();
        timeout(ENDING, self.unfinished.wait()).await.ok();
    }

    /// The class of a client; none if it sees what everyone sees.
    fn class(&self, client: &ClientContext) -> Option<Arc<Class>> {
        let facts = self.facts.load();
        self.classes
            .get(&Key::of(&self.config, facts.as_ref()?, client)?)
    }

    /// Whether nobody asked for the lists to be taken in again a moment ago.
    fn may_look_again(&self) -> bool {
        let mut looked = self.looked.lock();
        let lately = looked.is_some_and(|looked| looked.elapsed() < LOOKED_LATELY);
        if !lately {
            *looked = Some(Instant::now());
        }
        !lately
    }

    async fn relay(&self, call: &Call) -> Result<Reply> {
        let shared = self.open.load_full().ok_or_else(|| self.unreachable())?;
        let server = shared.facts.revision.era();
        if let Some(events) = self.interaction.resume(call, server)? {
            return Ok(Reply::Stream(events));
        }
        let events = match self.leased(&shared, call).await? {
            Some(leased) => self.ask_on(leased, call).await?,
            None => self.ask(&shared, call).await?,
        };
        Ok(Reply::Stream(self.interaction.adapt(events, call, server)))
    }

    /// Asks on a link that is held until the answer is there.
    async fn ask_on(&self, leased: Leased, call: &Call) -> Result<EventStream> {
        let events = self.ask(&leased.open, call).await?;
        Ok(on_end(events, leased, |leased, _| leased.finish()))
    }

    /// Asks; and once more, if the server says that it was asked wrongly.
    async fn ask(&self, open: &Arc<Open>, call: &Call) -> Result<EventStream> {
        let catalog = self.catalog(&call.viewer());
        // The call is on its link's list from here on: a question that comes before it was sent is its
        // own, too.
        let asked = open.ask(call, catalog.list(List::Tools))?;
        open.want_logs(call.client.log_level).await;
        match first_word(asked, call).await {
            (talk, None) => Ok(relay::events(talk, open, call)),
            (_, Some(Again::List)) => {
                self.wanted.notify_one();
                let tools = lists::tools(&self.config, open, &call.client.capabilities).await?;
                Ok(relay::events(open.ask(call, &tools)?, open, call))
            }
            (talk, Some(Again::Link)) => match open.renewed(&self.config).await {
                None => Ok(relay::events(talk, open, call)),
                Some(open) => {
                    let open = open?;
                    let asked = open.ask(call, catalog.list(List::Tools))?;
                    Ok(relay::events(asked, &open, call))
                }
            },
        }
    }

    fn unreachable(&self) -> tidegate_core::Error {
        not_asked(&format!(
            "the source `{}` cannot be reached now",
            self.config.name
        ))
    }
}

impl Source for Remote {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        seen(
            self.class(viewer.client).as_deref(),
            self.catalog.load_full(),
        )
    }

    fn cache_lifetime(&self, viewer: &Viewer<'_>) -> Option<Duration> {
        let by_all = **self.lasting.load();
        let of_class = self.class(viewer.client).and_then(|class| class.lasting());
        match by_all {
            Lasting::Unknown if self.open.load().is_none() => by_all.left(),
            _ => of_class.unwrap_or(by_all).left(),
        }
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.relay(&call).await })
    }

    fn changes(&self) -> ChangeStream {
        self.changes.stream()
    }

    fn health(&self) -> Health {
        self.health.load().as_ref().clone()
    }

    fn roots_changed(&self, affinity: AffinityKey) {
        for open in self.pool.with_affinity(affinity) {
            let word = open.own_encoder().roots_changed();
            tokio::spawn(async move { open.link.notify(word).await.ok() });
        }
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let waiting = GaugeValue {
            name: "waiting_for_clients",
            value: u64::try_from(self.interaction.parked_calls.count()).unwrap_or(u64::MAX),
        };
        let reached = GaugeValue {
            name: "times_reached",
            value: *self.connected.borrow(),
        };
        let missing = GaugeValue {
            name: "missing",
            value: self.catalog.load().incomplete_lists(),
        };
        let open = self.open.load();
        let odd = open.iter().flat_map(|open| open.link.gauges());
        [waiting, reached, missing].into_iter().chain(odd).collect()
    }

    fn subscribe(&self, uri: &str) -> ResourceSubscription {
        self.watches.add(uri)
    }

    fn task_updates(
        &self,
        ids: BTreeSet<String>,
        client: &ClientContext,
    ) -> BoxFuture<'static, TaskUpdates> {
        let Ok(room) = Arc::clone(&self.followers).try_acquire_owned() else {
            return Box::pin(ready(TaskUpdates::default()));
        };
        let link = Arc::clone(&self.open);
        Box::pin(tasks::follow(link, ids, client.clone(), room))
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.ready.cancelled())
    }

    fn wait_for_catalog(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        let client = viewer.client.clone();
        Box::pin(async move {
            // Whoever came first has waited for it already.
            let reached = timeout_at(self.started + self.config.list_wait, self.ready.cancelled());
            if reached.await.is_err() {
                self.is_missing("is still starting");
            }
            if let Some(class) = self.class(&client)
                && timeout(self.config.list_wait, class.ready()).await.is_err()
            {
                class.is_late();
            }
        })
    }

    fn refresh(&self, _: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let reachable = self.open.load().is_some();
            let has_resources = self.catalog.load().features.resources;
            if reachable && has_resources && self.may_look_again() {
                let mut listed = self.listed.subscribe();
                self.wanted.notify_one();
                timeout(LOOK_AGAIN, listed.changed()).await.ok();
            }
        })
    }
}
