//! A remote server as a source: it connects, takes in what the server offers, carries calls, and
//! comes back by itself when the server goes away.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tidegate_core::{
    Audience, Call, Catalog, Change, ChangeSender, ChangeStream, EventStream, Health, List,
    RawJson, Reply, Result, Source, Terms, Watch,
};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{Facts, Said, modern_headers};
use tidegate_mcp::revision::question::can_be_asked_something;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::config::RemoteConfig;
use crate::connect::{Open, Try, connect};
use crate::follow::follow;
use crate::link::{Unasked, unavailable};
use crate::pool::{Leased, Pool};
use crate::watches::Watches;
use crate::{lists, relay};

/// Changes that may wait to be looked at.
const WAITING: usize = 64;

/// The shortest and the longest wait before the next attempt.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A server behind the gateway.
pub struct Remote {
    config: RemoteConfig,
    open: ArcSwapOption<Open>,
    catalog: ArcSwap<Catalog>,
    health: ArcSwap<Health>,
    changes: ChangeSender,
    watches: Watches,
    pool: Pool,
    /// Whether the server has been reached, or not been reached, once.
    ready: CancellationToken,
}

impl Remote {
    pub fn new(config: RemoteConfig) -> Self {
        let connecting = Health::Degraded("has not been reached yet".to_owned());
        Self {
            config,
            open: ArcSwapOption::empty(),
            catalog: ArcSwap::default(),
            health: ArcSwap::from_pointee(connecting),
            changes: ChangeSender::default(),
            watches: Watches::default(),
            pool: Pool::default(),
            ready: CancellationToken::new(),
        }
    }

    /// Keeps the server connected, for as long as it is polled.
    pub async fn run(&self) {
        let mut wait = FIRST_WAIT;
        loop {
            match connect(&self.config, &RawJson::empty_object(), Try::Both).await {
                Ok((open, unasked)) => {
                    wait = FIRST_WAIT;
                    self.stay(open, unasked).await;
                    self.is_down("went away; connecting again");
                }
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    let name = &self.config.name;
                    tracing::warn!(
                        source = name,
                        error = error.message(),
                        cause,
                        "the source cannot be reached"
                    );
                    self.is_down(error.message());
                }
            }
            self.ready.cancel();
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Closes the way to the server and waits until a process of ours is gone. For when nothing
    /// polls [`Self::run`] any more, which would connect again.
    pub async fn stop(&self) {
        if let Some(open) = self.open.swap(None) {
            open.link.end().await;
        }
    }

    fn is_down(&self, why: &str) {
        self.open.store(None);
        self.health.store(Arc::new(Health::Down(why.to_owned())));
    }

    /// Serves on a link until it is closed.
    async fn stay(&self, open: Arc<Open>, mut unasked: Unasked) {
        self.load(&open).await;
        let revision = open.facts.revision;
        tracing::info!(source = self.config.name, %revision, "the source is there");
        self.open.store(Some(Arc::clone(&open)));
        self.health.store(Arc::new(Health::Good));
        self.ready.cancel();
        let mut watched = self.watches.follow();
        // What is watched may have changed while nobody listened.
        for uri in watched.now() {
            self.changes.send(Change::Updated(uri.into()));
        }
        let (heard, mut changes) = mpsc::channel(WAITING);
        let mut following = pin!(follow(&open, watched, heard));
        loop {
            let change = tokio::select! {
                () = open.link.closed() => return,
                () = following.as_mut() => return,
                change = changes.recv() => change,
                said = unasked.recv() => match said {
                    Some(Said::Change(change)) => Some(change),
                    Some(_) => None,
                    None => return,
                },
            };
            if let Some(change) = change {
                self.heard(&open, change).await;
            }
        }
    }

    /// Takes in the lists anew, and tells that they may be others.
    async fn load(&self, open: &Open) {
        let name = &self.config.name;
        let wording = open.own_wording();
        let catalog = lists::load(
            name,
            open.link.as_ref(),
            &open.numbers,
            &wording,
            &open.facts,
        )
        .await;
        self.catalog.store(Arc::new(catalog));
        for change in [Change::Tools, Change::Prompts, Change::Resources] {
            self.changes.send(change);
        }
    }

    async fn heard(&self, open: &Open, change: Change) {
        match change {
            Change::Updated(_) => self.changes.send(change),
            Change::Tools | Change::Prompts | Change::Resources => self.load(open).await,
        }
    }

    async fn relay(&self, call: &Call) -> Result<Reply> {
        let shared = self.open.load_full().ok_or_else(|| self.unreachable())?;
        if !needs_own_link(&shared.facts, &call.terms) {
            shared.want_logs(call.terms.log_level).await;
            return self.ask(&shared, call).map(Reply::Stream);
        }
        let (principal, capabilities) = (&call.caller.principal, &call.terms.capabilities);
        let Leased { open, room } = self
            .pool
            .lease(&self.config, principal, capabilities)
            .await?;
        open.want_logs(call.terms.log_level).await;
        let events = self.ask(&open, call)?;
        let held = events.map(move |event| {
            let _in_use = (&open, &room);
            event
        });
        Ok(Reply::Stream(held.boxed()))
    }

    fn ask(&self, open: &Open, call: &Call) -> Result<EventStream> {
        let wording = open.wording(call.terms.clone());
        let outbound = wording
            .call(open.numbers.next(), &call.ask, &call.params)
            .ok_or_else(|| unavailable("the source cannot be asked for that"))?;
        let headers = match wording.revision.era() {
            Era::Modern => {
                let catalog = self.catalog.load();
                let mut tools = catalog.list(List::Tools).iter();
                let tool = tools.find(|tool| outbound.address.as_ref() == Some(&tool.key));
                modern_headers(
                    wording.revision,
                    &outbound,
                    tool.map(|tool| &tool.definition),
                )
            }
            Era::Legacy => Vec::new(),
        };
        let method = outbound.method;
        let talk = open.link.request(outbound, headers);
        let link = Arc::clone(&open.link);
        Ok(relay::events(talk, link, wording.revision, method, call))
    }

    fn unreachable(&self) -> tidegate_core::Error {
        unavailable(&format!(
            "the source `{}` cannot be reached now",
            self.config.name
        ))
    }
}

/// Whether a client is spoken for on a link of its own: one with a session that can be asked
/// something, and one with a session at a server that speaks both ways.
fn needs_own_link(facts: &Facts, terms: &Terms) -> bool {
    match facts.revision.era() {
        _ if terms.stateless => false,
        Era::Modern => facts.also_sessions,
        Era::Legacy => can_be_asked_something(&terms.capabilities),
    }
}

impl Source for Remote {
    fn catalog(&self, _: &Audience<'_>) -> Arc<Catalog> {
        self.catalog.load_full()
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

    fn watch(&self, uri: &str) -> Watch {
        self.watches.add(uri)
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.ready.cancelled())
    }
}
