//! A gateway to look into: one put together here, or one that runs elsewhere and is the only source
//! of a gateway put together here. To the questions both are the same.

use std::io::{self, Write as _};
use std::sync::Arc;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tidegate_core::{
    Caller, ClientContext, CorrelationId, Error, Event, Gateway, GatewayConfig, GatewayOperation,
    Health, List, Operation, Outcome, RawJson, Reply, Request, Scope, Source, SourceId, Viewer,
};
use tidegate_mcp::revision::Method;
use tidegate_upstream::{Remote, TransportConfig, TrustStore, WANTS_CREDENTIALS};
use tokio::task::JoinSet;

use super::KEY;
use super::answer::plain;
use crate::assemble::{Assembly, Ending, deadline, endpoint, open_in, remote_config, wind_down};
use crate::config::{RemotePolicy, Secret, Settings};

/// The one source, where a gateway elsewhere is looked into.
const ELSEWHERE: &str = "elsewhere";

/// A gateway, and what runs beside it.
pub(super) struct Place {
    gateway: Arc<Gateway>,
    scope: Scope,
    /// All but the gateway's own.
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    ending: Ending,
    background: JoinSet<()>,
    caller: Arc<Caller>,
    /// Where the gateway runs, if not here.
    url: Option<http::Uri>,
}

impl Place {
    /// The gateway of the configuration.
    pub(super) fn assembled(settings: &Settings) -> anyhow::Result<Self> {
        let assembly = Assembly::new(settings)?;
        let background = assembly.background();
        let (sources, ending) = (assembly.sources.clone(), assembly.ending());
        let gateway = assembly.gateway;
        Ok(Self::new(gateway, Scope::All, sources, ending, background))
    }

    /// The gateway at an address, under its own names.
    pub(super) fn at(
        url: &http::Uri,
        key: Option<Secret>,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let id: SourceId = ELSEWHERE.parse()?;
        let config = GatewayConfig {
            page_size: settings.page_size,
            ..GatewayConfig::default()
        };
        let headers = key.map(|key| bearer(&key)).transpose()?;
        let headers = headers.into_iter().collect();
        let transport =
            TransportConfig::Http(endpoint(url, headers, &TrustStore::system(), settings)?);
        let policy = RemotePolicy::default();
        let remote = remote_config(&url.to_string(), transport, &policy, &config.seal, settings);
        let remote = Arc::new(Remote::new(remote));
        let deadline = deadline(settings.call_timeout, settings.max_call_duration);
        let sources = vec![(id.clone(), Arc::clone(&remote) as Arc<dyn Source>)];
        let gateway = Gateway::new(config, sources.clone(), vec![Arc::new(deadline)]);
        let gateway = Arc::new(gateway);
        let mut background = JoinSet::new();
        let running = Arc::clone(&remote);
        background.spawn(async move { running.run().await });
        // There is nothing to be had without the one that is asked: it may take its time.
        background.spawn(open_in(Arc::clone(&gateway), policy.connect_timeout));
        let scope = Scope::Source(id);
        let ending = Ending {
            remotes: vec![remote],
            store: None,
        };
        let place = Self::new(gateway, scope, sources, ending, background);
        Ok(Self {
            url: Some(url.clone()),
            ..place
        })
    }

    fn new(
        gateway: Arc<Gateway>,
        scope: Scope,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        ending: Ending,
        background: JoinSet<()>,
    ) -> Self {
        Self {
            gateway,
            scope,
            sources,
            ending,
            background,
            caller: Arc::new(Caller::local()),
            url: None,
        }
    }

    /// Where the gateway runs, if not here.
    pub(super) fn url(&self) -> Option<&http::Uri> {
        self.url.as_ref()
    }

    /// Waits for the sources as a client would. A gateway elsewhere must then be there.
    pub(super) async fn wait(&self) -> anyhow::Result<()> {
        let ping = Operation::Gateway(GatewayOperation::Ping);
        self.ask(Method::Ping, ping, RawJson::empty_object())
            .await?;
        let why = self.unwell().into_iter().next().map(|one| one.why);
        match (&self.url, why) {
            (Some(url), Some(why)) => Err(anyhow::anyhow!(in_words_of_a_client(why)))
                .with_context(|| format!("no gateway can be looked into at {url}")),
            _ => Ok(()),
        }
    }

