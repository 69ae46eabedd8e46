//! Opens a link to a server and finds out how it speaks.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tidegate_core::{Call, CatalogEntry, ClientContext, LogLevel, Operation, RawJson, Result};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{RequestEncoder, ServerFacts, modern_headers};
use tokio_util::task::TaskTracker;

use crate::config::{Command, EraSetting, RemoteConfig, TransportConfig};
use crate::session::era_detection::{Numbers, ask};
pub(crate) use crate::session::handshake::Try;
use crate::session::handshake::{Failed, Greeted, greet};
use crate::session::{HttpLink, Link, Talk, Unasked, unavailable};
use crate::transport::http::Endpoint;
use crate::transport::sse;
use crate::transport::stdio::{self, Failure};

/// How long a server of the oldest transport may take to say where to post.
const ENDPOINT: Duration = Duration::from_secs(5);

/// Tools of one link whose faults are told.
const MOST_FAULTY: usize = 1000;

/// A link and how to speak on it.
pub(crate) struct Open {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) numbers: Numbers,
    pub(crate) facts: ServerFacts,
    /// What the server was told that clients on this link can do.
    capabilities: RawJson,
    /// What must have ended before the source has.
    pub(crate) unfinished: TaskTracker,
    /// Whether it cost a wait, or a process, to find out how the server speaks.
    the_hard_way: bool,
    /// The least severe log message the server was told to send.
    level: Mutex<Option<LogLevel>>,
    /// The tools whose faults have been told.
    faulty: Mutex<HashSet<String>>,
    /// Whether the server was found to have no sessions beside this link.
    pub(crate) has_no_sessions: AtomicBool,
}

impl Open {
    /// Another link for the same clients, to a server that does not speak any more as it did on this
    /// one, which is closed. None where the server is a process: what it says is no other's fault.
    pub(crate) async fn renewed(&self, config: &RemoteConfig) -> Option<Result<Arc<Self>>> {
        if !self.link.has_headers() {
            return None;
        }
        self.link.end().await;
        let opened = connect(config, &self.unfinished, &self.capabilities, Try::Both).await;
        Some(opened.map(|(open, _)| open))
    }

    /// Has a server with a session send log messages from this level on. Others are told with each
    /// request; and what one client does not want is kept from it on the way back.
    pub(crate) async fn want_logs(&self, level: Option<LogLevel>) {
        let Some(level) = level.filter(|level| self.is_news(*level)) else {
            return;
        };
        let outbound = self.own_encoder().set_level(self.numbers.next(), level);
        ask(self.link.as_ref(), outbound, Vec::new()).await.ok();
    }

    /// Notes a level; false if the server was told that much before, or cannot be told.
    fn is_news(&self, level: LogLevel) -> bool {
        let told = self.facts.features.logging && self.facts.revision.era() == Era::Legacy;
        let mut known = self.level.lock();
        let is_news = told && known.is_none_or(|known| level < known);
        if is_news {
            *known = Some(level);
        }
        is_news
    }

    /// Notes that a tool is faulty; false if that is known, or known of too many.
    pub(crate) fn is_newly_faulty(&self, tool: &str) -> bool {
        let mut faulty = self.faulty.lock();
        faulty.len() < MOST_FAULTY && faulty.insert(tool.to_owned())
    }

    /// Makes a call. `tools` are those the server has, as far as is known.
    pub(crate) fn ask(&self, call: &Call, tools: &[CatalogEntry]) -> Result<Talk> {
        let encoder = self.encoder(call.client.clone());
        let definition = match &call.operation {
            Operation::Tool { name } => tools.iter().find(|tool| tool.key == *name),
            _ => None,
        };
        let definition = definition.map(|tool| &tool.definition);
        let outbound = encoder
            .call(
                self.numbers.next(),
                &call.operation,
                &call.params,
                definition,
            )
            .ok_or_else(|| unavailable("the source cannot be asked for that"))?;
        let headers = match encoder.revision.era() {
            Era::Modern => modern_headers(encoder.revision, &outbound, definition),
            Era::Legacy => Vec::new(),
        };
        Ok(self.link.request(outbound, headers))
    }

    pub(crate) fn encoder(&self, client: ClientContext) -> RequestEncoder {
        RequestEncoder {
            revision: self.facts.revision,
            client,
        }
    }

    /// What is said when nobody asks: about a client that can do nothing.
    pub(crate) fn own_encoder(&self) -> RequestEncoder {
        let stateless = self.facts.revision.era() == Era::Modern;
        self.encoder(ClientContext {
            stateless,
            ..ClientContext::default()
        })
    }
}

