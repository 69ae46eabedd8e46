//! Opens a link to a server and finds out how it speaks.

use std::sync::{Arc, Mutex, PoisonError};

use tidegate_core::{LogLevel, RawJson, Result, Terms};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{Facts, Wording};

use crate::config::{RemoteConfig, Transport};
use crate::link::{HttpLink, Link, Unasked, sse, stdio, unavailable};
use crate::probe::{Numbers, ask, discover, initialize};

/// A link and how to speak on it.
pub(crate) struct Open {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) numbers: Numbers,
    pub(crate) facts: Facts,
    /// The least severe log message the server was told to send.
    level: Mutex<Option<LogLevel>>,
}

impl Open {
    /// Has a server with a session send log messages from this level on. Others are told with each
    /// request; and what one client does not want is kept from it on the way back.
    pub(crate) async fn want_logs(&self, level: Option<LogLevel>) {
        let Some(level) = level.filter(|level| self.is_news(*level)) else {
            return;
        };
        let outbound = self.own_wording().set_level(self.numbers.next(), level);
        ask(self.link.as_ref(), outbound, Vec::new()).await.ok();
    }

    /// Notes a level; false if the server was told that much before, or cannot be told.
    fn is_news(&self, level: LogLevel) -> bool {
        let told = self.facts.features.logging && self.facts.revision.era() == Era::Legacy;
        let mut known = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = told && known.is_none_or(|known| level < known);
        if is_news {
            *known = Some(level);
        }
        is_news
    }

    pub(crate) fn wording(&self, terms: Terms) -> Wording {
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

/// Which way of speaking to try.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Try {
    /// Without a session if the server can, else with one.
    Both,
    /// With a session: the server is known to need one.
    Session,
}

/// Opens a link on which clients can do what `capabilities` says.
pub(crate) async fn connect(
    config: &RemoteConfig,
    capabilities: &RawJson,
    ways: Try,
) -> Result<(Arc<Open>, Unasked)> {
    let opening = tokio::time::timeout(config.connect_time, open(config, capabilities, ways));
    opening
        .await
        .unwrap_or_else(|_| Err(unavailable("did not say in time how it speaks")))
}

async fn open(
    config: &RemoteConfig,
    capabilities: &RawJson,
    ways: Try,
) -> Result<(Arc<Open>, Unasked)> {
    let numbers = Numbers::default();
    let level = Mutex::default();
    let (link, facts, unasked): (Arc<dyn Link>, _, _) = match &config.transport {
        Transport::Stdio(command) => {
            let (link, unasked) = stdio::start(config, command)?;
            let facts = greet(&link, &numbers, capabilities, ways).await?;
            (Arc::new(link), facts, unasked)
        }
        Transport::Http { url, headers } => {
            let (link, unasked) = HttpLink::new(config, url, headers);
            match greet_http(&link, &numbers, capabilities, ways).await {
                Ok(facts) => (Arc::new(link), facts, unasked),
                // A server of the oldest transport answers a GET instead.
                Err(error) => {
                    let (link, unasked) =
                        sse::open(config, url, headers).await.map_err(|_| error)?;
                    let facts = greet(&link, &numbers, capabilities, Try::Session).await?;
                    (Arc::new(link), facts, unasked)
                }
            }
        }
    };
    Ok((
        Arc::new(Open {
            link,
            numbers,
            facts,
            level,
        }),
        unasked,
    ))
}

/// Finds out how a server speaks; opens a session if it must.
async fn greet(
    link: &dyn Link,
    numbers: &Numbers,
    capabilities: &RawJson,
    ways: Try,
) -> Result<Facts> {
    if let Some(facts) = probe(link, numbers, ways).await {
        return Ok(facts);
    }
    let facts = initialize(link, numbers, capabilities).await?;
    welcome(link, &facts).await?;
    Ok(facts)
}

/// The same over HTTP, where a session has an id and a stream of its own.
async fn greet_http(
    link: &HttpLink,
    numbers: &Numbers,
    capabilities: &RawJson,
    ways: Try,
) -> Result<Facts> {
    if let Some(facts) = probe(link, numbers, ways).await {
        return Ok(facts);
    }
    let facts = initialize(link, numbers, capabilities).await?;
    link.enter(facts.revision);
    welcome(link, &facts).await?;
    link.follow();
    Ok(facts)
}

async fn probe(link: &dyn Link, numbers: &Numbers, ways: Try) -> Option<Facts> {
    match ways {
        Try::Both => discover(link, numbers).await,
        Try::Session => None,
    }
}

async fn welcome(link: &dyn Link, facts: &Facts) -> Result<()> {
    let wording = Wording {
        revision: facts.revision,
        terms: Terms::default(),
    };
    link.notify(wording.initialized()).await
}