    /// The sources that do not work, or not as they should, and why.
    pub(super) fn unwell(&self) -> Vec<Unwell<'_>> {
        let why = |source: &dyn Source| match source.health() {
            Health::Good => None,
            Health::Degraded(why) | Health::Down(why) => Some(why),
        };
        let all = self.sources.iter();
        all.filter_map(|(id, source)| {
            let why = why(source.as_ref())?;
            let lack = self.lack(source.as_ref());
            Some(Unwell { id, why, lack })
        })
        .collect()
    }

    fn lack(&self, source: &dyn Source) -> Lack {
        let client = client();
        let catalog = source.catalog(&Viewer {
            caller: &self.caller,
            client: &client,
        });
        match List::ALL.iter().all(|list| catalog.list(*list).is_empty()) {
            true => Lack::Everything,
            false if catalog.gap.is_some() => Lack::Part,
            false => Lack::Nothing,
        }
    }

    /// Takes one request the way of a client's, and gives its result.
    pub(super) async fn ask(
        &self,
        method: Method,
        operation: Operation,
        params: RawJson,
    ) -> Result<RawJson, Error> {
        let request = Request {
            correlation: CorrelationId::fresh(),
            caller: Arc::clone(&self.caller),
            scope: self.scope.clone(),
            label: method.name(),
            client: client(),
            operation,
            params,
            is_continuation: false,
            precondition: None,
        };
        let mut events = match self.gateway.handle(request).await? {
            Reply::Done(outcome) => return result(outcome),
            Reply::Stream(events) => events,
        };
        while let Some(event) = events.next().await {
            match event? {
                Event::Done(outcome) => return result(outcome),
                Event::Progress(params) => tell_progress(&params),
                Event::Log { level, params } => {
                    tracing::info!(level = level.as_str(), %params, "the source says");
                }
                Event::Question(_) => return Err(asks_back()),
                Event::Acknowledged(_)
                | Event::Change(_)
                | Event::Task(_)
                | Event::QuestionWithdrawn
                | Event::ElicitationComplete(_)
                | Event::KeepAlive => {}
            }
        }
        Err(Error::internal("the answer ended before it was complete"))
    }

    /// Ends what runs beside, and waits for processes that were started.
    pub(super) async fn close(self) {
        wind_down(self.background, self.ending).await;
    }
}

/// Why a gateway cannot be looked into. To this program it is a source; to its user it is not.
fn in_words_of_a_client(why: String) -> String {
    match why.starts_with(WANTS_CREDENTIALS) {
        true => format!("it wants a key: set the variable {KEY} to one of its `auth.keys`"),
        false => why,
    }
}

/// A source that is not as it should be.
pub(super) struct Unwell<'a> {
    pub(super) id: &'a SourceId,
    pub(super) why: String,
    pub(super) lack: Lack,
}

/// What of a source is not in the lists.
pub(super) enum Lack {
    Everything,
    Part,
    Nothing,
}

/// What those who look can do.
fn client() -> ClientContext {
    ClientContext {
        stateless: true,
        progress: Some(RawJson::string("look")),
        ..ClientContext::default()
    }
}

/// The header that shows a key.
fn bearer(key: &Secret) -> anyhow::Result<(HeaderName, HeaderValue)> {
    let value = HeaderValue::try_from(format!("Bearer {}", key.expose()));
    let mut value = value.with_context(|| format!("the variable {KEY} holds no key"))?;
    value.set_sensitive(true);
    Ok((AUTHORIZATION, value))
}

fn result(outcome: Outcome) -> Result<RawJson, Error> {
    match outcome {
        Outcome::Complete { result, .. } => Ok(result),
        Outcome::InputRequired(_) | Outcome::Question { .. } => Err(asks_back()),
        // It was not said that tasks are welcome.
        Outcome::Task(_) => Err(Error::internal(
            "the source answers later, and was not asked to",
        )),
    }
}

/// Nobody is there to answer: whoever looks gave all there is to say with the command.
fn asks_back() -> Error {
    Error::internal(
        "the source asks back before it answers, which the command line cannot answer; use a \
         client that can",
    )
}

/// Progress is not data.
fn tell_progress(params: &RawJson) {
    let Some(members) = params.object() else {
        return;
    };
    let mut line = members.get("progress").unwrap_or("?").to_owned();
    if let Some(total) = members.get("total") {
        line += &format!(" of {total}");
    }
    if let Some(message) = members.string("message") {
        line += &format!(": {}", plain(&message));
    }
    writeln!(io::stderr(), "progress {line}").ok();
}