/// What was learned of a server the hard way, so that it is not learned anew each time: that asking
/// whether it can do without sessions costs a wait, or a process.
#[derive(Default)]
pub(crate) struct Known {
    needs_session: AtomicBool,
}

impl Known {
    /// Opens a link for no client in particular.
    pub(crate) async fn connect(
        &self,
        config: &RemoteConfig,
        unfinished: &TaskTracker,
    ) -> Result<Opened> {
        let ways = match self.needs_session.load(Ordering::Relaxed) {
            true => Try::Session,
            false => Try::Both,
        };
        let opened = connect(config, unfinished, &RawJson::empty_object(), ways).await;
        let needs_session = opened.as_ref().is_ok_and(|(open, _)| {
            let known = ways == Try::Session || open.the_hard_way;
            known && open.facts.revision.era() == Era::Legacy
        });
        self.needs_session.store(needs_session, Ordering::Relaxed);
        opened
    }
}

/// The link, how to speak on it, and what is said there unasked.
type Opened = (Arc<Open>, Unasked);

/// Opens a link on which clients can do what `capabilities` says. What is started for it is one of
/// `unfinished` until it ends.
pub(crate) async fn connect(
    config: &RemoteConfig,
    unfinished: &TaskTracker,
    capabilities: &RawJson,
    ways: Try,
) -> Result<Opened> {
    let ways = match config.speaks {
        EraSetting::Auto => ways,
        EraSetting::Legacy => Try::SessionAlone,
        EraSetting::Modern => Try::Stateless,
    };
    let opening = Opening {
        config,
        unfinished,
        capabilities,
        ways,
    };
    let opened = async {
        match &config.transport {
            TransportConfig::Stdio(command) => opening.over_pipe(command).await,
            TransportConfig::Http(endpoint) => opening.over_http(endpoint).await,
        }
    };
    let in_time = tokio::time::timeout(config.connect_timeout, opened).await;
    in_time.unwrap_or_else(|_| Err(unavailable("did not say in time how it speaks")))
}

/// One attempt to open a link.
struct Opening<'a> {
    config: &'a RemoteConfig,
    unfinished: &'a TaskTracker,
    capabilities: &'a RawJson,
    ways: Try,
}

impl Opening<'_> {
    async fn over_pipe(&self, command: &Command) -> Result<Opened> {
        let mut ways = self.ways;
        loop {
            let started = stdio::start(self.config, command, self.unfinished)?;
            let numbers = Numbers::default();
            let failed = match greet(&started.link, &numbers, self.capabilities, ways).await {
                Ok(greeted) => {
                    let open = self.opened(started.link, numbers, greeted, ways);
                    return Ok((open, started.unasked));
                }
                Err(failed) => failed,
            };
            match started.failure().await {
                // Some servers end when they hear what they do not know.
                Failure::Ended if ways == Try::Both => ways = Try::Session,
                Failure::Ended => return Err(unavailable("the source's program ends at once")),
                Failure::NoStart => return Err(stdio::no_start()),
                Failure::Speech => return Err(failed.into()),
            }
        }
    }

    async fn over_http(&self, endpoint: &Endpoint) -> Result<Opened> {
        let (link, unasked) = HttpLink::new(self.config, endpoint, self.unfinished);
        let refused = match self.greet(link, unasked, self.ways).await {
            Ok(opened) => return Ok(opened),
            Err(Failed::Unreached(error)) => return Err(error),
            Err(Failed::Refused(error)) => error,
        };
        // A server of the oldest transport answers a GET instead.
        let oldest = sse::open(self.config, endpoint, self.unfinished);
        match tokio::time::timeout(ENDPOINT, oldest).await {
            Ok(Ok((link, unasked))) => Ok(self.greet(link, unasked, Try::Session).await?),
            Ok(Err(_)) | Err(_) => Err(refused),
        }
    }

    async fn greet(&self, link: impl Link, unasked: Unasked, ways: Try) -> Result<Opened, Failed> {
        let numbers = Numbers::default();
        let greeted = greet(&link, &numbers, self.capabilities, ways).await?;
        Ok((self.opened(link, numbers, greeted, ways), unasked))
    }

    fn opened(&self, link: impl Link, numbers: Numbers, greeted: Greeted, ways: Try) -> Arc<Open> {
        Arc::new(Open {
            link: Arc::new(link),
            numbers,
            facts: greeted.facts,
            capabilities: self.capabilities.clone(),
            unfinished: self.unfinished.clone(),
            the_hard_way: greeted.the_hard_way || ways != self.ways,
            level: Mutex::default(),
            faulty: Mutex::default(),
            has_no_sessions: AtomicBool::default(),
        })
    }
}
