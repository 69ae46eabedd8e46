//! A remote server as a source: it connects, takes in what the server offers, carries calls, and
//! comes back by itself when the server goes away.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use futures_util::future::BoxFuture;
use tidegate_core::{
    Audience, Call, Catalog, Change, ChangeSender, ChangeStream, Health, List, Reply, Result,
    Source, Terms, Watch,
};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{Facts, Said, Wording, modern_headers};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::config::{RemoteConfig, Transport};
use crate::follow::follow;
use crate::link::{HttpLink, Link, StdioLink, Unasked, unavailable};
use crate::probe::{Numbers, discover, initialize};
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
    /// Whether the server has been reached, or not been reached, once.
    ready: CancellationToken,
}

/// A link and how to speak on it.
pub(crate) struct Open {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) numbers: Numbers,
    pub(crate) facts: Facts,
}

impl Open {
    fn wording(&self, terms: Terms) -> Wording {
        Wording {
            revision: self.facts.revision,
            terms,
        }
    }

    /// What is said when nobody asks: about a client that can do nothing.
    pub(crate) fn own_wording(&self) -> Wording {
        let stateless = self.facts.revision.era() == Era::Modern;
        self.wording(Terms {
            stateless,
            ..Terms::default()
        })
    }
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
            ready: CancellationToken::new(),
        }
    }

    /// Keeps the server connected, for as long as it is polled.
    pub async fn run(&self) {
        let mut wait = FIRST_WAIT;
        loop {
            match self.connect().await {
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

    fn is_down(&self, why: &str) {
        self.open.store(None);
        self.health.store(Arc::new(Health::Down(why.to_owned())));
    }

    async fn connect(&self) -> Result<(Arc<Open>, Unasked)> {
        let connecting = tokio::time::timeout(self.config.connect_time, self.open());
        connecting
            .await
            .unwrap_or_else(|_| Err(unavailable("did not say in time how it speaks")))
    }

    /// Opens a link and finds out how the server speaks.
    async fn open(&self) -> Result<(Arc<Open>, Unasked)> {
        let numbers = Numbers::default();
        let (link, facts, unasked): (Arc<dyn Link>, _, _) = match &self.config.transport {
            Transport::Stdio(command) => {
                let (link, unasked) = StdioLink::start(&self.config, command)?;
                let facts = match discover(&link, &numbers).await {
                    Some(facts) => facts,
                    None => greet(&link, &numbers).await?,
                };
                (Arc::new(link), facts, unasked)
            }
            Transport::Http { url, headers } => {
                let (link, unasked) = HttpLink::new(&self.config, url, headers);
                let facts = match discover(&link, &numbers).await {
                    Some(facts) => facts,
                    None => {
                        let facts = initialize(&link, &numbers).await?;
                        link.enter(facts.revision);
                        welcome(&link, &facts).await?;
                        link.follow();
                        facts
                    }
                };
                (Arc::new(link), facts, unasked)
            }
        };
        Ok((
            Arc::new(Open {
                link,
                numbers,
                facts,
            }),
            unasked,
        ))
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

    fn relay(&self, call: &Call) -> Result<Reply> {
        let open = self.open.load_full().ok_or_else(|| self.unreachable())?;
        let wording = open.wording(call.terms.clone());
        let outbound = wording
            .call(open.numbers.next(), &call.ask, &call.params)
            .ok_or_else(|| unavailable("the source cannot be asked for that"))?;
        let headers = match wording.revision.era() {
            Era::Modern => {
                let catalog = self.catalog.load();
                let tools = catalog.list(List::Tools).iter();
                let tool = tools
                    .into_iter()
                    .find(|tool| outbound.address.as_ref() == Some(&tool.key));
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
        Ok(Reply::Stream(relay::events(
            talk,
            wording.revision,
            method,
            call,
        )))
    }

    fn unreachable(&self) -> tidegate_core::Error {
        unavailable(&format!(
            "the source `{}` cannot be reached now",
            self.config.name
        ))
    }
}

async fn greet(link: &dyn Link, numbers: &Numbers) -> Result<Facts> {
    let facts = initialize(link, numbers).await?;
    welcome(link, &facts).await?;
    Ok(facts)
}

async fn welcome(link: &dyn Link, facts: &Facts) -> Result<()> {
    let wording = Wording {
        revision: facts.revision,
        terms: Terms::default(),
    };
    link.notify(wording.initialized()).await
}

impl Source for Remote {
    fn catalog(&self, _: &Audience<'_>) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(std::future::ready(self.relay(&call)))
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
