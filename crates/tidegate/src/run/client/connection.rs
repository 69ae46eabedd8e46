//! A connection to a gateway: a temporary one in this process, or a remote one, which is then the
//! only source of a gateway in this process. The commands see no difference.

use std::io::{self, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use parking_lot::Mutex;
use tidegate_core::{
    Caller, ClientContext, CorrelationId, Era, Error, Event, Gateway, GatewayConfig,
    GatewayOperation, Health, Operation, Outcome, RawJson, Reply, Request, Scope, Source, SourceId,
};
use tidegate_mcp::revision::Method;
use tidegate_upstream::{
    CREDENTIALS_REQUIRED, ConnectionSettings, Remote, TransportConfig, TrustStore,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::output::printable;
use crate::assemble::{Assembly, Ending, endpoint, open_when_ready, remote_config};
use crate::config::{Environment, Secret, Settings};
use crate::log::StatusLine;

/// The source id of a remote gateway.
const REMOTE_GATEWAY: &str = "gateway-url";

/// The variable with the key for a remote gateway. Not a flag: other users could see it.
const KEY_VARIABLE: &str = "TIDEGATE_KEY";

/// How long servers may take to end when the command is done. The child guard ends the others.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// How long to try a plain connection, to find out why a gateway cannot be reached.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// A gateway, and its background tasks.
pub(super) struct GatewayConnection {
    gateway: Arc<Gateway>,
    scope: Scope,
    /// The configured sources.
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    ending: Ending,
    background: JoinSet<()>,
    caller: Arc<Caller>,
    /// The URL of the gateway, if it is not in this process.
    url: Option<http::Uri>,
    startup_wait: Duration,
    /// Whether the requests to a remote gateway carry a key.
    has_key: bool,
    /// Shows the sources that are starting, until the first response.
    status_line: Mutex<Option<StatusLine>>,
}

/// The key for a remote gateway, if one is set.
pub(super) fn gateway_key(environment: &Environment<'_>) -> Option<Secret> {
    environment.variable(KEY_VARIABLE).map(Secret::new)
}

impl GatewayConnection {
    /// Starts the gateway of the configuration in this process.
    pub(super) fn to_temporary(settings: &Settings) -> anyhow::Result<Self> {
        let assembly = Assembly::new(settings)?;
        Ok(Self {
            background: assembly.background(),
            sources: assembly.sources().to_vec(),
            ending: assembly.ending(),
            gateway: assembly.gateway,
            scope: Scope::All,
            caller: Arc::new(Caller::local()),
            url: None,
            startup_wait: settings.startup_wait,
            has_key: false,
            status_line: Mutex::default(),
        })
    }

    /// Connects to the gateway at a URL. Its names are kept.
    pub(super) fn to_url(
        url: &http::Uri,
        key: Option<&Secret>,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let id: SourceId = REMOTE_GATEWAY.parse()?;
        let config = GatewayConfig {
            page_size: settings.page_size,
            ..GatewayConfig::default()
        };
        let headers = key.map(bearer).transpose()?.into_iter().collect();
        let endpoint = endpoint(url, headers, &TrustStore::system(), settings)?;
        let connection = ConnectionSettings::default();
        let remote = Arc::new(Remote::new(remote_config(
            &url.to_string(),
            TransportConfig::Http(endpoint),
            &connection,
            &config.seal,
            settings,
        )));
        let deadline = settings.call_timeouts.deadline();
        let sources = vec![(id.clone(), Arc::clone(&remote) as Arc<dyn Source>)];
        let gateway = Gateway::new(config, sources.clone(), vec![Arc::new(deadline)]);
        let gateway = Arc::new(gateway);
        let mut background = JoinSet::new();
        let supervised = Arc::clone(&remote);
        background.spawn(async move { supervised.run().await });
        // Nothing can be answered without this connection, so it gets its full connect timeout.
        background.spawn(open_when_ready(
            Arc::clone(&gateway),
            connection.connect_timeout,
        ));
        Ok(Self {
            gateway,
            scope: Scope::Source(id),
            sources,
            ending: Ending {
                remotes: vec![remote],
                store: None,
            },
            background,
            caller: Arc::new(Caller::local()),
            url: Some(url.clone()),
            startup_wait: settings.startup_wait,
            has_key: key.is_some(),
            status_line: Mutex::default(),
        })
    }

    /// The URL of the gateway, if it is not in this process.
    pub(super) fn url(&self) -> Option<&http::Uri> {
        self.url.as_ref()
    }

    /// How long sources may take to start before requests are answered without them.
    pub(super) fn startup_wait(&self) -> Duration {
        self.startup_wait
    }

    /// The configured sources; for a remote gateway, the gateway itself.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&SourceId, &dyn Source)> {
        let sources = self.sources.iter();
        sources.map(|(id, source)| (id, source.as_ref()))
    }

    /// The names of the sources, as users know them.
    pub(super) fn source_names(&self) -> impl Iterator<Item = String> {
        self.sources().map(|(id, _)| match &self.url {
            Some(url) => url.to_string(),
            None => id.to_string(),
        })
    }

    /// One future per source, which returns its name when it is ready.
    pub(super) fn ready_sources(&self) -> impl Iterator<Item = impl Future<Output = String>> {
        let sources = std::iter::zip(self.source_names(), self.sources());
        sources.map(|(name, (_, source))| async move {
            source.ready().await;
            name
        })
    }

    /// The caller and client of the requests.
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Waits for the connection to a remote gateway. In a temporary gateway, each request waits for
    /// the sources that it needs.
    pub(super) async fn wait_until_connected(&self) -> anyhow::Result<()> {
        let Some(url) = &self.url else {
            return Ok(());
        };
        let ping = Operation::Gateway(GatewayOperation::Ping);
        self.request(Method::Ping, ping, RawJson::empty_object())
            .await?;
        let health = self.sources.first().map(|(_, source)| source.health());
        match health {
            Some(Health::Warning(reason) | Health::Critical(reason)) => {
                Err(connect_error(url, &reason, self.has_key))
            }
            Some(Health::Healthy) | None => Ok(()),
        }
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The source in this process that a tool name begins with, and the name of the tool there.
    pub(super) fn source_of<'a>(&self, tool: &'a str) -> Option<(SourceId, &'a str)> {
        let (prefix, native) = tool.split_once("__")?;
        let mut ids = self.sources.iter().map(|(id, _)| id);
        let id = ids.find(|id| self.url.is_none() && id.as_str() == prefix)?;
        Some((id.clone(), native))
    }

    /// The line that shows which sources are starting. It is removed by the first response.
    pub(super) fn set_status_line(&self, line: StatusLine) {
        self.status_line.lock().replace(line);
    }

    /// Shows a text on the status line, if it is still there.
    pub(super) fn show_status(&self, text: String) {
        if let Some(line) = &*self.status_line.lock() {
            line.show(text);
        }
    }

    /// Sends one request the way a client does, and waits for its result.
    pub(super) async fn request(
        &self,
        method: Method,
        operation: Operation,
        params: RawJson,
    ) -> Result<RawJson, Error> {
        self.request_in(self.scope.clone(), method, operation, params)
            .await
    }

    /// Sends one request in a scope.
    pub(super) async fn request_in(
        &self,
        scope: Scope,
        method: Method,
        operation: Operation,
        params: RawJson,
    ) -> Result<RawJson, Error> {
        let reply = self.send(scope, method, operation, params).await;
        // Before anything else is printed.
        drop(self.status_line.lock().take());
        self.result(reply?).await
    }

    async fn send(
        &self,
        scope: Scope,
        method: Method,
        operation: Operation,
        params: RawJson,
    ) -> Result<Reply, Error> {
        let request = Request {
            correlation_id: CorrelationId::generate(),
            caller: Arc::clone(&self.caller),
            scope,
            label: method.name(),
            client: client_context(),
            operation,
            params,
            is_continuation: false,
            precondition: None,
        };
        self.gateway.handle(request).await
    }

    /// The result of a reply. Progress is printed, log messages are logged.
    async fn result(&self, reply: Reply) -> Result<RawJson, Error> {
        let mut events = match reply {
            Reply::Done(outcome) => return result(outcome),
            Reply::Stream(events) => events,
        };
        while let Some(event) = events.next().await {
            match event? {
                Event::Done(outcome) => return result(outcome),
                Event::Progress(params) => print_progress(&params),
                Event::Log { level, params } => {
                    tracing::info!(level = level.as_str(), %params, "log message from the source");
                }
                Event::Question(_) => return Err(unanswerable()),
                Event::Acknowledged { .. }
                | Event::Change(_)
                | Event::Task(_)
                | Event::QuestionWithdrawn
                | Event::ElicitationComplete(_)
                | Event::Extension { .. }
                | Event::KeepAlive => {}
            }
        }
        Err(Error::internal("the response ended before it was complete"))
    }

    /// Ends the background tasks and closes the connections to servers. Servers that take longer to
    /// end are left to the child guard.
    pub(super) async fn close(mut self) {
        // First, because the tasks would reconnect.
        self.background.shutdown().await;
        let stop = join_all(self.ending.remotes.iter().map(|remote| remote.stop()));
        let close_store = async {
            if let Some(store) = &self.ending.store {
                store.close().await;
            }
        };
        timeout(CLOSE_TIMEOUT, async { tokio::join!(stop, close_store) })
            .await
            .ok();
    }
}

/// Why a gateway cannot be reached, in a message for users of a command, which does not call it a
/// source.
fn connect_error(url: &http::Uri, reason: &str, has_key: bool) -> anyhow::Error {
    if reason.starts_with(CREDENTIALS_REQUIRED) && has_key {
        return anyhow::anyhow!(
            "the gateway at {url} rejects the key in the variable {KEY_VARIABLE}; set it to one of \
             its `auth.keys`"
        );
    }
    if reason.starts_with(CREDENTIALS_REQUIRED) {
        return anyhow::anyhow!(
            "the gateway at {url} requires a key; set the variable {KEY_VARIABLE} to one of its \
             `auth.keys`"
        );
    }
    match refuses_connections(url) {
        true => anyhow::anyhow!(
            "cannot connect to {url}: connection refused; is `tidegate serve` running?"
        ),
        false => anyhow::anyhow!("cannot connect to {url}: {reason}"),
    }
}

/// Whether nothing listens at an address.
fn refuses_connections(url: &http::Uri) -> bool {
    let is_https = url.scheme_str() == Some("https");
    let port = url.port_u16().unwrap_or(if is_https { 443 } else { 80 });
    let host = url.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let addresses = (host, port).to_socket_addrs();
    let results = addresses.into_iter().flatten().map(|address| {
        let connected = TcpStream::connect_timeout(&address, PROBE_TIMEOUT);
        connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    });
    let results: Vec<bool> = results.collect();
    !results.is_empty() && results.iter().all(|refused| *refused)
}

/// The client context of these commands, without capabilities: servers cannot ask them questions.
pub(super) fn client_context() -> ClientContext {
    ClientContext {
        era: Era::Modern,
        progress: Some(RawJson::string("command-line")),
        ..ClientContext::default()
    }
}

fn bearer(key: &Secret) -> anyhow::Result<(HeaderName, HeaderValue)> {
    let value = HeaderValue::try_from(format!("Bearer {}", key.expose()));
    let mut value =
        value.with_context(|| format!("the variable {KEY_VARIABLE} is not a valid key"))?;
    value.set_sensitive(true);
    Ok((AUTHORIZATION, value))
}

fn result(outcome: Outcome) -> Result<RawJson, Error> {
    match outcome {
        Outcome::Complete { result, .. } => Ok(result),
        Outcome::InputRequired(_) | Outcome::Question { .. } => Err(unanswerable()),
        // The request did not declare that it accepts tasks.
        Outcome::Task(_) => Err(Error::internal(
            "the source started a task, which this request did not allow",
        )),
    }
}

fn unanswerable() -> Error {
    Error::internal(
        "the source asks its client a question, which the command line cannot answer; use an MCP \
         client that supports it",
    )
}

/// Prints a progress notification on stderr.
fn print_progress(params: &RawJson) {
    let Some(members) = params.object() else {
        return;
    };
    let mut line = members.get("progress").unwrap_or("?").to_owned();
    if let Some(total) = members.get("total") {
        line += &format!(" of {total}");
    }
    if let Some(message) = members.string("message") {
        line += &format!(": {}", printable(&message));
    }
    writeln!(io::stderr(), "progress {line}").ok();
}
